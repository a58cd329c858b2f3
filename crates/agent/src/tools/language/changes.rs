//! `rename`, `code_action`: changes that a language server computes.
//!
//! The changes are computed before permission is asked for, so that it covers the files that they touch; `run` applies
//! exactly these, through the same path as the edits of the model.

use std::sync::Arc;

use base::count_of;
use futures::future::BoxFuture;
use model::{Profile, ToolSpec};
use patch::edit::{FileEdit, Occurrences, PatchOperation};
use patch::format::str_replace::StrReplace;

use crate::language::{LineRange, TextChange};
use crate::tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::super::arguments::CallArguments;
use super::super::edit::{access, apply, stopped};
use super::super::paths::resolve_below;
use super::super::search::unless_stopped;
use super::super::{blocking, invalid, of, spec, unexpected};
use super::navigation::symbol_arguments;
use super::position::{line_number, named_symbol};
use super::{LanguageTools, failed, merged, push_left_out};

/// Maximum number of listed code actions.
const MAX_ACTIONS: usize = 40;

/// The tool that renames a symbol.
pub(super) struct RenameTool(pub(super) LanguageTools);

/// The tool that lists and applies code actions.
pub(super) struct CodeActionTool(pub(super) LanguageTools);

impl Tool for RenameTool {
    fn name(&self) -> &str {
        "rename"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Renames a symbol everywhere in the project, in one step: all of its uses, and no other symbols of the same name. To rename a file, use the tool for moving files.";
        let mut arguments = symbol_arguments();
        arguments.insert(3, ("new_name", of("string", "The new name")));
        Some(spec("rename", profile, description, 4, &arguments))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let symbol = named_symbol(&arguments, context)?;
        let new_name = arguments.needed("new_name")?;
        Ok(unplanned(format!("rename {} to {new_name}", symbol.name)))
    }

    fn planned_access<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> Option<BoxFuture<'a, Result<ToolAccess, ToolResult>>> {
        Some(Box::pin(plan_rename(&self.0, call, context)))
    }

    fn run<'a>(
        &'a self,
        _call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        apply_planned(&self.0, access, context)
    }
}

impl Tool for CodeActionTool {
    fn name(&self) -> &str {
        "code_action"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Applies a fix or refactoring that the language server offers for lines of a file, such as the quick fix of an error. Without `title` it lists the offered ones and changes nothing.";
        let arguments = [
            (
                "path",
                of("string", "The file, relative to the project folder"),
            ),
            ("line", of("integer", "The line, counted from 1")),
            (
                "end_line",
                of("integer", "The last line, if there are several"),
            ),
            (
                "title",
                of(
                    "string",
                    "The title of the action to apply, as it was listed",
                ),
            ),
        ];
        Some(spec("code_action", profile, description, 2, &arguments))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let request = ActionRequest::of(call, context)?;
        match &request.title {
            Some(title) => Ok(unplanned(format!("apply {title:?}"))),
            None => Ok(request.list_access()),
        }
    }

    fn planned_access<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> Option<BoxFuture<'a, Result<ToolAccess, ToolResult>>> {
        Some(Box::pin(plan_action(&self.0, call, context)))
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let request = match ActionRequest::of(call, context) {
            Ok(request) => request,
            Err(answer) => return Box::pin(std::future::ready(answer)),
        };
        if request.title.is_some() {
            return apply_planned(&self.0, access, context);
        }
        Box::pin(async move { merged(list_actions(&self.0, request, context).await) })
    }
}

/// A parsed call of `code_action`.
struct ActionRequest {
    lines: LineRange,
    title: Option<String>,
}

impl ActionRequest {
    fn of(call: &ToolCall, context: &ToolContext) -> Result<Self, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let path = resolve_below(context, arguments.needed("path")?)?;
        let first = line_number(&arguments, "line")?.ok_or_else(|| arguments.missing("line"))?;
        let last = line_number(&arguments, "end_line")?.unwrap_or(first);
        if last < first {
            return Err(invalid("`end_line` must not be before `line`"));
        }
        let title = arguments.text("title")?.map(str::trim);
        Ok(Self {
            lines: LineRange {
                path: path.shown,
                first,
                last,
            },
            title: title.filter(|title| !title.is_empty()).map(str::to_owned),
        })
    }

    fn list_access(&self) -> ToolAccess {
        let path = &self.lines.path;
        ToolAccess {
            reads: vec![
                LockScope::Path(path.clone()),
                LockScope::Tree(String::new()),
            ],
            title: format!("list the code actions for {path}:{}", self.lines.first),
            ..ToolAccess::default()
        }
    }
}

