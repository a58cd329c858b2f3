//! Detects text that repeats itself.

use text::Snapshot;

use super::suffix::is_word;
use super::{is_distinctive, text_up_to};
use crate::SuggestedEdit;

/// Bytes before the edit that are inspected.
const BEFORE: usize = 2_048;
/// Number of times that a line may occur in succession, and a byte sequence at the end.
const TIMES: usize = 2;
/// Minimum length of the beginning of a word that is recognised when it is written again, in bytes.
const MIN_WORD: usize = 3;
/// Longest repeated byte sequence that is detected.
const LONGEST_UNIT: usize = 64;

/// Whether an edit repeats itself or the lines above it.
pub(super) fn repeats(snapshot: &Snapshot, edit: &SuggestedEdit) -> bool {
    let before = text_up_to(snapshot, edit.span.start, BEFORE);
    let runs = |text: &str| longest_run(&format!("{before}{text}"));
    let run = runs(&edit.new);
    run > TIMES && run > runs(&edit.old)
        || ends_in_loop(&edit.new)
        || edit.old.trim().is_empty()
            && (is_row_above(&before, &edit.new)
                || is_begun_again(&before, &edit.new)
                || is_block_above(&before, &edit.new))
}

/// Whether a text that begins a row begins with the row right above.
fn is_row_above(before: &str, new: &str) -> bool {
    let (above, begun) = before.rsplit_once('\n').unwrap_or(("", before));
    let above = if new.starts_with(['\n', '\r']) {
        begun
    } else if begun.trim().is_empty() {
        above.trim_end().rsplit('\n').next().unwrap_or_default()
    } else {
        return false;
    };
    let first = new.trim_start().split('\n').next().unwrap_or_default();
    is_distinctive(first) && first.trim() == above.trim()
}

/// Whether a text begins with the beginning of its own row once more, or with the beginning of the
/// word that it continues.
fn is_begun_again(before: &str, new: &str) -> bool {
    let begun = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let word = begun.rsplit(|ch| !is_word(ch)).next().unwrap_or_default();
    let goes_on = |part: &str| {
        let rest = new.trim_start().strip_prefix(part);
        rest.is_some_and(|rest| rest.starts_with(is_word))
    };
    is_distinctive(begun) && new.trim_start().starts_with(begun.trim_end())
        || word.len() >= MIN_WORD && word.chars().all(char::is_alphabetic) && goes_on(word)
}

/// Returns the longest run of equal distinctive lines.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut run, mut last) = (0, 0, "");
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            continue;
        }
        run = if line == last { run + 1 } else { 1 };
        last = line;
        if is_distinctive(line) {
            longest = longest.max(run);
        }
    }
    longest
}

/// Whether a text ends in the same byte sequence more than twice, a common failure of language
/// models.
fn ends_in_loop(text: &str) -> bool {
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

/// Whether two or more lines are inserted that equal the lines right above.
fn is_block_above(before: &str, new: &str) -> bool {
    let (above, begun) = before.rsplit_once('\n').unwrap_or(("", before));
    let whole = format!("{begun}{new}");
    let solid = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    // A partial line before the edit belongs to the inserted text.
    let (above, new) = if new.starts_with(['\n', '\r']) {
        (solid(before), solid(new))
    } else {
        (solid(above), solid(&whole))
    };
    let says = new.iter().filter(|line| is_distinctive(line)).count();
    says >= TIMES && above.len() >= new.len() && above[above.len() - new.len()..] == new
}

#[cfg(test)]
mod tests;
