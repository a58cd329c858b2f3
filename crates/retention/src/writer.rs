//! The writers of texts, and the fates of what they wrote.

use std::sync::Arc;

/// The number of a unit in its tracker, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u64);

/// The kinds of writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriterKind {
    /// An agent, by an edit or a command.
    Agent,
    /// A suggestion of Tab that the user accepted.
    Tab,
    /// A formatter, or fixes on save.
    Formatter,
    /// The user, by keys or commands of the editor.
    Person,
    /// The user, by taking changes back in a review.
    Undo,
    /// Git, by checking files out: a switch of branches, a pull, a rebase.
    Git,
    /// Another program.
    Unknown,
}

/// The writer of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// The kind of the writer.
    pub kind: WriterKind,
    /// The call of an agent or the suggestion that made the change; `None` for other writers.
    pub call: Option<Arc<WriterCall>>,
}

/// A call of an agent's tool, or an accepted suggestion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriterCall {
    /// The session; empty for a suggestion.
    pub session: String,
    /// The turn of the session, from 1; 0 for a suggestion.
    pub turn: u64,
    /// Id of the call.
    pub call: String,
    /// Name of the tool; `tab` for a suggestion.
    pub tool: String,
}

/// The reason why a token is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// The user changed it.
    ReworkedByPerson,
    /// An agent changed it, the writer itself or another one.
    ReworkedByAgent,
    /// A formatter changed it.
    Reformatted,
    /// The change was taken back as a whole: its place reads as before.
    Reverted,
    /// Git checked out another state of the file. The text may exist on another branch, so nothing is known
    /// about it from then on.
    CheckedOut,
    /// Another program changed it.
    ChangedByOthers,
}

impl Fate {
    /// All fates.
    pub const ALL: [Self; 6] = [
        Self::ReworkedByPerson,
        Self::ReworkedByAgent,
        Self::Reformatted,
        Self::Reverted,
        Self::CheckedOut,
        Self::ChangedByOthers,
    ];

    /// Returns the fate of tokens that this writer replaces.
    pub(crate) fn by(writer: WriterKind) -> Self {
        match writer {
            WriterKind::Agent => Self::ReworkedByAgent,
            WriterKind::Tab | WriterKind::Person => Self::ReworkedByPerson,
            WriterKind::Formatter => Self::Reformatted,
            WriterKind::Undo => Self::Reverted,
            WriterKind::Git => Self::CheckedOut,
            WriterKind::Unknown => Self::ChangedByOthers,
        }
    }

    /// Returns the fate of a whole change that this writer takes back.
    pub(crate) fn of_reversal(writer: WriterKind) -> Self {
        match writer {
            WriterKind::Tab | WriterKind::Person | WriterKind::Undo | WriterKind::Unknown => {
                Self::Reverted
            }
            WriterKind::Agent | WriterKind::Formatter | WriterKind::Git => Self::by(writer),
        }
    }
}

impl WriterKind {
    /// Returns whether texts of this writer are followed. Git and other programs bring texts that were
    /// written elsewhere, and an undo brings back old ones.
    pub(crate) fn is_followed(self) -> bool {
        match self {
            Self::Agent | Self::Tab | Self::Formatter | Self::Person => true,
            Self::Undo | Self::Git | Self::Unknown => false,
        }
    }
}
