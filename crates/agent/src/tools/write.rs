//! `write`: writes a whole file, new or existing.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{EditTool, Profile, ToolSpec};
use patch::FileText;
use patch::edit::{FileEdit, PatchOperation};
use patch::set::{FileLookup, TextSource};
use patch_apply::EditRoot;

use crate::outcome::Detail;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::arguments::CallArguments;
use super::edit::{access, apply, stopped};
use super::paths::resolve_below;
use super::read::sentence;
use super::state::ToolState;
use super::{ToolOptions, blocking, of, spec, unexpected};

/// The tool that writes whole files.
pub(super) struct WriteTool {
    options: Arc<ToolOptions>,
}

impl WriteTool {
    pub(super) fn new(options: &Arc<ToolOptions>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
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
                    ("content", of("string", "All that it is to hold")),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        access(context, "write", &[overwrite_edit(call)?])
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let edit = match overwrite_edit(call) {
            Ok(edit) => edit,
            Err(answer) => return Box::pin(std::future::ready(answer)),
        };
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (context, room) = (context.clone(), self.options.states.of(context));
        blocking(move || match check(&context, &room, &edit) {
            Ok(()) => apply(&context, &room, vec![edit]),
            Err(answer) => answer,
        })
    }
}

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
fn check(context: &ToolContext, room: &ToolState, edit: &FileEdit) -> Result<(), ToolResult> {
    let place = resolve_below(context, &edit.path)?;
    let files = context.sources.files.as_ref();
    let ground =
        EditRoot::new(files, &context.root).map_err(|error| unexpected(sentence(&error)))?;
    let FileLookup::Text(text) = ground.find(&place.shown) else {
        return Ok(());
    };
    if text.trim().is_empty() {
        return Ok(());
    }
    let stale = |text: String| Err(unexpected(text).with_detail(Detail::StaleEdit));
    let name = place.name();
    match room.mark(&place.path) {
        None => stale(format!(
            "{name} exists and was not read in this session. Read it before you replace it, or change a part of it with an edit."
        )),
        Some(mark) if !mark.changed_rows(&FileText::new(&text)).is_empty() => stale(format!(
            "{name} changed after it was read. Read it again before you replace it."
        )),
        Some(_) => Ok(()),
    }
}
