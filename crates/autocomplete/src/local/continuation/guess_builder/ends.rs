//! Where a guess ends: tokens that must be wrong, and places where it may stop.

use base::Span;

use super::{GuessBuilder, NextToken};
use crate::local::continuation::MAX_ROW_BYTES;
use crate::local::corpus::stream::TokenGap;
use crate::local::token::is_word_char;

/// Maximum number of lines of one guess.
const MAX_LINES: usize = 6;

/// Rows on either side that a guess must not repeat, and the length up to which a row, such as a
/// closing bracket, may be repeated.
const MAX_NEIGHBOUR_ROWS: usize = 3;
const MAX_TRIVIAL_CHARS: usize = 4;

impl GuessBuilder<'_> {
    /// Whether a token must be wrong here.
    pub(super) fn must_end_before(&self, step: &NextToken) -> bool {
        if step.gap == TokenGap::Odd {
            return true;
        }
        if step.is_newline {
            let TokenGap::Line { steps, .. } = step.gap else {
                return true;
            };
            // Dedenting below the caret's line would close a block that the guess has not opened.
            return self.lines >= MAX_LINES
                || !self.near.rest.trim().is_empty()
                || self.steps + steps < 0
                || self.text.trim().is_empty() && self.near.site.is_row_start;
        }
        let is_closer = matches!(
            step.text.as_str(),
            ")" | "]" | "}" | "\"" | "'" | "`" | ";" | ","
        );
        let closes_more = matches!(step.text.as_str(), ")" | "]" | "}") && self.brackets.is_empty();
        // Closing text that already follows the caret is not written again.
        is_closer
            && self.near.rest_starts_with(&step.text)
            && (closes_more || self.brackets.is_empty())
            || closes_more && !self.near.rest.trim().is_empty()
    }

    /// Whether a guess may end with this token, which must not require a continuation.
    pub(super) fn may_end_behind(&self, step: &NextToken) -> bool {
        if step.is_newline || self.brackets.iter().any(|open| *open != '{') {
            return false;
        }
        let last = step.text.chars().next_back().unwrap_or(' ');
        is_word_char(last)
            || matches!(
                last,
                ')' | ']' | '}' | ';' | '{' | ':' | '?' | '"' | '\'' | '`' | ','
            ) && !step.text.starts_with("::")
                && quotes_are_even(&self.text)
    }

    /// Whether the completed row would repeat one of the neighbouring rows.
    pub(super) fn repeats_a_neighbour(&self) -> bool {
        let text = &self.state.snapshot;
        let row = text.point_at(self.state.caret).row;
        let head = text.text(Span::new(text.row_start(row), self.state.caret));
        let first = self.text.lines().next().unwrap_or_default();
        let line = format!("{head}{first}");
        let line = line.trim();
        let is_line = |row: base::Row| {
            text.row_len(row).0 as usize <= MAX_ROW_BYTES && text.row_text(row).trim() == line
        };
        let before = (0..row.0).rev().map(base::Row).take(MAX_NEIGHBOUR_ROWS);
        let behind = (row.0 + 1..=text.last_row().0)
            .map(base::Row)
            .take(MAX_NEIGHBOUR_ROWS);
        line.len() > MAX_TRIVIAL_CHARS && before.chain(behind).any(is_line)
    }
}

/// Whether the last line of a guess closes the strings that it opens.
fn quotes_are_even(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    last.matches('"').count().is_multiple_of(2)
}
