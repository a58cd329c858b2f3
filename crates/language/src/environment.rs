//! The environment of a folder's servers: allow-listed variables, changed by direnv or mise.
//!
//! Invariant: a variable that settings name as the source of a key is never among them.
//! Invariant: direnv and mise run only if a file of theirs applies to the folder; both refuse files that the
//! user did not allow.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::environment::{self, Recipient, Variable};
use host::process::{self, ProcessEnvironment, ProcessRequest};
use host::{Files, Stamp};
use serde_json::{Map, Value};

use crate::path_lookup;

/// Time for direnv or mise; a shell of Nix may take long the first time.
const DEADLINE: Duration = Duration::from_secs(60);

/// A program that changes the environment of a folder.
struct EnvironmentTool {
    program: &'static str,
    arguments: &'static [&'static str],
    /// Names of its files, which apply to the folders below them as well.
    files: &'static [&'static str],
}

const TOOLS: &[EnvironmentTool] = &[
    EnvironmentTool {
        program: "direnv",
        arguments: &["export", "json"],
        files: &[".envrc"],
    },
    EnvironmentTool {
        program: "mise",
        arguments: &["env", "--json"],
        files: &["mise.toml", ".mise.toml", ".tool-versions"],
    },
];

/// The files of tools that apply to a folder, with their versions.
type ToolStamps = Vec<(AbsPath, Stamp)>;

/// An environment that a tool gave, valid while the stamps are the same.
struct CachedEnvironment {
    stamps: ToolStamps,
    variables: Vec<Variable>,
}

/// The environments that were read in this process, by folder.
static CACHE: LazyLock<Mutex<HashMap<AbsPath, CachedEnvironment>>> = LazyLock::new(Mutex::default);

/// Returns the allow-listed variables.
pub(crate) fn base() -> Vec<Variable> {
    environment::variables(Recipient::Foreign)
}

/// Returns the environment of a trusted folder, and a sentence for each tool that failed. Runs the tools
/// again only if their files changed.
pub(crate) fn load(files: &dyn Files, root: &AbsPath) -> (Vec<Variable>, Vec<String>) {
    load_onto(base(), files, root)
}

/// Returns the environment like `load`, on top of these variables.
fn load_onto(
    mut variables: Vec<Variable>,
    files: &dyn Files,
    root: &AbsPath,
) -> (Vec<Variable>, Vec<String>) {
    let stamps: ToolStamps = TOOLS.iter().flat_map(|it| it.stamps(files, root)).collect();
    if stamps.is_empty() {
        return (variables, Vec::new());
    }
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = cache().get(root)
        && known.stamps == stamps
    {
        return (known.variables.clone(), Vec::new());
    }
    let mut problems = Vec::new();
    for tool in TOOLS {
        let Some((file, _)) = tool.stamps(files, root).into_iter().next() else {
            continue;
        };
        match tool.changes(files, root, &variables) {
            Ok(changes) => apply(&mut variables, &changes),
            Err(cause) => problems.push(format!("{file} is not used: {cause}")),
        }
    }
    if problems.is_empty() {
        let variables = variables.clone();
        cache().insert(root.clone(), CachedEnvironment { stamps, variables });
    }
    (variables, problems)
}

impl EnvironmentTool {
    /// Returns the tool's files in the folder or the nearest ancestor that has one.
    fn stamps(&self, files: &dyn Files, root: &AbsPath) -> ToolStamps {
        let mut folder = Some(root.clone());
        while let Some(here) = folder {
            let paths = self.files.iter().map(|name| here.join(name));
            let stamps = paths.filter_map(|path| {
                let stat = files.stat(&path).ok()?;
                Some((path, stat.stamp))
            });
            let stamps: ToolStamps = stamps.collect();
            if !stamps.is_empty() {
                return stamps;
            }
            folder = here.parent();
        }
        Vec::new()
    }

    /// Runs the tool and returns the variables that it sets, or unsets with null; fails with a cause.
    fn changes(
        &self,
        files: &dyn Files,
        root: &AbsPath,
        variables: &[Variable],
    ) -> Result<Map<String, Value>, ToolError> {
        let program = path_lookup::in_path(files, variables, self.program, &|_| true);
        let program = program.ok_or(ToolError::Missing(self.program))?;
        let mut request = ProcessRequest::new(program.as_path(), root);
        request = request.with_arguments(self.arguments.iter().copied());
        request.deadline = DEADLINE;
        request.environment = ProcessEnvironment::Only(variables.to_vec());
        let output = process::run(&request).map_err(ToolError::Start)?;
        if !output.is_success() {
            let errors = String::from_utf8_lossy(&output.errors);
            let last = errors.lines().rev().find(|line| !line.trim().is_empty());
            let last = last.unwrap_or("it gave no reason").trim().to_owned();
            return Err(ToolError::Failed(self.program, last));
        }
        let text = output.text();
        if text.trim().is_empty() {
            // direnv prints nothing if nothing changes.
            return Ok(Map::new());
        }
        serde_json::from_str(&text).map_err(|error| ToolError::Output(self.program, error))
    }
}

/// The reason why a tool gives no environment.
#[derive(Debug, thiserror::Error)]
enum ToolError {
    #[error("{0} is not installed")]
    Missing(&'static str),
    #[error(transparent)]
    Start(host::Error),
    #[error("{0} failed: {1}")]
    Failed(&'static str, String),
    #[error("{0} printed no environment: {1}")]
    Output(&'static str, serde_json::Error),
}

/// Sets and unsets variables; a value that is neither text nor null is ignored.
fn apply(variables: &mut Vec<Variable>, changes: &Map<String, Value>) {
    for (name, value) in changes {
        if !environment::may_pass_on(name) || !(value.is_string() || value.is_null()) {
            continue;
        }
        variables.retain(|(known, _)| known != OsStr::new(name));
        if let Some(value) = value.as_str() {
            variables.push((OsString::from(name), OsString::from(value)));
        }
    }
}

#[cfg(test)]
mod tests;
