//! The messages of agents and editors, independent of the protocol's version.

use std::path::PathBuf;

use serde_json::Value;

pub use crate::mcp::Filled;

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageContent {
    /// Text in Markdown format.
    Text(String),
    /// An image with its data.
    Image {
        /// The media type of the image.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// Audio with its data.
    Audio {
        /// The media type of the audio.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// A link to a resource.
    Link {
        /// The URI: `file://…` for a file.
        uri: String,
        /// The name for display.
        name: String,
    },
    /// An embedded resource with its text.
    Resource {
        /// The URI of the resource.
        uri: String,
        /// The text, if the resource has one.
        text: Option<String>,
    },
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Voice {
    /// The user who writes prompts.
    User,
    /// The agent, in its answer.
    Agent,
    /// The agent, in its reasoning.
    Thought,
}

/// A change of a session. An object with an id replaces the earlier object with the same id.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// A chunk of a message. Without an id it continues the last message of the same author.
    Said {
        /// The author of the message.
        voice: Voice,
        /// The id of the message.
        id: Option<String>,
        /// The content of the chunk.
        piece: MessageContent,
    },
    /// A tool call: `None` fields are unchanged.
    Call(CallUpdate),
    /// The complete plan, replacing the earlier one.
    Plan(Vec<PlanItem>),
    /// The complete list of the agent's commands.
    Commands(Vec<SlashCommand>),
    /// The id of the current mode.
    Mode(String),
    /// All options and their values.
    Options(Vec<ConfigOption>),
    /// The title of the session; `None` removes it.
    Title(Option<String>),
    /// The usage of the context window.
    Usage(ContextUsage),
    /// A notice to the user that belongs to no other update.
    Notice {
        /// Whether it is a warning or worse.
        is_warning: bool,
        /// The text of the notice.
        text: String,
    },
    /// Compaction of the conversation began, progressed or ended.
    Compaction {
        /// The id of the compaction.
        id: String,
        /// Whether it has ended.
        is_over: bool,
        /// A chunk of the summary.
        summary: Option<String>,
    },
}

/// The known state of a tool call: `None` fields are unchanged or unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallUpdate {
    /// The id of the call in its session.
    pub id: String,
    /// A one-line description for the user.
    pub title: Option<String>,
    /// The kind of tool.
    pub kind: Option<CallKind>,
    /// The progress of the call.
    pub state: Option<CallStatus>,
    /// The complete result of the call.
    pub content: Option<Vec<CallContent>>,
    /// The files it accesses.
    pub places: Option<Vec<CallLocation>>,
    /// The arguments of the call.
    pub input: Option<Value>,
    /// The raw result of the call.
    pub output: Option<Value>,
}

/// The kind of a tool, by which clients choose an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
}

/// The progress of a tool call, from its announcement to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallStatus {
    Pending,
    Running,
    Done,
    Failed,
}

/// Content of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallContent {
    /// A part of a message.
    Piece(MessageContent),
    /// A change of a file.
    Diff {
        /// The absolute path of the file.
        path: PathBuf,
        /// The text before; `None` for a new file.
        old: Option<String>,
        /// The text after the change.
        new: String,
    },
    /// The id of a terminal of the editor.
    Terminal(String),
}

/// A location in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallLocation {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u32>,
}

/// An item of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanItem {
    /// The work to do.
    pub text: String,
    /// The progress of the item.
    pub state: PlanState,
    /// Whether it has high priority.
    pub is_urgent: bool,
}

/// The progress of a plan item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PlanState {
    Open,
    Doing,
    Done,
}

/// A command that can begin a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// The name, without the slash.
    pub name: String,
    /// The purpose of the command.
    pub description: String,
    /// A hint for its input, if it takes any.
    pub hint: Option<String>,
}

/// A mode of a session, or a value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMode {
    /// The id of the mode.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// The explanation of the mode.
    pub description: Option<String>,
}

