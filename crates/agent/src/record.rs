//! The records of a session, written before each event takes effect. They describe the session
//! completely.
//!
//! A record is a row of the ledger: a kind and a JSON body. Records are appended, never changed.
//! Readers accept what older writers wrote, so later fields have defaults.

mod external;
mod parts;

use model::Effort;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::external::{AgentCommandName, AgentOption, AgentOptionKind, AgentOptionValue};
pub use self::parts::{StoredContent, StoredPart, StoredUsage};
use crate::outcome::{CallOutcome, Detail};
use crate::tool::{ToolClass, ToolDisplay};
use crate::user_prompts::PermissionDecision;

/// Maximum number of characters of a command that a notice shows.
const MAX_NOTICE_COMMAND: usize = 80;

/// An event in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionRecord {
    /// The session has begun.
    Began {
        /// The folder the session works in.
        root: String,
        /// For a subagent, the session and the call that started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Parent>,
        /// The session this one was forked from, and its last record included in the fork.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked_from: Option<(String, u64)>,
        /// The mode of the session.
        mode: SessionMode,
        /// The model, as `provider/model`, `auto` or `demo`.
        model: String,
    },
    /// The user, or a program acting for the user, sends a prompt.
    Prompted {
        /// The number of the turn, from 1.
        turn: u64,
        /// The parts of the prompt.
        parts: Vec<StoredPart>,
        /// Whether it was sent into a running turn.
        #[serde(default)]
        is_steering: bool,
    },
    /// A text joins the prompt that the user did not type: instructions found on disk, the state of
    /// the project, a mentioned file. It keeps its position, so that the prefix of the prompt does
    /// not change.
    Joined {
        /// The position in the prompt.
        place: PromptPosition,
        /// The source of the text.
        origin: PromptOrigin,
        /// The text as the model reads it.
        text: String,
    },
    /// A request is sent to a model.
    Asked {
        /// The number of the turn.
        turn: u64,
        /// The number of the request within the turn, from 1.
        step: u64,
        /// The model, as `provider/model`, `auto` or `demo`.
        model: String,
        /// A hash of the whole prompt.
        prompt: String,
        /// Size of the whole prompt, in bytes.
        bytes: u64,
        /// Length of the prefix shared with the previous prompt, in bytes.
        same_bytes: u64,
    },
    /// A model answers a request.
    Answered {
        /// The number of the turn.
        turn: u64,
        /// The number of the request within the turn.
        step: u64,
        /// The model that answered, as `provider/model`.
        model: String,
        /// The text and tool calls of the answer, in order, without incomplete calls.
        parts: Vec<StoredPart>,
        /// The tokens the answer used.
        usage: StoredUsage,
        /// Billionths of a US dollar, where the price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_nano: Option<u64>,
        /// The stop reason, such as `end_turn` or `tool_use`; `broken` if the stream broke off.
        stop: String,
    },
    /// A request failed, or its stream broke off before any content.
    Failed {
        /// The number of the turn.
        turn: u64,
        /// The number of the request within the turn.
        step: u64,
        /// The class of the failure.
        class: String,
        /// The failure as a sentence.
        message: String,
    },
    /// A call needs the user's permission.
    LeaveAsked {
        /// The id of the call.
        call: String,
        /// A one-line description of the call.
        title: String,
        /// The complete description, as untrusted text over several lines: see `leave::details`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        details: String,
        /// The reason for the request.
        reason: String,
        /// The rules that a lasting decision would add; empty if the decision can only apply once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
    },
    /// The user decides about a permission request.
    LeaveGiven {
        /// The id of the call.
        call: String,
        /// The decision of the user.
        decision: PermissionDecision,
    },
    /// A call begins: its effects may be visible from here on.
    CallBegan {
        /// The number of the turn.
        turn: u64,
        /// The id of the call.
        call: String,
        /// The tool's own name.
        tool: String,
        /// The name the model used for the tool.
        name: String,
        /// The class of its effects.
        class: ToolClass,
        /// A one-line description of the call.
        title: String,
        /// The arguments of the call.
        input: Value,
    },
    /// A call ends. Calls that were denied and never began end as well.
    CallEnded {
        /// The number of the turn.
        turn: u64,
        /// The id of the call.
        call: String,
        /// The tool's own name.
        tool: String,
        /// The class of the result.
        outcome: CallOutcome,
        /// Further details of the outcome.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Detail>,
        /// The content the model receives.
        content: Vec<StoredPart>,
        /// Additional content for the user.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shown: Vec<ToolDisplay>,
        /// The duration of the call, in milliseconds.
        millis: u64,
    },
    /// The plan has changed.
    Planned {
        /// All items of the plan.
        todos: Vec<TodoItem>,
    },
    /// Older parts of the conversation are replaced by shorter ones.
    Compacted {
        /// Records up to this one are no longer sent unchanged.
        through: u64,
        /// Results that are sent in a shorter form: call and text.
        reduced: Vec<(String, String)>,
        /// Calls that are no longer sent, with their results.
        dropped: Vec<String>,
        /// The summary that replaces the rest; empty if only results were reduced.
        summary: String,
        /// Size of the prompt before and after, in bytes.
        bytes: (u64, u64),
        /// Size of the prompt before and after, in tokens: by the last count before, and estimated
        /// after. Older records lack it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens: Option<(u64, u64)>,
        /// The reason, as a clause. Older records lack it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// The user edits the summary of a compaction; later requests send the new text.
    SummaryEdited {
        /// The number of the compaction's record.
        compaction: u64,
        /// The summary from now on, with everything that it keeps word for word.
        summary: String,
    },
    /// The user pins the text of a record: after a compaction it is sent again, word for word.
    Pinned {
        /// The number of the record.
        record: u64,
        /// The author of the text: "user", "agent", or the tool whose result it is.
        by: String,
        /// The text.
        text: String,
    },
    /// The user unpins the text of a record.
    Unpinned {
        /// The number of the record.
        record: u64,
    },
    /// Content is no longer sent, since the provider rejected it. Applies to the rest of the
    /// session; model-specific omissions apply as long as the same model is used.
    Omitted {
        /// The content to omit.
        what: Omission,
        /// The text that replaces it for the model; empty if nothing does.
        text: String,
    },
    /// Another model takes over.
    Switched {
        /// The previous model, as `provider/model`.
        from: String,
        /// The new model, as `provider/model`.
        to: String,
        /// The form in which the history passes to it.
        how: Handover,
    },
    /// The user chooses the reasoning effort for later requests.
    EffortSet {
        /// The effort from now on.
        effort: Effort,
    },
    /// The router chose a model for a session with the model `auto`: with the first request of a turn,
    /// and whenever it chooses another one.
    Routed {
        /// The number of the turn.
        turn: u64,
        /// The chosen model, as `provider/model`.
        model: String,
        /// The reason, as a clause.
        reason: String,
    },
    /// The session changes its mode.
    ModeSet {
        /// The mode from now on.
        mode: SessionMode,
    },
    /// The session gets a title.
    Titled {
        /// The title from now on.
        title: String,
    },
    /// The queue of messages changed.
    Queued {
        /// The change.
        change: QueueChange,
    },
    /// A notice to the user that belongs to no other record.
    Noted {
        /// The notice as a sentence.
        text: String,
    },
    /// The user takes over a command that the agent runs in a terminal, or gives it back.
    TerminalControl {
        /// The id of the call that started the command.
        call: String,
        /// The command line.
        command: String,
        /// Whether the user has it from now on.
        is_taken: bool,
        /// Number of keys that the user typed until the command was given back.
        #[serde(default)]
        typed: u64,
    },
    /// An external agent runs the turns of the session from here on.
    Hosted {
        /// The name of the agent.
        agent: String,
        /// The agent's own id of the session, with which it can go on later.
        session: String,
        /// Whether its prompts may contain images.
        #[serde(default)]
        takes_images: bool,
        /// Whether the agent can go on with the session in a new process.
        #[serde(default)]
        can_continue: bool,
    },
    /// The options and commands that an external agent offers: all of them, in place of the earlier
    /// ones.
    Offered {
        /// The options that the user can set.
        options: Vec<AgentOption>,
        /// The commands that can begin a prompt.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commands: Vec<AgentCommandName>,
    },
    /// A turn has ended.
    TurnEnded {
        /// The number of the turn.
        turn: u64,
        /// The reason the turn ended.
        end: TurnEnd,
    },
}

