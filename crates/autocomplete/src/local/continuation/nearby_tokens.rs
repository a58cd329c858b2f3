//! Tokens of the text around the caret, searched without an index.
//!
//! Invariant: the number of tokens is bounded, so a keystroke costs the same in a long file.

use std::ops::Range;

use base::{Row, Span};
use syntax::SyntaxScope;

use super::features::{CaretSite, Shape};
use super::idioms::{IdiomContext, MAX_ORDER};
use super::token_window::{SurroundingTokens, TokenWindow, WordTable};
use crate::EditorState;
use crate::local::corpus::CorpusView;
use crate::local::corpus::stream::{BOUNDARY, NEWLINE, PackedToken, TokenGap};
use crate::local::line_ending::lf_len;
use crate::local::log::{EditLog, LoggedEdit};
use crate::local::token::is_word_char;

/// Maximum length of a context, in tokens.
const MAX_CONTEXT_TOKENS: usize = 48;

/// Number of recent edits whose replaced text is searched, and the bytes of it in all.
const MAX_REPLACED_EDITS: usize = 6;
const MAX_REPLACED_BYTES: usize = 3000;

/// Tokens of the surrounding text that are put around replaced text.
const MAX_FRAME_TOKENS: usize = 12;

/// Number of tokens before the caret within which a token counts as recent, and within which its
/// last occurrence is searched.
const MAX_RECENT_TOKENS: usize = 80;
const MAX_SEEN_TOKENS: usize = 600;

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
    /// Text that recent edits replaced, the newest first, each between boundaries. Text replaced at
    /// the caret comes first, with the tokens around it.
    pub(super) replaced: Vec<PackedToken>,
    /// The text replaced at the caret, within `replaced`.
    replaced_here: ReplacedHere,
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

/// The tokens of the text replaced at the caret, and the end of the tokens around them.
#[derive(Default)]
struct ReplacedHere {
    old: Range<usize>,
    end: usize,
}

/// Part of the text in which a token lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextSide {
    Before,
    Behind,
    Replaced,
}

impl<'w> NearbyTokens<'w> {
    /// Reads the text around the caret; `None` inside a word or a number. The caret's row is at most
    /// `MAX_ROW_BYTES` long.
    pub(super) fn new(
        state: &EditorState,
        window: &'w mut TokenWindow,
        log: &EditLog,
    ) -> Option<Self> {
        let text = &state.snapshot;
        let row = text.point_at(state.caret).row;
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
        let here = |edit: &&LoggedEdit| {
            edit.path == state.path
                && edit.span.start <= state.caret
                && state.caret <= edit.span.end
        };
        let here = log.open_edit().filter(here).map(|edit| edit.id);
        let is_within_word = !partial.is_empty();
        let (replaced, replaced_here) = replaced(window, log, &around, (here, is_within_word));
        let words = window.words();
        let mut counts = vec![0; words.end()];
        for item in around.before.iter().chain(&around.behind) {
            if let Some(count) = counts.get_mut(item.word_number() as usize) {
                *count += 1;
            }
        }
        let nearest = around.before.iter().rev().take(MAX_CONTEXT_TOKENS);
        let mut near = Self {
            words,
            counts,
            context: nearest.map(|item| item.word_number()).collect(),
            partial,
            has_blank: line.ends_with([' ', '\t']),
            site: site(line, &rest),
            ending: line_ending(state, row),
            before: around.before,
            behind: around.behind,
            replaced,
            replaced_here,
            rest,
        };
        near.describe(state);
        Some(near)
    }

    /// Adds the features of the site that need the tokens and the tree.
    fn describe(&mut self, state: &EditorState) {
        let text = |item: &PackedToken| self.words.text(item.word_number());
        let row: Vec<&str> = self
            .before
            .iter()
            .rev()
            .take_while(|item| item.word_number() != NEWLINE)
            .map(text)
            .collect();
        let first = row.last().copied();
        let (mut depth, mut open) = (0_usize, "");
        for item in self.before.iter().rev().take(400) {
            match text(item) {
                ")" | "]" | "}" => depth += 1,
                opener @ ("(" | "[" | "{") if depth == 0 => {
                    open = opener;
                    break;
                }
                "(" | "[" | "{" => depth -= 1,
                _ => {}
            }
        }
        let last = self.before.last();
        let last_word = row.iter().find(|word| word.starts_with(is_word_char));
        let site = &self.site;
        let syntax = state.syntax.as_ref();
        let scope = syntax.map(|syntax| syntax.scope_at(&state.snapshot, state.caret));
        self.site = CaretSite {
            row_tokens: row.len(),
            statement: super::features::statement_class(first.unwrap_or_default()),
            open: super::features::bracket_class(open),
            last: last.map_or(Shape::Newline, |item| match item.word_number() {
                NEWLINE => Shape::Newline,
                word => Shape::of(self.words.text(word)),
            }),
            last_known: last_word.map_or(99, |word| self.count(word)),
            is_prose: site.is_prose || scope.is_some_and(|scope| scope != SyntaxScope::Code),
            is_comment: scope == Some(SyntaxScope::Comment),
            language: super::features::language_class(state.language.map_or("", |it| it.name())),
            ..*site
        };
    }

    pub(super) fn text(&self, word: u32) -> &str {
        self.words.text(word)
    }

    /// Returns the last tokens before the one being typed.
    pub(super) fn idiom_context(&self) -> IdiomContext {
        let mut context = IdiomContext::of_class(self.site.language);
        let start = self.before.len().saturating_sub(MAX_ORDER);
        for item in &self.before[start..] {
            context.push(match item.word_number() {
                NEWLINE => "\n",
                word => self.words.text(word),
            });
        }
        context
    }

