//! A text as Vim counts it: lines without their endings, and positions of characters in them.
//!
//! Invariant: a `Pos` from here is in a line of the text, on a grapheme boundary, at most at the end of the line.
//! Invariant: an ending at the end of the text ends the last line and starts none.
//! Start at `Lines`; `Walker` goes through a text character by character.

use std::borrow::Cow;

use base::{ByteOffset, Row, Span};
use text::Snapshot;
use unicode_segmentation::GraphemeCursor;

use crate::chars::{self, BLANK, PUNCTUATION};

/// A position: a line, counted from 0, and a byte in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pos {
    pub(crate) row: u32,
    pub(crate) col: usize,
}

impl Pos {
    pub(crate) fn new(row: u32, col: usize) -> Self {
        Self { row, col }
    }
}

/// The lines of a snapshot. There is at least one.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    text: Snapshot,
    count: u32,
    tab_width: u32,
}

impl Lines {
    pub(crate) fn new(text: Snapshot, tab_width: u32) -> Self {
        let rows = text.row_count();
        let has_final_ending = rows > 1 && text.row_start(text.last_row()) == text.len();
        Self {
            count: rows - u32::from(has_final_ending),
            text,
            tab_width: tab_width.max(1),
        }
    }

    pub(crate) fn text(&self) -> &Snapshot {
        &self.text
    }

    /// The number of lines; never 0.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn last(&self) -> u32 {
        self.count - 1
    }

    pub(crate) fn tab_width(&self) -> u32 {
        self.tab_width
    }

    /// The text of a line without its ending; empty past the last.
    pub(crate) fn line(&self, row: u32) -> Cow<'_, str> {
        self.text.row_text(Row(row))
    }

    /// The length of a line in bytes, without its ending.
    pub(crate) fn len(&self, row: u32) -> usize {
        self.text.row_span(Row(row)).len()
    }

    pub(crate) fn is_empty(&self, row: u32) -> bool {
        self.len(row) == 0
    }

    pub(crate) fn offset(&self, pos: Pos) -> ByteOffset {
        let span = self.text.row_span(Row(pos.row));
        (span.start + pos.col).min(span.end)
    }

    /// The position of an offset; the end of the last line for one behind the final line ending.
    pub(crate) fn pos(&self, offset: ByteOffset) -> Pos {
        let point = self.text.point_at(offset);
        if point.row.0 >= self.count {
            return Pos::new(self.last(), self.len(self.last()));
        }
        let col = (point.column.0 as usize).min(self.len(point.row.0));
        Pos::new(point.row.0, col)
    }

    /// The bytes between two positions, in either order.
    pub(crate) fn span(&self, from: Pos, to: Pos) -> Span {
        Span::new(self.offset(from), self.offset(to))
    }

    /// The character at a position; `None` at the end of a line.
    pub(crate) fn char_at(&self, pos: Pos) -> Option<char> {
        self.line(pos.row).get(pos.col..)?.chars().next()
    }

    /// The start of the last character of a line; 0 for an empty one.
    pub(crate) fn last_col(&self, row: u32) -> usize {
        let line = self.line(row);
        prev_grapheme(&line, line.len())
    }

    /// The end of the grapheme at a position, at most the end of the line.
    pub(crate) fn behind(&self, pos: Pos) -> Pos {
        Pos::new(pos.row, next_grapheme(&self.line(pos.row), pos.col))
    }

    /// The first column that is no blank, or that of the last character in a blank line.
    pub(crate) fn first_non_blank(&self, row: u32) -> usize {
        let line = self.line(row);
        let indent = indent_len(&line);
        if indent == line.len() {
            return prev_grapheme(&line, line.len());
        }
        indent
    }

    /// Moves a position into the text, and off the end of the line unless `past_end` is set.
    pub(crate) fn clamp(&self, pos: Pos, past_end: bool) -> Pos {
        let row = pos.row.min(self.last());
        let line = self.line(row);
        let limit = if past_end {
            line.len()
        } else {
            prev_grapheme(&line, line.len())
        };
        Pos::new(row, floor_grapheme(&line, pos.col.min(limit)))
    }

    /// The first cell of the character at a position, and the first cell behind it.
    pub(crate) fn cells(&self, pos: Pos) -> (u32, u32) {
        let line = self.line(pos.row);
        cells_of(&line, pos.col, self.tab_width)
    }

    /// The column whose character covers a cell; the end of the line behind the last.
    pub(crate) fn col_at_cell(&self, row: u32, cell: u32) -> usize {
        let line = self.line(row);
        col_at_cell(&line, cell, self.tab_width)
    }

    /// The cells of the blanks at the start of a line.
    pub(crate) fn indent_cells(&self, row: u32) -> u32 {
        let line = self.line(row);
        let indent = indent_len(&line);
        cells_of(&line, indent, self.tab_width).0
    }

    /// Whether a line consists of blanks alone.
    pub(crate) fn is_blank(&self, row: u32) -> bool {
        self.line(row).chars().all(chars::is_blank)
    }

    /// Whether only blanks precede a position in its line.
    pub(crate) fn is_in_indent(&self, pos: Pos) -> bool {
        indent_len(&self.line(pos.row)) >= pos.col
    }
}

