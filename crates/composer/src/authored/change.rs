//! What is written down of a working tree's changes.

use std::fmt;

use host::TreeKind;
use serde::{Deserialize, Serialize};

/// The number of a change in its log, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub u64);

/// A file became another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its number.
    pub id: ChangeId,
    /// Milliseconds since 1970: when it was seen.
    pub at_ms: u64,
    /// From the top, with `/`.
    pub path: String,
    /// What stood there; `None` where nothing did.
    pub before: Option<Version>,
    /// What stands there now. It is what the path's next change begins with.
    pub after: Option<Version>,
    /// Who did it.
    pub author: Author,
    /// The changes of the same file that this one takes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<ChangeId>,
}

/// A file or link as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    /// The id of its content, as git counts it. A content that was too large to be kept has an id of another form.
    pub id: String,
    /// What it is.
    pub kind: VersionKind,
}

/// What can be kept of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionKind {
    /// A file.
    File,
    /// A file that can be run.
    Executable,
    /// A link; its content is where it leads.
    Link,
}

/// Who changed something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum Author {
    /// A file tool of an agent.
    Agent(Doing),
    /// A command that an agent ran: what was found changed once it had ended, or while it went on beside.
    Command(Doing),
    /// The person, in the editor.
    Person,
    /// Nobody we know of: another program, or the person by way of one.
    Disk,
    /// The person, by taking back changes of others.
    Undo {
        /// The operation's number.
        operation: u64,
    },
}

/// A call of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Doing {
    /// The session; a subagent has its own.
    pub session: String,
    /// Its turn, from 1.
    pub turn: u64,
    /// The call.
    pub call: String,
    /// The tool's own name.
    pub tool: String,
}

/// A name for a moment in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The session whose turn begins here.
    pub session: String,
    /// The turn that begins, from 1.
    pub turn: u64,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// The first change that comes after it.
    pub next: ChangeId,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(crate) enum Line {
    Change(Change),
    Checkpoint(Checkpoint),
}

impl VersionKind {
    /// `None` for what cannot be kept.
    pub(crate) fn of(kind: TreeKind) -> Option<Self> {
        match kind {
            TreeKind::File => Some(Self::File),
            TreeKind::Executable => Some(Self::Executable),
            TreeKind::Link => Some(Self::Link),
            TreeKind::Folder | TreeKind::Other => None,
        }
    }

    pub(crate) fn tree_kind(self) -> TreeKind {
        match self {
            Self::File => TreeKind::File,
            Self::Executable => TreeKind::Executable,
            Self::Link => TreeKind::Link,
        }
    }
}

impl Version {
    /// Whether its content was kept, or could be got from the base.
    pub fn is_kept(&self) -> bool {
        !self.id.starts_with(TOO_LARGE)
    }

    /// One whose content is too large to be kept.
    pub(crate) fn too_large(kind: VersionKind, size: u64, mtime_ns: i128) -> Self {
        Self {
            id: format!("{TOO_LARGE}{size}-{mtime_ns}"),
            kind,
        }
    }
}

/// How ids of contents begin that were not kept.
const TOO_LARGE: &str = "large-";

impl Author {
    /// The agent's call that did it, where it was one.
    pub fn doing(&self) -> Option<&Doing> {
        match self {
            Self::Agent(doing) | Self::Command(doing) => Some(doing),
            Self::Person | Self::Disk | Self::Undo { .. } => None,
        }
    }

    /// Whether it is this session's.
    pub fn is_of(&self, session: &str) -> bool {
        self.doing().is_some_and(|doing| doing.session == session)
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(doing) => write!(f, "the agent {} (turn {})", doing.session, doing.turn),
            Self::Command(doing) => write!(
                f,
                "a command of the agent {} (turn {})",
                doing.session, doing.turn
            ),
            Self::Person => f.write_str("the person"),
            Self::Disk => f.write_str("another program"),
            Self::Undo { .. } => f.write_str("an undo"),
        }
    }
}