impl SessionRecord {
    /// Returns the kind of the record, the name under which the ledger stores it.
    pub fn kind(&self) -> &'static str {
        match self {
            SessionRecord::Began { .. } => "began",
            SessionRecord::Prompted { .. } => "prompted",
            SessionRecord::Joined { .. } => "joined",
            SessionRecord::Asked { .. } => "asked",
            SessionRecord::Answered { .. } => "answered",
            SessionRecord::Failed { .. } => "failed",
            SessionRecord::LeaveAsked { .. } => "leave_asked",
            SessionRecord::LeaveGiven { .. } => "leave_given",
            SessionRecord::CallBegan { .. } => "call_began",
            SessionRecord::CallEnded { .. } => "call_ended",
            SessionRecord::Planned { .. } => "planned",
            SessionRecord::Compacted { .. } => "compacted",
            SessionRecord::SummaryEdited { .. } => "summary_edited",
            SessionRecord::Pinned { .. } => "pinned",
            SessionRecord::Unpinned { .. } => "unpinned",
            SessionRecord::Omitted { .. } => "omitted",
            SessionRecord::Switched { .. } => "switched",
            SessionRecord::EffortSet { .. } => "effort_set",
            SessionRecord::Routed { .. } => "routed",
            SessionRecord::ModeSet { .. } => "mode_set",
            SessionRecord::Titled { .. } => "titled",
            SessionRecord::Queued { .. } => "queued",
            SessionRecord::Noted { .. } => "noted",
            SessionRecord::TerminalControl { .. } => "terminal_control",
            SessionRecord::Hosted { .. } => "hosted",
            SessionRecord::Offered { .. } => "offered",
            SessionRecord::TurnEnded { .. } => "turn_ended",
        }
    }
}

