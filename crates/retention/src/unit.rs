//! Units of written text: who wrote them, and what became of their tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::{Remainder, TokenLoss};
use crate::run::{Run, RunKind, TokenState};

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

/// A unit under observation.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Time of the change, in milliseconds.
    pub(crate) born_ms: u64,
    /// The runs of tokens that the change inserted and removed, and those that were moved elsewhere.
    pub(crate) runs: Vec<Run>,
    /// Index of the next horizon at which the unit is measured.
    pub(crate) next_horizon: usize,
    pub(crate) is_committed: bool,
    pub(crate) is_landed: bool,
}

impl Unit {
    /// Returns what is left of the inserted or of the removed tokens.
    pub(crate) fn remainder(&self, kind: RunKind) -> Remainder {
        remainder(
            self.runs.iter().filter(|run| run.kind == kind),
            self.born_ms,
        )
    }
}

/// Sums up the states of the tokens of runs that began at `born_ms`.
pub(crate) fn remainder<'a>(runs: impl Iterator<Item = &'a Run>, born_ms: u64) -> Remainder {
    let mut left = Remainder::default();
    let mut losses: BTreeMap<(u64, Fate), u32> = BTreeMap::new();
    for run in runs {
        for state in &run.states {
            match state {
                TokenState::Kept => {
                    left.kept += 1;
                    left.moved += u32::from(run.is_moved);
                }
                TokenState::Lost { at_ms, fate } => {
                    let after_ms = at_ms.saturating_sub(born_ms);
                    *losses.entry((after_ms, *fate)).or_default() += 1;
                }
                TokenState::Elsewhere => continue,
            }
            left.tokens += 1;
        }
    }
    let losses = losses.into_iter();
    left.losses = losses
        .map(|((after_ms, fate), tokens)| TokenLoss {
            after_ms,
            fate,
            tokens,
        })
        .collect();
    left
}
