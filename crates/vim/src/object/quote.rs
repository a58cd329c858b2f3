//! Strings in quotes, within a line.

use super::{ObjectRequest, Selected};
use crate::chars::is_blank;
use crate::lines::{Lines, Pos, next_grapheme, prev_grapheme};

pub(super) fn select(lines: &Lines, request: &ObjectRequest, quote: char) -> Option<Selected> {
    let line = lines.line(request.head.row);
    let strings = QuotedLine { line: &line, quote };
    match request.extended() {
        None => strings.select_at_caret(request),
        Some(anchor) if anchor.row == request.head.row => strings.extend_selection(request, anchor),
        Some(_) => None,
    }
}

/// A line in which strings are searched. Backslashes escape.
struct QuotedLine<'a> {
    line: &'a str,
    quote: char,
}

impl QuotedLine<'_> {
    fn is_quote(&self, col: usize) -> bool {
        self.line
            .get(col..)
            .is_some_and(|rest| rest.starts_with(self.quote))
    }

    /// The next quote at or behind a byte. With `escapes`, escaped quotes do not count.
    fn next(&self, from: usize, escapes: bool) -> Option<usize> {
        let mut chars = self.line.get(from..)?.char_indices();
        while let Some((ix, char)) = chars.next() {
            if escapes && char == '\\' {
                chars.next()?;
            } else if char == self.quote {
                return Some(from + ix);
            }
        }
        None
    }

    /// The previous quote that is not escaped; 0 if there is none.
    fn previous(&self, from: usize) -> usize {
        let mut col = from;
        while col > 0 {
            col = prev_grapheme(self.line, col);
            let before = &self.line[..col];
            let escapes = before.len() - before.trim_end_matches('\\').len();
            if escapes % 2 == 1 {
                col -= escapes;
            } else if self.is_quote(col) {
                break;
            }
        }
        col
    }

    /// The string that contains a byte, searched from the start of the line, because a quote does
    /// not show whether it opens.
    fn around(&self, col: usize) -> Option<(usize, usize)> {
        let mut from = 0;
        loop {
            let start = self.next(from, false)?;
            if start > col {
                return None;
            }
            let end = self.next(start + 1, true)?;
            if col <= end {
                return Some((start, end));
            }
            from = end + 1;
        }
    }

    fn select_at_caret(&self, request: &ObjectRequest) -> Option<Selected> {
        let col = request.head.col;
        let (start, end) = if self.is_quote(col) {
            self.around(col)?
        } else {
            let mut start = self.previous(col);
            if !self.is_quote(start) {
                start = self.next(start, false)?;
            }
            (start, self.next(start + 1, true)?)
        };
        let (start, end) = self.with_blanks(request, start, end);
        let takes_quotes = request.is_around || request.count > 1;
        let first = if takes_quotes {
            start
        } else {
            next_grapheme(self.line, start)
        };
        let anchor = Pos::new(request.head.row, first);
        Some(self.finished(request, anchor, end, takes_quotes))
    }

    /// Adds the blanks behind a string, or else those before it, for an object around.
    fn with_blanks(&self, request: &ObjectRequest, start: usize, end: usize) -> (usize, usize) {
        if !request.is_around {
            return (start, end);
        }
        let blanks = |text: &str| text.chars().take_while(|char| is_blank(*char)).count();
        let behind = blanks(&self.line[end + 1..]);
        if behind > 0 {
            return (start, end + behind);
        }
        let before = &self.line[..start];
        (before.trim_end_matches([' ', '\t']).len(), end)
    }

    /// `end` is the column of the last character to take, or of the quote that is left.
    fn finished(
        &self,
        request: &ObjectRequest,
        anchor: Pos,
        end: usize,
        takes_quotes: bool,
    ) -> Selected {
        let row = request.head.row;
        if request.anchor.is_some() {
            let last = if takes_quotes {
                end
            } else {
                prev_grapheme(self.line, end)
            };
            return Selected::inclusive(anchor, Pos::new(row, last));
        }
        let behind = Pos::new(row, if takes_quotes { end + 1 } else { end });
        if takes_quotes && behind.col >= self.line.len() {
            return Selected::inclusive(anchor, behind);
        }
        Selected::exclusive(anchor, behind)
    }

    /// Extends a selection: to its quotes, or to the next string.
    fn extend_selection(&self, request: &ObjectRequest, anchor: Pos) -> Option<Selected> {
        let row = request.head.row;
        let (low, high) = (anchor.min(request.head).col, anchor.max(request.head).col);
        let is_inside = low > 0 && self.is_quote(low - 1) && self.is_quote(high + 1);
        let selected = self.line.get(low..(high + 1).min(self.line.len()));
        let has_quote = selected.is_some_and(|text| text.contains(self.quote));
        let (start, end) = if self.is_quote(high) {
            let start = self.next(high + 1, false)?;
            match self.next(start + 1, true) {
                Some(end) => (start, end),
                None => (high, start),
            }
        } else {
            self.around(self.next(high, false)?)?
        };
        let (start, end) = self.with_blanks(request, start, end);
        let takes_quotes = request.is_around || request.count > 1 || is_inside;
        let first = if takes_quotes { start } else { start + 1 };
        let touches_quote = self.is_quote(low) || low > 0 && self.is_quote(low - 1);
        let anchor = if !has_quote && (is_inside || !touches_quote) {
            first
        } else {
            low
        };
        Some(self.finished(request, Pos::new(row, anchor), end, takes_quotes))
    }
}
