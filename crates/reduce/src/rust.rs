//! Output of cargo, rustc, clippy and Rust's test harness.

use super::log::{LogMessage, LogReducer, MessageLocation, shape};

const PROGRESS: [&str; 18] = [
    "Compiling ",
    "Checking ",
    "Downloaded ",
    "Downloading ",
    "Updating ",
    "Locking ",
    "Adding ",
    "Fresh ",
    "Dirty ",
    "Blocking ",
    "Documenting ",
    "Running `",
    "Packaging ",
    "Verifying ",
    "Scraping ",
    "Removed ",
    "Unpacking ",
    "Removing ",
];

/// Marks the output of cargo, rustc and Rust tests: keeps one copy of each error with all its
/// locations, and drops passing tests and progress.
pub(crate) fn mark(log: &mut LogReducer<'_>) {
    mark_complaints(log);
    mark_tests(log);
    mark_backtraces(log);
    for ix in 0..log.lines.len() {
        let line = log.lines[ix].trim_start();
        let is_indented = log.lines[ix].starts_with("  ");
        if is_indented && PROGRESS.iter().any(|word| line.starts_with(word)) {
            log.drop_line(ix, "lines of building");
        } else if line.starts_with("Finished ") || line.starts_with("error: ") {
            log.keep_line(ix);
        }
    }
}

/// Collects the messages `warning: …` and `error[E0308]: …`, with the location in the next line, up
/// to a blank line.
fn mark_complaints(log: &mut LogReducer<'_>) {
    let mut ix = 0;
    while ix < log.lines.len() {
        let Some((is_error, message)) = title(log.lines[ix]) else {
            ix += 1;
            continue;
        };
        let begin = ix;
        let place = log.lines.get(ix + 1).and_then(|line| parse_location(line));
        ix += 1;
        let Some((path, line)) = place else {
            // Totals such as `could not compile`, and the counts of warnings.
            log.keep_line(begin);
            continue;
        };
        while ix < log.lines.len()
            && !log.lines[ix].trim().is_empty()
            && title(log.lines[ix]).is_none()
        {
            ix += 1;
        }
        let (kind, name) = shape(message);
        let title = (!is_error).then(|| {
            let code = code_of(&log.lines[begin..ix]);
            format!("{}{code} --> {path}:{line}", log.lines[begin])
        });
        let complaint = LogMessage {
            lines: begin..ix,
            key: format!("rust {is_error} {kind}"),
            place: MessageLocation { path, line, name },
            is_error,
            brief: 2,
        };
        match title {
            Some(title) => log.add_message_titled(complaint, title),
            None => log.add_message(complaint),
        }
    }
}

/// Returns ` [clippy::len_zero]` if the lines name the lint; only the first message of each kind
/// does.
fn code_of(lines: &[&str]) -> String {
    let code = lines.iter().find_map(|line| {
        let rest = line
            .split("#[warn(")
            .nth(1)
            .or_else(|| line.split("#[deny(").nth(1))?;
        rest.split(')').next()
    });
    code.map(|code| format!(" [{code}]")).unwrap_or_default()
}

/// Parses the first line of a message of rustc: whether it is an error, and the rest after that
/// word, which begins with a colon or a code. `None` for other lines.
fn title(line: &str) -> Option<(bool, &str)> {
    let is_error = line.starts_with("error");
    let rest = line
        .strip_prefix("error")
        .or_else(|| line.strip_prefix("warning"))?;
    let has_code = rest.starts_with('[') && rest.contains("]: ");
    (rest.starts_with(": ") || has_code).then_some((is_error, rest))
}

/// Parses a location such as `  --> src/main.rs:3:7`.
fn parse_location(line: &str) -> Option<(String, String)> {
    let rest = line.trim_start().strip_prefix("--> ")?;
    let mut parts = rest.rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some((path.to_owned(), line.to_owned()))
}

