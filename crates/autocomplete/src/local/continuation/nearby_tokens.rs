//! Tokens of the text around the caret, searched without an index.
//!
//! Invariant: the number of tokens is bounded, so a keystroke costs the same in a long file.

use base::{Row, Span};

use super::guess::CaretSite;
use super::token_window::{MAX_ROW_BYTES, TokenWindow, WordTable};
use crate::EditorState;
use crate::local::corpus::CorpusView;
use crate::local::corpus::stream::{NEWLINE, PackedToken, TokenGap};
use crate::local::token::is_word_char;

/// Maximum length of a context, in tokens.
const MAX_CONTEXT_TOKENS: usize = 48;

/// Tokens around the caret.
pub(super) struct NearbyTokens<'w> {
    words: &'w WordTable,
    /// Number of occurrences of each token, indexed by its number.
    counts: Vec<u32>,
    /// Numbers of the tokens before the caret, the nearest first.
    pub(super) context: Vec<u32>,
    /// Tokens up to the one being typed, which is excluded.
    pub(super) before: Vec<PackedToken>,
    /// Tokens after the caret.
    pub(super) behind: Vec<PackedToken>,
    /// Typed prefix of the current word.
    pub(super) partial: String,
    /// Whether blanks separate the caret from the token before it.
    pub(super) has_blank: bool,
    /// Rest of the caret's row.
    pub(super) rest: String,
    /// Features of the text around the caret.
    pub(super) site: CaretSite,
    /// Line ending used here.
    pub(super) ending: &'static str,
}

impl<'w> NearbyTokens<'w> {
    /// Reads the text around the caret; `None` inside a word or a number, and in rows too long to
    /// be written by hand.
    pub(super) fn new(state: &EditorState, window: &'w mut TokenWindow) -> Option<Self> {
        let text = &state.snapshot;
        let row = text.point_at(state.caret).row;
        if text.row_len(row).0 as usize > MAX_ROW_BYTES {
            return None;
        }
        let rest = text
            .text(Span::new(state.caret, text.row_end(row)))
            .into_owned();
        if rest.chars().next().is_some_and(is_word_char) {
            return None;
        }
        let line = text.text(Span::new(text.row_start(row), state.caret));
        let partial_start = line.trim_end_matches(is_word_char).len();
        let partial = line.get(partial_start..).unwrap_or_default().to_owned();
        // A number is not completed.
        if partial.starts_with(|ch: char| ch.is_ascii_digit()) {
            return None;
        }
        let line = line.get(..partial_start).unwrap_or_default();
        let around = window.around(state, (line, &rest));
        let words = window.words();
        let mut counts = vec![0; words.end()];
        for item in around.before.iter().chain(&around.behind) {
            if let Some(count) = counts.get_mut(item.word_number() as usize) {
                *count += 1;
            }
        }
        let nearest = around.before.iter().rev().take(MAX_CONTEXT_TOKENS);
        Some(Self {
            words,
            counts,
            context: nearest.map(|item| item.word_number()).collect(),
            partial,
            has_blank: line.ends_with([' ', '\t']),
            site: site(line, &rest),
            ending: line_ending(state, row),
            before: around.before,
            behind: around.behind,
            rest,
        })
    }

    pub(super) fn text(&self, word: u32) -> &str {
        self.words.text(word)
    }

    /// Returns how often a token occurs around the caret.
    pub(super) fn count(&self, word: &str) -> usize {
        let number = self.words.find(word);
        let count = number.and_then(|number| self.counts.get(number as usize));
        count.map_or(0, |count| *count as usize)
    }

    /// Whether a word occurs in the context before the caret.
    pub(super) fn is_in_context(&self, word: &str) -> bool {
        let number = self.words.find(word);
        number.is_some_and(|number| self.context.contains(&number))
    }

    /// Returns how many of the last `most` tokens before the caret are words.
    pub(super) fn words_before(&self, most: usize) -> usize {
        let nearest = self.before.iter().rev().take(most);
        let is_word = |item: &&PackedToken| self.text(item.word_number()).starts_with(is_word_char);
        nearest.filter(is_word).count()
    }

    /// Returns the tokens before the caret, the nearest first, by their numbers in the corpus.
    pub(super) fn context_in(&self, view: &CorpusView, most: usize) -> Vec<u32> {
        let nearest = self.before.iter().rev().take(most);
        nearest
            .map(|item| match item.word_number() {
                NEWLINE => NEWLINE,
                word => view.word_number(self.text(word)),
            })
            .collect()
    }

    /// Returns the token at an index in the text read, excluding the one being typed.
    pub(super) fn item(&self, at: usize) -> Option<PackedToken> {
        match at.checked_sub(self.before.len()) {
            None => self.before.get(at).copied(),
            Some(at) => self.behind.get(at).copied(),
        }
    }

    /// Whether the rest of the caret's row starts with this token.
    pub(super) fn rest_starts_with(&self, token: &str) -> bool {
        self.rest.trim_start().starts_with(token)
    }

    /// Whether the blanks before a token fit the text before the caret.
    pub(super) fn fits_gap(&self, gap: TokenGap) -> bool {
        match gap {
            // The blanks before a typed prefix were chosen by the user.
            TokenGap::Spaces(count) => {
                !self.partial.is_empty() || self.site.is_row_start || count > 0 || !self.has_blank
            }
            TokenGap::Line { .. } => !self.has_blank && self.rest.trim().is_empty(),
            TokenGap::Odd => false,
        }
    }
}

/// Returns the line ending of a row, or of the row before it for the last row.
fn line_ending(state: &EditorState, row: Row) -> &'static str {
    let text = &state.snapshot;
    let row = if row == text.last_row() {
        Row(row.0.saturating_sub(1))
    } else {
        row
    };
    let end = Span::new(text.row_end(row), text.row_start(row + 1));
    if end.len() == 2 { "\r\n" } else { "\n" }
}

/// Computes the features of a caret from the text before and after it in its row.
fn site(line: &str, rest: &str) -> CaretSite {
    let bare = line.trim();
    let starts = ["//", "#", "*", "/*", "--"];
    CaretSite {
        is_row_start: bare.is_empty(),
        is_prose: starts.iter().any(|start| bare.starts_with(start))
            || !line.matches('"').count().is_multiple_of(2),
        is_member: bare.ends_with(['.', ':', '>']) && !line.ends_with(' '),
        is_value: bare.ends_with(['(', ',', '=']),
        is_word: bare.ends_with(is_word_char),
        is_end: rest.trim().is_empty(),
        is_before_word: rest.trim_start().starts_with(is_word_char),
    }
}
