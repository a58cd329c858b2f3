//! Verdicts on hunks, with undo and redo.

use std::collections::BTreeMap;

use super::HunkId;

/// The user's verdict on a hunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// Returns the verdict on a hunk; `Open` if it has none.
    pub(super) fn get(&self, id: HunkId) -> HunkVerdict {
        self.decided.get(&id).copied().unwrap_or_default()
    }

    /// Sets the verdict on hunks as one step; does nothing if none changes. Later steps can be
    /// redone no more.
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

    /// Takes back the latest step; `false` if there is none.
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

    /// Repeats the step taken back last; `false` if there is none.
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

    /// Sets one verdict without a step.
    pub(super) fn set(&mut self, id: HunkId, verdict: HunkVerdict) {
        match verdict {
            HunkVerdict::Open => self.decided.remove(&id),
            decided => self.decided.insert(id, decided),
        };
    }
}
