//! The text around the caret that a model sees, and the part of it that it may rewrite.
//!
//! Invariant: a window begins and ends at rows, except where a gap's prefix ends at the caret.
//! Invariant: the editable part holds the caret and whole rows, their endings included.

use std::ops::Range;

use base::{ByteOffset, Row, Span};
use text::Snapshot;

use super::{BUDGET, BYTES_PER_TOKEN};
use crate::Scene;

/// A window of rows takes at most three quarters of a budget, in bytes; a single row may be longer.
const MOST_BYTES: usize = BUDGET * BYTES_PER_TOKEN / 4 * 3;

/// How much of the text is taken, and how much of that may be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// For a gap at the caret: so many tokens before it and behind it.
    Gap {
        /// Before the caret.
        before: usize,
        /// Behind it.
        behind: usize,
    },
    /// So many rows above and below the caret's may be rewritten; around them there are so many more.
    Rows {
        /// Rows that may be rewritten above the caret's.
        above: u32,
        /// And below it.
        below: u32,
        /// Rows on each side that are only shown.
        around: u32,
    },
    /// What the grammar holds together around the caret, in tokens.
    Tokens {
        /// That may be rewritten.
        editable: usize,
        /// That are only shown, on both sides together.
        around: usize,
    },
}

/// A piece of the text with the caret in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it begins in the text.
    pub start: ByteOffset,
    /// The piece.
    pub text: String,
    /// What may be rewritten, in bytes of the piece.
    pub editable: Range<usize>,
    /// The caret, in bytes of the piece.
    pub caret: usize,
    /// The first row of the part that may be rewritten.
    pub row: Row,
    /// What the editable part was before the last edit; `None` where that edit was elsewhere.
    pub before: Option<String>,
}

impl Window {
    /// The window of a scene.
    pub fn around(scene: &Scene, frame: Frame) -> Self {
        let snapshot = &scene.snapshot;
        let caret = scene.caret.min(snapshot.len());
        let (whole, editable) = match frame {
            Frame::Gap { before, behind } => {
                let whole = gap(scene, caret, before, behind);
                (whole, Span::at(caret))
            }
            Frame::Rows {
                above,
                below,
                around,
            } => rows(snapshot, caret, (above, below), around),
            Frame::Tokens { editable, around } => {
                let inner = held_together(scene, caret, editable * BYTES_PER_TOKEN);
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

    /// Whether it is too long to be sent, as a text of one long row is.
    pub fn is_too_long(&self) -> bool {
        self.text.len() > MOST_BYTES
    }

    /// The part that may be rewritten.
    pub fn region(&self) -> &str {
        &self.text[self.editable.clone()]
    }

    /// What is shown before that part.
    pub fn above(&self) -> &str {
        &self.text[..self.editable.start]
    }

    /// What is shown behind it.
    pub fn below(&self) -> &str {
        &self.text[self.editable.end..]
    }

    /// Where the part that may be rewritten begins in the text.
    pub fn region_start(&self) -> ByteOffset {
        self.start + self.editable.start
    }

    /// The part that may be rewritten, with a mark at the caret.
    pub fn marked(&self, mark: &str) -> String {
        let (before, behind) = self.region().split_at(self.caret - self.editable.start);
        format!("{before}{mark}{behind}")
    }
}

/// Whole rows around a caret, fewer of them where they are long.
fn rows(
    snapshot: &Snapshot,
    caret: ByteOffset,
    (above, below): (u32, u32),
    around: u32,
) -> (Span, Span) {
    let row = snapshot.point_at(caret).row;
    let fits = |span: &Span| span.len() <= MOST_BYTES;
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

/// The text around a gap, beginning and ending where something does.
fn gap(scene: &Scene, caret: ByteOffset, before: usize, behind: usize) -> Span {
    let snapshot = &scene.snapshot;
    let most = Span::new(
        snapshot.clip(caret - before * BYTES_PER_TOKEN, base::Bias::Right),
        snapshot.clip(caret + behind * BYTES_PER_TOKEN, base::Bias::Left),
    );
    let start = match most.start.0 {
        0 => most.start,
        _ => first_start(scene, most.start, caret),
    };
    let end = match most.end == snapshot.len() {
        true => most.end,
        // The last row that fits whole; a single long one is cut.
        false => match snapshot.row_start(snapshot.point_at(most.end).row) {
            row if row > caret => row,
            _ => most.end,
        },
    };
    Span::new(start, end)
}

/// The first row from an offset on at which something of the outermost level begins, looked for in the first third;
/// else the next row.
fn first_start(scene: &Scene, from: ByteOffset, caret: ByteOffset) -> ByteOffset {
    let snapshot = &scene.snapshot;
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

fn is_blank_or_end(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.chars().all(|ch| !ch.is_alphanumeric())
}

/// The largest run of rows around the caret that one node holds and that is not longer than `most` bytes; filled up
/// with rows on both sides.
fn held_together(scene: &Scene, caret: ByteOffset, most: usize) -> Span {
    let snapshot = &scene.snapshot;
    let row = snapshot.point_at(caret).row;
    let mut held = rows_around(snapshot, row, 0, 0);
    if let Some(syntax) = &scene.syntax {
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
    // Something whole is left as it is, unless it is little.
    match held.len() * 2 < most {
        true => widened(snapshot, held, most.saturating_sub(held.len())),
        false => held,
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

/// A run of rows with rows added on both sides in turn, for so many bytes.
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
        let row = match is_above {
            true => first.checked_sub(1),
            false => (end < rows).then_some(end),
        };
        let row = row.map(|row| (row, snapshot.row_span_with_ending(Row(row))));
        match row.filter(|(_, row)| row.len() <= bytes) {
            Some((row, row_span)) => {
                bytes -= row_span.len();
                span = span.union(row_span);
                match is_above {
                    true => first = row,
                    false => end = row + 1,
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
