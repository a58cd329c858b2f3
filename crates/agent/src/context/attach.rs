//! What mentions lead to: texts of files, folders, symbols and changes, as they join the prompt.

use base::AbsPath;
use git::{FileStatus, Repository};
use host::FileKind;
use model::LineNumbers;

use super::mentions::{MentionKind, mentions};
use super::reading::{cut, read_inside, shown};
use crate::sources::{CodeSearch, Place, Sources};

/// Bytes of one mention that join.
const LIMIT: usize = 40_000;
/// Lines of one mention that join.
const LINES: usize = 1_500;
/// Entries of a folder that are listed.
const ENTRIES: usize = 200;
/// Places of a symbol that join.
const PLACES: usize = 3;
/// Places that a mention of the codebase brings.
const CODE_PLACES: usize = 8;
/// What the codebase is mentioned by.
pub(crate) const CODEBASE: &str = "@codebase";
/// Changed files whose changes are shown.
const CHANGED: usize = 50;

/// Where the symbols of a name are defined.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The name as it was mentioned.
    pub name: String,
    /// The best places.
    pub places: Vec<Place>,
}

/// Looks up the names in a prompt that are no files, where there is an index. Never fails: what is not found is
/// no mention.
pub async fn symbols(sources: &Sources, root: &AbsPath, text: &str) -> Vec<Found> {
    let Some(search) = &sources.search else {
        return Vec::new();
    };
    let mut found: Vec<Found> = Vec::new();
    for mention in mentions(text) {
        if mention.kind == MentionKind::Codebase
            && let Some(places) = on_the_codebase(search.as_ref(), root, text).await
        {
            found.retain(|known| known.name != CODEBASE);
            found.push(places);
        }
        let MentionKind::Name { name, lines: None } = mention.kind else {
            continue;
        };
        let is_known = found.iter().any(|known| known.name == name);
        if is_known || !is_symbol(&name) || sources.files.exists(&root.join(&name)) {
            continue;
        }
        let wanted = name.trim_end_matches("()").to_owned();
        if let Ok(places) = search.symbols(root, wanted, PLACES).await
            && !places.is_empty()
        {
            found.push(Found { name, places });
        }
    }
    found
}

/// What the code has to say on a prompt, the mentions of it apart.
async fn on_the_codebase(search: &dyn CodeSearch, root: &AbsPath, text: &str) -> Option<Found> {
    let mut question = String::new();
    let mut at = 0;
    for mention in mentions(text) {
        if mention.kind == MentionKind::Codebase {
            question.push_str(&text[at..mention.at.start]);
            at = mention.at.end;
        }
    }
    question.push_str(&text[at..]);
    let question = question.trim().to_owned();
    let places = search.by_meaning(root, question, None, CODE_PLACES).await;
    Some(Found {
        name: CODEBASE.to_owned(),
        places: places.ok()?,
    })
}

/// Whether a name may be one of a program's: letters, digits, `_`, and `.`, `::` or `#` between.
fn is_symbol(name: &str) -> bool {
    let name = name.trim_end_matches("()");
    let is_letter = |letter: char| letter.is_alphanumeric() || "_.:#".contains(letter);
    name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        && name.chars().all(is_letter)
}

/// What a name leads to, if it is a file or a folder below the root: its text, or a sentence why not.
pub(crate) fn path_text(
    sources: &Sources,
    root: &AbsPath,
    name: &str,
    lines: Option<(u32, u32)>,
    numbers: LineNumbers,
) -> Option<Result<String, String>> {
    let path = root.join(name);
    if !path.is_within(root) {
        let is_there = sources.files.exists(&path);
        return is_there.then(|| {
            Err(format!(
                "{name} lies outside of {root} and does not join the prompt"
            ))
        });
    }
    if let Some(text) = sources
        .buffers
        .as_ref()
        .and_then(|buffers| buffers.text(&path))
    {
        return Some(Ok(file_text(&shown(&path, root), &text, lines, numbers)));
    }
    match sources.files.stat(&path).ok()?.kind {
        FileKind::File => {}
        FileKind::Folder => return Some(folder_text(sources, root, &path)),
        FileKind::BrokenLink | FileKind::Other => {
            return Some(Err(format!("{name} is neither a file nor a folder")));
        }
    }
    let read = read_inside(sources.files.as_ref(), &path, root);
    let text = match read {
        Ok(text) => text?,
        Err(problem) => return Some(Err(problem)),
    };
    Some(Ok(file_text(
        &shown(&path, root),
        &text.text,
        lines,
        numbers,
    )))
}

