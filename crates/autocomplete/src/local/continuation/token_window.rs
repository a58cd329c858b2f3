//! Tokens of the rows around the caret, kept from one keystroke to the next.
//!
//! Invariant: a keystroke splits only the rows that it changed into tokens. Another text, or a caret
//! far away, reads the rows around it anew, which is bounded by `MAX_BYTES_ABOVE` and
//! `MAX_BYTES_BELOW`.
//! Invariant: the tokens are those of the text at the queried revision, whatever was queried before.

use std::collections::{HashMap, VecDeque};

use base::{AbsPath, Revision, Row, Span};
use text::Snapshot;

use crate::local::corpus::stream::{
    FIRST_WORD, NEWLINE, PackedToken, TokenGap, UNKNOWN, columns, indent_unit, line_break,
    row_items,
};
use crate::local::line_ending::{text_after, text_before};
use crate::{DocumentEdit, EditorState};

/// Bytes of the rows used above and below the caret.
const MAX_BYTES_ABOVE: usize = 24 * 1024;
const MAX_BYTES_BELOW: usize = 12 * 1024;

/// Maximum number of rows used above and below the caret.
const MAX_ROWS: u32 = 1000;

/// Rows kept beyond those in use, so that a caret that goes back and forth reads none twice.
const MAX_SPARE_ROWS: u32 = 400;

/// Longer rows, in bytes, are data: they are not split, and in them only repeated edits are
/// suggested.
pub(crate) const MAX_ROW_BYTES: usize = 1000;

/// Maximum number of different tokens; beyond, the rows are read anew.
const MAX_WORDS: usize = 20_000;

/// The tokens of consecutive rows of one text.
#[derive(Default)]
pub(crate) struct TokenWindow {
    path: Option<AbsPath>,
    revision: Revision,
    /// Columns of one indentation step.
    unit: usize,
    /// Row of the first of `rows`.
    first: Row,
    /// `None` for a row that was not read; the caret's row never is, since it changes.
    rows: VecDeque<Option<RowTokens>>,
    words: WordTable,
}

/// The tokens of a row.
struct RowTokens {
    bytes: usize,
    /// Columns of blanks before the first token.
    indent: usize,
    items: Vec<PackedToken>,
}

/// The texts of tokens by number.
#[derive(Default)]
pub(super) struct WordTable {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

/// The tokens around a caret.
pub(super) struct SurroundingTokens {
    /// Tokens up to the word being typed.
    pub(super) before: Vec<PackedToken>,
    /// Tokens after the caret.
    pub(super) behind: Vec<PackedToken>,
}

/// Joins the tokens of rows, with a line break between rows that are not blank.
struct RowJoiner {
    items: Vec<PackedToken>,
    unit: usize,
    indent: usize,
    lines: usize,
}

impl WordTable {
    /// Returns the text of a token; an empty text for an unknown number.
    pub(super) fn text(&self, word: u32) -> &str {
        let ix = (word as usize).checked_sub(FIRST_WORD as usize);
        ix.and_then(|ix| self.texts.get(ix))
            .map_or("", String::as_str)
    }

    /// Returns the number of a token; `None` if it does not occur.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// Returns the number above all numbers in use.
    pub(super) fn end(&self) -> usize {
        self.texts.len() + FIRST_WORD as usize
    }

    /// Returns the number of a token, which is added if it is unknown.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32 + FIRST_WORD;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

impl TokenWindow {
    /// Follows a change of any text: rows that it touches are read again when they are needed.
    pub(crate) fn follow(&mut self, edit: &DocumentEdit) {
        if self.path != edit.state.path || self.rows.is_empty() {
            return;
        }
        if self.revision != edit.change.before {
            self.rows.clear();
            return;
        }
        self.revision = edit.change.after;
        let mut moved = 0_i64;
        for splice in edit.change.splices.iter().rev() {
            let rows = |text: &Snapshot, span: Span| {
                (
                    text.point_at(span.start).row.0,
                    text.point_at(span.end).row.0,
                )
            };
            let old = rows(&edit.before, splice.old);
            let new = rows(edit.after(), splice.new);
            let count = new.1 - new.0 + 1;
            let end = self.first.0 + self.rows.len() as u32;
            if old.1 < self.first.0 {
                moved += i64::from(count) - i64::from(old.1 - old.0 + 1);
            } else if old.0 < end {
                if old.0 < self.first.0 || count > MAX_ROWS {
                    self.rows.clear();
                    return;
                }
                let from = (old.0 - self.first.0) as usize;
                let to = (old.1.min(end - 1) - self.first.0) as usize;
                let behind = self.rows.split_off(to + 1);
                self.rows.truncate(from);
                self.rows.extend((0..count).map(|_| None));
                self.rows.extend(behind);
            }
        }
        self.first = Row((i64::from(self.first.0) + moved).max(0) as u32);
    }

    /// Returns the tokens around the caret, given the parts of its row up to the word being typed
    /// and after the caret.
    pub(super) fn around(
        &mut self,
        state: &EditorState,
        (head, rest): (&str, &str),
    ) -> SurroundingTokens {
        let row = state.snapshot.point_at(state.caret).row;
        let (above, below) = self.settle(state, row);
        let blanks = head.len() - head.trim_start().len();
        let indent = columns(head.get(..blanks).unwrap_or_default(), self.unit);
        let mut before = RowJoiner::new(self.unit, 0);
        for row in row.0 - above..row.0 {
            before.add(self.row(Row(row)));
        }
        let own = row_items(head, blanks, |word| self.words.number(word));
        before.end_line(indent, row.0 > 0);
        before.items.extend(own);
        let mut behind = RowJoiner::new(self.unit, indent);
        behind.items = row_items(rest, 0, |word| self.words.number(word));
        behind.lines = 1;
        for row in row.0 + 1..=row.0 + below {
            behind.add(self.row(Row(row)));
        }
        let has_more = below > 0 && behind.lines > 0;
        behind.end_line(0, has_more);
        SurroundingTokens {
            before: before.items,
            behind: behind.items,
        }
    }

