//! The user's decisions about hunks, with undo.

use composer::review::{HunkDecision, HunkId, Review};
use composer::view::HunkVerdict;

use crate::compose::job_worktrees::JobWorktrees;
use crate::compose::review::Decisions;

/// The decisions about a repository's hunks.
pub(super) struct ReviewDecisions {
    worktrees: JobWorktrees,
    decisions: Decisions,
    /// The latest review; `None` before the first scan.
    review: Option<Review>,
}

impl ReviewDecisions {
    pub(super) fn open(trees: &JobWorktrees) -> Result<Self, String> {
        Ok(Self {
            worktrees: trees.clone(),
            decisions: Decisions::read(trees)?,
            review: None,
        })
    }

    /// Returns the latest review with its decisions.
    pub(super) fn review(&self) -> Option<&Review> {
        self.review.as_ref()
    }

    /// Takes over a new review; unchanged hunks keep their decisions.
    pub(super) fn update_review(&mut self, review: Review) {
        let review = match &self.review {
            Some(earlier) => review.with_decisions_of(earlier),
            None => review,
        };
        let kept = &self.decisions;
        self.review = Some(review.with_stored_decisions(|id| kept.of(id)));
    }

    pub(super) fn verdict(&self, hunk: &str) -> HunkVerdict {
        let id = HunkId::parse(hunk);
        let choice = id.and_then(|id| self.review.as_ref()?.decision(id));
        match choice {
            None => HunkVerdict::Open,
            Some(HunkDecision::Accepted) => HunkVerdict::Accepted,
            Some(HunkDecision::Rejected) => HunkVerdict::Rejected,
        }
    }

    /// Decides about hunks at once. Blocks on the disk.
    pub(super) fn decide<'a>(
        &mut self,
        hunks: impl IntoIterator<Item = &'a str>,
        verdict: HunkVerdict,
    ) -> Result<(), String> {
        let choice = match verdict {
            HunkVerdict::Open => None,
            HunkVerdict::Accepted => Some(HunkDecision::Accepted),
            HunkVerdict::Rejected => Some(HunkDecision::Rejected),
        };
        let hunks: Vec<HunkId> = hunks.into_iter().filter_map(HunkId::parse).collect();
        let Some(review) = &mut self.review else {
            return Ok(());
        };
        review.decide(&hunks, choice);
        self.save()
    }

    /// Undoes the latest decision.
    pub(super) fn undo(&mut self) -> Result<(), String> {
        if self.review.as_mut().is_some_and(Review::undo) {
            self.save()
        } else {
            Ok(())
        }
    }

    fn save(&mut self) -> Result<(), String> {
        if let Some(review) = &self.review {
            self.decisions.merge_review(review);
        }
        self.decisions.write(&self.worktrees)
    }
}
