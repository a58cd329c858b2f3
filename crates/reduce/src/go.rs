//! Output of go build, go test and go vet.

use super::lint;
use super::log::LogReducer;

/// Marks the output of `go build`, `go test` and `go vet`: keeps failures, panics and complaints,
/// and drops passing tests and noise.
pub(crate) fn mark(log: &mut LogReducer<'_>) {
    for ix in 0..log.lines.len() {
        mark_line(log, ix);
    }
    mark_panics(log);
    lint::mark(log);
}

fn mark_line(log: &mut LogReducer<'_>, ix: usize) {
    let line = log.lines[ix];
    let trimmed = line.trim_start();
    if line.starts_with("=== ") {
        log.drop_line(ix, "");
    } else if trimmed.starts_with("--- PASS: ") {
        log.drop_line(ix, "passing tests");
    } else if trimmed.starts_with("--- SKIP: ") {
        log.drop_line(ix, "skipped tests");
    } else if trimmed.starts_with("--- FAIL: ") {
        log.keep_line(ix);
        // Output of a test is indented below its name.
        let indent = line.len() - trimmed.len();
        let mut next = ix + 1;
        while log.lines.get(next).is_some_and(|line| {
            let text = line.trim_start();
            line.len() - text.len() > indent
                && !text.starts_with("--- ")
                && !text.starts_with("=== ")
        }) {
            log.keep_line(next);
            next += 1;
        }
    } else if line.starts_with("ok  \t") {
        log.drop_line(ix, "packages that pass");
    } else if line.contains("[no test files]") {
        log.drop_line(ix, "packages without tests");
    } else if line.starts_with("go: downloading ") {
        log.drop_line(ix, "downloads");
    } else if line == "PASS" {
        let is_last = ix + 2 >= log.lines.len();
        if is_last {
            log.keep_line(ix);
        } else {
            log.drop_line(ix, "");
        }
    } else if line.starts_with("FAIL")
        || line.starts_with("panic: ")
        || line.starts_with("fatal error: ")
        || line.starts_with("# ")
    {
        log.keep_line(ix);
    }
}

/// Reduces panics. A frame is a function and, indented, its location: frames of Go itself are
/// dropped, and the first frames of the project stay.
fn mark_panics(log: &mut LogReducer<'_>) {
    let mut shown = 0;
    for ix in 1..log.lines.len() {
        let line = log.lines[ix];
        if line.starts_with("goroutine ") {
            shown = 0;
            continue;
        }
        let Some(place) = line.strip_prefix('\t') else {
            continue;
        };
        let is_frame = place.contains(".go:")
            && (log.lines[ix - 1].contains('(') || log.lines[ix - 1].starts_with("created by "));
        if !is_frame {
            continue;
        }
        let is_ours = !place.starts_with("/usr/")
            && !place.contains("/go/src/")
            && !place.contains("/pkg/mod/");
        if is_ours && shown < 8 {
            shown += 1;
            log.keep_line(ix - 1);
            log.keep_line(ix);
        } else {
            log.drop_line(ix - 1, "frames");
            log.drop_line(ix, "");
        }
    }
}

/// Extracts the text from a log of `go test -json`; `None` for other logs.
pub(crate) fn unpack_json(text: &str) -> Option<String> {
    let is_event =
        |line: &&str| line.starts_with("{\"Time\":") || line.starts_with("{\"ImportPath\":");
    if !text.lines().take(20).any(|line| is_event(&line)) {
        return None;
    }
    let mut plain = String::new();
    for line in text.lines() {
        if !is_event(&line) {
            plain.push_str(line);
            plain.push('\n');
            continue;
        }
        let event: serde_json::Value = serde_json::from_str(line).ok()?;
        if let Some(output) = event.get("Output").and_then(|output| output.as_str()) {
            plain.push_str(output);
        }
    }
    Some(plain)
}
