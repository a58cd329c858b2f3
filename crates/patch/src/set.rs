//! Edits of several files at once: all of them, or none.
//!
//! Later edits see what earlier ones leave, so two edits of one file compose. A file never appears or
//! moves where another one is that holds something, whatever format asks for it. Paths are judged by
//! their letters alone; that no link leads out of the root is for whoever writes the files.
//! Start at `plan_set`.

mod overlay;
mod path;

use std::borrow::Cow;

use crate::block::lines;
use crate::edit::{Change, FileEdit};
use crate::file::FileText;
use crate::mark::{Guard, ReadMark};
use crate::outcome::{HunkReport, Outcome, Refusal, Rung};
use crate::placeholder::{self, Style};
use crate::plan::{Planned, Replacement, plan};

use self::overlay::Overlay;
pub use self::path::clean_path;

/// The files that edits are about, as they are now.
pub trait Texts {
    /// What lies at a path relative to the root, written with `/`.
    fn find(&self, path: &str) -> Found<'_>;

    /// What the author of the edits has read of the file.
    fn guard(&self, _path: &str) -> Guard<'_> {
        Guard::Off
    }
}

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// A file of text.
    Text(Cow<'a, str>),
    /// Nothing.
    Missing,
    /// Something that cannot be edited, with the reason as a sentence: a folder, a binary file.
    Refused(String),
}

/// What happens when some of the hunks do not land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Then nothing changes.
    All,
    /// What lands is applied. A file moves or goes away only if all its hunks land.
    Partial,
}

/// What becomes of all the files.
#[derive(Clone, Debug, PartialEq)]
pub struct SetPlan {
    /// Sorted by path, a path once; empty if nothing is to change.
    pub files: Vec<FilePlan>,
    /// One for each edit, in their order.
    pub edits: Vec<EditReport>,
}

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// Relative to the root, with `/`, without `.` and `..`.
    pub path: String,
    /// What is done.
    pub effect: Effect,
}

/// What is done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It appears.
    Create {
        /// Its text.
        text: String,
        /// The path of the file that it was, if it moves; that one goes away by a plan of its own.
        moved_from: Option<String>,
    },
    /// It changes.
    Modify {
        /// The whole text after.
        text: String,
        /// The same as replacements of the text before; empty where another file takes its place.
        replacements: Vec<Replacement>,
        /// The path of the file that takes its place, if one does.
        moved_from: Option<String>,
    },
    /// It goes away.
    Delete,
}

/// What became of one edit.
#[derive(Clone, Debug, PartialEq)]
pub struct EditReport {
    /// The path as written.
    pub path: String,
    /// One for each hunk; one alone for a whole file.
    pub hunks: Vec<HunkReport>,
}

impl SetPlan {
    /// Whether every hunk of every edit lands.
    pub fn is_complete(&self) -> bool {
        let mut hunks = self.edits.iter().flat_map(|edit| &edit.hunks);
        hunks.all(|hunk| hunk.outcome.is_applied())
    }
}

impl EditReport {
    /// The worst outcome among its hunks.
    pub fn outcome(&self) -> Outcome {
        let outcomes = self.hunks.iter().map(|hunk| hunk.outcome);
        outcomes.max().unwrap_or(Outcome::Rejected)
    }
}

