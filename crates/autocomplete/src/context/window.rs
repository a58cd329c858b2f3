//! The text around the caret that a model sees, and the part of it that the model may rewrite.
//!
//! Invariant: a window begins and ends at row boundaries, except where the prefix of a gap ends at
//! the caret.
//! Invariant: the editable part contains the caret and consists of whole rows with their line
//! endings.

use std::ops::Range;

use base::{ByteOffset, Row, Span};
use text::Snapshot;

use super::{BUDGET, BYTES_PER_TOKEN};
use crate::EditorState;

/// Maximum bytes of a window of rows, three quarters of the budget; a single row may be longer.
const MAX_BYTES: usize = BUDGET * BYTES_PER_TOKEN / 4 * 3;

/// Size of a prompt window and of the part of it that the model may edit, in tokens or rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLimits {
    /// Fill in the middle: a number of tokens before and after the caret.
    Gap {
        /// Tokens before the caret.
        before: usize,
        /// Tokens after the caret.
        behind: usize,
    },
    /// A number of editable rows above and below the caret's row, surrounded by read-only rows.
    Rows {
        /// Editable rows above the caret's row.
        above: u32,
        /// Editable rows below the caret's row.
        below: u32,
        /// Read-only rows on each side.
        around: u32,
    },
    /// The syntax nodes around the caret, up to a number of tokens.
    Tokens {
        /// Tokens of the editable part.
        editable: usize,
        /// Read-only tokens, both sides together.
        around: usize,
    },
}

/// The excerpt of the text around the caret that a prompt shows, and the part of it that the model
/// may edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptWindow {
    /// Offset of the excerpt in the text.
    pub start: ByteOffset,
    /// Text of the excerpt.
    pub text: String,
    /// Editable part, in bytes of the excerpt.
    pub editable: Range<usize>,
    /// Caret, in bytes of the excerpt.
    pub caret: usize,
    /// First row of the editable part.
    pub row: Row,
    /// Editable part before the last edit; `None` if that edit was elsewhere.
    pub before: Option<String>,
}

impl PromptWindow {
    /// Cuts the window around the caret of an editor state. A caret past the end is clamped.
    pub fn for_editor(state: &EditorState, frame: WindowLimits) -> Self {
        let snapshot = &state.snapshot;
        let caret = state.caret.min(snapshot.len());
        let (whole, editable) = match frame {
            WindowLimits::Gap { before, behind } => {
                let whole = gap(state, caret, before, behind);
                (whole, Span::at(caret))
            }
            WindowLimits::Rows {
                above,
                below,
                around,
            } => rows(snapshot, caret, (above, below), around),
            WindowLimits::Tokens { editable, around } => {
                let inner = held_together(state, caret, editable * BYTES_PER_TOKEN);
                (widened(snapshot, inner, around * BYTES_PER_TOKEN), inner)
            }
        };
        Self {
            start: whole.start,
            text: snapshot.text(whole).into_owned(),
            editable: editable.start - whole.start..editable.end - whole.start,
            caret: caret - whole.start,
            row: snapshot.point_at(editable.start).row,
            before: None,
        }
    }

    /// Whether the window is too long to be sent, for example because of one very long row.
    pub fn is_too_long(&self) -> bool {
        self.text.len() > MAX_BYTES
    }

    /// Returns the editable part.
    pub fn region(&self) -> &str {
        &self.text[self.editable.clone()]
    }

    /// Returns the read-only text before the editable part.
    pub fn before_region(&self) -> &str {
        &self.text[..self.editable.start]
    }

    /// Returns the read-only text after the editable part.
    pub fn after_region(&self) -> &str {
        &self.text[self.editable.end..]
    }

    /// Returns the offset of the editable part in the text.
    pub fn region_start(&self) -> ByteOffset {
        self.start + self.editable.start
    }

    /// Returns the editable part with `mark` inserted at the caret.
    pub fn marked(&self, mark: &str) -> String {
        let (before, behind) = self.region().split_at(self.caret - self.editable.start);
        format!("{before}{mark}{behind}")
    }
}

/// Returns the spans of whole rows around a caret, with fewer rows where they are long.
fn rows(
    snapshot: &Snapshot,
    caret: ByteOffset,
    (above, below): (u32, u32),
    around: u32,
) -> (Span, Span) {
    let row = snapshot.point_at(caret).row;
    let fits = |span: &Span| span.len() <= MAX_BYTES;
    let region = (0..=above.max(below))
        .map(|less| {
            let (above, below) = (above.saturating_sub(less), below.saturating_sub(less));
            rows_around(snapshot, row, above, below)
        })
        .find(fits)
        .unwrap_or_else(|| rows_around(snapshot, row, 0, 0));
    let whole = (0..=around)
        .rev()
        .map(|more| rows_around(snapshot, row, above + more, below + more).union(region))
        .find(fits)
        .unwrap_or(region);
    (whole, region)
}

