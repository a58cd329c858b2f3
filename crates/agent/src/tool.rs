//! The interface of tools, and the form of their results.

use std::sync::Arc;

use base::{AbsPath, NameRules};
use futures::future::BoxFuture;
use model::{PartContent, Profile, ToolSpec};
use patch::edit::FileEdit;
use serde_json::Value;

use crate::command_feed::ControlChange;
use crate::outcome::{CallOutcome, Detail};
use crate::sandbox::CommandSandbox;
use crate::services::SessionServices;
use crate::user_prompts::UserPrompts;

/// A tool that models can call.
///
/// A tool is shared by all sessions; `ToolContext` carries the session's part of a call.
pub trait Tool: Send + Sync {
    /// Returns its own name: `read`, `edit`, `exec_command`. Records and rules use it, whatever
    /// name the model uses.
    fn name(&self) -> &str;

    /// Returns its specification for a model profile; `None` if the tool is not offered.
    /// Deterministic per profile.
    fn spec(&self, profile: &Profile) -> Option<ToolSpec>;

    /// Returns the class of its effects.
    fn class(&self) -> ToolClass;

    /// Returns the resources a call accesses, which decide the calls that may run concurrently and
    /// the rules that apply. Fails with the result of the call if its arguments are invalid.
    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult>;

    /// Returns the access of a call whose edits a service computes, in place of `access`; `None`, the
    /// default, if `access` knows it. Waiting for it changes nothing; dropping the future cancels it.
    fn planned_access<'a>(
        &'a self,
        _call: &'a ToolCall,
        _context: &'a ToolContext,
    ) -> Option<BoxFuture<'a, Result<ToolAccess, ToolResult>>> {
        None
    }

    /// Runs a call with the access that was permitted. Dropping the future cancels its async part
    /// at once, but not work that the tool has handed to a blocking thread, such as reading files,
    /// editing or moving them: that runs to its end, and its result is lost. Searches with `glob`
    /// and `grep` stop soon. A tool that can report partial work watches `ToolContext::stop`.
    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult>;
}

/// The class of a tool's effects, by which modes and default rules decide.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Reads files of the project.
    Read,
    /// Changes files of the project.
    Edit,
    /// Runs programs on this machine.
    Execute,
    /// Sends requests to other machines.
    Network,
    /// Talks to the user, or keeps notes of the session.
    Interact,
    /// Starts a subagent that works on its own.
    Delegate,
    /// A tool of an MCP server, whose effects are unknown.
    Foreign,
}

/// One call, as the model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its id in the conversation.
    pub id: String,
    /// The tool's own name, independent of the name the model used.
    pub tool: String,
    /// The input of the call.
    pub input: CallInput,
    /// Whether the model wants the preceding calls to finish first.
    pub waits: bool,
}

/// The input of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallInput {
    /// A JSON object with arguments.
    Json(Value),
    /// Free text, for tools that accept it.
    Text(String),
}

impl CallInput {
    /// Returns the input as JSON, as stored in records.
    pub fn value(&self) -> Value {
        match self {
            CallInput::Json(value) => value.clone(),
            CallInput::Text(text) => Value::String(text.clone()),
        }
    }
}

/// The resources a call accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAccess {
    /// The scopes it reads.
    pub reads: Vec<LockScope>,
    /// The scopes it changes.
    pub writes: Vec<LockScope>,
    /// The shell command it runs, if any; rules inspect it.
    pub command: Option<String>,
    /// The host it connects to, if any.
    pub host: Option<String>,
    /// The sandbox of the program it runs, if any.
    pub sandbox_scope: SandboxScope,
    /// The edits that it makes, parsed, with paths relative to the root and symlinks resolved.
    /// `run` applies exactly these.
    pub edits: Arc<[FileEdit]>,
    /// A one-line description for the user: `edit src/main.rs`, `cargo test`.
    pub title: String,
}

/// The files that a call's program can change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxScope {
    /// Everything the user can change: there is no sandbox.
    #[default]
    Unconfined,
    /// The user's project and nothing else.
    Project,
    /// The session's own folder and nothing else.
    SessionFolder,
}

/// A resource on which calls can conflict; locks and rules compare them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockScope {
    /// A file or folder itself, relative to the root with `/`, or absolute if outside.
    Path(String),
    /// A folder with its contents; the root is the empty path.
    Tree(String),
    /// State of the session: `plan`, `terminal 3`.
    Own(String),
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The class of the result.
    pub outcome: CallOutcome,
    /// Further details of the outcome.
    pub detail: Option<Detail>,
    /// The text and images the model receives. Never empty.
    pub content: Vec<PartContent>,
    /// Additional content for the user.
    pub display: Vec<ToolDisplay>,
}