/// Plans the edits one after the other.
pub fn plan_set(texts: &dyn Texts, edits: &[FileEdit], completeness: Completeness) -> SetPlan {
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

fn one(overlay: &mut Overlay<'_>, edit: &FileEdit) -> Result<Vec<HunkReport>, Refusal> {
    let path = clean_path(&edit.path).map_err(Refusal::BadPath)?;
    match &edit.change {
        Change::Create { text } => {
            let is_filled = |there: &str| !there.trim().is_empty();
            if overlay.text(&path)?.as_deref().is_some_and(is_filled) {
                return Err(Refusal::FileExists);
            }
            overlay.check_folders(&path)?;
            whole(overlay, &path, text)
        }
        Change::Overwrite { text } => {
            overlay.check_folders(&path)?;
            whole(overlay, &path, text)
        }
        Change::Delete { .. } => {
            overlay.text(&path)?.ok_or(Refusal::NoFile)?;
            let planned = change(overlay, &path, &edit.change)?;
            if planned.is_complete() {
                overlay.delete(&path);
            }
            Ok(planned.hunks)
        }
        Change::Update { hunks, move_to } => {
            let to = move_to.as_deref().map(clean_path).transpose();
            let to = to.map_err(Refusal::BadPath)?.filter(|to| *to != path);
            if hunks.is_empty() && to.is_none() {
                return Err(Refusal::Empty);
            }
            update(overlay, &path, edit, to)
        }
        Change::Anchored { operations } if operations.is_empty() => Err(Refusal::Empty),
        Change::Anchored { .. } => update(overlay, &path, edit, None),
    }
}

/// Gives a file its whole text, new or not.
fn whole(overlay: &mut Overlay<'_>, path: &str, text: &str) -> Result<Vec<HunkReport>, Refusal> {
    if overlay.text(path)?.is_none() {
        // An earlier edit may have deleted it, so that its text is given anew.
        let before = lines(&overlay.before(path).unwrap_or_default());
        let text_lines = lines(text);
        let placeholder = placeholder::added(&before, &text_lines, Style::of_path(path));
        if let Some(line) = placeholder.filter(|_| !before.is_empty()) {
            return Err(Refusal::ElidedReplacement(line.to_owned()));
        }
        overlay.create(path, text.to_owned(), None);
        return Ok(vec![HunkReport::landed(0, Rung::Exact, 0..0, 0..0)]);
    }
    let change = Change::Overwrite {
        text: text.to_owned(),
    };
    let planned = self::change(overlay, path, &change)?;
    overlay.change(path, &planned);
    Ok(planned.hunks)
}

fn update(
    overlay: &mut Overlay<'_>,
    path: &str,
    edit: &FileEdit,
    to: Option<String>,
) -> Result<Vec<HunkReport>, Refusal> {
    let text = overlay.text(path)?;
    if text.is_none() {
        return new_file(overlay, path, edit, to);
    }
    if let Some(to) = &to {
        if overlay.text(to)?.is_some() {
            return Err(Refusal::FileExists);
        }
        overlay.check_folders(to)?;
    }
    let mut planned = change(overlay, path, &edit.change)?;
    overlay.change(path, &planned);
    if let Some(to) = to.filter(|_| planned.is_complete()) {
        overlay.rename(path, &to)?;
    }
    if planned.hunks.is_empty() {
        // A file that only moves.
        planned
            .hunks
            .push(HunkReport::landed(0, Rung::Exact, 0..0, 0..0));
    }
    Ok(planned.hunks)
}

/// Hunks for a file that is not there: insertions alone make one.
fn new_file(
    overlay: &mut Overlay<'_>,
    path: &str,
    edit: &FileEdit,
    to: Option<String>,
) -> Result<Vec<HunkReport>, Refusal> {
    let Change::Update { hunks, .. } = &edit.change else {
        return Err(Refusal::NoFile);
    };
    let are_insertions = !hunks.is_empty() && hunks.iter().all(|hunk| hunk.old.is_empty());
    if !are_insertions || to.is_some() {
        return Err(Refusal::NoFile);
    }
    overlay.check_folders(path)?;
    let planned = plan(&FileText::new(""), &edit.change, Guard::Off);
    if planned.hunks.iter().any(|hunk| hunk.outcome.is_applied()) {
        overlay.create(path, planned.apply(""), None);
    }
    Ok(planned.hunks)
}

/// The plan for a file as earlier edits leave it.
fn change(overlay: &Overlay<'_>, path: &str, change: &Change) -> Result<Planned, Refusal> {
    let text = overlay.text(path)?.ok_or(Refusal::NoFile)?;
    let file = FileText::new(&text).at_path(path);
    let changed = overlay.changed_rows(path, &file);
    Ok(plan(&file, change, Guard::Changed(&changed)))
}

/// What was read of a file, for `Texts` that keep marks.
impl<'a> From<&'a ReadMark> for Guard<'a> {
    fn from(mark: &'a ReadMark) -> Self {
        Guard::Read(mark)
    }
}

#[cfg(test)]
mod tests;
