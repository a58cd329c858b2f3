//! Edits of several files at once: all of them, or none.
//!
//! Later edits see the result of earlier ones, so two edits of one file compose. No format can
//! create or move a file over another one that has content. Paths are checked syntactically; the
//! caller that writes the files must make sure that no symbolic link leads out of the root.
//!
//! Start at `plan_set`.

mod overlay;
mod path;

use std::borrow::Cow;

use crate::block::split_lines;
use crate::edit::{FileEdit, PatchOperation};
use crate::file::FileText;
use crate::mark::{ReadMark, StaleGuard};
use crate::outcome::{HunkOutcome, HunkRefusal, HunkReport, MatchStrategy};
use crate::placeholder::{self, PlaceholderStyle};
use crate::plan::{EditPlan, PlannedReplacement, plan};

use self::overlay::Overlay;
use self::path::clean_path;

/// Access to the current files of a project, for planning. Implemented by the agent's tools and by
/// tests.
pub trait TextSource {
    /// Looks up a path relative to the root, with forward slashes, and returns its current text,
    /// unsaved edits included. May read the disk.
    fn find(&self, path: &str) -> FileLookup<'_>;

    /// Returns the rows of a file that changed after the author of the edits read the file. The
    /// default implementation returns `StaleGuard::Off`, which means that the changes are unknown.
    fn guard(&self, _path: &str) -> StaleGuard<'_> {
        StaleGuard::Off
    }
}

/// Result of looking up a path: a text, a missing file, or something that cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileLookup<'a> {
    /// Text of a file.
    Text(Cow<'a, str>),
    /// The path does not exist.
    Missing,
    /// Something that cannot be edited, with the reason as a sentence: a folder, a binary file.
    Refused(String),
}

/// Behaviour if some hunks are refused: change no file, or apply the other hunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// No file is changed.
    All,
    /// The other hunks are applied. A file is moved or deleted only if all its hunks apply.
    Partial,
}

/// Planned edits of all files, and a report per edit. Files change only when a caller commits the
/// plan.
#[derive(Clone, Debug, PartialEq)]
pub struct SetPlan {
    /// Sorted by path, without duplicates; empty if nothing changes.
    pub files: Vec<FilePlan>,
    /// One report per edit, in order.
    pub edits: Vec<EditReport>,
}

/// Planned edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// Path relative to the root, with forward slashes, without `.` and `..`.
    pub path: String,
    /// Effect on the file.
    pub effect: FileEffect,
}

/// Effect of a plan on a file: created, modified or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEffect {
    /// The file is created.
    Create {
        /// Text of the file.
        text: String,
        /// Original path if the file is moved; the original is deleted by a separate plan.
        moved_from: Option<String>,
    },
    /// The file is modified.
    Modify {
        /// Whole text after the edit.
        text: String,
        /// The same as replacements of the original text; empty if another file takes its place.
        replacements: Vec<PlannedReplacement>,
        /// Path of the file that takes its place, if any.
        moved_from: Option<String>,
    },
    /// The file is deleted.
    Delete,
}

/// Report on one edit.
#[derive(Clone, Debug, PartialEq)]
pub struct EditReport {
    /// Path as the model wrote it.
    pub path: String,
    /// One report per hunk; a single one for a whole file.
    pub hunks: Vec<HunkReport>,
}

impl SetPlan {
    /// Whether every hunk of every edit was applied.
    pub fn is_complete(&self) -> bool {
        let mut hunks = self.edits.iter().flat_map(|edit| &edit.hunks);
        hunks.all(|hunk| hunk.outcome.is_applied())
    }
}

impl EditReport {
    /// Returns the worst outcome among the hunks, or `Rejected` if there are no hunks.
    pub fn outcome(&self) -> HunkOutcome {
        let outcomes = self.hunks.iter().map(|hunk| hunk.outcome);
        outcomes.max().unwrap_or(HunkOutcome::Rejected)
    }
}

/// Plans the edits one after the other, each based on the files after the earlier edits. Never
/// fails: refusals are in the reports. With `Completeness::All`, one refused hunk leaves every file
/// unchanged.
pub fn plan_set(texts: &dyn TextSource, edits: &[FileEdit], completeness: Completeness) -> SetPlan {
    let mut overlay = Overlay::new(texts);
    let mut reports = Vec::new();
    for edit in edits {
        let hunks = match one(&mut overlay, edit) {
            Ok(hunks) => hunks,
            Err(refusal) => vec![HunkReport::refused(0, refusal, 0..0)],
        };
        reports.push(EditReport {
            path: edit.path.clone(),
            hunks,
        });
    }
    let mut plan = SetPlan {
        files: Vec::new(),
        edits: reports,
    };
    if completeness == Completeness::Partial || plan.is_complete() {
        plan.files = overlay.into_files();
    }
    plan
}

