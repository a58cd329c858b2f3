//! What goes into a session and what comes out of it.

use std::sync::Arc;
use std::time::Duration;

use model::Content;
use model::policy::route::RouteDecision;

use crate::ask::{Decision, Question};
use crate::record::{Handover, Mode, Stored, TurnEnd};

/// What a session is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Begin a turn; into a running turn it is queued and begins the next one.
    Prompt(Prompt),
    /// Say something into the running turn: it is seen with the next results. Without one it begins a turn.
    Steer(Prompt),
    /// Decide about a call that asked for leave.
    Decide {
        /// The call.
        call: String,
        /// What.
        decision: Decision,
    },
    /// Answer a question of a tool.
    Reply {
        /// The question's number.
        question: u64,
        /// The answer; `None` declines.
        text: Option<String>,
    },
    /// Stop the running turn: what runs is ended, what waits is answered, prompts that wait are given back.
    Stop,
    /// Let another model go on from the next request.
    Switch {
        /// As `provider/model`, `auto` or `demo`.
        model: String,
        /// What it is given of the past.
        how: Handover,
    },
    /// Work in another way from the next turn.
    SetMode(Mode),
    /// Make the conversation shorter now.
    Compact,
    /// For a subagent of this session: mostly a decision or a reply.
    Child {
        /// The subagent's session.
        session: String,
        /// What it is told.
        command: Box<Command>,
    },
    /// End the session's task, after the running turn was stopped.
    Close,
}

/// What a person says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// Their words; `@path` and the like are mentions.
    pub text: String,
    /// Pictures.
    pub images: Vec<Content>,
}

/// What a session tells. Everything that lasts is a record; the rest is for eyes only and may be missed.
#[derive(Clone, Debug)]
pub enum Event {
    /// Something was written down.
    Recorded(Arc<Stored>),
    /// The model writes.
    Text(String),
    /// The model thinks.
    Thought(String),
    /// The model writes a call's arguments. The name comes with the first piece.
    CallDelta {
        /// The call.
        call: String,
        /// The model's name for the tool.
        name: String,
        /// More of the arguments.
        fragment: String,
    },
    /// The answer begins again: forget the pieces of this step.
    Restarted,
    /// A call that runs printed something.
    Progress {
        /// The call.
        call: String,
        /// A piece of its output.
        text: String,
    },
    /// A tool asks the person.
    Asking {
        /// The question's number.
        number: u64,
        /// It.
        question: Question,
    },
    /// The router chose.
    Decided(Arc<RouteDecision>),
    /// A request waits or is tried again.
    Waiting {
        /// A sentence.
        why: String,
        /// For how long.
        pause: Duration,
    },
    /// The conversation is being made shorter, or no longer is. A record tells what came of it, where something did.
    Compacting {
        /// Whether it is over.
        is_over: bool,
    },
    /// How full the conversation is, and what it cost so far.
    Fill {
        /// Tokens of the last prompt.
        used: u64,
        /// The model's limit.
        limit: u64,
        /// Billionths of a US dollar; `None` once a price was not known.
        cost_nano: Option<u64>,
    },
    /// A subagent of this session tells something; its own subagents speak through it.
    Child {
        /// The subagent's session.
        session: Arc<str>,
        /// What it tells.
        event: Box<Event>,
    },
    /// The conversation goes on in a session of its own, as was asked for; this one stays as it is.
    Forked {
        /// The new session, to be resumed.
        session: String,
    },
    /// A prompt was not begun: it is given back.
    GivenBack(Prompt),
    /// A turn ended; the session waits.
    Idle(TurnEnd),
    /// The session's task is over. Nothing follows.
    Closed,
}
