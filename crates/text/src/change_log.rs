//! The latest changes of a buffer, for consumers that poll it.
//!
//! Invariant: the changes are consecutive and end at the buffer's revision.

use std::collections::VecDeque;

use base::Revision;
use smallvec::SmallVec;

use crate::change::{Change, Splice, compose_all};

/// Maximum number of changes in the log, and of their splices together.
const MAX_CHANGES: usize = 1024;
const MAX_SPLICES: usize = 64 * 1024;

/// The latest consecutive changes of a buffer, at most 1024 and with at most 65,536 splices in
/// total.
#[derive(Default)]
pub(crate) struct ChangeLog {
    changes: VecDeque<Change>,
    splices: usize,
    /// Whether a batch is open, during which no change is dropped.
    is_batch: bool,
}

impl ChangeLog {
    /// Appends the newest change and drops the oldest ones beyond the bounds; the newest one always
    /// stays.
    pub(crate) fn push(&mut self, change: &Change) {
        self.splices += change.splices.len();
        self.changes.push_back(Change {
            // Copies bytes, whereas cloning would go element by element.
            splices: SmallVec::from_slice(&change.splices),
            ..*change
        });
        if !self.is_batch {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        while self.changes.len() > MAX_CHANGES
            || self.splices > MAX_SPLICES && self.changes.len() > 1
        {
            if let Some(oldest) = self.changes.pop_front() {
                self.splices -= oldest.splices.len();
            }
        }
    }

    /// Keeps all changes until `end_batch`.
    pub(crate) fn begin_batch(&mut self) {
        self.is_batch = true;
    }

    /// Keeps the changes since `revision` as one.
    pub(crate) fn end_batch(&mut self, revision: Revision) {
        self.is_batch = false;
        let Some(whole) = self.since(revision) else {
            return;
        };
        let kept = self.changes.partition_point(|it| it.before < revision);
        for part in self.changes.drain(kept..) {
            self.splices -= part.splices.len();
        }
        self.push(&whole);
    }

    /// Returns all changes since `revision` as one; `None` if the log does not reach back that far,
    /// and if there is no change since.
    pub(crate) fn since(&self, revision: Revision) -> Option<Change> {
        let skip = self.changes.partition_point(|it| it.before < revision);
        if self.changes.get(skip)?.before != revision {
            return None;
        }
        let lists: Vec<&[Splice]> = self
            .changes
            .range(skip..)
            .map(|it| &it.splices[..])
            .collect();
        Some(Change {
            before: revision,
            after: self.changes.back()?.after,
            author: self.changes.back()?.author,
            splices: compose_all(&lists),
        })
    }
}
