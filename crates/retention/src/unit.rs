//! Units of written text, and the states of their tokens.

use std::collections::BTreeMap;

use crate::event::{Remainder, TokenLoss};
use crate::run::{Run, RunKind, TokenState};
use crate::writer::Fate;

/// A unit under observation.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Time of the change, in milliseconds.
    pub(crate) born_ms: u64,
    /// The runs of tokens that the change inserted and removed, and those that were moved elsewhere.
    pub(crate) runs: Vec<Run>,
    /// Index of the next horizon at which the unit is measured.
    pub(crate) next_horizon: usize,
    pub(crate) is_committed: bool,
    pub(crate) is_landed: bool,
}

impl Unit {
    /// Returns what is left of the inserted or of the removed tokens.
    pub(crate) fn remainder(&self, kind: RunKind) -> Remainder {
        remainder(
            self.runs.iter().filter(|run| run.kind == kind),
            self.born_ms,
        )
    }
}

/// Sums up the states of the tokens of runs that began at `born_ms`.
pub(crate) fn remainder<'a>(runs: impl Iterator<Item = &'a Run>, born_ms: u64) -> Remainder {
    let mut left = Remainder::default();
    let mut losses: BTreeMap<(u64, Fate), u32> = BTreeMap::new();
    for run in runs {
        for state in &run.states {
            match state {
                TokenState::Kept => {
                    left.kept += 1;
                    left.moved += u32::from(run.is_moved);
                }
                TokenState::Lost { at_ms, fate } => {
                    let after_ms = at_ms.saturating_sub(born_ms);
                    *losses.entry((after_ms, *fate)).or_default() += 1;
                }
                TokenState::Elsewhere => continue,
            }
            left.tokens += 1;
        }
    }
    let losses = losses.into_iter();
    left.losses = losses
        .map(|((after_ms, fate), tokens)| TokenLoss {
            after_ms,
            fate,
            tokens,
        })
        .collect();
    left
}