/// The modes of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentModes {
    /// All modes of the session.
    pub all: Vec<AgentMode>,
    /// The id of the current mode.
    pub now: String,
}

/// An option of a session that the user can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOption {
    /// The id of the option.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// The explanation of the option.
    pub description: Option<String>,
    /// The category, which identifies the model's option independent of its id.
    pub about: OptionAbout,
    /// The current value and the possible values.
    pub value: OptionValue,
}

/// The category of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionAbout {
    /// The choice of the model.
    Model,
    /// The mode of the session.
    Mode,
    /// The reasoning effort of the model.
    Thought,
    /// Any category other than these.
    Other,
}

/// The current value of an option and the possible values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// One of several values.
    One {
        /// The id of the current value.
        now: String,
        /// All values, with names and explanations.
        all: Vec<AgentMode>,
    },
    /// The current value of a boolean option.
    Truth(bool),
}

/// A new value for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionChoice {
    /// One of several, by its value.
    One(String),
    /// The value of a boolean option.
    Truth(bool),
}

/// Usage of an agent's context window.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextUsage {
    /// Tokens in the context.
    pub used: u64,
    /// Size of the context window, in tokens.
    pub size: u64,
    /// The cost of the session so far, and its currency.
    pub cost: Option<(f64, String)>,
}

/// The reason a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptStop {
    /// The agent finished its answer.
    Done,
    /// The user stopped it.
    Stopped,
    /// The agent refused to answer.
    Refused,
    /// The answer reached the token limit.
    TooLong,
    /// The turn reached the limit of model requests.
    TooMany,
    /// It failed, with the reason as a sentence.
    Failed(String),
}

/// A possible answer to a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionChoice {
    /// The id of the answer.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// The effect of the answer.
    pub kind: PermissionChoiceKind,
}

/// The effect of an answer to a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermissionChoiceKind {
    /// Allow this call only.
    AllowOnce,
    /// Allow this and similar calls.
    AllowAlways,
    /// Reject this call only.
    RejectOnce,
    /// Reject this and similar calls.
    RejectAlways,
}

/// A session that an agent has stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// The id of the session.
    pub id: String,
    /// The folder it works in.
    pub folder: PathBuf,
    /// The title of the session.
    pub title: Option<String>,
    /// The time of its last activity, in ISO 8601 format.
    pub updated: Option<String>,
}

/// A method of signing in to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInMethod {
    /// The id of the method.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// The explanation of the method.
    pub description: Option<String>,
    /// The terminal command, if the method requires one.
    pub terminal: Option<SignInTerminal>,
}

/// The command that signs in to an agent in a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInTerminal {
    /// Arguments that replace the agent's own.
    pub arguments: Vec<String>,
    /// Variables added to its environment.
    pub environment: Vec<(String, String)>,
}

impl MessageContent {
    /// Returns the part as text; images and audio are described.
    pub fn text(&self) -> String {
        match self {
            MessageContent::Text(text) => text.clone(),
            MessageContent::Image { media_type, .. } => format!("[a picture, {media_type}]"),
            MessageContent::Audio { media_type, .. } => format!("[a sound, {media_type}]"),
            MessageContent::Link { uri, name } => format!("[{name}]({uri})"),
            MessageContent::Resource { uri, text } => match text {
                Some(text) => format!("{uri}:\n{text}"),
                None => format!("[{uri}]"),
            },
        }
    }
}

impl CallUpdate {
    /// Creates an update with only an id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// Merges a later update into this one. Every field that `later` has replaces the earlier
    /// field. Lists are replaced as a whole.
    pub fn merge(&mut self, later: Self) {
        fn take<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        take(&mut self.title, later.title);
        take(&mut self.kind, later.kind);
        take(&mut self.state, later.state);
        take(&mut self.content, later.content);
        take(&mut self.places, later.places);
        take(&mut self.input, later.input);
        take(&mut self.output, later.output);
    }
}