fn file_text(path: &str, text: &str, lines: Option<(u32, u32)>, numbers: LineNumbers) -> String {
    let count = text.lines().count();
    let (first, last) = match lines {
        Some((first, last)) => (first as usize, (last as usize).min(count)),
        None => (1, count),
    };
    if lines.is_some() && first > count {
        return format!("<file path=\"{path}\">\n[it has only {count} lines]\n</file>\n");
    }
    if count == 0 {
        return format!("<file path=\"{path}\">\n[it is empty]\n</file>\n");
    }
    let end = last.min(first + LINES - 1);
    let mut body = String::new();
    for (ix, line) in text.lines().enumerate().take(end).skip(first - 1) {
        body.push_str(&numbered(ix + 1, line, numbers));
    }
    if end < last {
        body.push_str(&format!(
            "[cut: these are lines {first} to {end} of {last}; read the rest where you need it]\n"
        ));
    }
    let body = cut(&body, LIMIT, path);
    let range = match lines {
        Some(_) => format!(" lines=\"{first}-{last}\" of=\"{count}\""),
        None => String::new(),
    };
    format!("<file path=\"{path}\"{range}>\n{body}</file>\n")
}

/// A line as models of a profile read it.
fn numbered(number: usize, line: &str, numbers: LineNumbers) -> String {
    match numbers {
        LineNumbers::None => format!("{line}\n"),
        LineNumbers::Tab => format!("{number:>6}\t{line}\n"),
        LineNumbers::Label => format!("L{number}: {line}\n"),
        LineNumbers::Hash => format!("{number}#{}|{line}\n", patch::anchor::line_hash(line)),
    }
}

fn folder_text(sources: &Sources, root: &AbsPath, path: &AbsPath) -> Result<String, String> {
    let listing = sources
        .files
        .list(path)
        .map_err(|error| error.to_string())?;
    let entries = listing
        .entries
        .iter()
        .filter(|entry| entry.path.name() != ".git");
    let names: Vec<String> = entries
        .map(|entry| match entry.kind {
            FileKind::Folder => format!("{}/", entry.path.name()),
            _ => entry.path.name(),
        })
        .collect();
    let mut body: String = names
        .iter()
        .take(ENTRIES)
        .map(|name| format!("{name}\n"))
        .collect();
    if let Some(more @ 1..) = names.len().checked_sub(ENTRIES) {
        body.push_str(&format!("[and {more} more]\n"));
    }
    if names.is_empty() {
        body.push_str("[it is empty]\n");
    }
    let path = shown(path, root);
    Ok(format!("<folder path=\"{path}\">\n{body}</folder>\n"))
}

/// The places of a symbol as they join.
pub(crate) fn places_text(found: &Found) -> String {
    let body = body_of(found);
    match found.name.as_str() {
        CODEBASE => format!("<codebase>\n{body}</codebase>\n"),
        name => format!("<symbol name=\"{name}\">\n{body}</symbol>\n"),
    }
}

fn body_of(found: &Found) -> String {
    let mut body = String::new();
    let most = if found.name == CODEBASE {
        CODE_PLACES
    } else {
        PLACES
    };
    for place in found.places.iter().take(most) {
        let (first, last) = place.lines;
        let symbol = place.symbol.as_deref().unwrap_or(&found.name);
        let text = cut(&place.text, LIMIT / most, &place.path);
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        body.push_str(&format!(
            "{symbol} in {}:{first}-{last}\n{text}{newline}",
            place.path
        ));
    }
    body
}

/// What differs from the last commit, as a unified diff.
pub(crate) fn diff_text(sources: &Sources, root: &AbsPath) -> Result<String, String> {
    let repository = Repository::discover(root).map_err(|error| error.to_string())?;
    let statuses = repository.statuses().map_err(|error| error.to_string())?;
    let mut changed: Vec<(&AbsPath, FileStatus)> = statuses
        .files()
        .filter(|(path, status)| *status != FileStatus::Ignored && path.is_within(root))
        .collect();
    changed.sort_by_key(|(path, _)| (*path).clone());
    let mut body = String::new();
    for (path, status) in changed.iter().take(CHANGED) {
        let before = repository
            .head_bytes(path)
            .map_err(|error| error.to_string())?;
        let after = match status {
            FileStatus::Deleted => None,
            _ => sources.files.read(path, 1 << 20).ok(),
        };
        body.push_str(&unified(
            &shown(path, root),
            before.as_deref(),
            after.as_deref(),
        ));
    }
    if let Some(more @ 1..) = changed.len().checked_sub(CHANGED) {
        body.push_str(&format!("[and {more} more changed files]\n"));
    }
    if changed.is_empty() {
        body.push_str("[nothing is changed]\n");
    }
    let body = cut(&body, LIMIT, "the changes");
    Ok(format!("<diff against=\"HEAD\">\n{body}</diff>\n"))
}

