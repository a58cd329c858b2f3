//! The commands a session accepts and the events it sends.

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use model::policy::route::RouteDecision;
use model::{Effort, PartContent};
use serde::{Deserialize, Serialize};

use crate::fill::ContextFill;
use crate::record::{Delivery, Handover, SessionMode, Stored, TurnEnd};
use crate::user_prompts::{PermissionDecision, UserQuestion};

/// A command to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SessionCommand {
    /// Begin a turn. During a turn the prompt is queued and begins the next one.
    Prompt(UserPrompt),
    /// Add a message to the running turn, visible to the model with the next results. Without a
    /// running turn it begins one.
    Steer(UserPrompt),
    /// Change the queue of messages, which is kept with the session. After a turn that did not end
    /// well the queue is held: it waits until the user sends it.
    Queue(QueueCommand),
    /// Decide about a permission request.
    Decide {
        /// The id of the call.
        call: String,
        /// The decision of the user.
        decision: PermissionDecision,
    },
    /// Answer a question of a tool.
    Reply {
        /// The number of the question.
        question: u64,
        /// The answer; `None` declines.
        text: Option<String>,
    },
    /// Stop the running turn: kill running calls, answer pending requests, hold the queue, and give
    /// other unstarted prompts back.
    Stop,
    /// Switch the model from the next request on.
    Switch {
        /// The model, as `provider/model`, `auto` or `demo`.
        model: String,
        /// The part of the history it receives.
        how: Handover,
    },
    /// Change the mode from the next turn on.
    SetMode(SessionMode),
    /// Change the reasoning effort from the next request on. Models without effort levels ignore it.
    SetEffort(Effort),
    /// Set an option of an external agent to one of its values. Ignored by our own sessions.
    SetOption {
        /// The id of the option.
        option: String,
        /// The id of the value.
        value: String,
    },
    /// Compact the conversation now.
    Compact,
    /// Pin the text of a record, so that it is sent again word for word after each compaction, or
    /// unpin it.
    Pin {
        /// The number of the record: of a message, an answer or the end of a call.
        record: u64,
        /// Whether it is pinned from now on.
        is_pinned: bool,
    },
    /// Replace the text that a model wrote for a compaction, from the next request on. What the
    /// summary keeps word for word stays.
    EditSummary {
        /// The number of the compaction's record.
        compaction: u64,
        /// The new text.
        memory: String,
    },
    /// Forward a command to a subagent: usually a decision or a reply.
    Child {
        /// The id of the subagent's session.
        session: String,
        /// The command to forward.
        command: Box<SessionCommand>,
    },
    /// Stop the running turn and end the session's task.
    Close,
}

/// A change of the user to the queue of messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum QueueCommand {
    /// Add a message at the end. Without a running turn and with nothing held, it begins a turn.
    Add {
        /// The message.
        prompt: UserPrompt,
        /// The time at which it goes to the model.
        delivery: Delivery,
    },
    /// Take a message out. Ignored once the message is being sent; a record tells.
    Remove(u64),
    /// Move a message.
    Move {
        /// Id of the entry.
        id: u64,
        /// The entry that it is to precede; `None` is the end.
        before: Option<u64>,
    },
    /// Send a message with the next request, or begin a turn with it; a held queue stays held.
    SendNow(u64),
    /// Send the held messages as their turn comes.
    Release,
}

impl SessionCommand {
    /// Returns the message that this command hands to the session, if any.
    pub fn into_prompt(self) -> Option<UserPrompt> {
        match self {
            Self::Prompt(prompt)
            | Self::Steer(prompt)
            | Self::Queue(QueueCommand::Add { prompt, .. }) => Some(prompt),
            _ => None,
        }
    }
}

/// A message of the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserPrompt {
    /// The text; `@path` and similar words are mentions.
    pub text: String,
    /// Images attached to the message.
    #[serde(with = "crate::stored_parts::contents")]
    pub images: Vec<PartContent>,
}

/// An event of a session. Lasting events are records; the others are for display only and may be
/// lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AgentEvent {
    /// A record was written.
    Recorded(Arc<Stored>),
    /// A chunk of the model's text.
    Text(String),
    /// A chunk of the model's reasoning.
    Thought(String),
    /// A chunk of a call's arguments. The first one carries the name.
    CallDelta {
        /// The id of the call.
        call: String,
        /// The model's name for the tool.
        name: String,
        /// The next part of the arguments.
        fragment: String,
    },
    /// The answer starts over: discard the chunks of this step.
    Restarted,
    /// A running call printed output.
    Progress {
        /// The id of the call.
        call: String,
        /// A chunk of its output.
        text: String,
    },
    /// A tool asks the user.
    Asking {
        /// The number of the question.
        number: u64,
        /// The question to the user.
        question: UserQuestion,
    },
    /// The router chose a route.
    Decided(Arc<RouteDecision>),
    /// A request waits or is retried.
    Waiting {
        /// The reason, as a sentence.
        why: String,
        /// The length of the pause.
        pause: Duration,
    },
    /// Compaction began or ended. A record follows if it changed something.
    Compacting {
        /// Whether compaction has ended.
        is_over: bool,
    },
    /// The fill of the model's context and the cost so far: after each answer and each compaction,
    /// after a switch of models, and when a session was opened again.
    Fill {
        /// The fill of the context.
        fill: ContextFill,
        /// Billionths of a US dollar; `None` once a price was unknown.
        cost_nano: Option<u64>,
    },
    /// An event of a subagent; the events of its own subagents are nested in it.
    Child {
        /// The id of the subagent's session.
        session: Arc<str>,
        /// The event of the subagent.
        event: Box<AgentEvent>,
    },
    /// The conversation continues in a new session, as requested; this session stays unchanged.
    Forked {
        /// The new session, to be resumed.
        session: String,
    },
    /// A queued prompt is given back without having begun.
    GivenBack(UserPrompt),
    /// A turn ended; the session waits.
    Idle(TurnEnd),
    /// The session's task has ended; no event follows.
    Closed,
}

/// A session that runs in this program, whether or not a view shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningSession {
    /// Id of the session.
    pub id: String,
    /// The folder for which it was opened; a demo session works in a copy of the sample project
    /// instead.
    pub folder: AbsPath,
    /// The present activity of the session.
    pub activity: SessionActivity,
    /// The call or question that waits for the user, as one line of untrusted text; empty if none
    /// waits.
    pub waiting_for: String,
}

/// A change of a running session of which its user may want to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChange {
    /// Id of the session.
    pub id: String,
    /// The folder for which it was opened.
    pub folder: AbsPath,
    /// The change.
    pub kind: SessionChangeKind,
    /// Whether a view is attached to the session.
    pub has_view: bool,
}

/// The kind of a change of a running session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionChangeKind {
    /// A turn ended.
    Ended {
        /// The reason.
        end: TurnEnd,
        /// Whether a message of the user waits, so that another turn begins at once.
        is_followed: bool,
    },
    /// The session waits for the user: for a permission or an answer, given as one line of
    /// untrusted text.
    Waits(String),
}

/// The activity of a running session, as views show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionActivity {
    /// No turn is running.
    Idle,
    /// A turn is running.
    Working,
    /// A turn waits for an approval or an answer of the user.
    WaitingForUser,
}
