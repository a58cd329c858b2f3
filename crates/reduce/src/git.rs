//! Output of git log, diff and status.

use super::log::LogReducer;

/// Maximum number of commits shown.
const COMMITS: usize = 40;
/// Maximum number of changed lines shown per file.
const CHANGED: usize = 6;
/// Maximum number of files named per kind.
const FILES: usize = 25;

/// Marks the output of `git log`: reduces each commit to one line, and keeps only the first of many
/// short lines.
pub(crate) fn mark_log(log: &mut LogReducer<'_>) {
    let commits: Vec<usize> = (0..log.lines.len())
        .filter(|ix| is_commit(log.lines[*ix]))
        .collect();
    if commits.is_empty() {
        // Each commit is already one line.
        let lines = 0..log.lines.len();
        let count = lines
            .clone()
            .filter(|ix| is_short_commit(log.lines[*ix]))
            .count();
        if count > COMMITS && count * 10 > log.lines.len() * 9 {
            for ix in lines.skip(COMMITS).take(log.lines.len() - COMMITS - 1) {
                log.drop_line(ix, "commits");
            }
        }
        return;
    }
    for (nth, begin) in commits.iter().enumerate() {
        let end = commits.get(nth + 1).copied().unwrap_or(log.lines.len());
        let is_shown = nth < COMMITS || nth + 1 == commits.len();
        if is_shown {
            let line = commit_line(&log.lines[*begin..end]);
            log.replace_line(*begin, line);
        } else {
            log.drop_line(*begin, "commits");
        }
        for ix in begin + 1..end {
            let line = log.lines[ix];
            if line.starts_with("diff --git ") {
                break;
            }
            if is_shown && line.contains(" changed, ") {
                log.keep_line(ix);
            } else {
                log.drop_line(ix, "");
            }
        }
    }
}

/// Returns whether a line is `commit` and a whole hash of 40 digits, perhaps with more after it.
fn is_commit(line: &str) -> bool {
    let hash = line
        .strip_prefix("commit ")
        .and_then(|rest| rest.split(' ').next());
    hash.is_some_and(|hash| hash.len() == 40 && is_hash(hash))
}

/// Returns whether the first word of a line is a hash of 7 to 40 digits, as in `git log --oneline`.
fn is_short_commit(line: &str) -> bool {
    let hash = line.split(' ').next().unwrap_or_default();
    (7..=40).contains(&hash.len()) && is_hash(hash)
}

/// Returns whether a text consists of hexadecimal digits, in either case; true if empty.
fn is_hash(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_hexdigit())
}

/// Formats a commit: `7962eb1b Sat Jun 20 12:39:00 2026 Dana Weber: Drop the printer`.
fn commit_line(lines: &[&str]) -> String {
    let field = |name: &str| {
        let line = lines
            .iter()
            .take(8)
            .find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim()
    };
    let hash: String = lines[0]["commit ".len()..].chars().take(8).collect();
    let author = field("Author:").split(" <").next().unwrap_or_default();
    let date = field("Date:");
    let date = date.rsplit_once(' ').map_or(date, |(date, _)| date);
    let subject = lines.iter().find_map(|line| line.strip_prefix("    "));
    format!("{hash} {date} {author}: {}", subject.unwrap_or_default())
}

/// Marks the output of `git diff`: keeps the number of changes and the first changed lines of each
/// file.
pub(crate) fn mark_diff(log: &mut LogReducer<'_>) {
    let files: Vec<usize> = (0..log.lines.len())
        .filter(|ix| log.lines[*ix].starts_with("diff --git "))
        .collect();
    if files.is_empty() {
        return mark_table(log);
    }
    let shown = if files.len() > FILES { 2 } else { CHANGED };
    for (nth, begin) in files.iter().enumerate() {
        let mut end = files.get(nth + 1).copied().unwrap_or(log.lines.len());
        // In a log with patches the next commit begins before the next file.
        if let Some(commit) = (begin + 1..end).find(|ix| is_commit(log.lines[*ix])) {
            end = commit;
        }
        mark_file(log, *begin, end, shown);
    }
}

fn mark_file(log: &mut LogReducer<'_>, begin: usize, end: usize, shown: usize) {
    let is_change = |line: &str, sign: char| {
        line.starts_with(sign) && !line.starts_with("+++ ") && !line.starts_with("--- ")
    };
    let count = |sign: char| {
        (begin..end)
            .filter(|ix| is_change(log.lines[*ix], sign))
            .count()
    };
    let (added, removed) = (count('+'), count('-'));
    let kind = log.lines[begin..end].iter().take(6).find(|line| {
        line.starts_with("new file")
            || line.starts_with("deleted file")
            || line.starts_with("rename ")
            || line.starts_with("Binary ")
    });
    let path = log.lines[begin]
        .rsplit_once(" b/")
        .map_or("", |(_, path)| path);
    let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    log.replace_line(begin, format!("{path} +{added} -{removed}{kind}"));
    let mut changed = 0;
    let mut hunk = None;
    for ix in begin + 1..end {
        let line = log.lines[ix];
        if line.starts_with("@@ ") {
            hunk = Some(ix);
            continue;
        }
        if is_change(line, '+') || is_change(line, '-') {
            changed += 1;
            if changed <= shown {
                // The hunk's header gives the position of the lines.
                if let Some(hunk) = hunk.take() {
                    log.keep_line(hunk);
                }
                log.keep_line(ix);
            } else {
                log.drop_line(ix, "changed lines");
            }
        } else {
            log.drop_line(ix, "");
        }
    }
    for ix in begin..end {
        log.drop_line(ix, "");
    }
}

/// Reduces a table of ` path | 12 ++--` rows, one per file.
fn mark_table(log: &mut LogReducer<'_>) {
    let rows: Vec<usize> = (0..log.lines.len())
        .filter(|ix| log.lines[*ix].starts_with(' ') && log.lines[*ix].contains(" | "))
        .collect();
    for ix in rows.iter().skip(FILES) {
        log.drop_line(*ix, "changed files");
    }
}

/// Marks the output of `git status`: keeps only the first of many files with the same state.
pub(crate) fn mark_status(log: &mut LogReducer<'_>) {
    let mut named = 0;
    let mut kind = "";
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        let is_file = line.starts_with('\t') || is_short_status(line);
        let now = if is_short_status(line) {
            &line[..2]
        } else {
            kind
        };
        if !is_file || now != kind {
            named = 0;
            kind = now;
        }
        if line.trim_start().starts_with("(use \"git ") {
            log.drop_line(ix, "");
        } else if is_file {
            named += 1;
            if named <= FILES {
                log.keep_line(ix)
            } else {
                log.drop_line(ix, "files of the same state")
            }
        } else {
            log.keep_line(ix);
        }
    }
}

/// Returns whether a line is a short status, such as ` M src/main.rs`.
fn is_short_status(line: &str) -> bool {
    let state = line.get(..2).unwrap_or_default();
    let is_state = |letter: char| " MADRCU?!T".contains(letter);
    line.get(2..3) == Some(" ") && state.trim() != "" && state.chars().all(is_state)
}