/// The difference of two contents with three lines around each change.
fn unified(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let is_binary = |bytes: Option<&[u8]>| bytes.is_some_and(|bytes| bytes.contains(&0));
    let side = |prefix: &str, bytes: Option<&[u8]>| match bytes {
        Some(_) => format!("{prefix}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let mut whole = format!("--- {}\n+++ {}\n", side("a", before), side("b", after));
    if is_binary(before) || is_binary(after) {
        whole.push_str("[no text]\n");
        return whole;
    }
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (before, after) = (text(before), text(after));
    let (old, new) = (text::Snapshot::new(&before), text::Snapshot::new(&after));
    let old_lines: Vec<&str> = before.lines().collect();
    let new_lines: Vec<&str> = after.lines().collect();
    let hunks = old.diff_rows(&new);
    let mut at = 0;
    while at < hunks.len() {
        // Changes whose surroundings touch are one hunk.
        let mut end = at + 1;
        while end < hunks.len() && hunks[end].before.start.0 <= hunks[end - 1].before.end.0 + 6 {
            end += 1;
        }
        whole.push_str(&hunk(&hunks[at..end], &old_lines, &new_lines));
        at = end;
    }
    whole
}

fn hunk(changes: &[text::RowHunk], old: &[&str], new: &[&str]) -> String {
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
        return String::new();
    };
    let around = first.before.start.0.min(3);
    let old_start = first.before.start.0 - around;
    let new_start = first.after.start.0 - around;
    let behind = (old.len() as u32).saturating_sub(last.before.end.0).min(3);
    let old_end = last.before.end.0 + behind;
    let new_end = last.after.end.0 + behind;
    let mut body = format!(
        "@@ -{},{} +{},{} @@\n",
        old_start + 1,
        old_end - old_start,
        new_start + 1,
        new_end - new_start
    );
    let mut push = |sign: char, lines: &[&str], rows: std::ops::Range<u32>| {
        for row in rows {
            let line = lines.get(row as usize).copied().unwrap_or_default();
            body.push_str(&format!("{sign}{line}\n"));
        }
    };
    let mut at = old_start;
    for change in changes {
        push(' ', old, at..change.before.start.0);
        push('-', old, change.before.start.0..change.before.end.0);
        push('+', new, change.after.start.0..change.after.end.0);
        at = change.before.end.0;
    }
    push(' ', old, at..old_end);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_numbered_as_its_reader_is_used_to() {
        let check = |numbers: LineNumbers, expected: &str| {
            assert_eq!(numbered(7, "let x;", numbers), expected);
        };
        check(LineNumbers::None, "let x;\n");
        check(LineNumbers::Tab, "     7\tlet x;\n");
        check(LineNumbers::Label, "L7: let x;\n");
        check(
            LineNumbers::Hash,
            &format!("7#{}|let x;\n", patch::anchor::line_hash("let x;")),
        );
    }

    #[test]
    fn lines_are_those_that_were_asked_for() {
        let check = |lines: Option<(u32, u32)>, expected: &str| {
            let text = file_text("a", "one\ntwo\nthree\n", lines, LineNumbers::Label);
            assert_eq!(text, expected);
        };
        check(
            None,
            "<file path=\"a\">\nL1: one\nL2: two\nL3: three\n</file>\n",
        );
        check(
            Some((2, 2)),
            "<file path=\"a\" lines=\"2-2\" of=\"3\">\nL2: two\n</file>\n",
        );
        check(
            Some((3, 9)),
            "<file path=\"a\" lines=\"3-3\" of=\"3\">\nL3: three\n</file>\n",
        );
        check(
            Some((4, 9)),
            "<file path=\"a\">\n[it has only 3 lines]\n</file>\n",
        );
        let long = "x\n".repeat(2_000);
        let text = file_text("a", &long, None, LineNumbers::None);
        assert!(text.contains("[cut: these are lines 1 to 1500 of 2000;"));
    }

    #[test]
    fn a_diff_is_as_git_would_write_it() {
        let check = |before: Option<&str>, after: Option<&str>, expected: &str| {
            let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
            let (before, after) = (bytes(before), bytes(after));
            assert_eq!(unified("f", before.as_deref(), after.as_deref()), expected);
        };
        check(
            Some("1\n2\n3\n4\n5\n6\n7\n8\n"),
            Some("1\n2\n3\n4\nfive\n6\n7\n8\n"),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
        );
        check(
            None,
            Some("a\n"),
            "--- /dev/null\n+++ b/f\n@@ -1,0 +1,1 @@\n+a\n",
        );
        check(
            Some("a\n"),
            None,
            "--- a/f\n+++ /dev/null\n@@ -1,1 +1,0 @@\n-a\n",
        );
        check(Some("\0"), Some("b"), "--- a/f\n+++ b/f\n[no text]\n");
    }

    #[test]
    fn names_of_programs_are_told_from_others() {
        for name in ["Cart", "Cart.total", "a::b::c", "total()", "_x", "größe"] {
            assert!(is_symbol(name), "{name}");
        }
        for name in ["types/node", "a b", "-x", "3d", "a.rs/", "x(y)"] {
            assert!(!is_symbol(name), "{name}");
        }
    }
}
