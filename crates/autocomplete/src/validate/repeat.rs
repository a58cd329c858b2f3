//! Text that says the same over and over.

use text::Snapshot;

use super::{says_something, text_up_to};
use crate::Replacement;

/// So much of what stands before is looked at, in bytes.
const BEFORE: usize = 2_048;
/// A line may come so often in a row, and a run of letters at the end.
const TIMES: usize = 2;
/// The longest run of letters that is looked for, in bytes.
const LONGEST_UNIT: usize = 64;

/// Whether a replacement repeats itself, or the lines above it.
pub(super) fn repeats(snapshot: &Snapshot, edit: &Replacement) -> bool {
    let before = text_up_to(snapshot, edit.span.start, BEFORE);
    let runs = |text: &str| longest_run(&format!("{before}{text}"));
    let run = runs(&edit.new);
    run > TIMES && run > runs(&edit.old)
        || ends_in_a_circle(&edit.new)
        || edit.old.trim().is_empty() && is_block_above(&before, &edit.new)
}

/// How often the same line comes in a row at most, lines that say nothing left out.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut run, mut last) = (0, 0, "");
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            continue;
        }
        run = if line == last { run + 1 } else { 1 };
        last = line;
        if says_something(line) {
            longest = longest.max(run);
        }
    }
    longest
}

/// Whether a text ends in the same letters more than twice: what models fall into when nothing stops them.
fn ends_in_a_circle(text: &str) -> bool {
    let bytes = text.trim_end().as_bytes();
    let most = LONGEST_UNIT.min(bytes.len() / (TIMES + 1));
    (4..=most).any(|length| {
        let mut units = bytes.rchunks_exact(length);
        let Some(unit) = units.next() else {
            return false;
        };
        let says = unit.iter().filter(|it| it.is_ascii_alphanumeric()).count() >= 3;
        says && units.take(TIMES).filter(|it| *it == unit).count() == TIMES
    })
}

/// Whether two or more lines come in that stand right above.
fn is_block_above(before: &str, new: &str) -> bool {
    let (above, begun) = before.rsplit_once('\n').unwrap_or(("", before));
    let whole = format!("{begun}{new}");
    let solid = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    // A line that ends where the new text begins is one of those above.
    let (above, new) = match new.starts_with(['\n', '\r']) {
        true => (solid(before), solid(new)),
        false => (solid(above), solid(&whole)),
    };
    let says = new.iter().filter(|line| says_something(line)).count();
    says >= TIMES && above.len() >= new.len() && above[above.len() - new.len()..] == new
}

#[cfg(test)]
mod tests;
