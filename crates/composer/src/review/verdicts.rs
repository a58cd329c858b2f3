//! Verdicts on hunks, with undo and redo.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::HunkId;

/// The user's verdict on a hunk.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum HunkVerdict {
    /// The user has not decided yet.
    #[default]
    Open,
    /// Accepted: the hunk will land.
    Accepted,
    /// Rejected: the hunk will not land.
    Rejected,
}

/// One undo step: each hunk with its verdict before and after.
type VerdictStep = Vec<(HunkId, HunkVerdict, HunkVerdict)>;

/// All verdicts. Unbounded: grows with every step.
#[derive(Clone, Debug, Default)]
pub(super) struct VerdictHistory {
    /// Verdicts other than `Open`.
    decided: BTreeMap<HunkId, HunkVerdict>,
    done: Vec<VerdictStep>,
    undone: Vec<VerdictStep>,
}

impl VerdictHistory {
    /// Returns the verdict on a hunk, or `Open` if the hunk is undecided.
    pub(super) fn get(&self, id: HunkId) -> HunkVerdict {
        self.decided.get(&id).copied().unwrap_or_default()
    }

    /// Sets the verdict on hunks as one step, and discards the steps that could be redone. Does
    /// nothing if all hunks already have this verdict.
    pub(super) fn decide(&mut self, ids: &[HunkId], verdict: HunkVerdict) {
        let changed = ids.iter().filter(|id| self.get(**id) != verdict);
        let step: VerdictStep = changed.map(|id| (*id, self.get(*id), verdict)).collect();
        if step.is_empty() {
            return;
        }
        for (id, _, after) in &step {
            self.set(*id, *after);
        }
        self.done.push(step);
        self.undone.clear();
    }

    /// Undoes the latest step. Returns `false` if there is no step to undo.
    pub(super) fn undo(&mut self) -> bool {
        let Some(step) = self.done.pop() else {
            return false;
        };
        for (id, before, _) in &step {
            self.set(*id, *before);
        }
        self.undone.push(step);
        true
    }

    /// Redoes the step that was undone last. Returns `false` if there is no step to redo.
    pub(super) fn redo(&mut self) -> bool {
        let Some(step) = self.undone.pop() else {
            return false;
        };
        for (id, _, after) in &step {
            self.set(*id, *after);
        }
        self.done.push(step);
        true
    }

    /// The verdicts on hunks that still exist.
    pub(super) fn retain_known(&self, is_known: &dyn Fn(HunkId) -> bool) -> Self {
        let steps = |steps: &[VerdictStep]| -> Vec<VerdictStep> {
            let kept = |step: &VerdictStep| -> VerdictStep {
                step.iter()
                    .copied()
                    .filter(|(id, ..)| is_known(*id))
                    .collect()
            };
            steps
                .iter()
                .map(kept)
                .filter(|step| !step.is_empty())
                .collect()
        };
        Self {
            decided: self
                .decided
                .iter()
                .filter(|(id, _)| is_known(**id))
                .map(|(id, it)| (*id, *it))
                .collect(),
            done: steps(&self.done),
            undone: steps(&self.undone),
        }
    }

    /// Sets one verdict without recording a step for `undo`.
    pub(super) fn set(&mut self, id: HunkId, verdict: HunkVerdict) {
        match verdict {
            HunkVerdict::Open => self.decided.remove(&id),
            decided => self.decided.insert(id, decided),
        };
    }
}