/// The bytes of the blanks at the start of a line.
pub(crate) fn indent_len(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The first cell of the character at a byte of a line, and the first cell behind it; at the end of
/// the line, both are the width of the line.
pub(crate) fn cells_of(line: &str, col: usize, tab_width: u32) -> (u32, u32) {
    let mut cell = 0;
    let end = next_grapheme(line, col);
    let mut start = 0;
    for (ix, char) in line.char_indices() {
        if ix >= end {
            break;
        }
        if ix <= col {
            start = cell;
        }
        cell += chars::cells(char, cell, tab_width);
    }
    if col >= line.len() {
        start = cell;
    }
    (start, cell)
}

/// The byte of a line whose character covers a cell; the length of the line behind the last.
pub(crate) fn col_at_cell(line: &str, target: u32, tab_width: u32) -> usize {
    let mut cell = 0;
    let mut last = 0;
    for (ix, char) in line.char_indices() {
        let width = chars::cells(char, cell, tab_width);
        if width > 0 {
            last = ix;
        }
        if cell + width > target {
            return floor_grapheme(line, last);
        }
        cell += width;
    }
    line.len()
}

/// The end of the grapheme at a byte of a line; the length of the line at its end.
pub(crate) fn next_grapheme(line: &str, col: usize) -> usize {
    let bytes = line.as_bytes();
    match (bytes.get(col), bytes.get(col + 1)) {
        (None, _) => return line.len(),
        (Some(first), None) if first.is_ascii() => return line.len(),
        (Some(first), Some(second)) if first.is_ascii() && second.is_ascii() => return col + 1,
        _ => {}
    }
    let mut cursor = GraphemeCursor::new(floor_char(line, col), line.len(), true);
    match cursor.next_boundary(line, 0) {
        Ok(Some(end)) => end,
        _ => line.len(),
    }
}

/// The start of the grapheme before a byte of a line; 0 at its start.
pub(crate) fn prev_grapheme(line: &str, col: usize) -> usize {
    let col = floor_char(line, col.min(line.len()));
    let bytes = &line.as_bytes()[..col];
    if let [.., before, last] = bytes
        && before.is_ascii()
        && last.is_ascii()
    {
        return col - 1;
    }
    let mut cursor = GraphemeCursor::new(col, line.len(), true);
    match cursor.prev_boundary(line, 0) {
        Ok(Some(start)) => start,
        _ => 0,
    }
}

/// The start of the grapheme that contains a byte of a line.
pub(crate) fn floor_grapheme(line: &str, col: usize) -> usize {
    let col = floor_char(line, col.min(line.len()));
    if col == line.len() || line.as_bytes()[col].is_ascii() && line.as_bytes()[col] != b'\n' {
        return col;
    }
    let mut cursor = GraphemeCursor::new(col, line.len(), true);
    match cursor.is_boundary(line, 0) {
        Ok(false) => prev_grapheme(line, col),
        _ => col,
    }
}

fn floor_char(line: &str, mut col: usize) -> usize {
    col = col.min(line.len());
    while !line.is_char_boundary(col) {
        col -= 1;
    }
    col
}

/// A step of a `Walker`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    /// To another character of the line.
    Within,
    /// To the end of the line, behind its last character.
    AtEnd,
    /// To another line: to its start going forward, to its end going backward.
    OtherLine,
    /// There is no further character.
    Blocked,
}