/// Plans one edit and adds its effect to `overlay`. Returns a report per hunk, which may be a
/// refusal. Fails if the edit as a whole is refused, such as for its path.
fn one(overlay: &mut Overlay<'_>, edit: &FileEdit) -> Result<Vec<HunkReport>, HunkRefusal> {
    let path = clean_path(&edit.path)?;
    match &edit.change {
        PatchOperation::Create { text } => {
            let is_filled = |there: &str| !there.trim().is_empty();
            if overlay.text(&path)?.as_deref().is_some_and(is_filled) {
                return Err(HunkRefusal::FileExists);
            }
            overlay.check_folders(&path)?;
            plan_whole_file(overlay, &path, text)
        }
        PatchOperation::Overwrite { text } => {
            overlay.check_folders(&path)?;
            plan_whole_file(overlay, &path, text)
        }
        PatchOperation::Delete { .. } => {
            overlay.text(&path)?.ok_or(HunkRefusal::NoFile)?;
            let planned = change(overlay, &path, &edit.change)?;
            if planned.is_complete() {
                overlay.delete(&path);
            }
            Ok(planned.hunks)
        }
        PatchOperation::Update { hunks, move_to } => {
            let to = move_to.as_deref().map(clean_path).transpose();
            let to = to?.filter(|to| *to != path);
            if hunks.is_empty() && to.is_none() {
                return Err(HunkRefusal::Empty);
            }
            update(overlay, &path, edit, to)
        }
        PatchOperation::Anchored { operations } if operations.is_empty() => Err(HunkRefusal::Empty),
        PatchOperation::Anchored { .. } => update(overlay, &path, edit, None),
    }
}

/// Plans the whole text of a new or existing file.
fn plan_whole_file(
    overlay: &mut Overlay<'_>,
    path: &str,
    text: &str,
) -> Result<Vec<HunkReport>, HunkRefusal> {
    if overlay.text(path)?.is_none() {
        // An earlier edit may have deleted the file, and this one writes it again.
        let before = split_lines(&overlay.before(path).unwrap_or_default());
        let text_lines = split_lines(text);
        let placeholder = placeholder::added(&before, &text_lines, PlaceholderStyle::of_path(path));
        if let Some(line) = placeholder.filter(|_| !before.is_empty()) {
            return Err(HunkRefusal::ElidedReplacement(line.to_owned()));
        }
        overlay.create(path, text.to_owned(), None);
        return Ok(vec![HunkReport::landed(
            0,
            MatchStrategy::Exact,
            0..0,
            0..0,
        )]);
    }
    let change = PatchOperation::Overwrite {
        text: text.to_owned(),
    };
    let planned = self::change(overlay, path, &change)?;
    overlay.change(path, &planned);
    Ok(planned.hunks)
}

/// Plans hunks or anchored operations, and moves the file to `to` if none is refused. Fails if `to`
/// exists, or if the file is missing and the edit is more than insertions.
fn update(
    overlay: &mut Overlay<'_>,
    path: &str,
    edit: &FileEdit,
    to: Option<String>,
) -> Result<Vec<HunkReport>, HunkRefusal> {
    let text = overlay.text(path)?;
    if text.is_none() {
        return new_file(overlay, path, edit, to);
    }
    if let Some(to) = &to {
        if overlay.text(to)?.is_some() {
            return Err(HunkRefusal::FileExists);
        }
        overlay.check_folders(to)?;
    }
    let mut planned = change(overlay, path, &edit.change)?;
    overlay.change(path, &planned);
    if let Some(to) = to.filter(|_| planned.is_complete()) {
        overlay.rename(path, &to)?;
    }
    if planned.hunks.is_empty() {
        // The file is only moved.
        planned
            .hunks
            .push(HunkReport::landed(0, MatchStrategy::Exact, 0..0, 0..0));
    }
    Ok(planned.hunks)
}

/// Handles hunks for a missing file: insertions alone create it.
fn new_file(
    overlay: &mut Overlay<'_>,
    path: &str,
    edit: &FileEdit,
    to: Option<String>,
) -> Result<Vec<HunkReport>, HunkRefusal> {
    let PatchOperation::Update { hunks, .. } = &edit.change else {
        return Err(HunkRefusal::NoFile);
    };
    let are_insertions = !hunks.is_empty() && hunks.iter().all(|hunk| hunk.old.is_empty());
    if !are_insertions || to.is_some() {
        return Err(HunkRefusal::NoFile);
    }
    overlay.check_folders(path)?;
    let planned = plan(&FileText::new(""), &edit.change, StaleGuard::Off);
    if planned.hunks.iter().any(|hunk| hunk.outcome.is_applied()) {
        overlay.create(path, planned.apply(""), None);
    }
    Ok(planned.hunks)
}

/// Plans an edit of a file as earlier edits leave it.
fn change(
    overlay: &Overlay<'_>,
    path: &str,
    change: &PatchOperation,
) -> Result<EditPlan, HunkRefusal> {
    let text = overlay.text(path)?.ok_or(HunkRefusal::NoFile)?;
    let file = FileText::new(&text).with_path(path);
    let changed = overlay.changed_rows(path, &file);
    Ok(plan(&file, change, StaleGuard::Changed(&changed)))
}

/// Converts the mark of a file for implementations of `TextSource` that keep marks.
impl<'a> From<&'a ReadMark> for StaleGuard<'a> {
    fn from(mark: &'a ReadMark) -> Self {
        StaleGuard::Read(mark)
    }
}

#[cfg(test)]
mod tests;
