//! `semantic_search`, `symbols`: tools backed by an optional service.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{Profile, ToolSpec};

use crate::error::Error;
use crate::outcome::CallOutcome;
use crate::services::CodeMatch;
use crate::tool::{
    LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolDisplay, ToolResult,
};

use super::arguments::CallArguments;
use super::paths::resolve;
use super::{ToolOptions, invalid, of, spec, truncate, unexpected};

/// Default number of locations shown.
const PLACES: u64 = 10;
/// Maximum number of locations shown.
const MAX_RESULTS: u64 = 50;
/// Maximum length of a location's text, in bytes.
const TEXT: usize = 1200;

/// The tool for semantic code search.
pub(super) struct SemanticSearchTool {
    pub(super) options: Arc<ToolOptions>,
}

/// The tool that finds the definitions of symbols.
pub(super) struct SymbolsTool {
    pub(super) options: Arc<ToolOptions>,
}

/// Returns the result for a provider's failure.
fn failed(tool: &str, error: &Error) -> ToolResult {
    let text = format!("{tool} failed: {error}. Try again later, or look with grep and read.");
    ToolResult::new(CallOutcome::ProviderError, text)
}

fn unplugged(tool: &str) -> ToolResult {
    unexpected(format!(
        "{tool} is not set up here; look with grep and read."
    ))
}

/// Returns the argument `limit` between 1 and `MAX_RESULTS`, or `PLACES` if it is absent. Fails
/// with the result of the call if it is not a whole number.
fn limit(arguments: &CallArguments<'_>) -> Result<usize, ToolResult> {
    let limit = arguments
        .number("limit")?
        .unwrap_or(PLACES)
        .clamp(1, MAX_RESULTS);
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Returns a required string without the white space around it. Fails with the result of the call
/// if it is missing, blank or of another type.
fn needed(arguments: &CallArguments<'_>, tool: &str, name: &str) -> Result<String, ToolResult> {
    let text = arguments.needed(name)?.trim();
    if text.is_empty() {
        Err(invalid(format!(
            "{tool}: `{name}` is empty; say what to look for"
        )))
    } else {
        Ok(text.to_owned())
    }
}

/// Waits for a future, unless the user stops the call first.
pub(super) async fn unless_stopped<T>(
    context: &ToolContext,
    work: impl Future<Output = T>,
) -> Result<T, ToolResult> {
    let mut stop = context.stop.clone();
    let stopped = async {
        if stop.wait_for(|stop| *stop).await.is_err() {
            // The sender is gone, so no stop request can come.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        () = stopped => Err(ToolResult::new(CallOutcome::UserAborted, "Stopped by the user.")),
        done = work => Ok(done),
    }
}

fn merge_result(result: Result<ToolResult, ToolResult>) -> ToolResult {
    result.unwrap_or_else(|answer| answer)
}

impl Tool for SemanticSearchTool {
    fn name(&self) -> &str {
        "semantic_search"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Finds code by what it does, from a question in natural language. For an exact text use grep.";
        self.options.has_search.then(|| {
            spec(
                "semantic_search",
                profile,
                description,
                1,
                &[
                    (
                        "query",
                        of(
                            "string",
                            "The question, such as \"where are sessions saved?\"",
                        ),
                    ),
                    ("path", of("string", "Only below this folder")),
                    ("limit", of("integer", "How many results, 10 if omitted")),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let query = needed(&arguments, "semantic_search", "query")?;
        limit(&arguments)?;
        let place = resolve(context, arguments.text("path")?.unwrap_or("."))?;
        Ok(ToolAccess {
            reads: vec![place.tree()],
            title: format!("look for {query}"),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { merge_result(by_meaning(&self.options, call, context).await) })
    }
}

/// Runs a semantic search. `Ok` even if nothing matches; `Err` is the result of an invalid, stopped
/// or failed call, or of one without a search service.
async fn by_meaning(
    options: &ToolOptions,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<ToolResult, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let query = needed(&arguments, "semantic_search", "query")?;
    let search = context
        .sources
        .search
        .clone()
        .ok_or_else(|| unplugged("semantic_search"))?;
    let folder = match arguments.text("path")? {
        None => None,
        Some(path) => Some(resolve(context, path)?.shown).filter(|folder| !folder.is_empty()),
    };
    let found = search.by_meaning(&context.root, query.clone(), folder, limit(&arguments)?);
    let found = unless_stopped(context, found).await?;
    let found = found.map_err(|error| failed("semantic_search", &error))?;
    Ok(matches_result(
        options,
        context,
        &found,
        &format!("Nothing fits {query:?}; try other words, or grep."),
    ))
}

impl Tool for SymbolsTool {
    fn name(&self) -> &str {
        "symbols"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Finds where functions, types and the like are defined, by name or a part of it.";
        self.options.has_search.then(|| {
            spec(
                "symbols",
                profile,
                description,
                1,
                &[
                    ("name", of("string", "The name")),
                    ("limit", of("integer", "How many results, 10 if omitted")),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, _: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let name = needed(&arguments, "symbols", "name")?;
        limit(&arguments)?;
        Ok(ToolAccess {
            reads: vec![LockScope::Tree(String::new())],
            title: format!("find the definition of {name}"),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { merge_result(symbols(&self.options, call, context).await) })
    }
}

/// Finds the definitions of a symbol. `Ok` even if nothing matches; `Err` is the result of an
/// invalid, stopped or failed call, or of one without a search service.
async fn symbols(
    options: &ToolOptions,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<ToolResult, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let name = needed(&arguments, "symbols", "name")?;
    let search = context
        .sources
        .search
        .clone()
        .ok_or_else(|| unplugged("symbols"))?;
    let found = unless_stopped(
        context,
        search.symbols(&context.root, name.clone(), limit(&arguments)?),
    )
    .await?;
    let found = found.map_err(|error| failed("symbols", &error))?;
    Ok(matches_result(
        options,
        context,
        &found,
        &format!("No symbol has a name like {name}; try grep."),
    ))
}

fn matches_result(
    options: &ToolOptions,
    context: &ToolContext,
    found: &[CodeMatch],
    none: &str,
) -> ToolResult {
    if found.is_empty() {
        return ToolResult::ok(none);
    }
    let mut text = String::new();
    for place in found {
        let (first, last) = place.lines;
        let symbol = place.symbol.as_ref().map(|symbol| format!(" {symbol}"));
        text.push_str(&format!(
            "{}:{first}-{last}{}\n",
            place.path,
            symbol.unwrap_or_default()
        ));
        let end = truncate::floor(&place.text, TEXT);
        text.push_str(place.text[..end].trim_end_matches('\n'));
        text.push_str(if end < place.text.len() {
            "\n…\n\n"
        } else {
            "\n\n"
        });
    }
    let shown = found.iter().map(|place| {
        let line = place.text.lines().next().unwrap_or_default();
        (place.path.clone(), place.lines.0, line.to_owned())
    });
    let shown = ToolDisplay::Places(shown.collect());
    truncate::answer(context, &options.states.of(context), text).with_display(shown)
}