    /// Returns the texts of the tokens.
    pub(super) fn words(&self) -> &WordTable {
        &self.words
    }

    /// Splits a further text, which lies in no row of the window, into tokens.
    pub(super) fn split(&mut self, text: &str) -> Vec<PackedToken> {
        crate::local::corpus::stream::items(text, |word| self.words.number(word))
    }

    /// Reads the rows around the caret's row that were not read. Returns the numbers of rows in use
    /// above and below.
    fn settle(&mut self, state: &EditorState, row: Row) -> (u32, u32) {
        let text = &state.snapshot;
        let is_kept = self.path == state.path
            && self.revision == text.revision()
            && self.words.texts.len() <= MAX_WORDS
            && self.index(row).is_some();
        if !is_kept {
            self.restart(state, row);
        }
        if let Some(ix) = self.index(row) {
            self.rows[ix] = None;
        }
        let (mut above, mut bytes) = (0, 0);
        while bytes < MAX_BYTES_ABOVE && above < MAX_ROWS && above < row.0 {
            above += 1;
            let wanted = Row(row.0 - above);
            if wanted < self.first {
                self.rows.push_front(None);
                self.first = wanted;
            }
            bytes += self.read(text, wanted);
        }
        let (mut below, mut bytes) = (0, 0);
        while bytes < MAX_BYTES_BELOW && below < MAX_ROWS && row.0 + below < text.last_row().0 {
            below += 1;
            let wanted = Row(row.0 + below);
            if self.index(wanted).is_none() {
                self.rows.push_back(None);
            }
            bytes += self.read(text, wanted);
        }
        let spare = (row.0 - self.first.0).saturating_sub(above + MAX_SPARE_ROWS);
        self.rows.drain(..spare as usize);
        self.first = Row(self.first.0 + spare);
        let most = row.0 + below + MAX_SPARE_ROWS + 1 - self.first.0;
        self.rows.truncate(most as usize);
        (above, below)
    }

    /// Forgets all rows and begins at a row of another text.
    fn restart(&mut self, state: &EditorState, row: Row) {
        let text = &state.snapshot;
        let above = text_before(text, state.caret, MAX_BYTES_ABOVE);
        let below = text_after(text, state.caret, MAX_BYTES_BELOW);
        *self = Self {
            path: state.path.clone(),
            revision: text.revision(),
            unit: indent_unit(&format!("{above}{below}")),
            first: row,
            rows: VecDeque::from([None]),
            words: WordTable::default(),
        };
    }

    fn index(&self, row: Row) -> Option<usize> {
        let ix = row.0.checked_sub(self.first.0)? as usize;
        (ix < self.rows.len()).then_some(ix)
    }

    fn row(&self, row: Row) -> Option<&RowTokens> {
        self.rows.get(self.index(row)?)?.as_ref()
    }

    /// Splits a row unless that is done. Returns its length with its ending, in bytes.
    fn read(&mut self, text: &Snapshot, row: Row) -> usize {
        let Some(ix) = self.index(row) else {
            return 1;
        };
        if let Some(known) = &self.rows[ix] {
            return known.bytes + 1;
        }
        let bytes = text.row_len(row).0 as usize;
        #[cfg(test)]
        counted::add(bytes.min(MAX_ROW_BYTES));
        let tokens = if bytes > MAX_ROW_BYTES {
            RowTokens {
                bytes,
                indent: 0,
                items: vec![PackedToken::new(UNKNOWN, TokenGap::Odd)],
            }
        } else {
            let line = text.row_text(row);
            let blanks = line.len() - line.trim_start().len();
            RowTokens {
                bytes,
                indent: columns(&line[..blanks], self.unit),
                items: row_items(&line, blanks, |word| self.words.number(word)),
            }
        };
        self.rows[ix] = Some(tokens);
        bytes + 1
    }
}

impl RowJoiner {
    /// Begins behind a row with this indentation, in columns.
    fn new(unit: usize, indent: usize) -> Self {
        Self {
            items: Vec::new(),
            unit,
            indent,
            lines: 0,
        }
    }

    /// Appends a row; a blank one only counts as a further line break.
    fn add(&mut self, row: Option<&RowTokens>) {
        if let Some(row) = row.filter(|row| !row.items.is_empty()) {
            let has_text = !self.items.is_empty() || self.lines > 0;
            self.end_line(row.indent, has_text);
            self.items.extend_from_slice(&row.items);
        }
        self.lines += 1;
    }

    /// Appends the line break before a row with this indentation, if there is one.
    fn end_line(&mut self, indent: usize, has_text: bool) {
        if has_text {
            let gap = line_break(self.lines, self.indent, indent, self.unit);
            self.items.push(PackedToken::new(NEWLINE, gap));
        }
        self.indent = indent;
        self.lines = 0;
    }
}

/// Counts the bytes split into tokens, for tests of the bound.
#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn add(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    /// Returns the bytes split on this thread since the last call.
    pub(super) fn take() -> usize {
        BYTES.take()
    }
}

#[cfg(test)]
mod tests;
