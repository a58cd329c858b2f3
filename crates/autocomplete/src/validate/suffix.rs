//! How what comes in meets what stands behind it.

use base::{ByteOffset, Span};
use text::Snapshot;

use super::{says_something, text_from};
use crate::Replacement;

/// So much of what stands behind is looked at, in bytes.
const BEHIND: usize = 2_048;
/// So many lines alike are a repetition.
const LINES: usize = 2;

/// Whether a replacement says again what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    No,
    /// Closing signs alone, which may be missing indeed.
    Closers,
    Words,
}

/// Whether the new text is the beginning of what stands behind, or ends with its first lines.
pub(super) fn repeats(snapshot: &Snapshot, edit: &Replacement) -> Repeats {
    let new = edit.new.trim();
    if new.is_empty() {
        return Repeats::No;
    }
    let behind = text_from(snapshot, edit.span.end, BEHIND);
    let rest = behind.trim_start();
    if let Some(left) = rest.strip_prefix(new) {
        let is_whole = !(new.ends_with(is_word) && left.starts_with(is_word));
        let is_closers = new.chars().all(|ch| is_closer(ch) || ch.is_whitespace());
        return match (is_closers, is_whole) {
            (true, _) => Repeats::Closers,
            (false, true) => Repeats::Words,
            (false, false) => Repeats::No,
        };
    }
    match overlap(&edit.new, &behind) {
        Some(_) => Repeats::Words,
        None => Repeats::No,
    }
}

/// Where a text begins to say the lines that stand behind it: two or more that say something.
pub(super) fn overlap(new: &str, behind: &str) -> Option<usize> {
    let first: Vec<&str> = behind
        .lines()
        .skip(1)
        .map(str::trim)
        .filter(|line| says_something(line))
        .take(LINES)
        .collect();
    if first.len() < LINES {
        return None;
    }
    let mut start = 0;
    let lines = new.split_inclusive('\n').filter_map(|line| {
        let at = start;
        start += line.len();
        says_something(line).then_some((at, line.trim()))
    });
    let lines: Vec<(usize, &str)> = lines.collect();
    let is_alike = |run: &&[(usize, &str)]| run.iter().map(|(_, line)| line).eq(&first);
    lines.windows(LINES).find(is_alike).map(|run| run[0].0)
}

/// What a model wrote for a caret as a replacement: what it wrote of the rest of the caret's line is not put there
/// twice.
///
/// Where its first line ends as the rest of the line does, that part stands there already; where the rest is closing
/// signs that come somewhere within its first line, they are replaced.
pub(crate) fn joined(snapshot: &Snapshot, caret: ByteOffset, text: &str) -> Replacement {
    let row = snapshot.point_at(caret).row;
    let end = snapshot.row_end(row);
    let rest = snapshot.text(Span::new(caret, end)).into_owned();
    let solid = rest.trim_end();
    let first = text.lines().next().unwrap_or_default();
    let is_multi = text.trim_end().contains('\n');
    if solid.is_empty() {
        return insertion(caret, text);
    }
    if !is_multi && text.trim_end().ends_with(solid) {
        let span = Span::new(caret, caret + solid.len());
        return Replacement::new(span, text.trim_end(), snapshot);
    }
    let is_closers = solid.chars().all(is_closer);
    if is_closers && is_subsequence(solid, first) {
        let span = Span::new(caret, caret + solid.len());
        return Replacement::new(span, text, snapshot);
    }
    insertion(caret, text)
}

fn insertion(caret: ByteOffset, text: &str) -> Replacement {
    Replacement {
        span: Span::at(caret),
        old: "".into(),
        new: text.into(),
    }
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut letters = whole.chars();
    part.chars().all(|ch| letters.any(|letter| letter == ch))
}

pub(super) fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

fn is_closer(ch: char) -> bool {
    matches!(
        ch,
        ')' | ']' | '}' | '>' | '"' | '\'' | '`' | ';' | ',' | '|'
    )
}

#[cfg(test)]
mod tests;
