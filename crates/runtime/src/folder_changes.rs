//! The changes of sessions in the user's own folders, by session with its subagents.
//!
//! Start at `SessionReviews::changes`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use agent::record::SessionRecord;
use agent::store::SessionStore;
use base::AbsPath;
use composer::Error;
use composer::folder_review::{
    FolderAction, FolderChanges, FolderReview, FolderReviews, UndoOutcome,
};

/// The reviews of folders for sessions with their subagents.
pub struct SessionReviews {
    reviews: FolderReviews,
    store: SessionStore,
    parents: SessionParents,
}

/// The parents of subagents, as far as they were looked up; a session without a parent has `None`.
#[derive(Default)]
struct SessionParents(Mutex<HashMap<String, Option<String>>>);

impl SessionParents {
    /// Returns a session and those of `others` that are its subagents, at any depth. Blocks on the
    /// disk at the first time.
    fn family(&self, store: &SessionStore, session: &str, others: Vec<String>) -> Vec<String> {
        let mut family = vec![session.to_owned()];
        for other in others {
            let mut at = Some(other.clone());
            let mut steps = 0;
            // Agents do not nest deeply; a damaged record must not be followed forever.
            while let Some(id) = at.filter(|_| steps < 32) {
                if id == session && id != other {
                    family.push(other);
                    break;
                }
                at = self.parent(store, &id);
                steps += 1;
            }
        }
        family
    }

    fn parent(&self, store: &SessionStore, session: &str) -> Option<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parent) = known.get(session) {
            return parent.clone();
        }
        let stored = store.find(session).ok().flatten();
        let records = stored.map(|it| it.records).unwrap_or_default();
        let parent = records.iter().find_map(|it| match &it.record {
            SessionRecord::Began { parent, .. } => Some(parent.as_ref()?.session.clone()),
            _ => None,
        });
        known.insert(session.to_owned(), parent.clone());
        parent
    }
}

impl SessionReviews {
    /// Creates the reviews over the records of all sessions.
    pub fn new(reviews: FolderReviews, store: SessionStore) -> Self {
        Self {
            reviews,
            store,
            parents: SessionParents::default(),
        }
    }

    /// Returns the reviews of the folders in which sessions work without a worktree.
    pub fn folders(&self) -> &FolderReviews {
        &self.reviews
    }

    /// Returns the changes of a session in a folder that are neither kept nor rejected; `None` if no
    /// session has changed anything there. Blocks on the disk. Fails with `Busy` if another process
    /// has the folder's log open.
    pub fn changes(&self, root: &AbsPath, session: &str) -> Result<Option<FolderChanges>, Error> {
        if let Some(failure) = self.reviews.failure(root) {
            return Err(Error::Failed(failure));
        }
        if !self.reviews.has_log(root) {
            return Ok(None);
        }
        let review = self.reviews.open(root)?;
        review.changes(&self.family(&review, session)).map(Some)
    }

    /// Keeps or takes out changes of a session in a folder. Blocks on the disk. Fails like
    /// `FolderReview::run`.
    pub fn run(
        &self,
        root: &AbsPath,
        session: &str,
        action: &FolderAction,
    ) -> Result<UndoOutcome, Error> {
        let review = self.reviews.open(root)?;
        let outcome = review.run(&self.family(&review, session), action);
        self.reviews.note_changed();
        outcome
    }

    fn family(&self, review: &FolderReview, session: &str) -> Vec<String> {
        self.parents.family(&self.store, session, review.sessions())
    }
}
