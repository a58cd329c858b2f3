//! `move` and `delete`: files and folders under another name, or gone.

use base::AbsPath;
use futures::future::BoxFuture;
use host::{FileKind, Files};
use model::{EditTool, Profile, ToolSpec};

use crate::ground::Ground;
use crate::outcome::Detail;
use crate::tool::{Access, Answer, Call, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::edit::{diff, stopped};
use super::place::{Place, missing, place_below};
use super::read::sentence;
use super::{blocking, files_of, of, spec, unexpected};

/// The largest text of a removed file that a person is shown, in bytes.
const SHOWN: u64 = 256 << 10;

/// Gives files and folders other names.
pub(super) struct Move;

/// Removes files and folders.
pub(super) struct Delete;

impl Tool for Move {
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let (from, to) = ends(call, context)?;
        Ok(Access {
            writes: vec![from.tree(), to.tree()],
            title: format!("move {} to {}", from.name(), to.name()),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (call, context) = (call.clone(), context.clone());
        blocking(move || relocate(&call, &context).unwrap_or_else(|answer| answer))
    }
}

impl Tool for Delete {
    fn name(&self) -> &str {
        "delete"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Removes a file for good. A folder that holds something only with `recursive`.";
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let arguments = Arguments::of(call)?;
        arguments.flag("recursive")?;
        let place = place_below(context, arguments.needed("path")?)?;
        Ok(Access {
            writes: vec![place.tree()],
            title: format!("delete {}", place.name()),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (call, context) = (call.clone(), context.clone());
        blocking(move || remove(&call, &context).unwrap_or_else(|answer| answer))
    }
}

fn ends(call: &Call, context: &ToolContext) -> Result<(Place, Place), Answer> {
    let arguments = Arguments::of(call)?;
    let from = place_below(context, arguments.needed("from")?)?;
    let to = place_below(context, arguments.needed("to")?)?;
    Ok((from, to))
}

fn relocate(call: &Call, context: &ToolContext) -> Result<Answer, Answer> {
    let (from, to) = ends(call, context)?;
    let files = files_of(context);
    let source = own(context, &from, Arguments::of(call)?.needed("from")?)?;
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
    made.map_err(|error| {
        unexpected(format!(
            "{} Nothing was moved.",
            sentence(&error.to_string())
        ))
    })?;
    Ok(Answer::ok(format!(
        "Moved {} to {}.",
        from.name(),
        to.name()
    )))
}

fn remove(call: &Call, context: &ToolContext) -> Result<Answer, Answer> {
    let arguments = Arguments::of(call)?;
    let given = arguments.needed("path")?;
    let place = place_below(context, given)?;
    let files = files_of(context);
    let target = own(context, &place, given)?;
    let stat = match files.stat(&target) {
        Ok(stat) => stat,
        Err(error) if error.is_not_found() => return Err(missing(context, &place)),
        Err(error) => return Err(unexpected(sentence(&error.to_string()))),
    };
    let name = place.name();
    if stat.kind == FileKind::Folder && !arguments.flag("recursive")? {
        let listing = files.list(&target);
        let listing = listing.map_err(|error| unexpected(sentence(&error.to_string())))?;
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
        .map_err(|error| unexpected(sentence(&error.to_string())))?;
    let answer = Answer::ok(format!("Removed {name}."));
    Ok(match old {
        Some(old) => answer.showing(diff(name, Some(old), None)),
        None => answer,
    })
}

/// The path of the name itself: what goes away must not be reached by a link.
fn own(context: &ToolContext, place: &Place, given: &str) -> Result<AbsPath, Answer> {
    let ground = Ground::new(context.sources.files.as_ref(), &context.root);
    let ground = ground.map_err(|error| unexpected(sentence(&error)))?;
    let written = context.root.join(given.trim());
    let relative = match written.relative_to(&context.root) {
        Some(path) => path.to_string_lossy().into_owned(),
        None => place.shown.clone(),
    };
    ground
        .resolve_own(&relative)
        .map_err(|error| unexpected(sentence(&error)).with_detail(Detail::Denied))
}

fn text_of(files: &dyn Files, path: &AbsPath, kind: FileKind) -> Option<String> {
    if kind != FileKind::File {
        return None;
    }
    let content = files.read(path, SHOWN).ok()?;
    let decoded = text::decode(&content);
    (!decoded.binary).then(|| decoded.text.into_owned())
}
