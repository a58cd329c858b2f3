//! What the person decides about hunks, with the way back.

use composer::desk::Verdict;
use composer::review::{Choice, HunkId, Review};

use crate::compose::review::Decisions;
use crate::compose::trees::Trees;

/// The decisions about a repository's hunks.
pub(super) struct Judge {
    trees: Trees,
    decisions: Decisions,
    /// What was last seen; `None` before the first look.
    review: Option<Review>,
}

impl Judge {
    pub(super) fn open(trees: &Trees) -> Result<Self, String> {
        Ok(Self {
            trees: trees.clone(),
            decisions: Decisions::read(trees)?,
            review: None,
        })
    }

    /// What was last seen, with what was decided about it.
    pub(super) fn review(&self) -> Option<&Review> {
        self.review.as_ref()
    }

    /// Hunks were looked at again: what was decided stays with those that are the same.
    pub(super) fn look(&mut self, review: Review) {
        let review = match &self.review {
            Some(earlier) => review.with_decisions_of(earlier),
            None => review,
        };
        let kept = &self.decisions;
        self.review = Some(review.with_choices(|id| kept.of(id)));
    }

    pub(super) fn verdict(&self, hunk: &str) -> Verdict {
        let id = HunkId::parse(hunk);
        let choice = id.and_then(|id| self.review.as_ref()?.choice(id));
        match choice {
            None => Verdict::Open,
            Some(Choice::Accepted) => Verdict::Accepted,
            Some(Choice::Rejected) => Verdict::Rejected,
        }
    }

    /// Decides about hunks at once. Blocks on the disk.
    pub(super) fn decide<'a>(
        &mut self,
        hunks: impl IntoIterator<Item = &'a str>,
        verdict: Verdict,
    ) -> Result<(), String> {
        let choice = match verdict {
            Verdict::Open => None,
            Verdict::Accepted => Some(Choice::Accepted),
            Verdict::Rejected => Some(Choice::Rejected),
        };
        let hunks: Vec<HunkId> = hunks.into_iter().filter_map(HunkId::parse).collect();
        let Some(review) = &mut self.review else {
            return Ok(());
        };
        review.decide(&hunks, choice);
        self.keep()
    }

    /// Takes back what was last decided.
    pub(super) fn undo(&mut self) -> Result<(), String> {
        match self.review.as_mut().is_some_and(Review::undo) {
            true => self.keep(),
            false => Ok(()),
        }
    }

    fn keep(&mut self) -> Result<(), String> {
        if let Some(review) = &self.review {
            self.decisions.take(review);
        }
        self.decisions.write(&self.trees)
    }
}
