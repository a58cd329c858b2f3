//! `edit`, `apply_patch`, `edit_lines`, `edit_blocks`: file changes, each in a format that some
//! models know best.
//!
//! `access` parses a call into file edits and resolves their paths; `run` plans and writes exactly
//! these edits, all or nothing.

mod apply;

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{EditTool, Profile, ToolInput, ToolSpec};
use patch::edit::{FileEdit, Occurrences, PatchOperation};
use patch::format::{EditFormat, parse, str_replace::StrReplace};

use crate::outcome::CallOutcome;
use crate::tool::{CallInput, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};
use crate::tool_names::display_name;

use super::arguments::CallArguments;
use super::paths::resolve_below;
use super::{ToolOptions, invalid, of, spec};

pub(super) use apply::{BeneathFiles, apply, diff};

/// The grammar of `apply_patch`, for providers that support constrained output.
const GRAMMAR: &str = r#"start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
"#;

/// The tool that replaces one text with another.
pub(super) struct ReplaceTextTool {
    pub(super) options: Arc<ToolOptions>,
}

/// The tool that applies a patch in the `*** Begin Patch` format.
pub(super) struct ApplyPatchTool {
    pub(super) options: Arc<ToolOptions>,
}

/// The tool that changes lines identified by number and hash.
pub(super) struct EditLinesTool {
    pub(super) options: Arc<ToolOptions>,
}

/// The tool that applies SEARCH/REPLACE blocks.
pub(super) struct EditBlocksTool {
    pub(super) options: Arc<ToolOptions>,
}

impl Tool for ReplaceTextTool {
    fn name(&self) -> &str {
        "edit"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let is_offered = matches!(profile.edit, EditTool::StrReplace);
        let description = "Replaces a text in a file with another. `old_string` must occur in the file exactly once, unless `replace_all` is set; quote enough lines around the place. Write `new_string` out in full: a comment such as `... existing code ...` is refused. Several edits of one message are made in their order.";
        is_offered.then(|| spec("edit", profile, description, 3, &[
            ("path", of("string", "The file, relative to the project folder")),
            ("old_string", of("string", "The exact text in the file, without line numbers; empty to create a file")),
            ("new_string", of("string", "The replacement text")),
            ("replace_all", of("boolean", "Replace every occurrence")),
        ]))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        access(context, "edit", replacement(call)?)
    }

    fn run<'a>(
        &'a self,
        _call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        run(&self.options, access, context)
    }
}

impl Tool for ApplyPatchTool {
    fn name(&self) -> &str {
        "apply_patch"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Changes files by a patch: `*** Begin Patch`, then for each file `*** Add File: path`, `*** Delete File: path` or `*** Update File: path` with `@@` and lines that begin with space, - or +, then `*** End Patch`. Paths are relative to the project folder. `Add File` and `Move to` never replace a file that holds something. Write added lines out in full: a comment such as `... existing code ...` is refused. All of it is applied, or nothing.";
        (profile.edit == EditTool::ApplyPatch).then(|| ToolSpec {
            name: display_name("apply_patch", profile.tool_names),
            description: description.to_owned(),
            input: ToolInput::Text {
                grammar: Some(GRAMMAR.to_owned()),
            },
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        access(context, "patch", written(call, EditFormat::ApplyPatch)?)
    }

    fn run<'a>(
        &'a self,
        _call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        run(&self.options, access, context)
    }
}

impl Tool for EditLinesTool {
    fn name(&self) -> &str {
        "edit_lines"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Changes lines of files, named as read shows them (NUMBER#HASH). `*** File: path`, then `replace 12#a3f0` or `replace 12#a3f0..15#9bc1` and the new lines, each after a `+`; `delete 20#77e2`; `before 3#5c04` or `after 40#e19d` and lines after `+`. All anchors mean the file as it was read.";
        (profile.edit == EditTool::Hashline).then(|| text_spec("edit_lines", profile, description))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        access(context, "edit", written(call, EditFormat::Anchors)?)
    }

    fn run<'a>(
        &'a self,
        _call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        run(&self.options, access, context)
    }
}

impl Tool for EditBlocksTool {
    fn name(&self) -> &str {
        "edit_blocks"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Changes files by SEARCH/REPLACE blocks: the path alone on a line, then `<<<<<<< SEARCH`, the lines as they stand, `=======`, the lines that take their place, `>>>>>>> REPLACE`. Nothing between SEARCH and ======= creates the file. Write the second half out in full: a comment such as `... existing code ...` is refused.";
        (profile.edit == EditTool::SearchReplace)
            .then(|| text_spec("edit_blocks", profile, description))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        access(context, "edit", written(call, EditFormat::SearchReplace)?)
    }

