//! Reads the starts of rows: row by row if they are few, in one piece if they are many.
//!
//! Must not know: what the caller does with the rows. Start at `each_row`.

use base::ByteOffset;
use text::Snapshot;

use crate::rows::RowRange;

/// Number of rows above which they are read in one piece.
const MANY: usize = 32;

/// Bytes read after the leading blanks; comment markers are shorter.
const MARK: usize = 32;

/// The start of a row: its offset, its indentation and the text after the indentation.
pub(crate) struct RowHead<'t> {
    /// Offset of the row's start.
    pub(crate) start: ByteOffset,
    /// The spaces and tabs it starts with.
    pub(crate) blanks: &'t str,
    /// The text after them, up to the relevant length.
    pub(crate) behind: &'t str,
}

impl<'t> RowHead<'t> {
    fn new(start: ByteOffset, text: &'t str) -> Self {
        let behind = text.trim_start_matches([' ', '\t']);
        RowHead {
            start,
            blanks: &text[..text.len() - behind.len()],
            behind,
        }
    }

    /// Returns whether the row contains only blanks.
    pub(crate) fn is_blank(&self) -> bool {
        self.behind.trim().is_empty()
    }
}

/// Calls `call` for every row of a range, from first to last, in one pass over the text of the
/// rows.
pub(crate) fn each_row(snapshot: &Snapshot, range: RowRange, mut call: impl FnMut(RowHead<'_>)) {
    if range.rows().size_hint().0 <= MANY {
        let mut text = String::new();
        for row in range.rows() {
            let start = snapshot.row_start(row);
            let len = snapshot.row_len(row).0 as usize;
            read_head(snapshot, start, len, &mut text);
            call(RowHead::new(start, &text));
        }
        return;
    }
    let span = range.inner_span(snapshot);
    let text = snapshot.text(span);
    let mut at = span.start;
    for row in text.split('\n') {
        call(RowHead::new(at, row.strip_suffix('\r').unwrap_or(row)));
        at += row.len() + 1;
    }
}

/// Copies the blanks of a row and a short part of the text after them, regardless of the length of
/// the row.
fn read_head(snapshot: &Snapshot, start: ByteOffset, len: usize, text: &mut String) {
    text.clear();
    let mut mark = 0;
    for char in snapshot.chars_at(start) {
        if text.len() >= len || mark >= MARK {
            return;
        }
        let is_blank = char == ' ' || char == '\t';
        if mark > 0 || !is_blank {
            mark += char.len_utf8();
        }
        text.push(char);
    }
}