    /// Returns how often a token occurs around the caret.
    pub(super) fn count(&self, word: &str) -> usize {
        let number = self.words.find(word);
        let count = number.and_then(|number| self.counts.get(number as usize));
        count.map_or(0, |count| *count as usize)
    }

    /// Returns how often a token occurs shortly before the caret, and how many tokens ago it last
    /// did.
    pub(super) fn recent(&self, word: &str) -> (usize, Option<usize>) {
        let Some(number) = self.words.find(word) else {
            return (0, None);
        };
        let nearest = self.before.iter().rev().map(|item| item.word_number());
        let recent = nearest.clone().take(MAX_RECENT_TOKENS);
        let mut seen = nearest.take(MAX_SEEN_TOKENS);
        let count = recent.filter(|word| *word == number).count();
        (count, seen.position(|word| word == number))
    }

    /// Returns the number of tokens between the caret and the nearest occurrence of a token around
    /// it; `None` if it does not occur there.
    pub(super) fn nearest(&self, word: &str) -> Option<usize> {
        let number = self.words.find(word)?;
        let is_same = |item: &PackedToken| item.word_number() == number;
        let before = self.before.iter().rev().position(is_same);
        before
            .into_iter()
            .chain(self.behind.iter().position(is_same))
            .min()
    }

    /// Returns how many different words around the caret continue the typed prefix.
    pub(super) fn rivals_of_prefix(&self) -> usize {
        if self.partial.is_empty() {
            return 0;
        }
        let is_known = |word: u32| self.counts.get(word as usize).is_some_and(|it| *it > 0);
        let begins = |word: &u32| self.words.text(*word).starts_with(self.partial.as_str());
        let first = crate::local::corpus::stream::FIRST_WORD;
        let all = first..self.words.end() as u32;
        all.filter(|word| is_known(*word) && begins(word)).count()
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

    /// Returns the number of tokens, which are those before and after the caret and the replaced
    /// ones.
    pub(super) fn len(&self) -> usize {
        self.before.len() + self.behind.len() + self.replaced.len()
    }

    /// Returns the part of the text in which a token lies.
    pub(super) fn side(&self, at: usize) -> TextSide {
        match at.checked_sub(self.before.len()) {
            None => TextSide::Before,
            Some(at) if at < self.behind.len() => TextSide::Behind,
            Some(_) => TextSide::Replaced,
        }
    }

    /// Returns the index of a token within the replaced ones.
    fn replaced_index(&self, at: usize) -> Option<usize> {
        at.checked_sub(self.before.len() + self.behind.len())
    }

    /// Whether a token belongs to the text that was replaced at the caret.
    pub(super) fn is_replaced_here(&self, at: usize) -> bool {
        let ix = self.replaced_index(at);
        ix.is_some_and(|ix| self.replaced_here.old.contains(&ix))
    }

    /// Whether a token is a copy of one around the caret, put around the text replaced there.
    pub(super) fn is_frame(&self, at: usize) -> bool {
        let ix = self.replaced_index(at);
        ix.is_some_and(|ix| ix < self.replaced_here.end && !self.replaced_here.old.contains(&ix))
    }

    /// Returns the number of tokens between a token and the caret; for replaced text, between it and
    /// the start of that text.
    pub(super) fn distance(&self, at: usize) -> usize {
        match self.replaced_index(at) {
            Some(ix) => ix.abs_diff(self.replaced_here.old.start),
            None => at.abs_diff(self.before.len()),
        }
    }

    /// Returns the token at an index in the text read, excluding the one being typed.
    pub(super) fn item(&self, at: usize) -> Option<PackedToken> {
        let Some(at) = at.checked_sub(self.before.len()) else {
            return self.before.get(at).copied();
        };
        match at.checked_sub(self.behind.len()) {
            None => self.behind.get(at).copied(),
            Some(at) => {
                let item = self.replaced.get(at).copied();
                item.filter(|item| item.word_number() != BOUNDARY)
            }
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
        ..CaretSite::UNKNOWN
    }
}

/// Splits the texts that recent edits replaced into tokens, the newest first. `here` is the edit at
/// the caret, if there is one, and whether the caret is within a word.
fn replaced(
    window: &mut TokenWindow,
    log: &EditLog,
    around: &SurroundingTokens,
    (here, is_within_word): (Option<u64>, bool),
) -> (Vec<PackedToken>, ReplacedHere) {
    let boundary = PackedToken::new(BOUNDARY, TokenGap::Odd);
    let mut items = Vec::new();
    let mut at_caret = ReplacedHere::default();
    let mut left = MAX_REPLACED_BYTES;
    let closed = log.closed().rev().take(MAX_REPLACED_EDITS);
    for edit in log.open_edit().into_iter().chain(closed) {
        let bytes = lf_len(&edit.old);
        if edit.old.trim().is_empty() || bytes > left {
            continue;
        }
        left -= bytes;
        let old = window.split(&edit.old);
        if Some(edit.id) == here {
            let typed = window.split(&edit.new).len();
            let typed = typed.saturating_sub(usize::from(is_within_word));
            let end = around.before.len().saturating_sub(typed);
            let start = end.saturating_sub(MAX_FRAME_TOKENS);
            items.extend_from_slice(&around.before[start..end]);
            let from = items.len();
            items.extend(old);
            at_caret.old = from..items.len();
            items.extend(around.behind.iter().take(MAX_FRAME_TOKENS));
            at_caret.end = items.len();
        } else {
            items.extend(old);
        }
        items.push(boundary);
    }
    (items, at_caret)
}
