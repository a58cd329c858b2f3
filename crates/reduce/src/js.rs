//! Output of jest, vitest, mocha, Node's test runner, and Node's crash reports.

use std::collections::HashSet;

use super::log::LogReducer;

/// Signs before a passing test.
const PASSED: [&str; 3] = ["✓ ", "✔ ", "√ "];
/// Signs before a failing test.
const FAILED: [&str; 3] = ["✕ ", "✗ ", "× "];
/// Maximum number of lines shown of an explanation, and of a test's output.
const EXPLAINED: usize = 14;
const PRINTED: usize = 4;
/// Maximum number of project frames shown per failure.
const FRAMES: usize = 3;

/// Marks the output of JavaScript test runners: keeps failures with their first stack frames, and
/// drops passing tests.
pub(crate) fn mark(log: &mut LogReducer<'_>) {
    mark_repeated_failures(log);
    let has_failures = log.lines.iter().any(|line| is_failure(line));
    let mut frames = 0;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        let text = line.trim_start();
        if text.starts_with("at ") && line.starts_with(' ') {
            mark_frame(log, ix, &mut frames);
            continue;
        }
        frames = 0;
        if PASSED.iter().any(|sign| text.starts_with(sign))
            || text.starts_with("PASS ")
            || text.starts_with("ok ")
        {
            log.drop_line(ix, "passing tests");
        } else if text.starts_with("○ ") || text.starts_with("↓ ") {
            log.drop_line(ix, "skipped tests");
        } else if FAILED.iter().any(|sign| text.starts_with(sign)) && has_failures {
            // The heading of its failure repeats the name.
            log.drop_line(ix, "");
        } else if is_failure(line) || is_sum(text) {
            log.keep_line(ix);
        } else if is_rule(text) || text.starts_with("# Subtest: ") || text.starts_with("▶ ") {
            log.drop_line(ix, "");
        } else if is_code(log, ix) {
            log.drop_line(ix, "lines of code around failures");
        } else if is_pointer(text) {
            log.drop_line(ix, "");
        } else if is_dots(text) {
            log.drop_line(ix, "lines of dots");
        } else if is_covered(line) {
            log.drop_line(ix, "files that are covered");
        }
    }
    mark_tap(log);
    mark_titles(log);
    mark_explanations(log);
}

/// Keeps the first lines of each failure's explanation that no other rule has marked.
fn mark_explanations(log: &mut LogReducer<'_>) {
    let mut left = 0;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if is_failure(line) {
            let is_print = line.trim_end().ends_with("Console");
            left = if is_print { PRINTED } else { EXPLAINED };
        } else if !line.trim().is_empty() && log.is_open(ix) && left > 0 {
            left -= 1;
            log.keep_line(ix);
        }
    }
}

/// Drops the failures that jest repeats at the end of a long run.
fn mark_repeated_failures(log: &mut LogReducer<'_>) {
    let mut seen = HashSet::new();
    let mut is_again = false;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if line == "Summary of all failing tests" {
            log.drop_line(ix, "");
        } else if line.starts_with("  ● ") {
            is_again = !line.ends_with("Console") && !seen.insert(line);
        } else if !line.starts_with(' ') && !line.is_empty() {
            is_again = false;
        }
        if is_again {
            log.drop_line(ix, "");
        }
    }
}

/// Returns whether a line is the heading of a failed test or file.
fn is_failure(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("● ")
        || text.starts_with("FAIL ")
        || text.starts_with("not ok ")
        || is_numbered(line)
}

/// Returns whether a line is a heading of mocha, such as `  1) suite`.
fn is_numbered(line: &str) -> bool {
    let number = line.trim_start().split(')').next().unwrap_or_default();
    line.starts_with("  ") && line.contains(") ") && number.parse::<u32>().is_ok()
}

