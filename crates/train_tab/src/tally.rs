//! Counts of keystrokes and suggestions while hunks are typed, for several thresholds.

use autocomplete::SuggestionSource;
use base::Span;
use replay::baselines::Keywords;
use replay::caret_suggestions::{Asking, CaretSuggestions, TypingCounts, type_with};
use replay::local_tier::{LocalTier, OpenFile};
use replay::typing::one_key;

use super::changes::TypedHunk;

/// Counts of typing some hunks.
#[derive(Clone, Default)]
pub(super) struct Tally {
    /// Keystrokes without completion.
    pub(super) typed: usize,
    oracle: usize,
    nvim: usize,
    /// At the threshold of the tables.
    pub(super) in_use: TypingCounts,
    /// At each of some other thresholds.
    pub(super) compared: Vec<TypingCounts>,
}

impl Tally {
    /// Types a hunk character by character.
    pub(super) fn measure(
        tier: &mut LocalTier,
        open: &mut OpenFile,
        typed: &TypedHunk<'_>,
        compared: &[f32],
    ) -> Self {
        let new = typed.hunk.new.as_str();
        let text = open.buffer.snapshot().to_string();
        let mut keywords = Keywords::new(&text, open.caret.0, typed.others);
        let (keys, oracle, nvim) = keywords.keys(new);
        let mut said: Vec<Option<CaretSuggestions>> = Vec::new();
        said.resize_with(new.len(), || None);
        let (mut left, mut clock) = (new, typed.clock);
        while !left.is_empty() {
            clock += 120;
            let state = open.state();
            let suggestions = tier.all_suggestions(&state);
            said[new.len() - left.len()] =
                Some(CaretSuggestions::at(&state, &suggestions, &[], &[]));
            let key = one_key(left);
            open.replace(Span::at(open.caret), &left[..key], clock, tier);
            left = &left[key..];
        }
        let local = &tier.local;
        let in_use = local.threshold(&SuggestionSource::Continuation);
        let with = |threshold: f32| type_with(new, &said, threshold, Asking::Never);
        Self {
            typed: keys,
            oracle,
            nvim,
            in_use: with(in_use),
            compared: compared.iter().map(|it| with(*it)).collect(),
        }
    }

    /// Adds the counts of other hunks, which were typed with the same thresholds.
    pub(super) fn add(&mut self, other: &Self) {
        self.typed += other.typed;
        self.oracle += other.oracle;
        self.nvim += other.nvim;
        self.in_use.add(other.in_use);
        self.compared
            .resize(other.compared.len(), TypingCounts::default());
        for (own, other) in self.compared.iter_mut().zip(&other.compared) {
            own.add(*other);
        }
    }

    fn saved(&self, keys: usize) -> f64 {
        1.0 - keys as f64 / self.typed.max(1) as f64
    }

    /// Returns the keys that `typed` saves relative to nvim's.
    pub(super) fn beside_nvim(&self, typed: &TypingCounts) -> f64 {
        self.saved(typed.keys) / self.saved(self.nvim).max(f64::MIN_POSITIVE)
    }

    /// Describes the counts of `typed`.
    pub(super) fn summary(&self, typed: &TypingCounts) -> String {
        let saved = self.saved(typed.keys);
        let oracle = self.saved(self.oracle);
        format!(
            "{saved:.3} of {} keys saved, {:.3} of nvim's {:.3}, {:.3} of the oracle's {oracle:.3}; \
             {:.3} wrong of {} shown",
            self.typed,
            self.beside_nvim(typed),
            self.saved(self.nvim),
            saved / oracle.max(f64::MIN_POSITIVE),
            wrong_share(typed),
            typed.shown,
        )
    }
}

/// Returns the share of the shown suggestions that were wrong.
pub(super) fn wrong_share(typed: &TypingCounts) -> f64 {
    typed.wrong as f64 / typed.shown.max(1) as f64
}
