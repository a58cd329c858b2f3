//! `diagnostics`, `definition`, `references`, `hover`, `rename`, `code_action`: tools backed by language servers.
//!
//! Must not know: the protocol, which servers there are.
//! Invariant: a change that a server computes is applied like an edit of the model: with the permission for every file
//! that it changes, all of it or nothing.
//! Start at `all`.

mod changes;
mod navigation;
mod position;

use std::sync::Arc;
use std::time::Duration;

use base::count_of;
use futures::future::BoxFuture;
use model::{Profile, ToolSpec};
use serde_json::json;

use crate::error::Error;
use crate::language::{DiagnosticsAnswer, FileDiagnostic, LanguageQueries};
use crate::outcome::CallOutcome;
use crate::tool::{
    LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolDisplay, ToolResult,
};

use super::arguments::CallArguments;
use super::paths::{ToolPath, resolve_below};
use super::search::unless_stopped;
use super::state::ToolStates;
use super::{spec, truncate};

/// Time for the reports of a server, which may have to start first.
const DIAGNOSTICS_TIME: Duration = Duration::from_secs(30);
/// Maximum number of diagnostics in one answer.
const MAX_DIAGNOSTICS: usize = 100;

/// The servers of a session, and the state of its tools.
#[derive(Clone)]
struct LanguageTools {
    queries: Arc<dyn LanguageQueries>,
    states: Arc<ToolStates>,
}

/// The tool that lists errors and warnings.
struct DiagnosticsTool(LanguageTools);

/// Returns the tools over these servers, in the order in which models see them. `states` is that of the session's other
/// tools.
pub fn all(queries: &Arc<dyn LanguageQueries>, states: &Arc<ToolStates>) -> Vec<Arc<dyn Tool>> {
    let tools = || LanguageTools {
        queries: queries.clone(),
        states: states.clone(),
    };
    vec![
        Arc::new(DiagnosticsTool(tools())),
        Arc::new(navigation::DefinitionTool(tools())),
        Arc::new(navigation::ReferencesTool(tools())),
        Arc::new(navigation::HoverTool(tools())),
        Arc::new(changes::RenameTool(tools())),
        Arc::new(changes::CodeActionTool(tools())),
    ]
}

impl Tool for DiagnosticsTool {
    fn name(&self) -> &str {
        "diagnostics"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Lists errors and warnings of language servers, without building the project: for some files, or for all that were read or changed so far.";
        let paths = json!({
            "type": "array",
            "items": { "type": "string" },
            "description": "The files; all that were read or changed so far if omitted",
        });
        Some(spec(
            "diagnostics",
            profile,
            description,
            0,
            &[("paths", paths)],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let paths = requested_paths(call, context)?;
        let mut reads: Vec<LockScope> = paths.iter().map(ToolPath::scope).collect();
        reads.push(LockScope::Tree(String::new()));
        Ok(ToolAccess {
            reads,
            title: "look for errors and warnings".to_owned(),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { merged(diagnostics(&self.0, call, context).await) })
    }
}

fn requested_paths(call: &ToolCall, context: &ToolContext) -> Result<Vec<ToolPath>, ToolResult> {
    let paths = CallArguments::of(call)?.texts("paths")?;
    let paths = paths.iter().map(|path| resolve_below(context, path));
    paths.collect()
}

/// Lists the diagnostics of files, errors first.
async fn diagnostics(
    tools: &LanguageTools,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<ToolResult, ToolResult> {
    let paths = requested_paths(call, context)?;
    let paths: Vec<String> = paths.into_iter().map(|path| path.shown).collect();
    let answer = tools.queries.diagnostics(paths.clone(), DIAGNOSTICS_TIME);
    let answer = unless_stopped(context, answer).await?;
    let mut answer = answer.map_err(|error| failed("diagnostics", &error))?;
    if !paths.is_empty() {
        answer.files.retain(|file| paths.contains(&file.path));
    }
    Ok(diagnostics_result(tools, context, &answer))
}

fn diagnostics_result(
    tools: &LanguageTools,
    context: &ToolContext,
    answer: &DiagnosticsAnswer,
) -> ToolResult {
    let files = answer.files.iter();
    let mut found: Vec<(&str, &FileDiagnostic)> = files
        .flat_map(|file| file.diagnostics.iter().map(|it| (file.path.as_str(), it)))
        .collect();
    found.sort_by_key(|(path, it)| (!it.is_error, *path, it.line));
    let mut text = String::new();
    if found.is_empty() && !answer.files.is_empty() {
        let files = count_of(answer.files.len(), "file");
        text.push_str(&format!("No errors and no warnings in {files}.\n"));
    } else if found.is_empty() && answer.unreported.is_empty() {
        text.push_str("No file was read or changed yet; name some in `paths`.\n");
    }
    for (path, it) in found.iter().take(MAX_DIAGNOSTICS) {
        let kind = if it.is_error { "error" } else { "warning" };
        text.push_str(&format!("{path}:{}: {kind}: {}\n", it.line, it.message));
    }
    push_left_out(&mut text, found.len(), MAX_DIAGNOSTICS);
    for (path, reason) in &answer.unreported {
        text.push_str(&format!("{path} is not checked: {reason}.\n"));
    }
    let places = found.iter().take(MAX_DIAGNOSTICS);
    let places = places.map(|(path, it)| ((*path).to_owned(), it.line, it.message.clone()));
    let places = ToolDisplay::Places(places.collect());
    truncate::answer(context, &tools.states.of(context), text).with_display(places)
}

/// Appends a sentence about the lines of a list of `count` that exceed `most`.
fn push_left_out(text: &mut String, count: usize, most: usize) {
    let left_out = count.saturating_sub(most);
    if left_out > 0 {
        let verb = if left_out == 1 { "was" } else { "were" };
        text.push_str(&format!("({left_out} more {verb} left out.)\n"));
    }
}

/// Returns the result for a failure of the servers.
fn failed(tool: &str, error: &Error) -> ToolResult {
    let text = format!("{tool} failed: {error}. Try again later, or look with grep and read.");
    ToolResult::new(CallOutcome::ProviderError, text)
}

fn merged(result: Result<ToolResult, ToolResult>) -> ToolResult {
    result.unwrap_or_else(|answer| answer)
}

#[cfg(test)]
pub(super) mod tests;