fn rows_around(snapshot: &Snapshot, row: Row, above: u32, below: u32) -> Span {
    let first = Row(row.0.saturating_sub(above));
    let last = Row(row.0.saturating_add(below).min(snapshot.last_row().0));
    Span::new(
        snapshot.row_start(first),
        snapshot.row_start(Row(last.0 + 1)),
    )
}

/// Returns the text around a gap, starting at an outermost item and ending at a row if possible.
fn gap(state: &EditorState, caret: ByteOffset, before: usize, behind: usize) -> Span {
    let snapshot = &state.snapshot;
    let most = Span::new(
        snapshot.clip(caret - before * BYTES_PER_TOKEN, base::Bias::Right),
        snapshot.clip(caret + behind * BYTES_PER_TOKEN, base::Bias::Left),
    );
    let start = match most.start.0 {
        0 => most.start,
        _ => first_start(state, most.start, caret),
    };
    let end = if most.end == snapshot.len() {
        most.end
    } else {
        // Ends after the last row that fits; a single long row is cut.
        match snapshot.row_start(snapshot.point_at(most.end).row) {
            row if row > caret => row,
            _ => most.end,
        }
    };
    Span::new(start, end)
}

/// Returns the first row after an offset at which an outermost item begins, searched in the first
/// third; otherwise the next row.
fn first_start(state: &EditorState, from: ByteOffset, caret: ByteOffset) -> ByteOffset {
    let snapshot = &state.snapshot;
    let first = snapshot.point_at(from).row.0 + 1;
    let own = snapshot.point_at(caret).row.0;
    if first > own {
        return from;
    }
    let begins = |row: &u32| {
        let text = snapshot.row_text(Row(*row));
        let is_outer = text.starts_with(|ch: char| ch.is_alphabetic() || "#@/*\"'".contains(ch));
        is_outer && (*row == 0 || is_blank_or_end(&snapshot.row_text(Row(*row - 1))))
    };
    let row = (first..first + (own - first) / 3).find(begins);
    snapshot.row_start(Row(row.unwrap_or(first)))
}

/// Whether a row contains no letter and no digit: a blank row, or one of punctuation such as `}`.
fn is_blank_or_end(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.chars().all(|ch| !ch.is_alphanumeric())
}

/// Returns the largest run of rows around the caret that belongs to one syntax node and is at most
/// `most` bytes long, extended by rows on both sides if it is short.
fn held_together(state: &EditorState, caret: ByteOffset, most: usize) -> Span {
    let snapshot = &state.snapshot;
    let row = snapshot.point_at(caret).row;
    let mut held = rows_around(snapshot, row, 0, 0);
    if let Some(syntax) = &state.syntax {
        let mut node = Span::at(caret);
        while let Some(wider) = syntax.expand(snapshot, node) {
            let rows = whole_rows(snapshot, wider);
            if rows.len() > most || wider == node {
                break;
            }
            held = held.union(rows);
            node = wider;
        }
    }
    // A complete node is kept as it is unless it is short.
    if held.len() * 2 < most {
        widened(snapshot, held, most.saturating_sub(held.len()))
    } else {
        held
    }
}

fn whole_rows(snapshot: &Snapshot, span: Span) -> Span {
    let first = snapshot.point_at(span.start).row;
    let last = snapshot.point_at(span.end).row;
    Span::new(
        snapshot.row_start(first),
        snapshot.row_start(Row(last.0 + 1)),
    )
}

/// Extends a run of rows alternately above and below, by at most `bytes`.
fn widened(snapshot: &Snapshot, span: Span, mut bytes: usize) -> Span {
    let mut first = snapshot.point_at(span.start).row.0;
    let mut end = snapshot.point_at(span.end).row.0;
    if snapshot.row_start(Row(end)) < span.end {
        end += 1;
    }
    let rows = snapshot.row_count();
    let mut span = span;
    let mut is_above = true;
    let mut failed = 0;
    while failed < 2 {
        let row = if is_above {
            first.checked_sub(1)
        } else {
            (end < rows).then_some(end)
        };
        let row = row.map(|row| (row, snapshot.row_span_with_ending(Row(row))));
        match row.filter(|(_, row)| row.len() <= bytes) {
            Some((row, row_span)) => {
                bytes -= row_span.len();
                span = span.union(row_span);
                if is_above {
                    first = row
                } else {
                    end = row + 1
                }
                failed = 0;
            }
            None => failed += 1,
        }
        is_above = !is_above;
    }
    span
}

#[cfg(test)]
mod tests;
