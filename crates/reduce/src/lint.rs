//! Compilers and linters that print a location before each message: tsc, eslint, mypy, ruff,
//! flake8, go vet, and any tool that writes `path:line:column: message`.

use std::sync::LazyLock;

use regex::Regex;

use super::log::{LogMessage, LogReducer, MessageLocation, shape};

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and a test uses each"
)]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern is valid")
}

/// `path:3:7: error: message`, `path(3,7): error TS1: message`, `path:3:7 - error TS1: message`.
static PLACED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?<path>[^\s:()]*[A-Za-z/][^:()]*?)(?::(?<l1>\d+)(?::\d+)?|\((?<l2>\d+),\d+\))(?::| -) (?<message>\S.*)$",
    )
});
/// `  3:7  error  message  rule` below a line with the path.
static BELOW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s+(?<line>\d+):\d+\s+(?<severity>error|warning)\s+(?<message>.*?)(?:\s\s+(?<rule>\S+))?$",
    )
});
/// `E501 [*] message`, with `--> path:3:7` in the next line.
static CODED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?<code>[A-Z]{1,6}\d{2,4}|invalid-syntax)(?: \[\*\])?:? (?<message>\S.*)$")
});

/// Marks messages of compilers and linters, in the form `path:line: text` or in lines below a path.
/// Shows equal messages once, with the other locations.
pub(crate) fn mark(log: &mut LogReducer<'_>) {
    let mut path = String::new();
    let mut ix = 0;
    while ix < log.lines.len() {
        let line = log.lines[ix];
        if !log.is_open(ix) {
            ix += 1;
        } else if let Some(length) = message_with_location(log, ix) {
            ix += length;
        } else if let Some(length) = message_with_code(log, ix) {
            ix += length;
        } else if message_below_path(log, ix, &path) {
            ix += 1;
        } else {
            if is_path(line)
                && log
                    .lines
                    .get(ix + 1)
                    .is_some_and(|next| BELOW.is_match(next))
            {
                path = line.trim().to_owned();
                // Every message that is shown repeats the path.
                log.drop_line(ix, "");
            } else if is_sum(line) {
                log.keep_line(ix);
            } else if line.starts_with("Errors  Files") {
                drop_table(log, ix);
            }
            ix += 1;
        }
    }
}

/// Returns whether a line can be a path above messages: it is not empty or indented and contains a
/// slash, a backslash or a dot.
fn is_path(line: &str) -> bool {
    !line.starts_with(' ') && !line.is_empty() && line.contains(['/', '.', '\\'])
}

/// Returns whether a line sums up the messages of a linter.
fn is_sum(line: &str) -> bool {
    line.starts_with("Found ")
        || line.starts_with("✖ ")
        || line.starts_with("Success: ")
        || line.starts_with("[*] ")
}

fn drop_table(log: &mut LogReducer<'_>, begin: usize) {
    for ix in begin..log.lines.len() {
        log.drop_line(ix, "rows of a table of files");
    }
}

/// Returns the number of lines of a message with a leading location, if one begins here.
fn message_with_location(log: &mut LogReducer<'_>, ix: usize) -> Option<usize> {
    let found = PLACED.captures(log.lines[ix])?;
    let message = &found["message"];
    let line = found
        .name("l1")
        .or_else(|| found.name("l2"))?
        .as_str()
        .to_owned();
    let path = found["path"].to_owned();
    let end = end_of(log, ix, &path);
    let is_warning = message.starts_with("warning") || message.starts_with("note");
    let (kind, name) = shape(message);
    log.add_message(LogMessage {
        lines: ix..end,
        key: format!("placed {kind}"),
        place: MessageLocation { path, line, name },
        is_error: !is_warning,
        brief: 1,
    });
    Some(end - ix)
}

