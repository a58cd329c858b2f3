//! The records of a working tree's change log.

use std::fmt;

use host::TreeKind;
use serde::{Deserialize, Serialize};

use super::base::HeadState;

/// The number of a change in its log, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub u64);

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedChange {
    /// Number of the change in its log.
    pub id: ChangeId,
    /// Time of observation, in milliseconds since 1970.
    pub at_ms: u64,
    /// Path from the root, separated by `/`.
    pub path: String,
    /// The version before; `None` if the file did not exist.
    pub before: Option<StoredVersion>,
    /// The version after; `None` if the file was removed. The path's next change starts from it.
    pub after: Option<StoredVersion>,
    /// The author of the change.
    pub author: ChangeAuthor,
    /// The changes of the same file that this one undoes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<ChangeId>,
}

/// A version of a file or symlink.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StoredVersion {
    /// The Git blob id of the content. A content that was too large to store has an id of another
    /// form.
    pub id: String,
    /// The kind of the file.
    pub kind: VersionKind,
}

/// The kinds of files that can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionKind {
    /// A regular file that is not executable.
    File,
    /// A file with the executable bit.
    Executable,
    /// A symlink; its content is its target.
    Link,
}

/// The author of a change, as recorded in the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum ChangeAuthor {
    /// A file tool of an agent.
    Agent(AgentCall),
    /// A command of an agent: differences found after it ended, or while it ran in the background.
    Command(AgentCall),
    /// The user, in the editor.
    Person,
    /// A formatter, which the user's save or an agent's edit ran.
    Formatter {
        /// The author whose save or edit ran it.
        cause: Box<ChangeAuthor>,
    },
    /// Git, which checked files out in the user's folder: a checkout, a pull, a rebase.
    Git,
    /// An unknown author: another program, possibly run by the user.
    Disk,
    /// The user, by undoing changes.
    Undo {
        /// Number of the undo operation.
        operation: u64,
    },
}

/// A tool call of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentCall {
    /// The session; a subagent has its own.
    pub session: String,
    /// Turn of the session, from 1.
    pub turn: u64,
    /// Id of the tool call.
    pub call: String,
    /// Name of the tool.
    pub tool: String,
}

/// A named position in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The session whose turn begins here.
    pub session: String,
    /// The turn that begins, from 1.
    pub turn: u64,
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// The first change after the checkpoint.
    pub next: ChangeId,
}

/// The user's decision to keep changes of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptChanges {
    /// Path from the root, separated by `/`.
    pub(crate) path: String,
    /// The first change after the decision.
    pub(crate) next: ChangeId,
    /// The lines whose addition or removal is kept.
    pub(crate) lines: Vec<KeptLine>,
    /// Whether every change before `next` is kept that creates, removes or replaces the file as a
    /// whole.
    pub(crate) is_whole: bool,
}

/// A line of a file whose addition or removal the user keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptLine {
    /// The change that added the line; `None` for a line older than the log.
    pub(crate) added_by: Option<ChangeId>,
    /// Number of the line among those that the change added, from 0.
    pub(crate) number: u32,
    /// Whether the removal of the line is kept, instead of its addition.
    pub(crate) is_removal: bool,
    /// A hash of the line, in hexadecimal digits: a line that is not the same any more is not kept.
    pub(crate) hash: String,
}

/// A line of the log file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(crate) enum ChangeHistoryEntry {
    Change(RecordedChange),
    Checkpoint(Checkpoint),
    Kept(KeptChanges),
    /// HEAD was seen in this state.
    Head(HeadState),
}

impl VersionKind {
    /// Returns the kind of a tree entry, or `None` for folders and other entries that cannot be
    /// stored.
    pub(crate) fn of(kind: TreeKind) -> Option<Self> {
        match kind {
            TreeKind::File => Some(Self::File),
            TreeKind::Executable => Some(Self::Executable),
            TreeKind::Link => Some(Self::Link),
            TreeKind::Folder | TreeKind::Other => None,
        }
    }

    /// Converts the kind to the kind of a tree entry.
    pub(crate) fn tree_kind(self) -> TreeKind {
        match self {
            Self::File => TreeKind::File,
            Self::Executable => TreeKind::Executable,
            Self::Link => TreeKind::Link,
        }
    }
}

impl StoredVersion {
    /// Returns whether the content can be read: it is in the store or in the base.
    pub fn is_kept(&self) -> bool {
        !self.id.starts_with(TOO_LARGE_PREFIX)
    }

    /// Returns a version whose content is too large to store. Such versions are distinguished by
    /// size and modification time, in nanoseconds since 1970.
    pub(crate) fn too_large(kind: VersionKind, size: u64, mtime_ns: i128) -> Self {
        Self {
            id: format!("{TOO_LARGE_PREFIX}{size}-{mtime_ns}"),
            kind,
        }
    }
}

impl StoredVersion {
    /// Returns a version whose content was never read.
    pub(crate) fn unread(kind: VersionKind) -> Self {
        Self {
            id: format!("{TOO_LARGE_PREFIX}unread"),
            kind,
        }
    }
}

/// Prefix of the ids of contents that were not stored.
const TOO_LARGE_PREFIX: &str = "large-";

impl ChangeAuthor {
    /// Returns the agent's tool call that made the change, or that ran the formatter; `None` for changes
    /// by the user, Git, other programs or undo.
    pub fn agent_call(&self) -> Option<&AgentCall> {
        match self {
            Self::Agent(call) | Self::Command(call) => Some(call),
            Self::Formatter { cause } => cause.agent_call(),
            Self::Person | Self::Git | Self::Disk | Self::Undo { .. } => None,
        }
    }

    /// Returns whether a tool call of this session made the change. Calls of subagents belong to
    /// the sessions of the subagents.
    pub fn is_by_session(&self, session: &str) -> bool {
        self.agent_call()
            .is_some_and(|call| call.session == session)
    }
}

impl fmt::Display for ChangeAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(call) => write!(f, "the agent {} (turn {})", call.session, call.turn),
            Self::Command(call) => write!(
                f,
                "a command of the agent {} (turn {})",
                call.session, call.turn
            ),
            Self::Formatter { cause } => write!(f, "a formatter after an edit of {cause}"),
            Self::Git => f.write_str("Git"),
            Self::Person => f.write_str("the user"),
            Self::Disk => f.write_str("another program"),
            Self::Undo { .. } => f.write_str("an undo"),
        }
    }
}
