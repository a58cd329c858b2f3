//! Inputs and effects of the engine.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use model::{Fim, ModelRequest, StreamEvent};

use super::{EngineOptions, RequestId, TabEvent};
use crate::local::BackgroundResult;
use crate::validate::TypeMembers;
use crate::{AcceptGranularity, DocumentEdit, EditorState, Suggestion};

/// An input of the engine, passed to `CompletionEngine::handle`: a change of a text, a caret
/// motion, a decision of the user, part of a response, or the time.
pub enum EngineInput {
    /// The current text changed, or a text that becomes current by it. The driver reports every
    /// change of every open text, as this or as one of the next two inputs.
    Edited(Box<DocumentEdit>),
    /// Another open text changed.
    EditedElsewhere(Box<DocumentEdit>),
    /// The user accepted the visible suggestion, and the text has changed accordingly. The change
    /// is not reported as `Edited` as well.
    Accepted {
        /// Amount that was accepted.
        part: AcceptGranularity,
        /// Change that accepted it.
        edit: Box<DocumentEdit>,
    },
    /// The caret moved, the view scrolled, or another text became current, without an edit.
    Moved {
        /// Editor state after the motion.
        state: EditorState,
    },
    /// The user requested a suggestion explicitly.
    Requested {
        /// Editor state at the request.
        state: EditorState,
    },
    /// The user dismissed the visible suggestion.
    Dismissed,
    /// The user cycles through the alternatives.
    Cycle(CycleStep),
    /// Suggestions are blocked from now on, for this reason.
    Blocked(BlockReason),
    /// The block reason no longer applies.
    Unblocked(BlockReason),
    /// The user opened the file of a cross-file suggestion. It is handed in again as a suggestion
    /// for the current text, which is the text of that file.
    Entered(Box<Suggestion>),
    /// A background task of the local tier has finished.
    TaskFinished(Box<BackgroundResult>),
    /// Files have changed on disk.
    FilesChanged(ChangedFiles),
    /// A streaming event of a model response.
    Stream {
        /// Request that the event belongs to.
        request: RequestId,
        /// Event of the stream.
        event: StreamEvent,
    },
    /// The member names of a text's types were read again.
    MembersRead(Arc<TypeMembers>),
    /// The settings or the model changed.
    Options(EngineOptions),
    /// The requested wake-up time has come.
    Time,
    /// The local tier is due, and nothing more urgent waits.
    QueryLocal,
}

impl EngineInput {
    /// Returns whether a key usually leads to this input.
    pub(super) fn is_key(&self) -> bool {
        matches!(
            self,
            Self::Edited(_) | Self::Accepted { .. } | Self::Moved { .. }
        )
    }
}

/// The files that may have changed on disk: either the listed files, or all files except the listed
/// ones.
#[derive(Clone, Debug)]
pub enum ChangedFiles {
    /// These files.
    Paths(HashSet<AbsPath>),
    /// Possibly any file except these, which are open.
    AllExcept(HashSet<AbsPath>),
}

/// Direction in which the user cycles through the alternatives to the visible suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleStep {
    /// To the next alternative.
    Next,
    /// To the previous alternative.
    Previous,
}

/// Reason why no suggestion may be shown at all, such as a selection or an open menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockReason {
    /// A snippet's tab stops are being filled in.
    Snippet,
    /// The completion menu is open.
    Menu,
    /// Some text is selected.
    Selection,
    /// An input method is composing.
    Composing,
    /// The user snoozed suggestions.
    Snoozed,
    /// Suggestions are off for this language, this path, or everywhere.
    Off,
}

/// An effect that the driver carries out in order: start or cancel a model request, show or hide a
/// suggestion, set a wake-up time, or record an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineEffect {
    /// Query a model, in the router's Tab class, and hand in the streaming events.
    Ask {
        /// Identifier of the request.
        request: RequestId,
        /// Body of the request.
        body: CompletionRequest,
    },
    /// Drop the stream of a request, which closes its connection. Further events need not be handed
    /// in.
    Cancel {
        /// Identifier of the request.
        request: RequestId,
    },
    /// Show this suggestion instead of the current one.
    Show(VisibleSuggestion),
    /// Hide the visible suggestion.
    Hide,
    /// Hand in `EngineInput::Time` at the given time. Replaces any earlier wake-up time.
    Wake {
        /// Time on the clock of `handle`.
        at: Duration,
    },
    /// Hand in `EngineInput::QueryLocal` once the key behind this input is answered: the local tier takes about as long
    /// as all else that a key starts. A later input makes it unnecessary, unless that returns this effect again.
    QueryLocal,
    /// Record an event in the ledger.
    Note(TabEvent),
}

/// Body of a model request, as fill-in-the-middle or as a chat.
#[derive(Clone, Debug, PartialEq)]
pub enum CompletionRequest {
    /// A completion request: fill a gap or continue a prompt.
    Fim(Box<Fim>),
    /// A chat request with a single message.
    Chat(Box<ModelRequest>),
}

/// The suggestion on display, with its place among the alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct VisibleSuggestion {
    /// Suggestion to be displayed.
    pub suggestion: Suggestion,
    /// Index among the alternatives, zero-based.
    pub index: usize,
    /// Total number of alternatives.
    pub count: usize,
}

impl ChangedFiles {
    /// Whether the file at `path` may have changed.
    pub fn contains(&self, path: &AbsPath) -> bool {
        match self {
            Self::Paths(paths) => paths.contains(path),
            Self::AllExcept(open) => !open.contains(path),
        }
    }
}

impl fmt::Display for BlockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Snippet => "a snippet is being filled in",
            Self::Menu => "the completion menu is open",
            Self::Selection => "something is selected",
            Self::Composing => "an input method is composing",
            Self::Snoozed => "Tab is snoozed",
            Self::Off => "Tab is off here",
        })
    }
}

impl fmt::Debug for EngineInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Edited(_) => "Edited",
            Self::EditedElsewhere(_) => "EditedElsewhere",
            Self::Moved { .. } => "Moved",
            Self::Requested { .. } => "Requested",
            Self::Accepted { .. } => "Accepted",
            Self::Dismissed => "Dismissed",
            Self::Cycle(_) => "Cycle",
            Self::Blocked(_) => "Blocked",
            Self::Unblocked(_) => "Unblocked",
            Self::Entered(_) => "Entered",
            Self::TaskFinished(_) => "TaskFinished",
            Self::FilesChanged(_) => "FilesChanged",
            Self::Stream { .. } => "Stream",
            Self::MembersRead(_) => "MembersRead",
            Self::Options(_) => "Options",
            Self::Time => "Time",
            Self::QueryLocal => "QueryLocal",
        })
    }
}
