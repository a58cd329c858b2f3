//! How likely a token is right, from what is known of the places that say so.
//!
//! A network with one small layer. Its weights were fitted on replayed commits of repositories that nothing is
//! measured on; `crates/bench/src/tab_local/fit.rs` does that and prints them.

use super::weights::{HIDDEN, OUT};

/// What is known of a token before it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// Tokens before the caret that agree with the best place.
    pub(super) length: usize,
    /// As many, of the best place that says something else.
    pub(super) rival: usize,
    /// The words among them: signs alone say little.
    pub(super) words: usize,
    /// Tokens before those that agree but for the names in them.
    pub(super) farther: usize,
    /// The weight of the places that say so among all that have agreed so far, from 0 to 1.
    pub(super) share: f32,
    pub(super) voters: usize,
    pub(super) is_near: bool,
    /// Whether one of them lies in the same file.
    pub(super) is_here: bool,
    /// Tokens between the caret and the nearest of them near it.
    pub(super) distance: Option<usize>,
    /// Bytes of it that are typed already.
    pub(super) partial: usize,
    /// Tokens that the guess has already.
    pub(super) taken: usize,
    pub(super) is_word: bool,
    /// How often it stands around the caret.
    pub(super) known: usize,
    pub(super) is_newline: bool,
    pub(super) bytes: usize,
    pub(super) class: Class,
    /// The weight of the strongest that says something else, from 0 to 1.
    pub(super) rival_share: f32,
    /// How many edits ago the word was brought in, if it was lately.
    pub(super) brought: Option<usize>,
    /// How likely the guess is without it.
    pub(super) so_far: f32,
    pub(super) site: Site,
}

/// What kind of token it is, by its first char.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Word,
    Number,
    Opener,
    Closer,
    Quote,
    Sign,
}

impl Class {
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

/// What stands before the caret.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Site {
    /// Nothing but blanks.
    pub(super) is_row_start: bool,
    /// A row of a comment, or an open quote.
    pub(super) is_prose: bool,
    /// A dot or the like.
    pub(super) is_member: bool,
    /// What a value comes behind.
    pub(super) is_value: bool,
    /// A word, with or without blanks behind it.
    pub(super) is_word: bool,
    /// Nothing stands behind the caret in its row.
    pub(super) is_end: bool,
    /// A word does.
    pub(super) is_before_word: bool,
}

/// How many features a token has.
pub(super) const FEATURES: usize = 38;

impl Told {
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
            flag(self.class == Class::Number),
            flag(self.class == Class::Opener),
            flag(self.class == Class::Closer),
            flag(self.class == Class::Quote),
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

pub(super) fn likelihood(told: &Told) -> f32 {
    let features = told.features();
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
