//! What a tool is to the loop, and what it answers.

use std::sync::Arc;

use base::AbsPath;
use futures::future::BoxFuture;
use model::{Content, Profile, ToolSpec};
use serde_json::Value;

use crate::ask::Desk;
use crate::confine::Sandbox;
use crate::outcome::{Detail, Outcome};
use crate::sources::Sources;

/// Something that a model can call.
///
/// A tool is shared by all sessions; what a call needs of its session is in `ToolContext`.
pub trait Tool: Send + Sync {
    /// Its name among ourselves: `read`, `edit`, `exec_command`. Records and rules use it, whatever a model calls it.
    fn name(&self) -> &str;

    /// How a model of this profile is offered it; `None` where it is not. The same profile always gets the same.
    fn spec(&self, profile: &Profile) -> Option<ToolSpec>;

    /// What kind of effect it has.
    fn class(&self) -> ToolClass;

    /// What a call touches: decides what may run beside it and which rules judge it. A call whose arguments make no
    /// sense is answered here.
    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer>;

    /// Does it. Dropping the future gives it up at once and leaves nothing running; a tool that can say more of
    /// what it had done until then watches `ToolContext::stop`.
    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer>;
}

/// What kind of effect a tool has, from the point of view of permissions.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Looks at the project.
    Read,
    /// Changes files of the project.
    Edit,
    /// Runs programs.
    Execute,
    /// Reaches out to other machines.
    Network,
    /// Speaks to the person, or keeps notes for itself.
    Interact,
    /// Starts another agent.
    Delegate,
    /// Comes from outside: an MCP server says what it does, nobody knows.
    Foreign,
}

/// One call, as the model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its id in the conversation.
    pub id: String,
    /// The tool's own name, not the model's word for it.
    pub tool: String,
    /// What it was given.
    pub input: Input,
    /// The model wants the calls before it to be over first.
    pub waits: bool,
}

/// What a call was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An object.
    Json(Value),
    /// Free text, for tools that take it.
    Text(String),
}

impl Input {
    /// The same as JSON, as records hold it.
    pub fn value(&self) -> Value {
        match self {
            Input::Json(value) => value.clone(),
            Input::Text(text) => Value::String(text.clone()),
        }
    }
}

/// What a call touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// What it looks at.
    pub reads: Vec<Scope>,
    /// What it changes.
    pub writes: Vec<Scope>,
    /// The shell command that it runs, if it runs one; rules look at it.
    pub command: Option<String>,
    /// The host that it reaches, if it does.
    pub host: Option<String>,
    /// Who keeps it in bounds, where it runs a program.
    pub kept: Kept,
    /// One line that tells a person what is to happen: `edit src/main.rs`, `cargo test`.
    pub title: String,
}

/// How far a program that a call runs is kept in bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// It has the person's rights.
    #[default]
    Free,
    /// It can change the person's project, and nothing else.
    ToProject,
    /// It can change a folder of the session's own, and nothing else.
    ToOwnGround,
}

/// A part of the world that calls can get in each other's way about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// A file or folder itself, relative to the root with `/`, or absolute where it lies outside.
    Path(String),
    /// A folder with everything in it; the root is the empty path.
    Tree(String),
    /// Something of the session's own: `plan`, `terminal 3`.
    Own(String),
}

/// What a tool answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub outcome: Outcome,
    /// What lies beneath, where more is known.
    pub detail: Option<Detail>,
    /// What the model is told: text and images. Never empty.
    pub content: Vec<Content>,
    /// What a person is shown beside it.
    pub shown: Vec<Shown>,
}

/// What a person is shown of a call's result.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// A file became another text; `None` where there is no file before or after.
    Diff {
        /// Relative to the root.
        path: String,
        /// The text before.
        old: Option<String>,
        /// The text after.
        new: Option<String>,
    },
    /// A command ran, or still does.
    Command {
        /// As it was given.
        command: String,
        /// How it ended; `None` while it runs.
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// Places in files: path, line from 1, the line's text.
    Places(Vec<(String, u32, String)>),
    /// The plan as it is now.
    Plan(Vec<crate::record::Todo>),
    /// A text as it is.
    Text(String),
}

/// What a call finds around it.
#[derive(Clone)]
pub struct ToolContext {
    /// The session's name.
    pub session: Arc<str>,
    /// The turn it belongs to, from 1.
    pub turn: u64,
    /// The folder that the session works below; a real path without links.
    pub root: AbsPath,
    /// Files, clock, search and whatever else is plugged in.
    pub sources: Arc<Sources>,
    /// What keeps commands in bounds; without, they run with the person's rights.
    pub sandbox: Option<Arc<dyn Sandbox>>,
    /// The way to the person.
    pub desk: Desk,
    /// Tells that the person wants it to stop.
    pub stop: tokio::sync::watch::Receiver<bool>,
    /// The profile of the model that made the call.
    pub profile: Arc<Profile>,
    /// The most tokens that a result may have; longer ones are cut with a handle to the whole.
    pub output_tokens: u64,
    /// Progress of a long call, for the person's eyes: pieces of output. Dropped where nobody keeps up.
    pub progress: tokio::sync::mpsc::Sender<String>,
}

impl Answer {
    /// Done, in these words.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(Outcome::Ok, text)
    }

    /// An outcome, in these words.
    pub fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self {
            outcome,
            detail: None,
            content: vec![Content::Text(text.into())],
            shown: Vec::new(),
        }
    }

    /// The same with what lies beneath.
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// The same with something for the person's eyes.
    pub fn showing(mut self, shown: Shown) -> Self {
        self.shown.push(shown);
        self
    }

    /// The texts of its content, one after the other.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

impl Scope {
    /// Whether calls that touch these get in each other's way, if one of them writes.
    pub fn meets(&self, other: &Self) -> bool {
        let below = |tree: &str, path: &str| {
            tree.is_empty()
                || path
                    .strip_prefix(tree)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match (self, other) {
            (Scope::Path(one), Scope::Path(two)) => one == two,
            (Scope::Tree(tree), Scope::Path(path)) | (Scope::Path(path), Scope::Tree(tree)) => {
                below(tree, path)
            }
            (Scope::Tree(one), Scope::Tree(two)) => below(one, two) || below(two, one),
            (Scope::Own(one), Scope::Own(two)) => one == two,
            (Scope::Own(_), _) | (_, Scope::Own(_)) => false,
        }
    }
}

impl Access {
    /// Whether two calls may run at the same time.
    pub fn is_apart(&self, other: &Self) -> bool {
        let meets = |one: &[Scope], two: &[Scope]| {
            one.iter().any(|scope| two.iter().any(|it| scope.meets(it)))
        };
        !meets(&self.writes, &other.writes)
            && !meets(&self.writes, &other.reads)
            && !meets(&self.reads, &other.writes)
    }
}
