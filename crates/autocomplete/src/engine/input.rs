//! What goes into the machine and what comes out of it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::Revision;
use model::{Event, Fim, Request};
use text::{Change, Snapshot};

use super::{Happened, Options, RequestId};
use crate::validate::Names;
use crate::{Cause, Part, Scene, Suggestion};

/// What happened.
#[derive(Clone)]
pub enum Input {
    /// A text changed; every change of every open text is told.
    Edited(Box<Edited>),
    /// The caret moved, rows came in sight, or another text is in front, without an edit.
    Moved {
        /// What is in front now.
        scene: Scene,
    },
    /// The person asks for a suggestion by hand.
    Requested {
        /// What is in front.
        scene: Scene,
    },
    /// What is shown was taken, and the text has changed by it. The change is told here alone.
    Accepted {
        /// How much of it.
        part: Part,
        /// The change that took it.
        edited: Box<Edited>,
    },
    /// What is shown was turned down.
    Dismissed,
    /// Another of the alternatives.
    Cycle(Turn),
    /// From now on nothing may be shown, for this reason.
    Blocked(Blocked),
    /// This reason is over.
    Unblocked(Blocked),
    /// What the local tier has to say, the best first.
    Local {
        /// Of which revision of the text in front.
        revision: Revision,
        /// Checked again here.
        suggestions: Vec<Suggestion>,
    },
    /// A piece of an answer.
    Stream {
        /// To which request.
        request: RequestId,
        /// The piece.
        event: Event,
    },
    /// The names of a text's types were read anew.
    Known(Arc<Names>),
    /// Other settings, or another model.
    Options(Options),
    /// The time that was asked for has come.
    Time,
}

/// A change of a text.
#[derive(Clone)]
pub struct Edited {
    /// The text before.
    pub before: Snapshot,
    /// The text behind it, with the caret.
    pub scene: Scene,
    /// What changed.
    pub change: Change,
    /// How it came about.
    pub cause: Cause,
}

/// One way round the alternatives or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The next one.
    Next,
    /// The one before.
    Previous,
}

/// Why nothing may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blocked {
    /// A snippet's stops are being filled in.
    Snippet,
    /// The menu of completions is open.
    Menu,
    /// Something is selected.
    Selection,
    /// An input method is composing.
    Composing,
    /// The person wants quiet for a while.
    Snoozed,
    /// It is off for this language, path or everywhere.
    Off,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask a model, in the router's class for Tab, and hand in what streams back.
    Ask {
        /// The request's name.
        request: RequestId,
        /// What is asked.
        what: Ask,
    },
    /// Drop the stream of a request, which closes its socket. Nothing of it need be handed in any more.
    Cancel {
        /// Which one.
        request: RequestId,
    },
    /// Show this instead of what is shown.
    Show(Shown),
    /// Show nothing.
    Hide,
    /// Hand in `Input::Time` then. Takes the place of the time that was asked for before.
    Wake {
        /// On the clock of `handle`.
        at: Duration,
    },
    /// Ask the local tier about the text in front, and hand in what it says.
    AskLocal,
    /// Something for the ledger.
    Note(Happened),
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// To fill a gap, or to go on from a prompt.
    Fim(Box<Fim>),
    /// A conversation of one message.
    Chat(Box<Request>),
}

/// What is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The suggestion.
    pub suggestion: Suggestion,
    /// Which of the alternatives it is, from 0.
    pub index: usize,
    /// How many alternatives there are.
    pub count: usize,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Snippet => "a snippet is being filled in",
            Self::Menu => "the menu of completions is open",
            Self::Selection => "something is selected",
            Self::Composing => "an input method is composing",
            Self::Snoozed => "Tab is snoozed",
            Self::Off => "Tab is off here",
        })
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Edited(_) => "Edited",
            Self::Moved { .. } => "Moved",
            Self::Requested { .. } => "Requested",
            Self::Accepted { .. } => "Accepted",
            Self::Dismissed => "Dismissed",
            Self::Cycle(_) => "Cycle",
            Self::Blocked(_) => "Blocked",
            Self::Unblocked(_) => "Unblocked",
            Self::Local { .. } => "Local",
            Self::Stream { .. } => "Stream",
            Self::Known(_) => "Known",
            Self::Options(_) => "Options",
            Self::Time => "Time",
        })
    }
}
