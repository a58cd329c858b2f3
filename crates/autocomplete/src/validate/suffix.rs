//! Handles the overlap of inserted text with the text after it.

use base::{ByteOffset, Span};
use text::Snapshot;

use super::{is_distinctive, text_from};
use crate::SuggestedEdit;

/// Bytes after the edit that are inspected.
const BEHIND: usize = 2_048;
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Number of equal lines that count as a repetition.
const LINES: usize = 2;

/// Whether an edit repeats the text after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuffixRepeat {
    No,
    /// It repeats closing characters only, which may in fact be missing.
    Closers,
    Words,
}

/// Checks whether the new text repeats the text after it: the rest of the row, the next row, or
/// several rows at its end.
pub(super) fn repeats(snapshot: &Snapshot, edit: &SuggestedEdit) -> SuffixRepeat {
    let new = edit.new.trim();
    if new.is_empty() {
        return SuffixRepeat::No;
    }
    let behind = text_from(snapshot, edit.span.end, BEHIND);
    if let Some(left) = behind.trim_start().strip_prefix(new) {
        // After a blank, a quote opens another string.
        let opens_string = new.ends_with(QUOTES) && !behind.starts_with(new);
        // A row may begin like the next one with the sign of a comment, an item or an operator.
        let is_sign = !new.contains(is_word) && begins_row(snapshot, edit);
        if new.chars().all(|ch| is_closer(ch) || ch.is_whitespace()) {
            return if opens_string {
                SuffixRepeat::No
            } else {
                SuffixRepeat::Closers
            };
        }
        if is_sign {
            return SuffixRepeat::No;
        }
        let is_in_row = !behind
            .split('\n')
            .next()
            .unwrap_or_default()
            .trim()
            .is_empty();
        let is_repeat = if is_in_row {
            !(new.ends_with(is_word) && left.starts_with(is_word))
        } else {
            begins_row(snapshot, edit) && repeats_row(new, left)
        };
        return if is_repeat {
            SuffixRepeat::Words
        } else {
            SuffixRepeat::No
        };
    }
    if runs_into(&edit.new, &behind) || ends_with_next_row(&edit.new, &behind) {
        SuffixRepeat::Words
    } else {
        SuffixRepeat::No
    }
}

/// Whether only blanks precede the new text in its row. A row that the user has begun is meant.
fn begins_row(snapshot: &Snapshot, edit: &SuggestedEdit) -> bool {
    let row = snapshot.point_at(edit.span.start).row;
    let head = snapshot.text(Span::new(snapshot.row_start(row), edit.span.start));
    head.trim().is_empty() || edit.new.starts_with(['\n', '\r'])
}

/// Whether a text that the next row begins with is this row, or so much of it that it cannot stand
/// for another one. `left` is what follows it.
fn repeats_row(new: &str, left: &str) -> bool {
    let is_row = left
        .split('\n')
        .next()
        .unwrap_or_default()
        .trim()
        .is_empty();
    let is_cut_word = new.ends_with(is_word) && left.starts_with(is_word);
    let words = new.split(|ch| !is_word(ch)).filter(|word| !word.is_empty());
    is_row && is_distinctive(new) || !is_cut_word && words.count() > LINES
}

/// Whether a text ends with the first distinctive lines after it, the last one possibly cut.
fn runs_into(new: &str, behind: &str) -> bool {
    let Some(start) = overlap(new, behind) else {
        return false;
    };
    let solid = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| is_distinctive(line));
        lines.map(str::to_owned).collect()
    };
    let tail = solid(&new[start..]);
    let following = solid(behind.split_once('\n').map_or("", |(_, rest)| rest));
    // The last line of either may be cut.
    let shared = tail.len().min(following.len());
    let is_same = |(ix, (new, old)): (usize, (&String, &String))| {
        new == old
            || ix + 1 == shared && (old.starts_with(new.as_str()) || new.starts_with(old.as_str()))
    };
    tail.iter().zip(&following).enumerate().all(is_same)
}

/// Whether a text of several rows ends with the row after it.
fn ends_with_next_row(new: &str, behind: &str) -> bool {
    let Some((head, last)) = new.trim_end().rsplit_once('\n') else {
        return false;
    };
    let mut following = behind.lines().skip(1).filter(|row| !row.trim().is_empty());
    let next = following.next().map(str::trim);
    !head.trim().is_empty() && is_distinctive(last) && next == Some(last.trim())
}

/// Returns the offset at which a text begins to repeat the following lines: two or more distinctive
/// ones.
pub(super) fn overlap(new: &str, behind: &str) -> Option<usize> {
    let first: Vec<&str> = behind
        .lines()
        .skip(1)
        .map(str::trim)
        .filter(|line| is_distinctive(line))
        .take(LINES)
        .collect();
    if first.len() < LINES {
        return None;
    }
    let mut start = 0;
    let lines = new.split_inclusive('\n').filter_map(|line| {
        let at = start;
        start += line.len();
        is_distinctive(line).then_some((at, line.trim()))
    });
    let lines: Vec<(usize, &str)> = lines.collect();
    let is_alike = |run: &&[(usize, &str)]| run.iter().map(|(_, line)| line).eq(&first);
    lines.windows(LINES).find(is_alike).map(|run| run[0].0)
}

/// Converts a model's completion at a caret to an edit, without duplicating the rest of the caret's
/// line.
///
/// If the completion ends like the rest of the line, that part stays; if the rest consists of
/// closing characters that occur within its first line, they are replaced.
pub(crate) fn joined(snapshot: &Snapshot, caret: ByteOffset, text: &str) -> SuggestedEdit {
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
        return SuggestedEdit::new(span, text.trim_end(), snapshot);
    }
    let is_closers = solid.chars().all(is_closer);
    if is_closers && is_subsequence(solid, first) {
        let span = Span::new(caret, caret + solid.len());
        return SuggestedEdit::new(span, text, snapshot);
    }
    insertion(caret, text)
}

fn insertion(caret: ByteOffset, text: &str) -> SuggestedEdit {
    SuggestedEdit {
        span: Span::at(caret),
        old: "".into(),
        new: text.into(),
    }
}

/// Whether the chars of `part` occur in `whole` in the same order, with any others between them.
fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut letters = whole.chars();
    part.chars().all(|ch| letters.any(|letter| letter == ch))
}

/// Whether a char is a letter, a digit or an underscore.
pub(super) fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// Whether a char may close or separate: a bracket, a quote, `;`, `,` or `|`.
pub(super) fn is_closer(ch: char) -> bool {
    matches!(
        ch,
        ')' | ']' | '}' | '>' | '"' | '\'' | '`' | ';' | ',' | '|'
    )
}

#[cfg(test)]
mod tests;
