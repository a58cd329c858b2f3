//! Tokens of the text around the caret, searched without an index.
//!
//! Invariant: the text read is bounded, so a keystroke costs the same in a long file.

use std::collections::HashMap;

use base::{Row, Span};

use super::guess::CaretSite;
use crate::EditorState;
use crate::local::corpus::CorpusView;
use crate::local::corpus::stream::{FIRST_WORD, NEWLINE, PackedToken, TokenGap, items};
use crate::local::token::is_word_char;

/// Bytes read before and after the caret, up to whole rows.
const BEFORE: usize = 24 * 1024;
const BEHIND: usize = 12 * 1024;

/// Longer rows, in bytes, are treated as data.
const MAX_ROW_BYTES: usize = 1000;

/// Maximum length of a context, in tokens.
const MAX_CONTEXT_TOKENS: usize = 48;

/// Tokens around the caret.
pub(super) struct NearbyTokens {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
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

impl NearbyTokens {
    /// Reads the text around the caret; `None` inside a word or a number, and in rows too long to
    /// be written by hand.
    pub(super) fn new(state: &EditorState) -> Option<Self> {
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
        let from = text
            .point_at(base::ByteOffset(state.caret.0.saturating_sub(BEFORE)))
            .row;
        let from = if from == Row(0) { Row(0) } else { from + 1 };
        let to = text.point_at((state.caret + BEHIND).min(text.len())).row;
        let head = text.text(Span::new(
            text.row_start(from).min(state.caret),
            state.caret,
        ));
        let tail = text.text(Span::new(state.caret, text.row_start(to + 1)));
        let partial_start = head.trim_end_matches(is_word_char).len();
        let partial = head.get(partial_start..).unwrap_or_default().to_owned();
        // A number is not completed.
        if partial.starts_with(|ch: char| ch.is_ascii_digit()) {
            return None;
        }
        let head = head.get(..partial_start).unwrap_or_default();
        let line = head.rsplit('\n').next().unwrap_or_default();
        let mut near = Self {
            texts: Vec::new(),
            numbers: HashMap::new(),
            counts: Vec::new(),
            context: Vec::new(),
            before: Vec::new(),
            behind: Vec::new(),
            partial,
            has_blank: head.ends_with([' ', '\t']),
            site: site(line, &rest),
            ending: line_ending(state, row),
            rest,
        };
        near.before = items(head, |word| {
            near_number(&mut near.texts, &mut near.numbers, word)
        });
        near.behind = items(&tail, |word| {
            near_number(&mut near.texts, &mut near.numbers, word)
        });
        near.counts = vec![0; near.texts.len() + FIRST_WORD as usize];
        for item in near.before.iter().chain(&near.behind) {
            if let Some(count) = near.counts.get_mut(item.word_number() as usize) {
                *count += 1;
            }
        }
        let nearest = near.before.iter().rev().take(MAX_CONTEXT_TOKENS);
        near.context = nearest.map(|item| item.word_number()).collect();
        Some(near)
    }

    pub(super) fn text(&self, word: u32) -> &str {
        let ix = (word as usize).checked_sub(FIRST_WORD as usize);
        ix.and_then(|ix| self.texts.get(ix))
            .map_or("", String::as_str)
    }

    /// Returns how often a token occurs around the caret.
    pub(super) fn count(&self, word: &str) -> usize {
        let number = self.numbers.get(word);
        let count = number.and_then(|number| self.counts.get(*number as usize));
        count.map_or(0, |count| *count as usize)
    }

    /// Whether a word occurs in the context before the caret.
    pub(super) fn is_in_context(&self, word: &str) -> bool {
        let number = self.numbers.get(word);
        number.is_some_and(|number| self.context.contains(number))
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

/// Returns the number of a word, `FIRST_WORD` plus its index in `texts`. Adds an unknown word to
/// both tables.
fn near_number(texts: &mut Vec<String>, numbers: &mut HashMap<String, u32>, word: &str) -> u32 {
    if let Some(number) = numbers.get(word) {
        return *number;
    }
    let number = texts.len() as u32 + FIRST_WORD;
    texts.push(word.to_owned());
    numbers.insert(word.to_owned(), number);
    number
}
