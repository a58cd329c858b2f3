//! How likely a token is right, from what is known of the places that say so.
//!
//! A logistic regression. Its weights were fitted on replayed commits of repositories that nothing is measured on;
//! the bench `tab-local` says how.

/// What is known of a token before it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// Tokens before the caret that agree with the best place.
    pub(super) length: usize,
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
    /// Bytes of it that are typed already.
    pub(super) partial: usize,
    /// Tokens that the guess has already.
    pub(super) taken: usize,
    pub(super) is_word: bool,
    /// Whether it stands somewhere around the caret.
    pub(super) is_known: bool,
    pub(super) is_newline: bool,
    /// Whether nothing stands before the caret in its row.
    pub(super) is_row_start: bool,
    pub(super) bytes: usize,
}

/// How many features a token has.
pub(super) const FEATURES: usize = 18;

const WEIGHTS: [f32; FEATURES] = [
    -2.716, 0.705, 0.372, 0.166, 0.555, 0.388, 0.278, -0.442, 0.998, 0.774, 0.328, -0.771, 0.058,
    -2.729, 0.282, -0.518, -0.391, -0.728,
];

impl Told {
    pub(super) fn features(&self) -> [f32; FEATURES] {
        let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        let ln = |count: usize| (1.0 + count as f32).ln();
        let odds = (self.share / (1.0 - self.share).max(0.01)).max(0.05).ln();
        let is_first = self.taken == 0;
        let first = flag(is_first);
        [
            1.0,
            first * ln(self.length),
            (1.0 - first) * ln(self.length + self.taken),
            ln(self.farther),
            first * odds,
            (1.0 - first) * odds,
            ln(self.voters),
            flag(self.is_near),
            flag(self.is_here),
            ln(self.partial),
            flag(!is_first),
            flag(self.is_word && !self.is_known),
            flag(self.is_word && self.is_known),
            flag(self.is_newline),
            ln(self.words),
            (self.bytes as f32 - self.partial as f32).clamp(0.0, 20.0) / 10.0,
            ln(self.taken),
            flag(is_first && self.is_row_start),
        ]
    }
}

pub(super) fn likelihood(told: &Told) -> f32 {
    let sum: f32 = told
        .features()
        .iter()
        .zip(WEIGHTS)
        .map(|(x, w)| x * w)
        .sum();
    1.0 / (1.0 + (-sum).exp())
}
