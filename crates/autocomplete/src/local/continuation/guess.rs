//! Probability that a predicted token is right, from features of the occurrences that predict it.
//!
//! A network with one small layer. Its weights were fitted on replayed commits of repositories that
//! are not used for measurements; `crates/bench/src/tab_local/fit.rs` fits and prints them.

use super::weights::{HIDDEN, OUT};

/// Features of a predicted token.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenFeatures {
    /// Tokens before the caret that match the best occurrence.
    pub(super) length: usize,
    /// Matching tokens of the best occurrence that predicts another token.
    pub(super) rival: usize,
    /// Words among the matching tokens; punctuation alone is weak evidence.
    pub(super) words: usize,
    /// Further tokens before those that match except for names.
    pub(super) farther: usize,
    /// Weight of the occurrences that predict it, relative to all that agree so far, from 0 to 1.
    pub(super) share: f32,
    pub(super) voters: usize,
    pub(super) is_near: bool,
    /// Whether one of the occurrences is in the same file.
    pub(super) is_here: bool,
    /// Tokens between the caret and the nearest occurrence near it.
    pub(super) distance: Option<usize>,
    /// Bytes of the token that are typed already.
    pub(super) partial: usize,
    /// Tokens that the guess already contains.
    pub(super) taken: usize,
    pub(super) is_word: bool,
    /// Number of times that the token occurs around the caret.
    pub(super) known: usize,
    pub(super) is_newline: bool,
    pub(super) bytes: usize,
    pub(super) class: TokenClass,
    /// Relative weight of the strongest other candidate, from 0 to 1.
    pub(super) rival_share: f32,
    /// Number of edits since the word was introduced, if that was recent.
    pub(super) brought: Option<usize>,
    /// Probability of the guess without the token.
    pub(super) so_far: f32,
    pub(super) site: CaretSite,
}

/// Kind of a token, by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenClass {
    Word,
    Number,
    Opener,
    Closer,
    Quote,
    Sign,
}

impl TokenClass {
    pub(super) fn of(token: &str) -> Self {
        match token.chars().next() {
            Some(ch) if ch.is_ascii_digit() => Self::Number,
            Some(ch) if ch.is_alphabetic() || ch == '_' => Self::Word,
            Some('(' | '[' | '{') => Self::Opener,
            Some(')' | ']' | '}' | ';' | ',') => Self::Closer,
            Some('"' | '\'' | '`') => Self::Quote,
            _ => Self::Sign,
        }
    }
}

/// Features of the text around the caret.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaretSite {
    /// Only blanks precede the caret in its row.
    pub(super) is_row_start: bool,
    /// The row is a comment, or the caret is inside a string.
    pub(super) is_prose: bool,
    /// The caret follows a dot, `::` or `->`.
    pub(super) is_member: bool,
    /// The caret follows `(`, `,` or `=`, where a value is expected.
    pub(super) is_value: bool,
    /// The caret follows a word, with or without blanks.
    pub(super) is_word: bool,
    /// The rest of the row is blank.
    pub(super) is_end: bool,
    /// The next text in the row is a word.
    pub(super) is_before_word: bool,
}

/// Number of features of a token.
pub(super) const FEATURES: usize = 38;

impl TokenFeatures {
    /// Returns the inputs of the network, in the order of its weights. The first is the constant 1.
    pub(super) fn features(&self) -> [f32; FEATURES] {
        let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        let ln = |count: usize| (1.0 + count as f32).ln();
        let odds = (self.share / (1.0 - self.share).max(0.01)).max(0.05).ln();
        let is_first = self.taken == 0;
        let (first, later) = (flag(is_first), flag(!is_first));
        let lead = self.length as f32 - self.rival as f32;
        [
            1.0,
            first * ln(self.length),
            later * ln(self.length + self.taken),
            ln(self.farther),
            first * odds,
            later * odds,
            ln(self.voters),
            flag(self.is_near),
            flag(self.is_here),
            ln(self.partial),
            later,
            flag(self.is_word && self.known == 0),
            flag(self.is_word && self.known > 0),
            flag(self.is_newline),
            ln(self.words),
            (self.bytes as f32 - self.partial as f32).clamp(0.0, 20.0) / 10.0,
            ln(self.taken),
            flag(is_first && self.site.is_row_start),
            flag(self.site.is_prose),
            flag(is_first && self.partial > 0 && self.bytes == self.partial),
            ln(self.distance.unwrap_or(3000)) / 4.0,
            flag(is_first && self.site.is_member),
            flag(is_first && self.site.is_value),
            flag(is_first && self.partial == 0),
            ln(self.known) / 2.0,
            lead.clamp(-4.0, 8.0) / 4.0,
            flag(self.class == TokenClass::Number),
            flag(self.class == TokenClass::Opener),
            flag(self.class == TokenClass::Closer),
            flag(self.class == TokenClass::Quote),
            self.rival_share,
            self.brought.map_or(0.0, |edits| 1.0 / (1.0 + edits as f32)),
            flag(self.brought.is_some()),
            self.so_far,
            flag(is_first && self.site.is_word),
            flag(self.site.is_end),
            flag(self.site.is_before_word),
            flag(is_first && self.length == 0),
        ]
    }
}

/// Returns the probability, from 0 to 1, that a predicted token is right.
pub(super) fn likelihood(token: &TokenFeatures) -> f32 {
    let features = token.features();
    let sum = |weights: &[i16], inputs: &[f32]| -> f32 {
        let products = weights
            .iter()
            .zip(inputs)
            .map(|(weight, x)| f32::from(*weight) * x);
        products.sum::<f32>() / 1000.0
    };
    let mut layer = [1.0; OUT.len()];
    for (unit, weights) in layer.iter_mut().skip(1).zip(&HIDDEN) {
        *unit = sum(weights, &features).tanh();
    }
    1.0 / (1.0 + (-sum(&OUT, &layer)).exp())
}