/// Returns whether a line, without its indentation, counts results or states an error, an expected
/// or a received value. Such lines are kept.
fn is_sum(text: &str) -> bool {
    let begins = [
        "Tests:",
        "Test Suites:",
        "Snapshots:",
        "Test Files ",
        "Tests ",
        "Type Errors",
        "# tests",
        "# pass",
        "# fail",
        "ℹ tests",
        "ℹ pass",
        "ℹ fail",
        "Error: ",
        "TypeError: ",
        "AssertionError",
        "Expected",
        "Received",
    ];
    let has = [" passing (", " failing", " pending"];
    begins.iter().any(|begin| text.starts_with(begin))
        || has.iter().any(|word| {
            text.contains(word)
                && text
                    .split(' ')
                    .next()
                    .is_some_and(|number| number.parse::<u32>().is_ok())
        })
}

/// Returns whether a line is a horizontal rule.
fn is_rule(text: &str) -> bool {
    text.chars()
        .filter(|letter| "⎯-=─".contains(*letter))
        .count()
        > 10
        && !text.contains('%')
}

/// Returns whether a line is source code around a failure, other than the failing line.
fn is_code(log: &LogReducer<'_>, ix: usize) -> bool {
    let text = log.lines[ix].trim_start();
    let Some((number, _)) = text.split_once('|') else {
        return false;
    };
    let is_numbered = number.trim().parse::<u32>().is_ok();
    // vitest marks the failing line with a pointer below it, not with a sign in front.
    let is_meant = log
        .lines
        .get(ix + 1)
        .is_some_and(|below| is_pointer(below.trim_start()));
    is_numbered && !is_meant && log.lines[ix].starts_with(' ')
}

/// Returns whether a line is a pointer, such as `|    ^`.
fn is_pointer(text: &str) -> bool {
    text.starts_with('|')
        && text.contains('^')
        && text.chars().all(|letter| "|^~ ".contains(letter))
}

/// Returns whether a text consists of over 20 of the signs that a reporter prints for each test.
fn is_dots(text: &str) -> bool {
    text.chars().count() > 20 && text.chars().all(|letter| "․.!,".contains(letter))
}

/// Returns whether a row of a coverage table is fully covered.
fn is_covered(line: &str) -> bool {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    cells.len() == 6 && cells[1..5].iter().all(|cell| *cell == "100")
}

fn mark_frame(log: &mut LogReducer<'_>, ix: usize, frames: &mut usize) {
    let text = log.lines[ix];
    let is_theirs = text.contains("node_modules")
        || text.contains("node:")
        || text.contains("(<anonymous>)")
        || text.contains("(internal");
    if is_theirs || *frames >= FRAMES {
        log.drop_line(ix, "frames");
    } else {
        *frames += 1;
        log.keep_line(ix);
    }
}

/// Reduces the TAP blocks between `---` and `...`: drops them for passing tests and keeps the
/// relevant fields for failing ones.
fn mark_tap(log: &mut LogReducer<'_>) {
    let mut is_passing = true;
    let mut is_inside = false;
    for ix in 0..log.lines.len() {
        let text = log.lines[ix].trim_start();
        if text.starts_with("not ok ") {
            is_passing = false;
        } else if text.starts_with("ok ") {
            is_passing = true;
        } else if text == "---" {
            is_inside = true;
            log.drop_line(ix, "");
        } else if text == "..." {
            is_inside = false;
            log.drop_line(ix, "");
        } else if is_inside {
            let is_noise = [
                "duration_ms",
                "type:",
                "code:",
                "stack:",
                "failureType:",
                "name:",
            ]
            .iter()
            .any(|word| text.starts_with(word))
                || text.contains("node:internal");
            if is_passing || is_noise {
                log.drop_line(ix, "");
            } else {
                log.keep_line(ix);
            }
        } else if text.starts_with("1..") || text.starts_with("TAP version") {
            log.drop_line(ix, "");
        }
    }
}

/// Drops the titles of suites without any remaining lines.
fn mark_titles(log: &mut LogReducer<'_>) {
    let has_sum = log
        .lines
        .iter()
        .position(|line| line.contains(" passing ("));
    let Some(sum) = has_sum else {
        return;
    };
    for ix in 0..sum {
        let is_title = log.lines[ix].starts_with("  ")
            && !is_numbered(log.lines[ix])
            && !log.lines[ix].trim().is_empty();
        if is_title {
            log.drop_line(ix, "");
        }
    }
}
