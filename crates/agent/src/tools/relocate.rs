//! `move` and `delete`: renames and removes files and folders.

use base::AbsPath;
use futures::future::BoxFuture;
use host::{FileKind, Files};
use model::{EditTool, Profile, ToolSpec};
use patch_apply::EditRoot;

use crate::error::sentence;
use crate::outcome::Detail;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::arguments::CallArguments;
use super::edit::{diff, stopped};
use super::paths::{ToolPath, missing, resolve_below};
use super::{blocking, files_of, of, spec, unexpected};

/// Maximum size of a removed file's text shown to the user, in bytes.
const SHOWN: u64 = 256 << 10;

/// The tool that moves files and folders.
pub(super) struct MoveTool;

/// The tool that removes files and folders.
pub(super) struct DeleteTool;

impl Tool for MoveTool {
    fn name(&self) -> &str {
        "move"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Moves a file or folder to another path, which must be free. Folders on the way are created.";
        (profile.edit != EditTool::ApplyPatch).then(|| {
            spec(
                "move",
                profile,
                description,
                2,
                &[
                    (
                        "from",
                        of("string", "What to move, relative to the project folder"),
                    ),
                    ("to", of("string", "Its new path")),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let (from, to) = ends(call, context)?;
        Ok(ToolAccess {
            writes: vec![from.tree(), to.tree()],
            title: format!("move {} to {}", from.name(), to.name()),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (call, context) = (call.clone(), context.clone());
        blocking(move || relocate(&call, &context).unwrap_or_else(|answer| answer))
    }
}

impl Tool for DeleteTool {
    fn name(&self) -> &str {
        "delete"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Removes a file permanently. A non-empty folder needs `recursive`.";
        (profile.edit != EditTool::ApplyPatch).then(|| {
            spec(
                "delete",
                profile,
                description,
                1,
                &[
                    (
                        "path",
                        of("string", "What to remove, relative to the project folder"),
                    ),
                    (
                        "recursive",
                        of("boolean", "Remove a folder with everything in it"),
                    ),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        arguments.flag("recursive")?;
        let tool_path = resolve_below(context, arguments.needed("path")?)?;
        Ok(ToolAccess {
            writes: vec![tool_path.tree()],
            title: format!("delete {}", tool_path.name()),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (call, context) = (call.clone(), context.clone());
        blocking(move || remove(&call, &context).unwrap_or_else(|answer| answer))
    }
}

/// Resolves `from` and `to`. Fails with the result of the call if one is missing, is the root or
/// lies outside it.
fn ends(call: &ToolCall, context: &ToolContext) -> Result<(ToolPath, ToolPath), ToolResult> {
    let arguments = CallArguments::of(call)?;
    let from = resolve_below(context, arguments.needed("from")?)?;
    let to = resolve_below(context, arguments.needed("to")?)?;
    Ok((from, to))
}

/// Moves a file or folder and creates the missing folders above its new path. `Err` is the result
/// of an invalid call, and of one that moved nothing, such as for a missing source or an existing
/// target.
fn relocate(call: &ToolCall, context: &ToolContext) -> Result<ToolResult, ToolResult> {
    let (from, to) = ends(call, context)?;
    let files = files_of(context);
    let source = own(context, &from, CallArguments::of(call)?.needed("from")?)?;
    if !files.exists(&source) {
        return Err(missing(context, &from));
    }
    if files.exists(&to.path) {
        let text = format!(
            "There is something at {} already; choose another path.",
            to.name()
        );
        return Err(unexpected(text));
    }
    let folder = to.path.parent().unwrap_or_else(|| context.root.clone());
    let made = files
        .create_folder(&folder)
        .and_then(|()| files.rename(&source, &to.path));
    made.map_err(|error| unexpected(format!("{} Nothing was moved.", sentence(&error))))?;
    Ok(ToolResult::ok(format!(
        "Moved {} to {}.",
        from.name(),
        to.name()
    )))
}

/// Deletes a file, a symlink itself, or a folder; with `recursive` also a folder that has entries.
/// `Err` is the result of an invalid or failed call.
fn remove(call: &ToolCall, context: &ToolContext) -> Result<ToolResult, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let given = arguments.needed("path")?;
    let tool_path = resolve_below(context, given)?;
    let files = files_of(context);
    let target = own(context, &tool_path, given)?;
    let stat = match files.stat(&target) {
        Ok(stat) => stat,
        Err(error) if error.is_not_found() => return Err(missing(context, &tool_path)),
        Err(error) => return Err(unexpected(sentence(&error))),
    };
    let name = tool_path.name();
    if stat.kind == FileKind::Folder && !arguments.flag("recursive")? {
        let listing = files.list(&target);
        let listing = listing.map_err(|error| unexpected(sentence(&error)))?;
        if !listing.entries.is_empty() {
            let text = format!(
                "{name} is a folder that holds {} entries; remove it with `recursive` if all of it is to go.",
                listing.entries.len()
            );
            return Err(unexpected(text));
        }
    }
    let old = text_of(files.as_ref(), &target, stat.kind);
    files
        .remove(&target)
        .map_err(|error| unexpected(sentence(&error)))?;
    let answer = ToolResult::ok(format!("Removed {name}."));
    Ok(match old {
        Some(old) => answer.with_display(diff(name, Some(old), None)),
        None => answer,
    })
}

/// Returns the path of the entry itself, without following a symlink in its last component.
fn own(context: &ToolContext, tool_path: &ToolPath, given: &str) -> Result<AbsPath, ToolResult> {
    let root = EditRoot::new(context.sources.files.as_ref(), &context.root);
    let root = root.map_err(|error| unexpected(sentence(&error)))?;
    let written = context.root.join(given.trim());
    let relative = match written.relative_to(&context.root) {
        Some(path) => path.to_string_lossy().into_owned(),
        None => tool_path.shown.clone(),
    };
    root.resolve_own(&relative)
        .map_err(|error| unexpected(sentence(&error)).with_detail(Detail::Denied))
}

/// Returns the text of a file, to show it. `None` for other kinds, binary files, files over `SHOWN`
/// bytes and unreadable ones.
fn text_of(files: &dyn Files, path: &AbsPath, kind: FileKind) -> Option<String> {
    if kind != FileKind::File {
        return None;
    }
    let content = files.read(path, SHOWN).ok()?;
    let decoded = text::decode(&content);
    (!decoded.binary).then(|| decoded.text.into_owned())
}