/// A part of a call's result for display to the user.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolDisplay {
    /// A change of a file; `None` if there is no file before or after.
    Diff {
        /// The path relative to the root.
        path: String,
        /// The text before the change.
        old: Option<String>,
        /// The text after the change.
        new: Option<String>,
    },
    /// A command that ran or is running.
    Command {
        /// The command line as given.
        command: String,
        /// The exit code; `None` while it runs.
        code: Option<i32>,
        /// The end of its output.
        output: String,
    },
    /// Locations in files: path, line from 1, the line's text.
    Places(Vec<(String, u32, String)>),
    /// The plan after the call.
    Plan(Vec<crate::record::TodoItem>),
    /// Text shown as it is.
    Text(String),
}

/// The context in which a call runs.
#[derive(Clone)]
pub struct ToolContext {
    /// The id of the session.
    pub session: Arc<str>,
    /// The number of the turn, from 1.
    pub turn: u64,
    /// The root folder of the session, with symlinks resolved.
    pub root: AbsPath,
    /// File system, clock, search and other services.
    pub sources: Arc<SessionServices>,
    /// The sandbox for commands; without one they run with the user's rights.
    pub sandbox: Option<Arc<dyn CommandSandbox>>,
    /// The channel for questions to the user.
    pub prompts: UserPrompts,
    /// Becomes true when the user stops the call.
    pub stop: tokio::sync::watch::Receiver<bool>,
    /// The profile of the model that made the call.
    pub profile: Arc<Profile>,
    /// Maximum number of tokens of a result; longer ones are truncated and saved under a handle.
    pub output_tokens: u64,
    /// Output chunks of a long call, for display. A chunk is dropped if the channel is full.
    pub progress: tokio::sync::mpsc::Sender<String>,
    /// The changes of the control of commands that a user takes over. Unbounded: a user makes few.
    pub control_changes: tokio::sync::mpsc::UnboundedSender<ControlChange>,
}

impl ToolResult {
    /// Returns a successful result with this text.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(CallOutcome::Ok, text)
    }

    /// Returns a result with this outcome and text.
    pub fn new(outcome: CallOutcome, text: impl Into<String>) -> Self {
        Self {
            outcome,
            detail: None,
            content: vec![PartContent::Text(text.into())],
            display: Vec::new(),
        }
    }

    /// Sets the further details of the outcome, replacing earlier ones.
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// Appends content for the user; the model does not see it.
    pub fn with_display(mut self, shown: ToolDisplay) -> Self {
        self.display.push(shown);
        self
    }

    /// Concatenates the texts of its content without a separator; images are left out.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            PartContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

impl LockScope {
    /// Returns whether two scopes overlap, so that calls conflict if one of them writes. A tree
    /// overlaps every path below it; a path is only itself, in any spelling that some volume takes for
    /// the same; state of the session overlaps only the same state.
    pub fn overlaps(&self, other: &Self) -> bool {
        let key = |path: &str| NameRules::FOLDING.key(path.as_bytes()).into_owned();
        let below = |tree: &str, path: &str| {
            let (tree, path) = (key(tree), key(path));
            tree.is_empty()
                || path
                    .strip_prefix(&tree[..])
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        match (self, other) {
            (LockScope::Path(one), LockScope::Path(two)) => NameRules::FOLDING.is_same(one, two),
            (LockScope::Tree(tree), LockScope::Path(path))
            | (LockScope::Path(path), LockScope::Tree(tree)) => below(tree, path),
            (LockScope::Tree(one), LockScope::Tree(two)) => below(one, two) || below(two, one),
            (LockScope::Own(one), LockScope::Own(two)) => one == two,
            (LockScope::Own(_), _) | (_, LockScope::Own(_)) => false,
        }
    }
}

impl ToolAccess {
    /// Returns whether two calls may run concurrently: neither writes anything that the other reads
    /// or writes.
    pub fn is_apart(&self, other: &Self) -> bool {
        let meets = |one: &[LockScope], two: &[LockScope]| {
            one.iter()
                .any(|scope| two.iter().any(|it| scope.overlaps(it)))
        };
        !meets(&self.writes, &other.writes)
            && !meets(&self.writes, &other.reads)
            && !meets(&self.reads, &other.writes)
    }
}
