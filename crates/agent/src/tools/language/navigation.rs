//! `definition`, `references`, `hover`: questions about a symbol.

use futures::future::BoxFuture;
use model::{Profile, ToolSpec};
use serde_json::Value;

use crate::language::{SymbolLocation, SymbolRelation};
use crate::tool::{
    LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolDisplay, ToolResult,
};

use super::super::arguments::CallArguments;
use super::super::paths::resolve_below;
use super::super::search::unless_stopped;
use super::super::{of, spec, truncate};
use super::position::named_symbol;
use super::{LanguageTools, failed, merged, push_left_out};

/// Maximum number of locations in one answer.
const MAX_LOCATIONS: usize = 50;
/// Maximum length of a line of code in an answer, in bytes.
const MAX_LINE: usize = 200;
/// Maximum length of a description, in bytes.
const MAX_HOVER: usize = 4000;

/// The tool that finds the definition of a symbol.
pub(super) struct DefinitionTool(pub(super) LanguageTools);

/// The tool that finds the uses of a symbol.
pub(super) struct ReferencesTool(pub(super) LanguageTools);

/// The tool that describes a symbol.
pub(super) struct HoverTool(pub(super) LanguageTools);

/// Returns the arguments that name a symbol.
pub(super) fn symbol_arguments() -> Vec<(&'static str, Value)> {
    vec![
        (
            "path",
            of("string", "The file, relative to the project folder"),
        ),
        (
            "line",
            of(
                "integer",
                "A line in which the symbol occurs, counted from 1",
            ),
        ),
        (
            "symbol",
            of("string", "The symbol as it is written in that line"),
        ),
        (
            "column",
            of(
                "integer",
                "Its column, only if it occurs several times in the line",
            ),
        ),
    ]
}

/// Returns the access of a query about a symbol.
fn symbol_access(
    call: &ToolCall,
    context: &ToolContext,
    title: &str,
) -> Result<ToolAccess, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let path = resolve_below(context, arguments.needed("path")?)?;
    let symbol = arguments.needed("symbol")?;
    Ok(ToolAccess {
        title: format!("{title} {symbol} in {}", path.name()),
        reads: vec![path.scope(), LockScope::Tree(String::new())],
        ..ToolAccess::default()
    })
}

impl Tool for DefinitionTool {
    fn name(&self) -> &str {
        "definition"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Finds where a symbol is defined, exactly, as its language server knows it.";
        Some(spec(
            "definition",
            profile,
            description,
            3,
            &symbol_arguments(),
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        symbol_access(call, context, "find the definition of")
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let found = locations(&self.0, call, context, SymbolRelation::Definition);
        Box::pin(async move { merged(found.await) })
    }
}

impl Tool for ReferencesTool {
    fn name(&self) -> &str {
        "references"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Finds all uses of a symbol in the project, and no other symbols of the same name.";
        Some(spec(
            "references",
            profile,
            description,
            3,
            &symbol_arguments(),
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        symbol_access(call, context, "find the uses of")
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let found = locations(&self.0, call, context, SymbolRelation::References);
        Box::pin(async move { merged(found.await) })
    }
}

impl Tool for HoverTool {
    fn name(&self) -> &str {
        "hover"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Shows the type and the documentation of a symbol.";
        Some(spec("hover", profile, description, 3, &symbol_arguments()))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        symbol_access(call, context, "describe")
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { merged(hover(&self.0, call, context).await) })
    }
}

/// Finds locations. `Ok` even if there are none; `Err` is the result of an invalid, stopped or failed call.
async fn locations(
    tools: &LanguageTools,
    call: &ToolCall,
    context: &ToolContext,
    relation: SymbolRelation,
) -> Result<ToolResult, ToolResult> {
    let symbol = named_symbol(&CallArguments::of(call)?, context)?;
    let found = tools.queries.locations(relation, symbol.position);
    let found = unless_stopped(context, found).await?;
    let mut found = found.map_err(|error| failed(&call.tool, &error))?;
    if found.is_empty() {
        let text = format!("Its server knows none for {}; try grep.", symbol.name);
        return Ok(ToolResult::ok(text));
    }
    found.sort();
    found.dedup();
    let mut text = String::new();
    for SymbolLocation {
        path,
        line,
        text: code,
    } in found.iter().take(MAX_LOCATIONS)
    {
        let code = code.trim();
        let end = truncate::floor(code, MAX_LINE);
        text.push_str(format!("{path}:{line}: {}", &code[..end]).trim_end());
        text.push_str(if end < code.len() { "…\n" } else { "\n" });
    }
    push_left_out(&mut text, found.len(), MAX_LOCATIONS);
    let places = found.into_iter().take(MAX_LOCATIONS);
    let places = places.map(|it| (it.path, it.line, it.text));
    let places = ToolDisplay::Places(places.collect());
    Ok(truncate::answer(context, &tools.states.of(context), text).with_display(places))
}

/// Describes a symbol. `Ok` even if there is no description; `Err` is the result of an invalid, stopped or failed call.
async fn hover(
    tools: &LanguageTools,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<ToolResult, ToolResult> {
    let symbol = named_symbol(&CallArguments::of(call)?, context)?;
    let found = unless_stopped(context, tools.queries.hover(symbol.position)).await?;
    let found = found.map_err(|error| failed(&call.tool, &error))?;
    let Some(mut text) = found else {
        let text = format!("Its server says nothing about {}.", symbol.name);
        return Ok(ToolResult::ok(text));
    };
    let end = truncate::floor(&text, MAX_HOVER);
    let left_out = text.len() - end;
    if left_out > 0 {
        text.truncate(end);
        text.push_str(&format!("…\n({left_out} more bytes were left out.)"));
    }
    Ok(ToolResult::ok(text))
}
