//! Output of make, cmake, ctest, gcc, clang and linkers.

use super::log::{LogMessage, LogReducer, MessageLocation, shape};

/// Programs whose command lines make prints.
const COMMANDS: [&str; 18] = [
    "gcc ",
    "g++ ",
    "cc ",
    "c++ ",
    "clang ",
    "clang++ ",
    "ar ",
    "ld ",
    "ranlib ",
    "mkdir ",
    "rm ",
    "cp ",
    "install ",
    "libtool",
    "/bin/sh ",
    "echo ",
    "/usr/bin/",
    "cd ",
];

/// Marks the output of C and C++ compilers, make, CMake and ninja: keeps one copy of each error and
/// warning, and drops progress.
pub(crate) fn mark(log: &mut LogReducer<'_>) {
    mark_reasons(log);
    mark_complaints(log);
    for ix in 0..log.lines.len() {
        mark_line(log, ix);
    }
}

/// Keeps, once each, the project lines that caused an error deep in a library.
fn mark_reasons(log: &mut LogReducer<'_>) {
    let mut seen = std::collections::HashSet::new();
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        let is_reason = line.ends_with("required from here") || line.ends_with("requested here");
        if is_reason && !is_library(line) {
            if seen.insert(line) {
                log.keep_line(ix)
            } else {
                log.drop_line(ix, "")
            }
        }
    }
}

/// Returns whether a path, or a line that begins with one, is in a folder of installed software.
fn is_library(path: &str) -> bool {
    path.starts_with("/usr/") || path.starts_with("/opt/")
}

fn mark_complaints(log: &mut LogReducer<'_>) {
    let mut ix = 0;
    while ix < log.lines.len() {
        let line = log.lines[ix];
        if is_context(line) {
            // The function and the includes that led here: the message below suffices.
            log.drop_line(ix, "");
            ix += 1;
            continue;
        }
        let Some((place, severity, message)) = complaint(line) else {
            ix += 1;
            continue;
        };
        let begin = ix;
        ix += 1;
        let mut notes = Vec::new();
        while ix < log.lines.len() {
            let next = log.lines[ix];
            match complaint(next) {
                Some((_, "note", _)) => notes.push(ix),
                Some(_) => break,
                None if is_drawing(next) => {}
                None => break,
            }
            ix += 1;
        }
        if severity == "note" {
            log.keep_line(begin);
            continue;
        }
        let end = notes.first().copied().unwrap_or(ix);
        mark_notes(log, end..ix);
        let (kind, name) = shape(message);
        log.add_message(LogMessage {
            lines: begin..end,
            key: format!("native {severity} {kind}"),
            place: MessageLocation { name, ..place },
            is_error: severity != "warning",
            brief: 1,
        });
    }
}

/// Keeps the notes with a location in the project; drops the lists of candidates.
fn mark_notes(log: &mut LogReducer<'_>, lines: std::ops::Range<usize>) {
    let mut is_kept = false;
    for ix in lines {
        if let Some((place, _, message)) = complaint(log.lines[ix]) {
            is_kept = !is_library(&place.path) && !message.starts_with("candidate");
            if !is_kept {
                log.count("notes of compilers", 1);
            }
        }
        if is_kept {
            log.keep_line(ix);
        } else {
            log.drop_line(ix, "");
        }
    }
}

/// Parses a message of the form `path:3:7: error: message`.
fn complaint(line: &str) -> Option<(MessageLocation, &str, &str)> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let (at, severity, message) = ["fatal error", "error", "warning", "note"]
        .iter()
        .find_map(|severity| {
            let (at, message) = line.split_once(&format!(": {severity}: "))?;
            Some((at, *severity, message))
        })?;
    let mut parts = at.rsplitn(3, ':');
    let (last, middle) = (parts.next()?, parts.next()?);
    let (path, line) = match (parts.next(), middle.parse::<u32>().is_ok()) {
        (Some(path), true) => (path, middle),
        _ if last.parse::<u32>().is_ok() => (at.strip_suffix(last)?.strip_suffix(':')?, last),
        _ => return None,
    };
    let place = MessageLocation {
        path: path.to_owned(),
        line: line.to_owned(),
        name: None,
    };
    Some((place, severity, message))
}

/// Returns whether a line is source code below a message, or a pointer into it.
fn is_drawing(line: &str) -> bool {
    line.starts_with(' ')
        || line.starts_with('\t')
        || is_context(line)
        || line.contains("required from")
}

/// Returns whether a line says where the following message of the compiler belongs.
fn is_context(line: &str) -> bool {
    line.contains(": In function ")
        || line.contains(": In member function ")
        || line.contains(": In instantiation of ")
        || line.contains(": In constructor ")
        || line.contains(": At global scope:")
        || line.starts_with("In file included from ")
        || (line.starts_with("                 from "))
}

fn mark_line(log: &mut LogReducer<'_>, ix: usize) {
    let line = log.lines[ix];
    if COMMANDS.iter().any(|command| line.starts_with(command)) && !line.contains(": ") {
        log.drop_line(ix, "commands that were run");
    } else if line.starts_with('[') && line.get(5..6) == Some("]") {
        // A progress line of make: `[ 42%] Building CXX object …`
        log.drop_line(ix, "lines of building");
    } else if line.contains(": Entering directory")
        || line.contains(": Leaving directory")
        || line.contains("is up to date")
    {
        log.drop_line(ix, "lines of building");
    } else if line.starts_with("-- Check for ")
        || line.starts_with("-- Detecting ")
        || line.starts_with("-- Looking for ")
        || line.starts_with("-- Performing Test ")
    {
        log.drop_line(ix, "lines of configuring");
    } else if is_test_start(line) || line.contains(".   Passed ") {
        log.drop_line(
            ix,
            if is_test_start(line) {
                ""
            } else {
                "passing tests"
            },
        );
    } else if line.contains("***")
        || line.contains("undefined reference")
        || line.contains("% tests passed")
        || line.starts_with("CMake Error")
    {
        log.keep_line(ix);
    }
}

/// Returns whether a line starts a test of ctest, such as `    Start 12: name`.
fn is_test_start(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("Start ") else {
        return false;
    };
    line.starts_with("  ")
        && rest
            .split(':')
            .next()
            .is_some_and(|number| number.trim().parse::<u32>().is_ok())
}