/// Returns the access of a call whose changes are not known: it may write everywhere.
fn unplanned(title: String) -> ToolAccess {
    let everything = || vec![LockScope::Tree(String::new())];
    ToolAccess {
        reads: everything(),
        writes: everything(),
        title,
        ..ToolAccess::default()
    }
}

async fn plan_rename(
    tools: &LanguageTools,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<ToolAccess, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let symbol = named_symbol(&arguments, context)?;
    let new_name = arguments.needed("new_name")?.trim();
    if new_name.is_empty() {
        return Err(invalid("rename: `new_name` is empty; give a name"));
    }
    let changes = tools.queries.rename(symbol.position, new_name.to_owned());
    let changes = unless_stopped(context, changes).await?;
    let changes = changes.map_err(|error| failed("rename", &error))?;
    let title = format!("rename {} to {new_name}", symbol.name);
    planned(context, changes, &title)
}

async fn plan_action(
    tools: &LanguageTools,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<ToolAccess, ToolResult> {
    let request = ActionRequest::of(call, context)?;
    let Some(title) = &request.title else {
        return Ok(request.list_access());
    };
    let changes = tools
        .queries
        .code_action_changes(request.lines.clone(), title.clone());
    let changes = unless_stopped(context, changes).await?;
    let changes = changes.map_err(|error| failed("code_action", &error))?;
    planned(context, changes, &format!("apply {title:?}"))
}

/// Returns the access of a call that makes these changes. Fails if there are none, or if one is outside the root.
fn planned(
    context: &ToolContext,
    changes: Vec<TextChange>,
    title: &str,
) -> Result<ToolAccess, ToolResult> {
    let changes = changes.into_iter();
    let edits: Vec<FileEdit> = changes
        .filter(|change| change.old.as_ref() != Some(&change.new))
        .map(file_edit)
        .collect();
    if edits.is_empty() {
        let text = "The server changes nothing there. Check the line and the symbol, or edit the files yourself: use edit and grep.";
        return Err(unexpected(text));
    }
    let count = count_of(edits.len(), "file");
    let access = access(context, "change", edits)?;
    Ok(ToolAccess {
        title: format!("{title} in {count}: {}", access.title),
        ..access
    })
}

/// Returns the edit that replaces the whole text of a file, which must not have changed since.
fn file_edit(change: TextChange) -> FileEdit {
    let TextChange { path, old, new } = change;
    match old {
        Some(old) if old.is_empty() => FileEdit {
            path,
            change: PatchOperation::Overwrite { text: new },
        },
        old => StrReplace {
            path,
            old_string: old.unwrap_or_default(),
            new_string: new,
            occurrences: Occurrences::One,
            row: None,
        }
        .into_file_edit(),
    }
}

fn apply_planned(
    tools: &LanguageTools,
    access: &ToolAccess,
    context: &ToolContext,
) -> BoxFuture<'static, ToolResult> {
    if *context.stop.borrow() {
        return Box::pin(std::future::ready(stopped()));
    }
    let (context, state) = (context.clone(), tools.states.of(context));
    let edits = Arc::clone(&access.edits);
    blocking(move || apply(&context, &state, &edits))
}

/// Lists the offered actions. `Ok` even if there are none; `Err` is the result of a stopped or failed call.
async fn list_actions(
    tools: &LanguageTools,
    request: ActionRequest,
    context: &ToolContext,
) -> Result<ToolResult, ToolResult> {
    let actions = tools.queries.code_actions(request.lines);
    let actions = unless_stopped(context, actions).await?;
    let mut actions = actions.map_err(|error| failed("code_action", &error))?;
    if actions.is_empty() {
        return Ok(ToolResult::ok("The server offers no action there."));
    }
    actions.sort_by_key(|action| !action.is_preferred);
    let mut text = String::new();
    for action in actions.iter().take(MAX_ACTIONS) {
        text.push_str(&action.title);
        if !action.kind.is_empty() {
            text.push_str(&format!(" ({})", action.kind));
        }
        text.push('\n');
    }
    push_left_out(&mut text, actions.len(), MAX_ACTIONS);
    Ok(ToolResult::ok(text))
}