fn mark_tests(log: &mut LogReducer<'_>) {
    let suites: Vec<usize> = (0..log.lines.len())
        .filter(|ix| log.lines[*ix].starts_with("test result: "))
        .collect();
    let passing = |log: &LogReducer<'_>, ix: usize| log.lines[ix].starts_with("test result: ok");
    let folds = suites.iter().filter(|ix| passing(log, **ix)).count() > 3;
    let last_passing = suites.iter().copied().rfind(|ix| passing(log, *ix));
    let mut begin = 0;
    let mut tests = 0_u64;
    let mut folded = 0_u64;
    for end in &suites {
        let is_passing = passing(log, *end);
        for ix in begin..*end {
            mark_test_line(log, ix, is_passing);
        }
        begin = *end + 1;
        if !is_passing || !folds {
            log.keep_line(*end);
            continue;
        }
        tests += passed(log.lines[*end]);
        folded += 1;
        if last_passing == Some(*end) {
            log.replace_line(
                *end,
                format!("[{folded} suites: test result: ok. {tests} passed]"),
            );
        } else {
            log.drop_line(*end, "");
        }
    }
    for ix in begin..log.lines.len() {
        mark_test_line(log, ix, false);
    }
}

fn mark_test_line(log: &mut LogReducer<'_>, ix: usize, is_passing: bool) {
    let line = log.lines[ix];
    let trimmed = line.trim_start();
    if let Some(rest) = line.strip_prefix("test ") {
        if rest.ends_with(" ... ok") {
            log.drop_line(ix, "passing tests");
        } else if rest.contains(" ... ignored") {
            log.drop_line(ix, "ignored tests");
        } else if rest.ends_with(" ... FAILED") || rest.contains("has been running for over") {
            // The name occurs above its output and in the list at the end.
            log.drop_line(ix, "");
        }
    } else if line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test"))
    {
        log.drop_line(ix, "");
    } else if is_dots(line) {
        log.drop_line(ix, "lines of dots");
    } else if trimmed.starts_with("Running unittests")
        || trimmed.starts_with("Running tests/")
        || trimmed.starts_with("Doc-tests ")
    {
        if is_passing {
            log.drop_line(ix, "");
        } else {
            log.keep_line(ix);
        }
    }
}

/// Returns whether the first word of a line consists of three or more of the signs that the quiet
/// test harness prints for each test.
fn is_dots(line: &str) -> bool {
    let dots = line.split(' ').next().unwrap_or_default();
    dots.len() > 2 && dots.chars().all(|letter| ".iF".contains(letter))
}

/// Returns the number after `ok. ` in a line such as `test result: ok. 3 passed; …`; 0 if there is
/// none.
fn passed(line: &str) -> u64 {
    let number = line
        .split("ok. ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Keeps the backtrace frames of the project; drops those of the standard library and of other
/// crates.
fn mark_backtraces(log: &mut LogReducer<'_>) {
    for ix in 0..log.lines.len() {
        let line = log.lines[ix].trim_start();
        let is_noise = line == "stack backtrace:"
            || line.starts_with("note: Some details are omitted")
            || line.starts_with("note: run with `RUST_BACKTRACE");
        if is_noise {
            log.drop_line(ix, "");
        } else if let Some(at) = line.strip_prefix("at ")
            && ix > 0
            && is_frame(log.lines[ix - 1])
        {
            let is_ours = (at.starts_with("./") || !at.starts_with('/'))
                && !log.lines[ix - 1].contains("{{closure}}");
            if is_ours {
                log.keep_line(ix - 1);
                log.keep_line(ix);
            } else {
                log.drop_line(ix - 1, "frames of libraries");
                log.drop_line(ix, "");
            }
        } else if is_frame(log.lines[ix])
            && !log
                .lines
                .get(ix + 1)
                .is_some_and(|next| next.trim_start().starts_with("at "))
        {
            log.drop_line(ix, "frames of libraries");
        }
    }
}

/// Returns whether a line is a frame, such as `   6: name::of::function`.
fn is_frame(line: &str) -> bool {
    let trimmed = line.trim_start();
    let digits = trimmed.len()
        - trimmed
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    line.starts_with(' ') && digits > 0 && trimmed[digits..].starts_with(": ")
}
