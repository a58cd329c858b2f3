//! Message and place of a failed test of Rust, in its output.

use crate::outcome::{FailureLocation, TestOutcome};

const PANICKED: &str = " panicked at ";

/// Sets the message and the place of the first panic in the output, or its first line as the message.
pub(super) fn read_panic(outcome: &mut TestOutcome) {
    let output = std::mem::take(&mut outcome.output);
    let mut lines = output.lines();
    let heading = lines.find_map(|line| {
        let rest = line.strip_prefix("thread ")?;
        let (_, place) = rest.split_once(PANICKED)?;
        Some(place)
    });
    match heading {
        Some(place) => {
            let rest: Vec<&str> = lines.take_while(|line| !is_end(line)).collect();
            read_place(outcome, place, &rest);
        }
        None => {
            let mut lines = output.lines().filter(|line| !line.trim().is_empty());
            outcome.set_message(lines.next().unwrap_or_default());
        }
    }
    outcome.output = output;
}

fn is_end(line: &str) -> bool {
    line.is_empty() || line.starts_with("note: ") || line.starts_with("stack backtrace:")
}

/// Reads `src/lib.rs:12:5:` with the message in the next lines, or, of older compilers, `'message', src/lib.rs:12:5`.
fn read_place(outcome: &mut TestOutcome, place: &str, rest: &[&str]) {
    if let Some(place) = place.strip_suffix(':') {
        outcome.location = FailureLocation::parse(place);
        outcome.set_message(&rest.join("\n"));
        return;
    }
    // The message may have several lines; the place is after the last quote.
    let text = std::iter::once(place).chain(rest.iter().copied());
    let text = text.collect::<Vec<_>>().join("\n");
    match text.rsplit_once("', ") {
        Some((message, place)) => {
            outcome.location = FailureLocation::parse(place.trim());
            outcome.set_message(message.trim_start_matches('\''));
        }
        None => outcome.set_message(&text),
    }
}
