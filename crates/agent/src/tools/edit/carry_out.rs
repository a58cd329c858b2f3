//! Edits planned against the files as they are, and written: all of them or none.

use base::AbsPath;
use patch::Refusal;
use patch::edit::{Change, FileEdit};
use patch::explain::for_model;
use patch::set::{Completeness, Effect, FilePlan, Found, SetPlan, Texts, plan_set};
use patch::{Guard, ReadMark};
use text::Buffer;

use crate::ground::{Ground, commit};
use crate::outcome::{Detail, Outcome};
use crate::tool::{Answer, Shown, ToolContext};

use super::super::place::place_below;
use super::super::read::sentence;
use super::super::rooms::Room;
use super::super::{files_of, unexpected};

/// Lines of the diff that the model is shown.
const DIFF_LINES: usize = 40;
/// Lines that stay, shown around those that change.
const AROUND: u32 = 2;
/// Texts beyond this many bytes are not shown to a person side by side.
const SHOWN: usize = 1 << 20;

/// Plans and writes. Blocks.
pub(in super::super) fn carry_out(
    context: &ToolContext,
    room: &Room,
    edits: Vec<FileEdit>,
) -> Answer {
    match try_carry_out(context, room, edits) {
        Ok(answer) | Err(answer) => answer,
    }
}

fn try_carry_out(
    context: &ToolContext,
    room: &Room,
    edits: Vec<FileEdit>,
) -> Result<Answer, Answer> {
    let files = files_of(context);
    let files = files.as_ref();
    let edits = relative(context, edits)?;
    let ground = Ground::new(files, &context.root).map_err(|error| unexpected(sentence(&error)))?;
    let texts = Marked::new(context, room, &ground, &edits);
    let plan = plan_set(&texts, &edits, Completeness::All);
    if !plan.is_complete() {
        return Err(refused(&plan));
    }
    let changes = ground.changes(&plan.files);
    let changes = changes
        .map_err(|error| unexpected(format!("{}\nNothing was changed.", sentence(&error))))?;
    let shown = shown(&texts, &plan.files);
    if *context.stop.borrow() {
        return Err(super::stopped());
    }
    let recovery = context.sources.state.join("recovery");
    let warnings = commit(files, &recovery, &changes).map_err(|error| {
        let answer = unexpected(sentence(&error.sentence));
        match error.is_external {
            true => answer.with_detail(Detail::ExternalChange),
            false => answer,
        }
    })?;
    remember(context, room, &plan.files);
    let mut text = for_model(&plan);
    for warning in warnings {
        text.push_str(&format!("Warning: {warning}.\n"));
    }
    if plan.files.is_empty() {
        text.push_str("The files read so already; nothing was written.\n");
    }
    text.push_str(&diffs(&shown));
    let mut answer = Answer::ok(text);
    answer.shown = shown;
    Ok(answer)
}

/// Paths as the patch engine wants them: relative to the root, links within it followed.
fn relative(context: &ToolContext, mut edits: Vec<FileEdit>) -> Result<Vec<FileEdit>, Answer> {
    for edit in &mut edits {
        edit.path = place_below(context, &edit.path)?.shown;
        if let Change::Update {
            move_to: Some(to), ..
        } = &mut edit.change
        {
            *to = place_below(context, to)?.shown;
        }
    }
    Ok(edits)
}

/// The files with what the session has read of them.
struct Marked<'a> {
    context: &'a ToolContext,
    ground: &'a Ground<'a>,
    marks: Vec<(String, ReadMark)>,
}

impl<'a> Marked<'a> {
    fn new(
        context: &'a ToolContext,
        room: &Room,
        ground: &'a Ground<'a>,
        edits: &[FileEdit],
    ) -> Self {
        let marks = edits.iter().filter_map(|edit| {
            let mark = room.mark(&context.root.join(&edit.path))?;
            Some((edit.path.clone(), mark))
        });
        Self {
            marks: marks.collect(),
            context,
            ground,
        }
    }

    /// Whether the editor holds a text that is not on the disk.
    fn is_unsaved(&self, path: &str, text: Option<&str>) -> bool {
        let Some(buffers) = &self.context.sources.buffers else {
            return false;
        };
        let held = buffers.text(&self.context.root.join(path));
        held.is_some_and(|held| text != Some(held.as_str()))
    }
}

