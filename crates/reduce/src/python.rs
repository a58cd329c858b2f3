//! Output of pytest, unittest, and Python's tracebacks.

use super::log::LogReducer;

/// Maximum number of lines shown of one failure's explanation.
const EXPLAINED: usize = 16;
/// Maximum number of lines shown of a test's output.
const CAPTURED: usize = 6;

/// Marks the output of pytest: keeps failures with their causes and the summary, and drops passing
/// tests.
pub(crate) fn mark_pytest(log: &mut LogReducer<'_>) {
    let has_summary = log
        .lines
        .iter()
        .any(|line| line.contains("short test summary info"));
    let mut section = String::new();
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if let Some(title) = between(line, '=') {
            section = title.to_owned();
            if title.starts_with("short test summary")
                || title.starts_with("warnings summary")
                || title.starts_with("test session")
            {
                log.drop_line(ix, "");
            } else {
                log.keep_line(ix);
            }
            continue;
        }
        match section.as_str() {
            "FAILURES" | "ERRORS" => {}
            "warnings summary" => log.drop_line(ix, "lines about warnings"),
            _ if section.starts_with("short test summary") => log.keep_line(ix),
            _ => mark_progress(log, ix, has_summary),
        }
    }
    mark_failures(log);
    mark_coverage(log);
}

fn mark_progress(log: &mut LogReducer<'_>, ix: usize, has_summary: bool) {
    let line = log.lines[ix];
    let has = |word: &str| line.contains("::") && line.contains(word);
    if has(" PASSED") {
        log.drop_line(ix, "passing tests");
    } else if has(" SKIPPED") || has(" XFAIL") || has(" XPASS") {
        log.drop_line(ix, "skipped tests");
    } else if has_summary && (has(" FAILED") || has(" ERROR")) {
        // The heading of its failure and the summary repeat the name.
        log.drop_line(ix, "");
    } else if is_dots(line) {
        log.drop_line(ix, "lines of dots");
    } else if [
        "platform ",
        "cachedir: ",
        "rootdir: ",
        "plugins: ",
        "asyncio: ",
        "configfile: ",
    ]
    .iter()
    .any(|word| line.starts_with(word))
    {
        log.drop_line(ix, "");
    } else if line.contains("collected ") {
        log.keep_line(ix);
    }
}

/// Returns whether a line is progress, such as `tests/test_a.py ..F. [ 12%]` or `..... [100%]`.
fn is_dots(line: &str) -> bool {
    let Some((before, percent)) = line.rsplit_once('[') else {
        return line.len() > 30 && line.chars().all(|letter| ".FEsxX".contains(letter));
    };
    let dots = before.split_whitespace().next_back().unwrap_or_default();
    percent.ends_with("%]")
        && !dots.is_empty()
        && dots.chars().all(|letter| ".FEsxX".contains(letter))
}

/// Returns the title in a line such as `==== FAILURES ====`.
fn between(line: &str, sign: char) -> Option<&str> {
    let trimmed = line.trim_matches(sign);
    let title = trimmed.trim();
    (line.starts_with(sign)
        && line.ends_with(sign)
        && line.len() > trimmed.len() + 4
        && !title.is_empty())
    .then_some(title)
}

/// Keeps, for each failure, its name, the failing line, the explanation, the location and the end
/// of the output.
fn mark_failures(log: &mut LogReducer<'_>) {
    let mut is_failure = false;
    let mut is_captured = false;
    let mut explained = 0;
    let mut captured = 0;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if let Some(title) = between(line, '=') {
            is_failure = title == "FAILURES" || title == "ERRORS";
            continue;
        }
        if !is_failure {
            continue;
        }
        if between(line, '_')
            .is_some_and(|title| title.contains(|letter: char| letter.is_alphanumeric()))
        {
            (explained, captured, is_captured) = (0, 0, false);
            log.keep_line(ix);
        } else if between(line, '-').is_some_and(|title| title.starts_with("Captured")) {
            (captured, is_captured) = (0, true);
            log.keep_line(ix);
        } else if is_captured {
            captured += 1;
            if captured <= CAPTURED {
                log.keep_line(ix)
            } else {
                log.drop_line(ix, "lines that tests printed")
            }
        } else if let Some(text) = line.strip_prefix('E') {
            explained += 1;
            if explained <= EXPLAINED && !text.trim().is_empty() {
                log.keep_line(ix)
            } else {
                log.drop_line(ix, "lines of explanation")
            }
        } else if line.starts_with('>') || is_place(line) || is_argument(line) {
            log.keep_line(ix);
        } else {
            log.drop_line(ix, "lines of code around failures");
        }
    }
}

