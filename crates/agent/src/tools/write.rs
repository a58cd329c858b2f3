//! `write`: writes a whole file, new or existing.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{EditTool, Profile, ToolSpec};
use patch::FileText;
use patch::edit::{FileEdit, PatchOperation};
use patch::set::{FileLookup, TextSource};

use crate::outcome::Detail;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::arguments::CallArguments;
use super::edit::{BeneathFiles, access, apply, stopped};
use super::state::ToolState;
use super::{ToolOptions, blocking, of, spec, unexpected};

/// The tool that writes whole files.
pub(super) struct WriteTool {
    pub(super) options: Arc<ToolOptions>,
}

impl Tool for WriteTool {
    fn name(&self) -> &str {
        "write"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        // Models that write patches create files with them.
        let is_offered = profile.edit != EditTool::ApplyPatch;
        let description = "Writes a whole file: a new one, or one that was read before, whose content it replaces. Folders on the way are created. Write all of it out: a comment such as `... existing code ...` is refused. To change a part of a file, edit it instead.";
        is_offered.then(|| {
            spec(
                "write",
                profile,
                description,
                2,
                &[
                    (
                        "path",
                        of("string", "The file, relative to the project folder"),
                    ),
                    ("content", of("string", "The whole content of the file")),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        access(context, "write", vec![overwrite_edit(call)?])
    }

    fn run<'a>(
        &'a self,
        _call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (context, state) = (context.clone(), self.options.states.of(context));
        let edits = Arc::clone(&access.edits);
        blocking(move || {
            let mut checks = edits.iter().map(|edit| check(&context, &state, edit));
            match checks.find_map(Result::err) {
                Some(answer) => answer,
                None => apply(&context, &state, &edits),
            }
        })
    }
}

/// Returns the edit that makes `content` the whole text of `path`. Fails with the result of the
/// call if one of them is missing or not a string.
fn overwrite_edit(call: &ToolCall) -> Result<FileEdit, ToolResult> {
    let arguments = CallArguments::of(call)?;
    Ok(FileEdit {
        path: arguments.needed("path")?.to_owned(),
        change: PatchOperation::Overwrite {
            text: arguments.needed("content")?.to_owned(),
        },
    })
}

/// Refuses to replace a file that the session has not read in its current state.
fn check(context: &ToolContext, state: &ToolState, edit: &FileEdit) -> Result<(), ToolResult> {
    let files = BeneathFiles::of(context);
    let root = files.edit_root(context)?;
    let name = edit.path.as_str();
    let FileLookup::Text(text) = root.find(name) else {
        return Ok(());
    };
    if text.trim().is_empty() {
        return Ok(());
    }
    let stale = |text: String| Err(unexpected(text).with_detail(Detail::StaleEdit));
    match state.mark(&context.root.join(name)) {
        None => stale(format!(
            "{name} exists and was not read in this session. Read it before you replace it, or change a part of it with an edit."
        )),
        Some(mark) if !mark.changed_rows(&FileText::new(&text)).is_empty() => stale(format!(
            "{name} changed after it was read. Read it again before you replace it."
        )),
        Some(_) => Ok(()),
    }
}
