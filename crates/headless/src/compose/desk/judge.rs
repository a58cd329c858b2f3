//! What the person decides about hunks, with the way back.

use composer::desk::Verdict;

use crate::compose::review::Decisions;
use crate::compose::trees::Trees;

/// Decisions that can be taken back.
const MOST: usize = 1000;

/// The decisions about a repository's hunks.
pub(super) struct Judge {
    trees: Trees,
    decisions: Decisions,
    /// What was decided before, the latest last: hunks with what was thought of them.
    before: Vec<Vec<(String, Option<bool>)>>,
}

impl Judge {
    pub(super) fn open(trees: &Trees) -> Result<Self, String> {
        Ok(Self {
            trees: trees.clone(),
            decisions: Decisions::read(trees)?,
            before: Vec::new(),
        })
    }

    pub(super) fn verdict(&self, hunk: &str) -> Verdict {
        match self.decisions.of(hunk) {
            None => Verdict::Open,
            Some(true) => Verdict::Accepted,
            Some(false) => Verdict::Rejected,
        }
    }

    /// Decides about hunks at once. Blocks on the disk.
    pub(super) fn decide<'a>(
        &mut self,
        hunks: impl IntoIterator<Item = &'a str>,
        verdict: Verdict,
    ) -> Result<(), String> {
        let stands = match verdict {
            Verdict::Open => None,
            Verdict::Accepted => Some(true),
            Verdict::Rejected => Some(false),
        };
        let before: Vec<_> = hunks
            .into_iter()
            .map(|hunk| (hunk.to_owned(), self.decisions.of(hunk)))
            .collect();
        for (hunk, _) in &before {
            self.decisions.set(hunk, stands);
        }
        self.before.push(before);
        if self.before.len() > MOST {
            self.before.remove(0);
        }
        self.decisions.write(&self.trees)
    }

    /// Takes back what was last decided.
    pub(super) fn undo(&mut self) -> Result<(), String> {
        for (hunk, stood) in self.before.pop().unwrap_or_default() {
            self.decisions.set(&hunk, stood);
        }
        self.decisions.write(&self.trees)
    }
}
