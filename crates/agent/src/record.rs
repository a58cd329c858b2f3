//! What is written down of a session before it happens: the whole of it can be told from its records.
//!
//! A record is a row of the ledger: its kind and a JSON body. Records are added to, never changed: a reader takes
//! what an older writer wrote, so fields that come later have defaults.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::Decision;
use crate::outcome::{Detail, Outcome};
use crate::tool::{Shown, ToolClass};

/// Something that happens in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// The session begins.
    Began {
        /// The folder it works in.
        root: String,
        /// The session and the call that started it, where it is a subagent's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Parent>,
        /// The session it went on from, and after which of its records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked_from: Option<(String, u64)>,
        /// How it works.
        mode: Mode,
        /// The model, as `provider/model`, `auto` or `demo`.
        model: String,
    },
    /// The person, or whoever stands in for them, says something.
    Prompted {
        /// Which turn, from 1.
        turn: u64,
        /// What they say.
        parts: Vec<StoredPart>,
        /// Whether it was said into a running turn.
        #[serde(default)]
        is_steering: bool,
    },
    /// A text joins the prompt that nobody typed: instructions found on the disk, the state of the project, a
    /// mentioned file. Each stays where it came, so that the prefix of the prompt does not change.
    Joined {
        /// Where it goes.
        place: PromptPlace,
        /// Where it comes from.
        origin: Origin,
        /// The text as the model reads it.
        text: String,
    },
    /// A model is asked.
    Asked {
        /// The turn.
        turn: u64,
        /// Which request of the turn, from 1.
        step: u64,
        /// Whom, as `provider/model`, `auto` or `demo`.
        model: String,
        /// A hash of the whole prompt, and how many of its bytes are those of the one before.
        prompt: String,
        /// Bytes of the prompt in all.
        bytes: u64,
        /// Bytes at its beginning that are the same as the last one's.
        same_bytes: u64,
    },
    /// A model answered.
    Answered {
        /// The turn.
        turn: u64,
        /// The request of the turn.
        step: u64,
        /// Who answered, as `provider/model`.
        model: String,
        /// What it said and which tools it called, in order. Without calls that broke off.
        parts: Vec<StoredPart>,
        /// What it used.
        usage: StoredUsage,
        /// Billionths of a US dollar, where the price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_nano: Option<u64>,
        /// Why it stopped, `end_turn` or `tool_use` and so on; `broken` where it broke off.
        stop: String,
    },
    /// A model could not be asked, or broke off before it said anything.
    Failed {
        /// The turn.
        turn: u64,
        /// The request of the turn.
        step: u64,
        /// The class of the failure.
        class: String,
        /// A sentence.
        message: String,
    },
    /// A call needs the person's leave.
    LeaveAsked {
        /// The call.
        call: String,
        /// One line of what is to happen.
        title: String,
        /// The whole of what is to happen, as foreign text over several lines: see `leave::details`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        details: String,
        /// Why it is asked.
        reason: String,
        /// The rules that a decision for more than once would keep; empty where there is only this once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
    },
    /// The person decided.
    LeaveGiven {
        /// The call.
        call: String,
        /// What they decided.
        decision: Decision,
    },
    /// A call begins: from here on its effects may be in the world.
    CallBegan {
        /// The turn.
        turn: u64,
        /// The call.
        call: String,
        /// The tool's own name.
        tool: String,
        /// The name the model called it by.
        name: String,
        /// What kind of effect it has.
        class: ToolClass,
        /// One line of what happens.
        title: String,
        /// Its arguments.
        input: Value,
    },
    /// A call ended. Calls that never began, since they were refused, end too.
    CallEnded {
        /// The turn.
        turn: u64,
        /// The call.
        call: String,
        /// The tool's own name.
        tool: String,
        /// How.
        outcome: Outcome,
        /// What lies beneath.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Detail>,
        /// What the model is told.
        content: Vec<StoredPart>,
        /// What a person is shown beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shown: Vec<Shown>,
        /// How long it took.
        millis: u64,
    },
    /// The plan changed.
    Planned {
        /// All of it.
        todos: Vec<Todo>,
    },
    /// Older parts of the conversation gave way to something shorter.
    Compacted {
        /// Records up to this one are no longer sent as they are.
        through: u64,
        /// Results that are sent in a shorter form: call and text.
        reduced: Vec<(String, String)>,
        /// Calls that are no longer sent, with their results.
        dropped: Vec<String>,
        /// What stands for the rest; empty where only results were reduced.
        summary: String,
        /// Bytes of the prompt before and after.
        bytes: (u64, u64),
    },
    /// Something is not sent any more, since the provider refused it. Holds for the rest of the session; what
    /// depends on the model, for as long as the same one is asked.
    Omitted {
        /// What.
        what: Omission,
        /// What the model reads in its place; empty where nothing stands for it.
        text: String,
    },
    /// Another model goes on.
    Switched {
        /// As `provider/model`.
        from: String,
        /// As `provider/model`.
        to: String,
        /// What it is given of the past.
        how: Handover,
    },
    /// The session works in another way from now on.
    ModeSet {
        /// How.
        mode: Mode,
    },
    /// The session has a name.
    Titled {
        /// The name.
        title: String,
    },
    /// Something worth telling the person that is part of nothing else.
    Noted {
        /// A sentence.
        text: String,
    },
    /// A turn ended.
    TurnEnded {
        /// Which.
        turn: u64,
        /// How.
        end: TurnEnd,
    },
}

