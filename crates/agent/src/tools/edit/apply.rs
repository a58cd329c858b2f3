//! Plans edits against the current files and writes them: all of them or none.

use base::AbsPath;
use host::Files;
use patch::HunkRefusal;
use patch::edit::FileEdit;
use patch::explain::for_model;
use patch::set::{Completeness, FileEffect, FileLookup, FilePlan, SetPlan, TextSource, plan_set};
use patch::{ReadMark, StaleGuard};
use patch_apply::{EditRoot, commit};
use text::Buffer;

use crate::error::sentence;
use crate::outcome::{CallOutcome, Detail};
use crate::tool::{ToolContext, ToolDisplay, ToolResult};

use super::super::state::ToolState;
use super::super::unexpected;

/// Maximum number of diff lines shown to the model.
const DIFF_LINES: usize = 40;
/// Number of unchanged lines shown around a change.
const AROUND: u32 = 2;
/// Maximum size of a text shown to the user as a diff, in bytes.
const SHOWN: usize = 1 << 20;

/// Plans and writes edits whose paths `access` has resolved. Blocks.
pub(in super::super) fn apply(
    context: &ToolContext,
    state: &ToolState,
    edits: &[FileEdit],
) -> ToolResult {
    match try_apply(context, state, edits) {
        Ok(answer) | Err(answer) => answer,
    }
}

/// Plans all edits, then writes them together, unless one is refused or the call was stopped. `Err`
/// is the result of a call that did not go through.
fn try_apply(
    context: &ToolContext,
    state: &ToolState,
    edits: &[FileEdit],
) -> Result<ToolResult, ToolResult> {
    let files = BeneathFiles::of(context);
    let root = files.edit_root(context)?;
    let texts = ReadTracker::new(context, state, &root, edits);
    let plan = plan_set(&texts, edits, Completeness::All);
    if !plan.is_complete() {
        return Err(refused(&plan));
    }
    let changes = root.changes(&plan.files);
    let changes = changes
        .map_err(|error| unexpected(format!("{}\nNothing was changed.", sentence(&error))))?;
    let shown = display_diffs(&texts, &plan.files);
    if *context.stop.borrow() {
        return Err(super::stopped());
    }
    let recovery = context.sources.state.join("recovery");
    let warnings = commit(files.files(context), &recovery, &changes).map_err(|error| {
        let answer = unexpected(sentence(&error));
        if error.is_external_change() {
            answer.with_detail(Detail::ExternalChange)
        } else {
            answer
        }
    })?;
    remember(context, state, &plan.files);
    let mut text = for_model(&plan);
    for warning in warnings {
        text.push_str(&format!("Warning: {warning}.\n"));
    }
    if plan.files.is_empty() {
        text.push_str("The files already have this content; nothing was written.\n");
    }
    text.push_str(&diffs(&shown));
    let mut answer = ToolResult::ok(text);
    answer.display = shown;
    Ok(answer)
}

/// The files of a call, opened so that no symlink below the root is followed where the system
/// supports this.
pub(in super::super) struct BeneathFiles(Option<Box<dyn Files>>);

impl BeneathFiles {
    /// Opens the session's root, if the system supports that.
    pub(in super::super) fn of(context: &ToolContext) -> Self {
        Self(context.sources.files.open_beneath(&context.root))
    }

    fn files<'a>(&'a self, context: &'a ToolContext) -> &'a dyn Files {
        let files = self.0.as_deref();
        files.unwrap_or(context.sources.files.as_ref())
    }

    /// Opens the root for edits whose paths `access` has resolved.
    pub(in super::super) fn edit_root<'a>(
        &'a self,
        context: &'a ToolContext,
    ) -> Result<EditRoot<'a>, ToolResult> {
        let root = match &self.0 {
            Some(files) => EditRoot::of_resolved(files.as_ref(), &context.root),
            // A symlink may have appeared since the paths were resolved: they are checked again.
            None => EditRoot::new(context.sources.files.as_ref(), &context.root),
        };
        root.map_err(|error| unexpected(sentence(&error)))
    }
}

/// Files with the session's read marks.
struct ReadTracker<'a> {
    context: &'a ToolContext,
    root: &'a EditRoot<'a>,
    marks: Vec<(String, ReadMark)>,
}

