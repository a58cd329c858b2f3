//! The text around the caret as tokens, to be searched without any index.
//!
//! Invariant: what is read is bounded, so that a key costs the same in a long file.

use std::collections::HashMap;

use base::{Row, Span};

use super::guess::Site;
use crate::Scene;
use crate::local::corpus::CorpusView;
use crate::local::corpus::stream::{FIRST_WORD, Gap, Item, NEWLINE, items};
use crate::local::token::is_word_char;

/// Bytes that are read before and behind the caret, up to whole rows.
const BEFORE: usize = 24 * 1024;
const BEHIND: usize = 12 * 1024;

/// Longer rows are data.
const MOST_ROW: usize = 1000;

/// A context is at most so many tokens long.
const MOST_CONTEXT: usize = 48;

/// What stands around the caret.
pub(super) struct Near {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    /// How often each stands here, by its number.
    counts: Vec<u32>,
    /// The words before the caret, the nearest first, by their numbers here.
    pub(super) context: Vec<u32>,
    /// Up to the token that is being typed, without it.
    pub(super) before: Vec<Item>,
    /// From the caret on.
    pub(super) behind: Vec<Item>,
    /// The beginning of the word that is being typed.
    pub(super) partial: String,
    /// Whether blanks stand between the caret and the token before it.
    pub(super) has_blank: bool,
    /// What is left of the caret's row.
    pub(super) rest: String,
    /// What stands before the caret.
    pub(super) site: Site,
    /// What rows end with here.
    pub(super) ending: &'static str,
}

impl Near {
    /// Reads the text around the caret; `None` in the middle of a word and in rows that no person wrote.
    pub(super) fn new(scene: &Scene) -> Option<Self> {
        let text = &scene.snapshot;
        let row = text.point_at(scene.caret).row;
        if text.row_len(row).0 as usize > MOST_ROW {
            return None;
        }
        let rest = text
            .text(Span::new(scene.caret, text.row_end(row)))
            .into_owned();
        if rest.chars().next().is_some_and(is_word_char) {
            return None;
        }
        let from = text
            .point_at(base::ByteOffset(scene.caret.0.saturating_sub(BEFORE)))
            .row;
        let from = if from == Row(0) { Row(0) } else { from + 1 };
        let to = text.point_at((scene.caret + BEHIND).min(text.len())).row;
        let head = text.text(Span::new(
            text.row_start(from).min(scene.caret),
            scene.caret,
        ));
        let tail = text.text(Span::new(scene.caret, text.row_start(to + 1)));
        let partial_start = head.trim_end_matches(is_word_char).len();
        let partial = head.get(partial_start..).unwrap_or_default().to_owned();
        // A number is no word to be completed.
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
            ending: ending(scene, row),
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
            if let Some(count) = near.counts.get_mut(item.word() as usize) {
                *count += 1;
            }
        }
        let nearest = near.before.iter().rev().take(MOST_CONTEXT);
        near.context = nearest.map(|item| item.word()).collect();
        Some(near)
    }

    pub(super) fn text(&self, word: u32) -> &str {
        let ix = (word as usize).checked_sub(FIRST_WORD as usize);
        ix.and_then(|ix| self.texts.get(ix))
            .map_or("", String::as_str)
    }

    /// How often a token stands around the caret.
    pub(super) fn count(&self, word: &str) -> usize {
        let number = self.numbers.get(word);
        let count = number.and_then(|number| self.counts.get(*number as usize));
        count.map_or(0, |count| *count as usize)
    }

    /// Whether a word stands close before the caret.
    pub(super) fn is_in_context(&self, word: &str) -> bool {
        let number = self.numbers.get(word);
        number.is_some_and(|number| self.context.contains(number))
    }

    /// How many of so many tokens before the caret are no signs.
    pub(super) fn words_before(&self, most: usize) -> usize {
        let nearest = self.before.iter().rev().take(most);
        let is_word = |item: &&Item| self.text(item.word()).starts_with(is_word_char);
        nearest.filter(is_word).count()
    }

    /// The words before the caret, the nearest first, by their numbers in the corpus.
    pub(super) fn context_in(&self, view: &CorpusView, most: usize) -> Vec<u32> {
        let nearest = self.before.iter().rev().take(most);
        nearest
            .map(|item| match item.word() {
                NEWLINE => NEWLINE,
                word => view.word(self.text(word)),
            })
            .collect()
    }

    /// The token so many behind the start of what was read; what is being typed is none of them.
    pub(super) fn item(&self, at: usize) -> Option<Item> {
        match at.checked_sub(self.before.len()) {
            None => self.before.get(at).copied(),
            Some(at) => self.behind.get(at).copied(),
        }
    }

    /// Whether the caret's row goes on with this token.
    pub(super) fn rest_starts_with(&self, token: &str) -> bool {
        self.rest.trim_start().starts_with(token)
    }

    /// Whether blanks before a token fit what stands before the caret.
    pub(super) fn fits_gap(&self, gap: Gap) -> bool {
        match gap {
            // What stands before a word that is typed already was written by the person.
            Gap::Spaces(count) => {
                !self.partial.is_empty() || self.site.is_row_start || count > 0 || !self.has_blank
            }
            Gap::Line { .. } => !self.has_blank && self.rest.trim().is_empty(),
            Gap::Odd => false,
        }
    }
}

/// What a row ends with, or the one before the last.
fn ending(scene: &Scene, row: Row) -> &'static str {
    let text = &scene.snapshot;
    let row = if row == text.last_row() {
        Row(row.0.saturating_sub(1))
    } else {
        row
    };
    let end = Span::new(text.row_end(row), text.row_start(row + 1));
    if end.len() == 2 { "\r\n" } else { "\n" }
}

/// What the row says of the caret behind it.
fn site(line: &str, rest: &str) -> Site {
    let bare = line.trim();
    let starts = ["//", "#", "*", "/*", "--"];
    Site {
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

fn near_number(texts: &mut Vec<String>, numbers: &mut HashMap<String, u32>, word: &str) -> u32 {
    if let Some(number) = numbers.get(word) {
        return *number;
    }
    let number = texts.len() as u32 + FIRST_WORD;
    texts.push(word.to_owned());
    numbers.insert(word.to_owned(), number);
    number
}