impl Record {
    /// Its kind, as it is called in the ledger.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Began { .. } => "began",
            Record::Prompted { .. } => "prompted",
            Record::Joined { .. } => "joined",
            Record::Asked { .. } => "asked",
            Record::Answered { .. } => "answered",
            Record::Failed { .. } => "failed",
            Record::LeaveAsked { .. } => "leave_asked",
            Record::LeaveGiven { .. } => "leave_given",
            Record::CallBegan { .. } => "call_began",
            Record::CallEnded { .. } => "call_ended",
            Record::Planned { .. } => "planned",
            Record::Compacted { .. } => "compacted",
            Record::Omitted { .. } => "omitted",
            Record::Switched { .. } => "switched",
            Record::ModeSet { .. } => "mode_set",
            Record::Titled { .. } => "titled",
            Record::Noted { .. } => "noted",
            Record::TurnEnded { .. } => "turn_ended",
        }
    }
}

/// A record and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its number in the session, from 0.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// What happened.
    pub record: Record,
}

/// Something that is not sent any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Omission {
    /// A picture, wherever it occurs.
    Image {
        /// The hash of its bytes, 32 hexadecimal digits.
        hash: String,
    },
    /// Every picture, those to come included.
    Images,
    /// A tool.
    Tool {
        /// The name under which it was offered.
        name: String,
    },
    /// The tools behind the first ones.
    ToolsBeyond {
        /// How many stay.
        most: usize,
    },
    /// The thoughts of the answers so far.
    Reasoning,
    /// An optional member of the request's body.
    Member {
        /// Its name.
        name: String,
    },
    /// The middle of a long text: of a result, or of something that was said.
    Middle {
        /// The record with the text.
        seq: u64,
        /// Bytes that stay.
        keep: usize,
    },
    /// What does not fit into the model's window, which is smaller than its profile says.
    Beyond {
        /// The window, in tokens.
        window: u64,
    },
}

/// Who started a subagent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The session.
    pub session: String,
    /// Its call of `spawn_agent`.
    pub call: String,
}

/// How a session works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It does what is asked.
    #[default]
    Build,
    /// It looks and writes a plan; nothing else changes.
    Plan,
    /// It answers questions; nothing changes.
    Ask,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model is done.
    Done,
    /// The person stopped it.
    Stopped,
    /// The model declined.
    Refused,
    /// It went in circles; the sentence says in which.
    Looped {
        /// A sentence.
        what: String,
    },
    /// A budget forbids the next request.
    OutOfBudget {
        /// A sentence.
        what: String,
    },
    /// The model could not be reached, or failed.
    Failed {
        /// The class.
        class: String,
        /// A sentence.
        what: String,
    },
    /// The program died; found when the session was opened again.
    Interrupted,
}

/// What a model that takes over is given of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handover {
    /// All of it.
    Full,
    /// A summary.
    Summary,
    /// All of it, in a session of its own; the old one stays as it is.
    Fork,
}

/// Where a text joins the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptPlace {
    /// The system prompt, which never changes within a session.
    System,
    /// In front of the person's next message.
    BeforePrompt,
    /// Behind the results of the last calls.
    AfterResults,
}

/// Where bytes of a prompt come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    /// A prompt pack that comes with the program.
    Pack {
        /// Its name.
        name: String,
    },
    /// A file of instructions.
    Rules {
        /// Where it lies.
        path: String,
    },
    /// A skill's body, or the list of skills.
    Skill {
        /// Its name.
        name: String,
    },
    /// What the machine and the project look like.
    Header,
    /// Something the person mentioned.
    Mention {
        /// What.
        what: String,
    },
    /// The person's words.
    Person,
    /// A model's words.
    Model {
        /// Whose, as `provider/model`.
        model: String,
    },
    /// A tool's result.
    Tool {
        /// The call.
        call: String,
        /// The tool's own name.
        tool: String,
    },
    /// The description of a tool.
    ToolSpec {
        /// The tool's own name.
        tool: String,
    },
    /// A hook's output.
    Hook {
        /// The command.
        command: String,
    },
    /// A summary of older parts.
    Summary,
    /// A note of the harness.
    Harness,
}

/// One point of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far a point of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TodoState {
    Open,
    Doing,
    Done,
    Dropped,
}

/// A piece of a message as it is kept: `model::Part` in letters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredPart {
    /// What it says.
    #[serde(flatten)]
    pub content: StoredContent,
    /// The model that made what is opaque in it, and that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<(String, String)>,
}

/// What a piece says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum StoredContent {
    /// Text.
    Text {
        /// It.
        text: String,
    },
    /// What the model thought.
    Reasoning {
        /// It; empty where only the opaque form is known.
        text: String,
    },
    /// A picture.
    Image {
        /// Its media type.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A call of a tool.
    Call {
        /// Its id.
        id: String,
        /// The name the model called it by.
        name: String,
        /// As it was written.
        arguments: String,
    },
}

/// What an answer used, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StoredUsage {
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
    pub reasoning: u64,
}
