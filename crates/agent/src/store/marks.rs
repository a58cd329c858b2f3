//! Marks: the name of a session, whether it is archived, unread or deleted.
//!
//! A mark is no part of the conversation. It has no number within the session, so that it can be
//! appended while the session runs, here or in another process.
//! Invariant: a name that the user gave is never replaced by an automatic one.
//! Start at `SessionStore::mark`.

use ledger::{LedgerEntry, MarkRow};
use serde::{Deserialize, Serialize};

use super::SessionStore;
use crate::error::Error;

/// A mark of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionMark {
    /// The user gave the session a name.
    Renamed {
        /// The name from now on.
        title: String,
    },
    /// The session got a title without the user.
    Titled {
        /// The title from now on.
        title: String,
        /// Cost of the request that made it, in billionths of a US dollar; `None` if it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_nano: Option<u64>,
    },
    /// The session is listed only among archived ones.
    Archived,
    /// The session is listed among the others again.
    Unarchived,
    /// Something happened that the user has not seen: a turn ended, or waits for an answer.
    Unread,
    /// The user has seen the session.
    Read,
    /// The session is no longer listed and cannot be continued. Its records stay in the ledger.
    Deleted,
}

impl SessionMark {
    /// Returns the kind of the mark, the name under which the ledger stores it.
    fn kind(&self) -> &'static str {
        match self {
            Self::Renamed { .. } => "renamed",
            Self::Titled { .. } => "titled",
            Self::Archived => "archived",
            Self::Unarchived => "unarchived",
            Self::Unread => "unread",
            Self::Read => "read",
            Self::Deleted => "deleted",
        }
    }
}

/// The marks of one session, folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FoldedMarks {
    /// The name that the user gave.
    pub(super) name: Option<String>,
    /// The latest automatic title.
    pub(super) title: Option<String>,
    /// Cost of automatic titles, in billionths of a US dollar.
    pub(super) cost_nano: u64,
    pub(super) is_archived: bool,
    pub(super) is_unread: bool,
    pub(super) is_deleted: bool,
}

impl FoldedMarks {
    /// Applies a row of the ledger. A mark of a later version is skipped.
    pub(super) fn apply(&mut self, row: &MarkRow) {
        let Ok(mark) = serde_json::from_str(&row.body) else {
            return;
        };
        match mark {
            SessionMark::Renamed { title } => self.name = Some(title),
            SessionMark::Titled { title, cost_nano } => {
                self.title = Some(title);
                self.cost_nano = self.cost_nano.saturating_add(cost_nano.unwrap_or(0));
            }
            SessionMark::Archived => self.is_archived = true,
            SessionMark::Unarchived => self.is_archived = false,
            SessionMark::Unread => self.is_unread = true,
            SessionMark::Read => self.is_unread = false,
            SessionMark::Deleted => self.is_deleted = true,
        }
    }

    /// Returns the name that the user gave, or else the automatic title.
    pub(super) fn title(&self) -> Option<&String> {
        self.name.as_ref().or(self.title.as_ref())
    }
}

impl SessionStore {
    /// Appends a mark of a session. It is on the disk when this returns. `at_ms` is the time in
    /// milliseconds since 1970.
    pub async fn mark(&self, session: &str, mark: &SessionMark, at_ms: u64) -> Result<(), Error> {
        let body = serde_json::to_string(mark).unwrap_or_else(|error| {
            base::never!("a mark is plain data: {error}");
            String::new()
        });
        self.write(vec![LedgerEntry::Mark(MarkRow {
            session: session.to_owned(),
            at_ms,
            kind: mark.kind().to_owned(),
            body,
        })])
        .await
    }
}