    fn run<'a>(
        &'a self,
        _call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        run(&self.options, access, context)
    }
}

fn text_spec(name: &'static str, profile: &Profile, description: &str) -> ToolSpec {
    ToolSpec {
        name: display_name(name, profile.tool_names),
        description: description.to_owned(),
        input: ToolInput::Text { grammar: None },
    }
}

/// Parses a call that replaces a text.
fn replacement(call: &ToolCall) -> Result<Vec<FileEdit>, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let edit = StrReplace {
        path: arguments.needed("path")?.to_owned(),
        old_string: arguments.needed("old_string")?.to_owned(),
        new_string: arguments.needed("new_string")?.to_owned(),
        occurrences: if arguments.flag("replace_all")? {
            Occurrences::All
        } else {
            Occurrences::One
        },
        row: None,
    };
    Ok(vec![edit.into_file_edit()])
}

/// Parses a call whose argument is a text in an edit format.
fn written(call: &ToolCall, format: EditFormat) -> Result<Vec<FileEdit>, ToolResult> {
    match &call.input {
        CallInput::Text(text) if !text.trim_start().starts_with('{') => {
            edits(&call.tool, text, format)
        }
        _ => edits(
            &call.tool,
            CallArguments::of(call)?.needed("input")?,
            format,
        ),
    }
}

/// Parses a text in an edit format. Fails if any part cannot be parsed, since the edits would be
/// incomplete.
pub(super) fn edits(
    tool: &str,
    text: &str,
    format: EditFormat,
) -> Result<Vec<FileEdit>, ToolResult> {
    let parsed = parse(format, text);
    if parsed.has_losses() {
        let mut said = format!("{tool}: nothing was changed, since part of it cannot be parsed.\n");
        for problem in &parsed.problems {
            said.push_str(&format!("{problem}\n"));
        }
        return Err(invalid(said));
    }
    if parsed.files.is_empty() {
        let text = format!(
            "{tool}: there are no edits in the format {} here",
            format.name()
        );
        return Err(invalid(text));
    }
    Ok(parsed.files)
}

/// Resolves the paths of edits and returns the resources that they access. Fails with the call's
/// result for an unusable path.
pub(super) fn access(
    context: &ToolContext,
    verb: &str,
    mut edits: Vec<FileEdit>,
) -> Result<ToolAccess, ToolResult> {
    let mut access = ToolAccess::default();
    let mut names: Vec<String> = Vec::new();
    for edit in &mut edits {
        let target = match &mut edit.change {
            PatchOperation::Update { move_to, .. } => move_to.as_mut(),
            _ => None,
        };
        for path in std::iter::once(&mut edit.path).chain(target) {
            let resolved = resolve_below(context, path)?;
            let scope = resolved.scope();
            if !access.writes.contains(&scope) {
                names.push(resolved.shown.clone());
                access.writes.push(scope);
            }
            *path = resolved.shown;
        }
    }
    access.reads.clone_from(&access.writes);
    access.edits = edits.into();
    access.title = match names.as_slice() {
        [one, two, three, rest @ ..] if !rest.is_empty() => {
            format!("{verb} {one}, {two}, {three} and {} more", rest.len())
        }
        names => format!("{verb} {}", names.join(", ")),
    };
    Ok(access)
}

fn run<'a>(
    options: &ToolOptions,
    access: &ToolAccess,
    context: &ToolContext,
) -> BoxFuture<'a, ToolResult> {
    if *context.stop.borrow() {
        return Box::pin(std::future::ready(stopped()));
    }
    let (context, state) = (context.clone(), options.states.of(context));
    let edits = Arc::clone(&access.edits);
    super::blocking(move || apply(&context, &state, &edits))
}

/// Returns the result of a call that was stopped before it changed anything.
pub(super) fn stopped() -> ToolResult {
    ToolResult::new(
        CallOutcome::UserAborted,
        "Stopped before anything was changed.",
    )
}