impl Advance {
    /// Whether the step reached the end of a line or left the line.
    pub(crate) fn left_line(self) -> bool {
        matches!(self, Advance::AtEnd | Advance::OtherLine)
    }
}

/// A position that moves character by character. It rests at the ends of lines, too.
#[derive(Clone)]
pub(crate) struct Walker<'a> {
    lines: &'a Lines,
    pub(crate) pos: Pos,
    line: Cow<'a, str>,
    /// Whether all characters but blanks are of one class.
    has_big_words: bool,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(lines: &'a Lines, pos: Pos) -> Self {
        Self {
            line: lines.line(pos.row),
            lines,
            pos,
            has_big_words: false,
        }
    }

    /// A walker for words of any characters but blanks, if `is_big` is set.
    pub(crate) fn with_words(lines: &'a Lines, pos: Pos, is_big: bool) -> Self {
        Self {
            has_big_words: is_big,
            ..Self::new(lines, pos)
        }
    }

    pub(crate) fn go_to(&mut self, pos: Pos) {
        if pos.row != self.pos.row {
            self.line = self.lines.line(pos.row);
        }
        self.pos = pos;
    }

    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// The character here; `None` at the end of a line.
    pub(crate) fn char(&self) -> Option<char> {
        self.line.get(self.pos.col..)?.chars().next()
    }

    /// The class of the character here; that of a blank at the end of a line.
    pub(crate) fn class(&self) -> u32 {
        match self.char().map_or(BLANK, chars::class) {
            BLANK => BLANK,
            _ if self.has_big_words => PUNCTUATION,
            class => class,
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.char().is_some_and(chars::is_blank)
    }

    pub(crate) fn is_on_empty_line(&self) -> bool {
        self.line.is_empty()
    }

    pub(crate) fn is_on_last_line(&self) -> bool {
        self.pos.row == self.lines.last()
    }

    /// Goes to the next character, or to the end of the line, or from there to the next line.
    pub(crate) fn forward(&mut self) -> Advance {
        if self.pos.col < self.line.len() {
            self.pos.col = next_grapheme(&self.line, self.pos.col);
            if self.pos.col < self.line.len() {
                return Advance::Within;
            }
            return Advance::AtEnd;
        }
        if self.is_on_last_line() {
            return Advance::Blocked;
        }
        self.go_to(Pos::new(self.pos.row + 1, 0));
        Advance::OtherLine
    }

    /// Goes to the previous character, or to the end of the previous line.
    pub(crate) fn backward(&mut self) -> Advance {
        if self.pos.col > 0 {
            self.pos.col = prev_grapheme(&self.line, self.pos.col);
            return Advance::Within;
        }
        let Some(row) = self.pos.row.checked_sub(1) else {
            return Advance::Blocked;
        };
        self.go_to(Pos::new(row, self.lines.len(row)));
        Advance::OtherLine
    }

    /// Goes forward without resting at the end of a line that is not empty.
    pub(crate) fn forward_over_end(&mut self) -> Advance {
        let step = self.forward();
        if step.left_line() && self.pos.col > 0 {
            return self.forward();
        }
        step
    }

    /// Goes backward without resting at the end of a line that is not empty.
    pub(crate) fn backward_over_end(&mut self) -> Advance {
        let step = self.backward();
        if step == Advance::OtherLine && self.pos.col > 0 {
            return self.backward();
        }
        step
    }

    /// Goes on while characters have a class. Returns `false` at an end of the text.
    pub(crate) fn skip_forward(&mut self, class: u32) -> bool {
        while self.class() == class {
            if self.forward() == Advance::Blocked {
                return false;
            }
        }
        true
    }

    /// Goes back while characters have a class. Returns `false` at the start of the text.
    pub(crate) fn skip_backward(&mut self, class: u32) -> bool {
        while self.class() == class {
            if self.backward() == Advance::Blocked {
                return false;
            }
        }
        true
    }
}
