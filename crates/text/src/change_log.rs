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
        while self.changes.len() > MAX_CHANGES
            || self.splices > MAX_SPLICES && self.changes.len() > 1
        {
            if let Some(oldest) = self.changes.pop_front() {
                self.splices -= oldest.splices.len();
            }
        }
    }

    /// Returns all changes since `revision` as one; `None` if the log does not reach back that far,
    /// and if there is no change since.
    pub(crate) fn since(&self, revision: Revision) -> Option<Change> {
        let first = self.changes.front()?.before.0;
        let skip = usize::try_from(revision.0.checked_sub(first)?).ok()?;
        if skip >= self.changes.len() {
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
