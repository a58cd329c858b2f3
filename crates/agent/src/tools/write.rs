//! `write`: a whole file, new or not.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{EditTool, Profile, ToolSpec};
use patch::FileText;
use patch::edit::{Change, FileEdit};
use patch::set::{Found, Texts};

use crate::ground::Ground;
use crate::outcome::Detail;
use crate::tool::{Access, Answer, Call, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::edit::{access, carry_out, stopped};
use super::place::place_below;
use super::read::sentence;
use super::rooms::Room;
use super::{Options, blocking, of, spec, unexpected};

/// Writes files.
pub(super) struct Write {
    options: Arc<Options>,
}

impl Write {
    pub(super) fn new(options: &Arc<Options>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
}

impl Tool for Write {
    fn name(&self) -> &str {
        "write"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        // Whoever writes patches creates files by them.
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        access(context, "write", &[whole(call)?])
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let edit = match whole(call) {
            Ok(edit) => edit,
            Err(answer) => return Box::pin(std::future::ready(answer)),
        };
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (context, room) = (context.clone(), self.options.rooms.of(context));
        blocking(move || match check(&context, &room, &edit) {
            Ok(()) => carry_out(&context, &room, vec![edit]),
            Err(answer) => answer,
        })
    }
}

fn whole(call: &Call) -> Result<FileEdit, Answer> {
    let arguments = Arguments::of(call)?;
    Ok(FileEdit {
        path: arguments.needed("path")?.to_owned(),
        change: Change::Overwrite {
            text: arguments.needed("content")?.to_owned(),
        },
    })
}

/// What stands in a file is replaced only by who knows it.
fn check(context: &ToolContext, room: &Room, edit: &FileEdit) -> Result<(), Answer> {
    let place = place_below(context, &edit.path)?;
    let files = context.sources.files.as_ref();
    let ground = Ground::new(files, &context.root).map_err(|error| unexpected(sentence(&error)))?;
    let Found::Text(text) = ground.find(&place.shown) else {
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
