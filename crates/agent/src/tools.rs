//! What a model can do in a project: each tool in a file of its own.
//!
//! Knows: `Sources`, `Rooms`. Must not know: turns, records, who is asked for leave.
//! Invariant: every way a call can end has a typed outcome and a sentence; `Outcome::Unknown` is never among them.
//! Invariant: file tools never leave the root by a link; what lies outside is only read, by its own real path.
//! Start at `all`; names are in `names`, what a session leaves behind between calls in `rooms`.

mod arguments;
mod cut;
mod edit;
mod exec;
mod fetch;
mod git;
mod glob;
mod grep;
mod list;
pub mod names;
pub mod outside;
mod place;
mod read;
mod rooms;
mod search;
mod shift;
mod talk;
mod terminal;
mod write;

use std::ffi::OsString;
use std::sync::Arc;

use futures::future::BoxFuture;
use host::Files;
use model::{Profile, ToolInput, ToolSpec};
use router::http::{Socket, Transport};
use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::sources::Sources;
use crate::tool::{Answer, Tool, ToolContext};

pub use names::by_name;
pub use rooms::Rooms;

/// How the tools are set up.
#[derive(Clone)]
pub struct Options {
    /// What sessions leave behind between calls. Whoever ends a session calls `Rooms::leave`.
    pub rooms: Arc<Rooms>,
    /// The environment of commands, before keys are taken out of it.
    pub variables: Vec<(OsString, OsString)>,
    /// Where `glob` and `grep` look.
    pub ground: Ground,
    /// What carries requests of `fetch`; without it that is not offered.
    pub transport: Option<Arc<dyn Transport>>,
    /// Whether `fetch` may reach machines of the own network.
    pub reaches_private: bool,
    /// Whether search by meaning is plugged in.
    pub has_search: bool,
    /// Whether somebody knows what is wrong with files.
    pub has_diagnostics: bool,
    /// Whether the web can be searched.
    pub has_web: bool,
}

/// Where `glob` and `grep` look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// On the machine's own disk.
    Disk,
    /// Through `Sources::files`, slower: for files that are not on the disk.
    Files,
}

impl Options {
    /// For the machine's own disk and environment, with what is plugged in.
    pub fn new(sources: &Sources) -> Self {
        Self {
            rooms: Arc::default(),
            variables: host::environment::variables(host::environment::Recipient::Foreign),
            ground: Ground::Disk,
            transport: Some(Arc::new(Socket::default())),
            reaches_private: false,
            has_search: sources.search.is_some(),
            has_diagnostics: sources.diagnostics.is_some(),
            has_web: sources.web.is_some(),
        }
    }
}

/// All tools, in the order in which models are offered them.
pub fn all(options: &Options) -> Vec<Arc<dyn Tool>> {
    let options = Arc::new(options.clone());
    vec![
        Arc::new(read::Read::new(&options)),
        Arc::new(list::List),
        Arc::new(glob::FindFiles::new(&options)),
        Arc::new(grep::Grep::new(&options)),
        Arc::new(search::SemanticSearch::new(&options)),
        Arc::new(search::Symbols::new(&options)),
        Arc::new(search::Diagnostics::new(&options)),
        Arc::new(edit::Edit::new(&options)),
        Arc::new(edit::ApplyPatch::new(&options)),
        Arc::new(edit::EditLines::new(&options)),
        Arc::new(edit::EditBlocks::new(&options)),
        Arc::new(write::Write::new(&options)),
        Arc::new(shift::Move),
        Arc::new(shift::Delete),
        Arc::new(exec::ExecCommand::new(&options)),
        Arc::new(exec::WriteStdin::new(&options)),
        Arc::new(git::Git::new(&options)),
        Arc::new(fetch::Fetch::new(&options)),
        Arc::new(search::WebSearch::new(&options)),
        Arc::new(talk::Plan),
        Arc::new(talk::AskUser),
        Arc::new(talk::Memory::new(&options)),
    ]
}

/// A spec whose input is an object with these properties, of which the first `required` must be given.
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
        name: names::shown(name, profile.tool_names),
        description: description.to_owned(),
        input: ToolInput::Json(schema),
    }
}

/// A schema of one kind of value with what it means.
fn of(kind: &str, description: &str) -> Value {
    json!({ "type": kind, "description": description })
}

/// The files of a call: below its root no link is followed, not even one that is planted meanwhile.
fn files_of(context: &ToolContext) -> Arc<dyn Files> {
    let files = &context.sources.files;
    files
        .beneath(&context.root)
        .map_or_else(|| Arc::clone(files), Arc::from)
}

/// Does something on a thread where it may block. Once begun it is done to its end, whoever waits.
fn blocking(work: impl FnOnce() -> Answer + Send + 'static) -> BoxFuture<'static, Answer> {
    let task = tokio::task::spawn_blocking(work);
    Box::pin(async move {
        task.await.unwrap_or_else(|error| {
            base::report(&format!("a tool broke off: {error}"));
            let text =
                "The tool itself broke off; this is a defect of the program. Try another way.";
            Answer::new(Outcome::Unknown, text)
        })
    })
}

/// A refusal because of arguments.
fn invalid(text: impl Into<String>) -> Answer {
    Answer::new(Outcome::InvalidArguments, text)
}

/// A refusal because the world is not as thought.
fn unexpected(text: impl Into<String>) -> Answer {
    Answer::new(Outcome::UnexpectedEnvironment, text)
}

#[cfg(test)]
mod tests;
