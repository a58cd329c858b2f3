//! Decisions, with the way back.

use std::collections::BTreeMap;

use super::HunkId;

/// What the person wants of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choice {
    /// It lands.
    Accepted,
    /// It does not.
    Rejected,
}

/// One step: what each hunk was before and is after.
type Step = Vec<(HunkId, Option<Choice>, Option<Choice>)>;

/// All decisions. Unbounded: grows with every step.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    now: BTreeMap<HunkId, Choice>,
    done: Vec<Step>,
    undone: Vec<Step>,
}

impl Choices {
    pub(super) fn of(&self, id: HunkId) -> Option<Choice> {
        self.now.get(&id).copied()
    }

    pub(super) fn decide(&mut self, ids: &[HunkId], choice: Option<Choice>) {
        let changed = ids.iter().filter(|id| self.of(**id) != choice);
        let step: Step = changed.map(|id| (*id, self.of(*id), choice)).collect();
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

    /// The same about those hunks that still exist.
    pub(super) fn only(&self, is_known: &dyn Fn(HunkId) -> bool) -> Self {
        let steps = |steps: &[Step]| -> Vec<Step> {
            let kept = |step: &Step| -> Step {
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

    pub(super) fn set(&mut self, id: HunkId, choice: Option<Choice>) {
        match choice {
            Some(choice) => self.now.insert(id, choice),
            None => self.now.remove(&id),
        };
    }
}