/// Returns the end of a message. Indented lines, lines that draw the location, and notes on the
/// same file belong to it.
fn end_of(log: &LogReducer<'_>, ix: usize, path: &str) -> usize {
    let line = |ix: usize| log.lines.get(ix).copied().unwrap_or_default();
    let is_numbered = |ix: usize| {
        let number = line(ix).split(' ').next().unwrap_or_default();
        number.parse::<u32>().is_ok()
    };
    let is_marks = |ix: usize| {
        let text = line(ix).trim();
        !text.is_empty() && text.chars().all(|letter| letter == '~')
    };
    let mut end = ix + 1;
    while end < log.lines.len() {
        if line(end).is_empty() && is_numbered(end + 1) && is_marks(end + 2) {
            end += 3;
        } else if is_numbered(end) && is_marks(end + 1) {
            end += 2;
        } else if line(end).starts_with([' ', '\t'])
            || (line(end).starts_with(path) && line(end).contains(": note: "))
        {
            end += 1;
        } else {
            break;
        }
    }
    end
}

/// Adds the message that begins at line `ix` with a code, if its location follows in the next line.
/// Returns the number of its lines; `None` if no such message begins there.
fn message_with_code(log: &mut LogReducer<'_>, ix: usize) -> Option<usize> {
    let found = CODED.captures(log.lines[ix])?;
    let place = log.lines.get(ix + 1)?.trim_start().strip_prefix("--> ")?;
    let mut parts = place.rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    let begins = |ix: usize| {
        let line = log.lines.get(ix).copied().unwrap_or_default();
        let below = log.lines.get(ix + 1).copied().unwrap_or_default();
        is_sum(line) || (CODED.is_match(line) && below.trim_start().starts_with("--> "))
    };
    // Code, help and the proposed change follow, with blank lines between.
    let end = (ix + 2..log.lines.len()).find(|ix| begins(*ix));
    let end = end.unwrap_or(log.lines.len());
    let (_, name) = shape(&found["message"]);
    let place = MessageLocation {
        path: path.to_owned(),
        line: line.to_owned(),
        name,
    };
    log.add_message(LogMessage {
        lines: ix..end,
        key: format!("coded {}", &found["code"]),
        place,
        // Linters with this format have no severities, so every message gets its location and few
        // lines.
        is_error: false,
        brief: 2,
    });
    Some(end - ix)
}

/// Adds the message at line `ix` that has a line number but no path; `path` is the one above it.
/// Returns whether there is one.
fn message_below_path(log: &mut LogReducer<'_>, ix: usize, path: &str) -> bool {
    let Some(found) = BELOW.captures(log.lines[ix]) else {
        return false;
    };
    let (kind, name) = shape(&found["message"]);
    let rule = found.name("rule").map_or("", |rule| rule.as_str());
    let line = found["line"].to_owned();
    let is_error = &found["severity"] == "error";
    let key = format!("below {rule} {kind}");
    let severity = &found["severity"];
    let title = format!("{path}:{line}: {severity}: {} {rule}", &found["message"]);
    let place = MessageLocation {
        path: path.to_owned(),
        line,
        name,
    };
    let complaint = LogMessage {
        lines: ix..ix + 1,
        key,
        place,
        is_error,
        brief: 1,
    };
    log.add_message_titled(complaint, title);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_with_locations_are_recognized() {
        let check = |line: &str, expected: Option<(&str, &str)>| {
            let found = PLACED.captures(line);
            let found = found.as_ref().map(|found| {
                let line = found.name("l1").or_else(|| found.name("l2"));
                (found.name("path").unwrap().as_str(), line.unwrap().as_str())
            });
            assert_eq!(found, expected, "{line}");
        };
        check("a/b.ts(3,7): error TS1: no", Some(("a/b.ts", "3")));
        check("a/b.ts:3:7 - error TS1: no", Some(("a/b.ts", "3")));
        check("a.py:3: error: no  [x]", Some(("a.py", "3")));
        check("v.go:7:10: no", Some(("v.go", "7")));
        check("12:30:01: no", None);
        check("note: no", None);
        check("  a.py:3: x", None);
        assert!(BELOW.is_match("  3:7  error  'x' is not defined  no-undef"));
        assert!(BELOW.is_match("  2:7  error  Parsing error: Unexpected token ;"));
        assert!(CODED.is_match("D100 Missing docstring"));
        assert!(!CODED.is_match("HELLO world"));
    }
}
