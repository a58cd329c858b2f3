//! The user's verdicts on hunks, stored for a repository.
//!
//! A verdict belongs to a hunk's change, not to its position: a hunk that changes must be decided
//! again.
//! Start at `ReviewDecisions::decide`; `VerdictStore` is the file.

use std::collections::BTreeMap;

use host::{Files as _, RealFiles};

use crate::Error;
use crate::review::{HunkId, HunkVerdict, Review};
use crate::worktrees::JobWorktrees;

/// The largest file of verdicts that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The stored verdicts of a repository, except `Open`. The size is unbounded: it grows with every
/// decided hunk.
#[derive(Debug, Default)]
pub struct VerdictStore(BTreeMap<HunkId, HunkVerdict>);

/// The verdicts on a repository's hunks, over its latest review.
pub(crate) struct ReviewDecisions {
    worktrees: JobWorktrees,
    store: VerdictStore,
    /// The latest review; `None` before the first scan.
    review: Option<Review>,
}

impl VerdictStore {
    /// Reads the verdicts of a repository. A missing file counts as an empty store. Blocks on the
    /// disk. Fails if the file cannot be parsed, so that the file is not overwritten.
    pub fn read(worktrees: &JobWorktrees) -> Result<Self, Error> {
        let path = worktrees.folder().join("review.json");
        let stored: BTreeMap<String, bool> = match RealFiles.read(&path, MAX_FILE_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                Error::Unreadable(format!(
                    "{path} cannot be read: {error}; remove it to decide again"
                ))
            })?,
            Err(error) if error.is_not_found() => BTreeMap::new(),
            Err(error) => return Err(error.into()),
        };
        let verdicts = stored.into_iter().filter_map(|(id, is_accepted)| {
            let verdict = if is_accepted {
                HunkVerdict::Accepted
            } else {
                HunkVerdict::Rejected
            };
            Some((HunkId::parse(&id)?, verdict))
        });
        Ok(Self(verdicts.collect()))
    }

    /// Writes the verdicts. Blocks on the disk.
    pub fn write(&self, worktrees: &JobWorktrees) -> Result<(), Error> {
        let stored = self.0.iter();
        let stored: BTreeMap<String, bool> = stored
            .map(|(id, verdict)| (id.to_string(), *verdict == HunkVerdict::Accepted))
            .collect();
        let bytes = serde_json::to_vec(&stored)?;
        let path = worktrees.folder().join("review.json");
        Ok(RealFiles.write_private(&path, &bytes)?)
    }

    /// Returns the verdict on a hunk, or `Open` if the store has no verdict on it.
    pub fn verdict(&self, hunk: HunkId) -> HunkVerdict {
        self.0.get(&hunk).copied().unwrap_or_default()
    }

    /// Replaces the verdicts on the hunks of a review by the verdicts of the review. `Open` removes
    /// a stored verdict. Does not write to the disk.
    pub fn merge_review(&mut self, review: &Review) {
        for hunk in review.hunks() {
            match review.verdict(hunk.id) {
                HunkVerdict::Open => self.0.remove(&hunk.id),
                decided => self.0.insert(hunk.id, decided),
            };
        }
    }
}

impl ReviewDecisions {
    /// Reads the stored verdicts. Blocks on the disk.
    pub(crate) fn open(worktrees: &JobWorktrees) -> Result<Self, Error> {
        Ok(Self {
            worktrees: worktrees.clone(),
            store: VerdictStore::read(worktrees)?,
            review: None,
        })
    }

    /// Returns the latest review with its verdicts, or `None` before the first scan.
    pub(crate) fn review(&self) -> Option<&Review> {
        self.review.as_ref()
    }

    /// Takes over a new review; unchanged hunks keep their verdicts.
    pub(crate) fn update_review(&mut self, review: Review) {
        let review = match &self.review {
            Some(earlier) => review.with_verdicts_of(earlier),
            None => review,
        };
        let store = &self.store;
        self.review = Some(review.with_stored_verdicts(|id| store.verdict(id)));
    }

    /// Returns the verdict on a hunk, by its full id, or `Open` if the id is invalid or unknown.
    pub(crate) fn verdict(&self, hunk: &str) -> HunkVerdict {
        let id = HunkId::parse(hunk);
        let verdict = id.and_then(|id| Some(self.review.as_ref()?.verdict(id)));
        verdict.unwrap_or_default()
    }

    /// Sets the verdict on some hunks as one step for `undo`, and saves the verdicts. Skips invalid
    /// and unknown ids. Blocks on the disk.
    pub(crate) fn decide<'a>(
        &mut self,
        hunks: impl IntoIterator<Item = &'a str>,
        verdict: HunkVerdict,
    ) -> Result<(), Error> {
        let hunks: Vec<HunkId> = hunks.into_iter().filter_map(HunkId::parse).collect();
        let Some(review) = &mut self.review else {
            return Ok(());
        };
        review.decide(&hunks, verdict);
        self.save()
    }

    /// Undoes the latest change of verdicts, and saves the verdicts. Does nothing if there is no
    /// change to undo. Blocks on the disk.
    pub(crate) fn undo(&mut self) -> Result<(), Error> {
        if self.review.as_mut().is_some_and(Review::undo) {
            self.save()
        } else {
            Ok(())
        }
    }

    /// Merges the review's verdicts into the store and writes it to the disk.
    fn save(&mut self) -> Result<(), Error> {
        if let Some(review) = &self.review {
            self.store.merge_review(review);
        }
        self.store.write(&self.worktrees)
    }
}