/// Returns the text about a change of the control of a command: a sentence without its end, over one line.
pub fn control_notice(command: &str, is_taken: bool, typed: u64) -> String {
    let command = base::printable(command, base::LineFeeds::Escape);
    let shown = match command.char_indices().nth(MAX_NOTICE_COMMAND) {
        Some((end, _)) => format!("{}\u{2026}", &command[..end]),
        None => command.into_owned(),
    };
    if is_taken {
        return format!("You took over the terminal of \u{201c}{shown}\u{201d}");
    }
    let keys = match typed {
        0 => "nothing typed".to_owned(),
        1 => "1 key typed".to_owned(),
        typed => format!("{typed} keys typed"),
    };
    format!("You gave back the terminal of \u{201c}{shown}\u{201d}, {keys}")
}

/// A record with its position in the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// The number of the record in the session, from 0.
    pub seq: u64,
    /// Time of the event, in milliseconds since 1970.
    pub at_ms: u64,
    /// The event that was recorded.
    pub record: SessionRecord,
}

/// The time at which a queued message goes to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// With the next request of the running turn; without one it begins a turn.
    NextRequest,
    /// At the end of the turn; it begins another one.
    NextTurn,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedPrompt {
    /// Id of the entry, unique in the session.
    pub id: u64,
    /// The text and the images of the message.
    pub parts: Vec<StoredPart>,
    /// The time at which it goes to the model.
    pub delivery: Delivery,
}

/// A change of the queue, as recorded. A change that names an entry which is gone has no effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum QueueChange {
    /// A message was added at the end.
    Added {
        /// The message.
        entry: QueuedPrompt,
    },
    /// The user took a message out.
    Removed {
        /// Id of the entry.
        id: u64,
    },
    /// A message is written into the conversation by the record before this one.
    Sent {
        /// Id of the entry.
        id: u64,
    },
    /// A message moved.
    Moved {
        /// Id of the entry.
        id: u64,
        /// The entry that it precedes from now on; `None` is the end.
        before: Option<u64>,
    },
    /// A message goes out with the next request, before all others.
    Promoted {
        /// Id of the entry.
        id: u64,
    },
    /// The messages wait until the user sends them.
    Held,
    /// The messages go out again as their turn comes.
    Released,
}