impl Texts for Marked<'_> {
    fn find(&self, path: &str) -> Found<'_> {
        let found = self.ground.find(path);
        let text = match &found {
            Found::Text(text) => Some(text.as_ref()),
            _ => None,
        };
        match self.is_unsaved(path, text) {
            false => found,
            true => Found::Refused(format!(
                "{path} has unsaved changes in the editor; ask the person to save or drop them, and read it again"
            )),
        }
    }

    fn guard(&self, path: &str) -> Guard<'_> {
        let mark = self.marks.iter().find(|(marked, _)| marked == path);
        mark.map_or(Guard::Off, |(_, mark)| Guard::Read(mark))
    }
}

/// The answer for a plan of which not all lands.
fn refused(plan: &SetPlan) -> Answer {
    let hunks = plan.edits.iter().flat_map(|edit| &edit.hunks);
    let refusals: Vec<&Refusal> = hunks.filter_map(|hunk| hunk.refusal.as_ref()).collect();
    let has = |what: fn(&Refusal) -> bool| refusals.iter().any(|refusal| what(refusal));
    let text = for_model(plan);
    if has(|refusal| matches!(refusal, Refusal::Stale { .. } | Refusal::AnchorMoved { .. })) {
        return unexpected(text).with_detail(Detail::StaleEdit);
    }
    if has(|refusal| matches!(refusal, Refusal::Several { .. })) {
        return Answer::new(Outcome::InvalidArguments, text).with_detail(Detail::AmbiguousEdit);
    }
    match has(|refusal| {
        matches!(
            refusal,
            Refusal::NoFile | Refusal::Unreadable(_) | Refusal::FileExists
        )
    }) {
        true => unexpected(text),
        false => Answer::new(Outcome::InvalidArguments, text),
    }
}

fn shown(texts: &Marked<'_>, plan: &[FilePlan]) -> Vec<Shown> {
    let diffs = plan.iter().map(|file| {
        let old = match texts.ground.find(&file.path) {
            Found::Text(text) => Some(text.into_owned()),
            Found::Missing | Found::Refused(_) => None,
        };
        let new = match &file.effect {
            Effect::Create { text, .. } | Effect::Modify { text, .. } => Some(text.clone()),
            Effect::Delete => None,
        };
        diff(&file.path, old, new)
    });
    diffs.collect()
}

/// A change for a person's eyes.
pub(in super::super) fn diff(path: &str, old: Option<String>, new: Option<String>) -> Shown {
    let is_long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > SHOWN);
    match is_long(&old) || is_long(&new) {
        true => Shown::Text(format!("{path} changed; it is too long to be shown here")),
        false => Shown::Diff {
            path: path.to_owned(),
            old,
            new,
        },
    }
}

fn remember(context: &ToolContext, room: &Room, plan: &[FilePlan]) {
    for file in plan {
        let path: AbsPath = context.root.join(&file.path);
        match &file.effect {
            Effect::Create { text, .. } | Effect::Modify { text, .. } => room.wrote(&path, text),
            Effect::Delete => room.forget(&path),
        }
    }
}

/// The changed lines with a few around them, up to a number of lines in all.
fn diffs(shown: &[Shown]) -> String {
    let mut lines = Vec::new();
    for shown in shown {
        // A new file is known to who wrote it, and a removed one is gone.
        if let Shown::Diff {
            path,
            old: Some(old),
            new: Some(new),
        } = shown
        {
            push_diff(&mut lines, path, old, new);
        }
    }
    let beyond = lines.len().saturating_sub(DIFF_LINES);
    lines.truncate(DIFF_LINES);
    if beyond > 0 {
        lines.push(format!("(and {beyond} more lines of the difference)"));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn push_diff(lines: &mut Vec<String>, path: &str, old: &str, new: &str) {
    let (before, after) = (Buffer::new(old).snapshot(), Buffer::new(new).snapshot());
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let row = |text: &[&str], row: u32| {
        text.get(row as usize)
            .map_or(String::new(), |line| (*line).to_owned())
    };
    for hunk in before.diff_rows(&after) {
        let start = hunk.after.start.0.saturating_sub(AROUND);
        lines.push(format!("@@ {path}, line {}", start + 1));
        for at in start..hunk.after.start.0 {
            lines.push(format!(" {}", row(&new, at)));
        }
        for at in hunk.before.start.0..hunk.before.end.0 {
            lines.push(format!("-{}", row(&old, at)));
        }
        for at in hunk.after.start.0..hunk.after.end.0 {
            lines.push(format!("+{}", row(&new, at)));
        }
        let end = (hunk.after.end.0 + AROUND).min(new.len() as u32);
        for at in hunk.after.end.0..end {
            lines.push(format!(" {}", row(&new, at)));
        }
    }
}
