//! Decisions about hunks, with undo and redo.

use std::collections::BTreeMap;

use super::HunkId;

/// The user's decision about a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HunkDecision {
    /// The hunk will land.
    Accepted,
    /// The hunk will not land.
    Rejected,
}

/// One undo step: each hunk with its decision before and after.
type DecisionStep = Vec<(HunkId, Option<HunkDecision>, Option<HunkDecision>)>;

/// All decisions. Unbounded: grows with every step.
#[derive(Clone, Debug, Default)]
pub(super) struct HunkDecisions {
    now: BTreeMap<HunkId, HunkDecision>,
    done: Vec<DecisionStep>,
    undone: Vec<DecisionStep>,
}

impl HunkDecisions {
    pub(super) fn get(&self, id: HunkId) -> Option<HunkDecision> {
        self.now.get(&id).copied()
    }

    pub(super) fn decide(&mut self, ids: &[HunkId], choice: Option<HunkDecision>) {
        let changed = ids.iter().filter(|id| self.get(**id) != choice);
        let step: DecisionStep = changed.map(|id| (*id, self.get(*id), choice)).collect();
        if step.is_empty() {
            return;
        }
        for (id, _, after) in &step {
            self.set(*id, *after);
        }
        self.done.push(step);
        self.undone.clear();
    }

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

    /// The decisions about hunks that still exist.
    pub(super) fn retain_known(&self, is_known: &dyn Fn(HunkId) -> bool) -> Self {
        let steps = |steps: &[DecisionStep]| -> Vec<DecisionStep> {
            let kept = |step: &DecisionStep| -> DecisionStep {
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
            now: self
                .now
                .iter()
                .filter(|(id, _)| is_known(**id))
                .map(|(id, it)| (*id, *it))
                .collect(),
            done: steps(&self.done),
            undone: steps(&self.undone),
        }
    }

    pub(super) fn set(&mut self, id: HunkId, choice: Option<HunkDecision>) {
        match choice {
            Some(choice) => self.now.insert(id, choice),
            None => self.now.remove(&id),
        };
    }
}