/// Content that is no longer sent to the model, because a provider rejected it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Omission {
    /// An image, wherever it occurs.
    Image {
        /// The hash of its bytes, 32 hexadecimal digits.
        hash: String,
    },
    /// All images, including later ones.
    Images,
    /// A single offered tool.
    Tool {
        /// The name under which it was offered.
        name: String,
    },
    /// The tools after the first ones.
    ToolsBeyond {
        /// The number of tools that stay.
        most: usize,
    },
    /// The reasoning of the answers so far.
    Reasoning,
    /// An optional member of the request body.
    Member {
        /// The name of the member.
        name: String,
    },
    /// The middle of a long text: of a result or a message.
    Middle {
        /// The record with the text.
        seq: u64,
        /// Number of bytes that stay.
        keep: usize,
    },
    /// Content beyond the model's actual context window, which is smaller than its profile says.
    Beyond {
        /// The window, in tokens.
        window: u64,
    },
}

/// The session and call that started a subagent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The id of the parent session.
    pub session: String,
    /// Its call of `spawn_agent`.
    pub call: String,
}

/// The working mode of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// Changes files and runs commands.
    #[default]
    Build,
    /// Reads the project and writes a plan; nothing else changes.
    Plan,
    /// Answers questions; nothing changes.
    Ask,
}

/// The reason a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model finished its answer.
    Done,
    /// The user stopped it.
    Stopped,
    /// The model refused to answer.
    Refused,
    /// The calls of the turn looped.
    Looped {
        /// A description of the loop.
        what: String,
    },
    /// The budget forbids the next request.
    OutOfBudget {
        /// The exceeded limit, as a sentence.
        what: String,
    },
    /// The model could not be reached, or failed.
    Failed {
        /// The class of the failure.
        class: String,
        /// The failure as a sentence.
        what: String,
    },
    /// The program died; detected when the session was reopened.
    Interrupted,
}

impl std::fmt::Display for TurnEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Stopped => f.write_str("stopped"),
            Self::Refused => f.write_str("the model declined"),
            Self::Looped { what } => {
                write!(f, "stopped because the agent repeated itself: {what}")
            }
            Self::OutOfBudget { what } => write!(f, "stopped by a budget: {what}"),
            Self::Failed { what, .. } => write!(f, "failed: {what}"),
            Self::Interrupted => f.write_str("the program died in the middle of it"),
        }
    }
}

/// The form in which the history passes to a new model when the user switches models. Makes no
/// difference before the session has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handover {
    /// The complete history, unchanged, in the same session.
    Full,
    /// A summary in place of the history, in the same session.
    Summary,
    /// The complete history, in a new session with the new model; this session stays unchanged and
    /// keeps its model.
    Fork,
}

/// The position at which an added text joins the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptPosition {
    /// The system prompt, which never changes within a session.
    System,
    /// Before the user's next message.
    BeforePrompt,
    /// After the results of the last calls.
    AfterResults,
}

/// The source of a part of the prompt, for records and for `--show-prompt`. It does not change the
/// text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum PromptOrigin {
    /// A prompt pack shipped with the program.
    Pack {
        /// The name of the pack.
        name: String,
    },
    /// A file of instructions.
    Rules {
        /// The path of the file.
        path: String,
    },
    /// A skill's body, or the list of skills.
    Skill {
        /// The name of the skill.
        name: String,
    },
    /// The description of the machine and the project.
    Header,
    /// Content the user mentioned with `@`.
    Mention {
        /// The mentioned path or name.
        what: String,
    },
    /// Text typed by the user.
    Person,
    /// Text written by a model.
    Model {
        /// The model, as `provider/model`.
        model: String,
    },
    /// The result of a tool call.
    Tool {
        /// The id of the call.
        call: String,
        /// The tool's own name.
        tool: String,
    },
    /// The description of a tool.
    ToolSpec {
        /// The tool's own name.
        tool: String,
    },
    /// The output of a hook.
    Hook {
        /// The command of the hook.
        command: String,
    },
    /// A summary of older parts.
    Summary,
    /// A text that the user pinned, sent again after a compaction.
    Pinned {
        /// The number of the record that has the text.
        record: u64,
    },
    /// A note of the harness.
    Harness,
}

/// One item of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// The work to do.
    pub text: String,
    /// The progress of the item.
    pub state: TodoState,
}

/// The progress of a plan item. `Dropped` means that it was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TodoState {
    Open,
    Doing,
    Done,
    Dropped,
}