impl<'a> ReadTracker<'a> {
    fn new(
        context: &'a ToolContext,
        state: &ToolState,
        root: &'a EditRoot<'a>,
        edits: &[FileEdit],
    ) -> Self {
        let marks = edits.iter().filter_map(|edit| {
            let mark = state.mark(&context.root.join(&edit.path))?;
            Some((edit.path.clone(), mark))
        });
        Self {
            marks: marks.collect(),
            context,
            root,
        }
    }

    /// Returns whether the editor holds a text that differs from the disk.
    fn is_unsaved(&self, path: &str, text: Option<&str>) -> bool {
        let Some(buffers) = &self.context.sources.buffers else {
            return false;
        };
        let held = buffers.text(&self.context.root.join(path));
        held.is_some_and(|held| text != Some(held.as_str()))
    }
}

impl TextSource for ReadTracker<'_> {
    fn find(&self, path: &str) -> FileLookup<'_> {
        let found = self.root.find(path);
        let text = match &found {
            FileLookup::Text(text) => Some(text.as_ref()),
            _ => None,
        };
        if self.is_unsaved(path, text) {
            FileLookup::Refused(format!(
                "{path} has unsaved changes in the editor; ask the user to save or discard them, and read it again"
            ))
        } else {
            found
        }
    }

    fn guard(&self, path: &str) -> StaleGuard<'_> {
        let mark = self.marks.iter().find(|(marked, _)| marked == path);
        mark.map_or(StaleGuard::Off, |(_, mark)| StaleGuard::Read(mark))
    }
}

/// Returns the result for a plan with refused edits.
fn refused(plan: &SetPlan) -> ToolResult {
    let hunks = plan.edits.iter().flat_map(|edit| &edit.hunks);
    let refusals: Vec<&HunkRefusal> = hunks.filter_map(|hunk| hunk.refusal.as_ref()).collect();
    let has = |what: fn(&HunkRefusal) -> bool| refusals.iter().any(|refusal| what(refusal));
    let text = for_model(plan);
    if has(|refusal| {
        matches!(
            refusal,
            HunkRefusal::Stale { .. } | HunkRefusal::AnchorMoved { .. }
        )
    }) {
        return unexpected(text).with_detail(Detail::StaleEdit);
    }
    if has(|refusal| matches!(refusal, HunkRefusal::Several { .. })) {
        return ToolResult::new(CallOutcome::InvalidArguments, text)
            .with_detail(Detail::AmbiguousEdit);
    }
    if has(|refusal| {
        matches!(
            refusal,
            HunkRefusal::NoFile | HunkRefusal::Unreadable(_) | HunkRefusal::FileExists
        )
    }) {
        unexpected(text)
    } else {
        ToolResult::new(CallOutcome::InvalidArguments, text)
    }
}

fn display_diffs(texts: &ReadTracker<'_>, plan: &[FilePlan]) -> Vec<ToolDisplay> {
    let diffs = plan.iter().map(|file| {
        let old = match texts.root.find(&file.path) {
            FileLookup::Text(text) => Some(text.into_owned()),
            FileLookup::Missing | FileLookup::Refused(_) => None,
        };
        let new = match &file.effect {
            FileEffect::Create { text, .. } | FileEffect::Modify { text, .. } => Some(text.clone()),
            FileEffect::Delete => None,
        };
        diff(&file.path, old, new)
    });
    diffs.collect()
}

/// Builds a diff for the user; `None` means that there is no file. A very long one
/// becomes a sentence.
pub(in super::super) fn diff(path: &str, old: Option<String>, new: Option<String>) -> ToolDisplay {
    let is_long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > SHOWN);
    if is_long(&old) || is_long(&new) {
        ToolDisplay::Text(format!("{path} changed; the diff is too long to show"))
    } else {
        ToolDisplay::Diff {
            path: path.to_owned(),
            old,
            new,
        }
    }
}

fn remember(context: &ToolContext, state: &ToolState, plan: &[FilePlan]) {
    for file in plan {
        let path: AbsPath = context.root.join(&file.path);
        match &file.effect {
            FileEffect::Create { text, .. } | FileEffect::Modify { text, .. } => {
                state.wrote(&path, text)
            }
            FileEffect::Delete => state.forget(&path),
        }
    }
}

/// Formats the changed lines with some context, up to a total number of lines.
fn diffs(shown: &[ToolDisplay]) -> String {
    let mut lines = Vec::new();
    for shown in shown {
        // The model knows the content of a new file, and a removed file has none.
        if let ToolDisplay::Diff {
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
