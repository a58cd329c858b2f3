//! Training samples: what the local tier considers while changes are typed, and what was right.

use autocomplete::local::TabTables;
use base::Span;
use replay::local_tier::{LocalTier, OpenFile};
use replay::typing::one_key;

use super::changes;
use super::projects::{Project, Random};

/// Maximum number of hunks of one package that are typed.
const MAX_HUNKS: usize = 24;

/// Samples of one table.
#[derive(Default)]
pub(super) struct Samples {
    /// Features of each sample, one after the other.
    pub(super) features: Vec<i16>,
    pub(super) is_right: Vec<bool>,
}

/// The table that samples are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleKind {
    Tokens,
    Guesses,
}

impl Samples {
    fn add(&mut self, features: &[i16], is_right: bool) {
        self.features.extend_from_slice(features);
        self.is_right.push(is_right);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.features.append(&mut other.features);
        self.is_right.append(&mut other.is_right);
    }
}

/// Types the changes of a project and returns the samples of about one caret in `thin`; the text
/// between them is inserted at once.
pub(super) fn gather(
    project: &Project,
    name: &str,
    tables: &TabTables,
    (kind, thin): (SampleKind, usize),
) -> Samples {
    let mut random = Random::new(name);
    let mut samples = Samples::default();
    changes::make(project, tables, MAX_HUNKS, |tier, open, typed| {
        let mut left = typed.hunk.new.as_str();
        let mut clock = typed.clock;
        while !left.is_empty() {
            samples.take(kind, tier, open, left);
            let keys = 1 + random.below(2 * thin);
            let taken = (0..keys).fold(0, |at, _| at + one_key(&left[at..]));
            clock += 120 * keys as u64;
            open.replace(Span::at(open.caret), &left[..taken], clock, tier);
            left = &left[taken..];
        }
    });
    samples
}

impl Samples {
    /// Adds the samples of a caret before the text `left`.
    fn take(&mut self, kind: SampleKind, tier: &LocalTier, open: &OpenFile, left: &str) {
        let state = open.state();
        match kind {
            SampleKind::Tokens => {
                for sample in tier.local.token_samples(&state, left) {
                    self.add(&sample.features, sample.is_right);
                }
            }
            SampleKind::Guesses => {
                for sample in tier.local.guess_samples(&state, left) {
                    self.add(&sample.features, sample.is_right);
                }
            }
        }
    }
}
