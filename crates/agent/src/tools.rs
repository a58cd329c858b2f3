//! The built-in tools, each in its own file.
//!
//! Knows: `SessionServices`, `ToolStates`. Must not know: turns, records, how permission is
//! requested.
//! Invariant: every call ends with a typed outcome and a sentence, and never with
//! `CallOutcome::Unknown`.
//! Invariant: file tools never leave the root through a symlink; files outside are only read, by
//! their real path.
//! Start at `all`; `state` keeps a session's state between
//! calls.

mod arguments;
mod edit;
mod exec;
pub mod external;
mod fetch;
mod git;
mod glob;
mod grep;
mod hosted;
mod interaction;
pub mod language;
mod list;
mod paths;
mod read;
mod relocate;
mod search;
mod state;
mod terminal;
mod truncate;
mod write;

use std::ffi::OsString;
use std::sync::Arc;

use futures::future::BoxFuture;
use host::Files;
use model::{Profile, ToolInput, ToolSpec};
use serde_json::{Value, json};

use crate::outcome::CallOutcome;
use crate::services::SessionServices;
use crate::tool::{Tool, ToolContext, ToolResult};
use crate::tool_names::display_name;

pub use fetch::{SystemNetwork, WebNetwork};
pub use hosted::{HostedCommand, HostedCommandRequest};
pub use state::ToolStates;

/// Configuration of the tools.
#[derive(Clone)]
pub struct ToolOptions {
    /// State of sessions between calls. The code that ends a session calls
    /// `ToolStates::close_session`.
    pub states: Arc<ToolStates>,
    /// The environment of commands, before secrets are removed.
    pub variables: Vec<(OsString, OsString)>,
    /// The file walk that `glob` and `grep` use.
    pub search_backend: SearchBackend,
    /// The network of `fetch`; without it the tool is not offered.
    pub network: Option<Arc<dyn WebNetwork>>,
    /// Whether `fetch` may access private addresses.
    pub reaches_private: bool,
    /// Whether semantic search is available.
    pub has_search: bool,
}

/// The file walk that `glob` and `grep` use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchBackend {
    /// Directly on the disk.
    Disk,
    /// Through `SessionServices::files`, slower: for files that are not on the disk.
    Files,
}

impl ToolOptions {
    /// Uses the machine's disk and environment, with the services that are available.
    pub fn new(sources: &SessionServices) -> Self {
        Self {
            states: Arc::default(),
            variables: host::environment::variables(host::environment::Recipient::Foreign),
            search_backend: SearchBackend::Disk,
            network: Some(Arc::new(SystemNetwork)),
            reaches_private: false,
            has_search: sources.search.is_some(),
        }
    }
}

/// Returns all tools that every session has, in the order in which models see them.
pub fn all(options: &ToolOptions) -> Vec<Arc<dyn Tool>> {
    let shared = Arc::new(options.clone());
    let options = || Arc::clone(&shared);
    vec![
        Arc::new(read::ReadTool { options: options() }),
        Arc::new(list::ListTool),
        Arc::new(glob::GlobTool { options: options() }),
        Arc::new(grep::GrepTool { options: options() }),
        Arc::new(search::SemanticSearchTool { options: options() }),
        Arc::new(search::SymbolsTool { options: options() }),
        Arc::new(edit::ReplaceTextTool { options: options() }),
        Arc::new(edit::ApplyPatchTool { options: options() }),
        Arc::new(edit::EditLinesTool { options: options() }),
        Arc::new(edit::EditBlocksTool { options: options() }),
        Arc::new(write::WriteTool { options: options() }),
        Arc::new(relocate::MoveTool),
        Arc::new(relocate::DeleteTool),
        Arc::new(exec::ExecCommandTool { options: options() }),
        Arc::new(exec::WriteStdinTool { options: options() }),
        Arc::new(exec::RunTestsTool { options: options() }),
        Arc::new(git::GitTool { options: options() }),
        Arc::new(fetch::FetchTool { options: options() }),
        Arc::new(interaction::PlanTool),
        Arc::new(interaction::AskUserTool),
        Arc::new(interaction::MemoryTool { options: options() }),
    ]
}

/// Builds a specification whose input is an object with these properties; the first `required` ones
/// are mandatory.
fn spec(
    name: &'static str,
    profile: &Profile,
    description: &str,
    required: usize,
    properties: &[(&str, Value)],
) -> ToolSpec {
    let required: Vec<&str> = properties[..required.min(properties.len())]
        .iter()
        .map(|(name, _)| *name)
        .collect();
    let properties: serde_json::Map<String, Value> = properties
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    ToolSpec {
        name: display_name(name, profile.tool_names),
        description: description.to_owned(),
        input: ToolInput::Json(schema),
    }
}

/// Builds the schema of one property.
fn of(kind: &str, description: &str) -> Value {
    json!({ "type": kind, "description": description })
}

/// Returns the file system of a call, which follows no symlink below the root, not even one created
/// during the call.
fn files_of(context: &ToolContext) -> Arc<dyn Files> {
    let files = &context.sources.files;
    files
        .open_beneath(&context.root)
        .map_or_else(|| Arc::clone(files), Arc::from)
}

/// Starts work on a blocking thread at once. It runs to its end, even if the future is dropped.
fn blocking(work: impl FnOnce() -> ToolResult + Send + 'static) -> BoxFuture<'static, ToolResult> {
    let task = tokio::task::spawn_blocking(work);
    Box::pin(async move {
        task.await.unwrap_or_else(|error| {
            base::report(&format!("a tool broke off: {error}"));
            let text = "The tool crashed, which is a defect of the program. Try another way.";
            ToolResult::new(CallOutcome::Unknown, text)
        })
    })
}

/// Returns the result for invalid arguments.
fn invalid(text: impl Into<String>) -> ToolResult {
    ToolResult::new(CallOutcome::InvalidArguments, text)
}

/// Returns the result for an unexpected environment.
fn unexpected(text: impl Into<String>) -> ToolResult {
    ToolResult::new(CallOutcome::UnexpectedEnvironment, text)
}

#[cfg(test)]
pub(crate) mod tests;