/// Returns whether a line is a location, such as `tests/test_a.py:7: AssertionError`.
fn is_place(line: &str) -> bool {
    let mut parts = line.splitn(3, ':');
    let (path, number) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    !path.starts_with(' ') && !path.is_empty() && number.parse::<u32>().is_ok()
}

/// Returns whether a line lists arguments, such as `count = 3, total = 4`, but not `self = <…>`.
fn is_argument(line: &str) -> bool {
    let Some((name, value)) = line.split_once(" = ") else {
        return false;
    };
    let is_name = name
        .chars()
        .all(|letter| letter.is_alphanumeric() || letter == '_');
    let is_object = value.starts_with('<') && !value.contains(", ");
    is_name && !name.is_empty() && !is_object
}

/// Keeps the rows of a coverage table that are not fully covered, and the total.
fn mark_coverage(log: &mut LogReducer<'_>) {
    let Some(begin) = log
        .lines
        .iter()
        .position(|line| line.starts_with("Name ") && line.contains("Cover"))
    else {
        return;
    };
    log.keep_line(begin);
    for ix in begin + 1..log.lines.len() {
        let line = log.lines[ix];
        if line.starts_with("---") {
            log.drop_line(ix, "");
        } else if line.starts_with("TOTAL") {
            log.keep_line(ix);
            return;
        } else if line.trim_end().ends_with("100%") {
            log.drop_line(ix, "files that are covered");
        }
    }
}

/// Marks the output of unittest: keeps failures and totals, and drops passing tests.
pub(crate) fn mark_unittest(log: &mut LogReducer<'_>) {
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if line.ends_with(" ... ok") {
            log.drop_line(ix, "passing tests");
        } else if line.contains(" ... skipped") {
            log.drop_line(ix, "skipped tests");
        } else if is_unittest_noise(line) {
            log.drop_line(ix, "");
        } else if line.starts_with("FAIL: ")
            || line.starts_with("ERROR: ")
            || line.starts_with("Ran ")
            || line.starts_with("FAILED (")
        {
            log.keep_line(ix);
        }
    }
}

/// Returns whether a line is a rule, or a name that the heading of its failure repeats.
fn is_unittest_noise(line: &str) -> bool {
    let is_rule = line.len() > 20 && line.chars().all(|letter| "=-".contains(letter));
    let is_named = line.ends_with(" ... FAIL") || line.ends_with(" ... ERROR");
    is_rule || is_named || is_dots(line)
}

/// Shortens a long traceback to its first frame, its last frames, and the exception.
pub(crate) fn mark_traces(log: &mut LogReducer<'_>) {
    let mut ix = 0;
    while ix < log.lines.len() {
        if log.lines[ix].trim_start() != "Traceback (most recent call last):" {
            ix += 1;
            continue;
        }
        let indent = log.lines[ix].len() - log.lines[ix].trim_start().len();
        let begin = ix + 1;
        let mut end = begin;
        while log
            .lines
            .get(end)
            .is_some_and(|line| line.len() - line.trim_start().len() > indent)
        {
            end += 1;
        }
        let frames: Vec<usize> = (begin..end)
            .filter(|ix| log.lines[*ix].trim_start().starts_with("File \""))
            .collect();
        let shown = if frames.len() > 6 {
            (frames[1], frames[frames.len() - 4])
        } else {
            (end, end)
        };
        for line in begin..end {
            let is_frame = frames.contains(&line);
            if log.lines[line].contains("[Previous line repeated ") {
                log.keep_line(line);
            } else if (shown.0..shown.1).contains(&line) {
                log.drop_line(line, if is_frame { "frames" } else { "" });
            } else {
                log.keep_line(line);
            }
        }
        log.keep_line(ix);
        log.keep_line(end);
        ix = end + 1;
    }
}
