//! `edit`, `apply_patch`, `edit_lines`, `edit_blocks`: changes of files, in the words that a model knows best.
//!
//! All of them are one: a call becomes file edits, and `carry_out` plans and writes them, all or nothing.

mod carry_out;

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{EditTool, Profile, ToolInput, ToolSpec};
use patch::edit::{Change, FileEdit, Occurrences};
use patch::format::{Format, parse, str_replace::StrReplace};

use crate::outcome::Outcome;
use crate::tool::{Access, Answer, Call, Input, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::place::place_below;
use super::{Options, invalid, names, of, spec};

pub(super) use carry_out::{carry_out, diff};

/// The grammar of `apply_patch`, for wires that hold a model to one.
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

/// Replaces one text by another.
pub(super) struct Edit {
    options: Arc<Options>,
}

/// Applies a patch of the `*** Begin Patch` kind.
pub(super) struct ApplyPatch {
    options: Arc<Options>,
}

/// Changes lines named by number and hash.
pub(super) struct EditLines {
    options: Arc<Options>,
}

/// Applies SEARCH/REPLACE blocks.
pub(super) struct EditBlocks {
    options: Arc<Options>,
}

macro_rules! made_of_options {
    ($($tool:ident),*) => {$(
        impl $tool {
            pub(super) fn new(options: &Arc<Options>) -> Self {
                Self { options: Arc::clone(options) }
            }
        }
    )*};
}
made_of_options!(Edit, ApplyPatch, EditLines, EditBlocks);

impl Tool for Edit {
    fn name(&self) -> &str {
        "edit"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let is_offered = matches!(profile.edit, EditTool::StrReplace);
        let description = "Replaces a text in a file by another. `old_string` must stand in the file exactly once, unless `replace_all` is set; quote enough lines around the place. Write `new_string` out in full: a comment such as `... existing code ...` is refused. Several edits of one message are made in their order.";
        is_offered.then(|| spec("edit", profile, description, 3, &[
            ("path", of("string", "The file, relative to the project folder")),
            ("old_string", of("string", "The text as it stands in the file, without line numbers; empty to create a file")),
            ("new_string", of("string", "What takes its place")),
            ("replace_all", of("boolean", "Replace every place where it stands")),
        ]))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        access(context, "edit", &replacement(call)?)
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        run(&self.options, context, replacement(call))
    }
}

impl Tool for ApplyPatch {
    fn name(&self) -> &str {
        "apply_patch"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Changes files by a patch: `*** Begin Patch`, then for each file `*** Add File: path`, `*** Delete File: path` or `*** Update File: path` with `@@` and lines that begin with space, - or +, then `*** End Patch`. Paths are relative to the project folder. `Add File` and `Move to` never replace a file that holds something. Write added lines out in full: a comment such as `... existing code ...` is refused. All of it is applied, or nothing.";
        (profile.edit == EditTool::ApplyPatch).then(|| ToolSpec {
            name: names::shown("apply_patch", profile.tool_names),
            description: description.to_owned(),
            input: ToolInput::Text {
                grammar: Some(GRAMMAR.to_owned()),
            },
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        access(context, "patch", &written(call, Format::ApplyPatch)?)
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        run(&self.options, context, written(call, Format::ApplyPatch))
    }
}

impl Tool for EditLines {
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        access(context, "edit", &written(call, Format::Anchors)?)
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        run(&self.options, context, written(call, Format::Anchors))
    }
}

impl Tool for EditBlocks {
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        access(context, "edit", &written(call, Format::SearchReplace)?)
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        run(&self.options, context, written(call, Format::SearchReplace))
    }
}

fn text_spec(name: &'static str, profile: &Profile, description: &str) -> ToolSpec {
    ToolSpec {
        name: names::shown(name, profile.tool_names),
        description: description.to_owned(),
        input: ToolInput::Text { grammar: None },
    }
}

/// The edit of a call that replaces a text.
fn replacement(call: &Call) -> Result<Vec<FileEdit>, Answer> {
    let arguments = Arguments::of(call)?;
    let edit = StrReplace {
        path: arguments.needed("path")?.to_owned(),
        old_string: arguments.needed("old_string")?.to_owned(),
        new_string: arguments.needed("new_string")?.to_owned(),
        occurrences: match arguments.flag("replace_all")? {
            true => Occurrences::All,
            false => Occurrences::One,
        },
        row: None,
    };
    Ok(vec![edit.into_file_edit()])
}

/// The edits of a call whose argument is a text in a format of edits.
fn written(call: &Call, format: Format) -> Result<Vec<FileEdit>, Answer> {
    match &call.input {
        Input::Text(text) if !text.trim_start().starts_with('{') => edits(&call.tool, text, format),
        _ => edits(&call.tool, Arguments::of(call)?.needed("input")?, format),
    }
}

/// The edits of a text; refused where a part of it cannot be read, since then not all of it would be done.
pub(super) fn edits(tool: &str, text: &str, format: Format) -> Result<Vec<FileEdit>, Answer> {
    let parsed = parse(format, text);
    if parsed.has_losses() {
        let mut said = format!("{tool}: nothing was changed, since not all of it can be read.\n");
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

/// What edits touch. A path that cannot be used is answered here.
pub(super) fn access(
    context: &ToolContext,
    verb: &str,
    edits: &[FileEdit],
) -> Result<Access, Answer> {
    let mut access = Access::default();
    let mut names: Vec<String> = Vec::new();
    for edit in edits {
        let target = match &edit.change {
            Change::Update { move_to, .. } => move_to.as_deref(),
            _ => None,
        };
        for path in std::iter::once(edit.path.as_str()).chain(target) {
            let place = place_below(context, path)?;
            let scope = place.scope();
            if !access.writes.contains(&scope) {
                names.push(place.shown);
                access.writes.push(scope);
            }
        }
    }
    access.reads.clone_from(&access.writes);
    access.title = match names.as_slice() {
        [one, two, three, rest @ ..] if !rest.is_empty() => {
            format!("{verb} {one}, {two}, {three} and {} more", rest.len())
        }
        names => format!("{verb} {}", names.join(", ")),
    };
    Ok(access)
}

fn run<'a>(
    options: &Arc<Options>,
    context: &'a ToolContext,
    edits: Result<Vec<FileEdit>, Answer>,
) -> BoxFuture<'a, Answer> {
    let edits = match edits {
        Ok(edits) => edits,
        Err(answer) => return Box::pin(std::future::ready(answer)),
    };
    if *context.stop.borrow() {
        return Box::pin(std::future::ready(stopped()));
    }
    let (context, room) = (context.clone(), options.rooms.of(context));
    super::blocking(move || carry_out(&context, &room, edits))
}

/// The answer of a call that was stopped before it did anything.
pub(super) fn stopped() -> Answer {
    Answer::new(Outcome::UserAborted, "Stopped before anything was changed.")
}
