//! What agents and editors say to each other, in no version's own types.

use std::path::PathBuf;

use serde_json::Value;

pub use crate::mcp::Filled;

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Text, in Markdown.
    Text(String),
    /// A picture.
    Image {
        /// Its media type.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A sound.
    Audio {
        /// Its media type.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// Something that the reader can look up.
    Link {
        /// Its address: `file://…` for a file.
        uri: String,
        /// What people are shown.
        name: String,
    },
    /// Something with its text.
    Resource {
        /// Its address.
        uri: String,
        /// Its text, where it has one.
        text: Option<String>,
    },
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Voice {
    /// The person.
    Person,
    /// The agent.
    Agent,
    /// The agent, to itself.
    Thought,
}

/// Something about a session that is new or different now. Whatever has an id takes the place of what had it before.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// More of a message. Without an id it goes on with the last one of the same voice.
    Said {
        /// Who.
        voice: Voice,
        /// The message's id.
        id: Option<String>,
        /// What.
        piece: Piece,
    },
    /// A call of a tool: what is `None` stays as it was.
    Call(CallUpdate),
    /// The whole plan.
    Plan(Vec<PlanItem>),
    /// All commands that the agent knows.
    Commands(Vec<SlashCommand>),
    /// The mode that it works in now.
    Mode(String),
    /// All options and their values.
    Options(Vec<ConfigOption>),
    /// The session's title; `None` takes it away.
    Title(Option<String>),
    /// How full its memory is.
    Usage(Usage),
    /// Something for the person that is part of nothing else.
    Notice {
        /// Whether it is a warning or worse.
        is_warning: bool,
        /// What.
        text: String,
    },
    /// The conversation is made shorter, or was.
    Compaction {
        /// Its id.
        id: String,
        /// Whether it is over.
        is_over: bool,
        /// More of the summary.
        summary: Option<String>,
    },
}

/// What is known of a call of a tool: what is `None` stays as it was, or is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallUpdate {
    /// The call's id in its session.
    pub id: String,
    /// One line for people.
    pub title: Option<String>,
    /// What kind of thing it does.
    pub kind: Option<CallKind>,
    /// How far it is.
    pub state: Option<CallState>,
    /// What came of it, all of it.
    pub content: Option<Vec<CallContent>>,
    /// The files it is about.
    pub places: Option<Vec<Place>>,
    /// What it was given.
    pub input: Option<Value>,
    /// What it answered.
    pub output: Option<Value>,
}

/// What kind of thing a tool does.
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

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallState {
    Pending,
    Running,
    Done,
    Failed,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallContent {
    /// Something said.
    Piece(Piece),
    /// A file became another text.
    Diff {
        /// An absolute path.
        path: PathBuf,
        /// The text before; `None` for a new file.
        old: Option<String>,
        /// The text after.
        new: String,
    },
    /// A terminal of the editor's, by id.
    Terminal(String),
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// An absolute path.
    pub path: PathBuf,
    /// From 1.
    pub line: Option<u32>,
}

/// One point of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: PlanState,
    /// Whether it comes before the others.
    pub is_urgent: bool,
}

/// How far a point of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PlanState {
    Open,
    Doing,
    Done,
}

/// A command that the person can begin a prompt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it, where something may.
    pub hint: Option<String>,
}

/// A way of working.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its id.
    pub id: String,
    /// What people are shown.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
}

/// The ways of working that there are, and the one now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes {
    /// All of them.
    pub all: Vec<Mode>,
    /// The id of the one now.
    pub now: String,
}

/// Something about a session that the person can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOption {
    /// Its id.
    pub id: String,
    /// What people are shown.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// What it is about, so that an editor finds the model's choice whatever its id is.
    pub about: OptionAbout,
    /// What can be chosen, and what is.
    pub value: OptionValue,
}

/// What an option is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionAbout {
    /// The model.
    Model,
    /// The way of working.
    Mode,
    /// How much the model thinks.
    Thought,
    /// Something else.
    Other,
}

/// What can be chosen, and what is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// One of several.
    One {
        /// The value now.
        now: String,
        /// All of them: value, what people are shown, what it means.
        all: Vec<Mode>,
    },
    /// Yes or no.
    Truth(bool),
}

/// What is set of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// One of several, by its value.
    One(String),
    /// Yes or no.
    Truth(bool),
}

/// How full an agent's memory is.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Tokens in it.
    pub used: u64,
    /// Tokens it has room for.
    pub size: u64,
    /// What the session cost so far, and in which currency.
    pub cost: Option<(f64, String)>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The agent is done.
    Done,
    /// The person stopped it.
    Stopped,
    /// The agent declined.
    Refused,
    /// The answer is too long.
    TooLong,
    /// It asked its model too often.
    TooMany,
    /// It failed: a sentence.
    Failed(String),
}

/// An answer that the person may give to a question for leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaveChoice {
    /// Its id.
    pub id: String,
    /// What people are shown.
    pub name: String,
    /// What it means.
    pub kind: LeaveKind,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaveKind {
    /// This once.
    AllowOnce,
    /// This and all like it.
    AllowAlways,
    /// Not this once.
    RejectOnce,
    /// Not this nor any like it.
    RejectAlways,
}

/// A session that an agent remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: String,
    /// The folder it works in.
    pub folder: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// When it was last worked in, in the form of ISO 8601.
    pub updated: Option<String>,
}

/// A way to sign in to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInMethod {
    /// Its id.
    pub id: String,
    /// What people are shown.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// The agent has to be run in a terminal, where that is how it is done.
    pub terminal: Option<SignInTerminal>,
}

/// How an agent is run in a terminal to sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInTerminal {
    /// Arguments in place of its own.
    pub arguments: Vec<String>,
    /// Variables beside its own.
    pub environment: Vec<(String, String)>,
}

impl Piece {
    /// What is read of it without eyes and ears.
    pub fn text(&self) -> String {
        match self {
            Piece::Text(text) => text.clone(),
            Piece::Image { media_type, .. } => format!("[a picture, {media_type}]"),
            Piece::Audio { media_type, .. } => format!("[a sound, {media_type}]"),
            Piece::Link { uri, name } => format!("[{name}]({uri})"),
            Piece::Resource { uri, text } => match text {
                Some(text) => format!("{uri}:\n{text}"),
                None => format!("[{uri}]"),
            },
        }
    }
}

impl CallUpdate {
    /// What is known of a call when nothing but its id is.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// Takes over what a later update knows.
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
