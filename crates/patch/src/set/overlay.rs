//! Files as modified by the edits so far, layered over the current files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use base::{ByteOffset, Row};

use crate::file::FileText;
use crate::outcome::HunkRefusal;
use crate::plan::{EditPlan, PlannedReplacement, compose_all};

use super::{FileEffect, FileLookup, FilePlan, TextSource};

pub(super) struct Overlay<'a> {
    texts: &'a dyn TextSource,
    files: BTreeMap<String, OverlayFile>,
}

/// A file that an edit has modified.
struct OverlayFile {
    /// Current text; `None` if the file is deleted.
    text: Option<String>,
    /// Replacements from the original text to this one; `None` if it does not derive from there.
    replacements: Option<Vec<PlannedReplacement>>,
    moved_from: Option<String>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(texts: &'a dyn TextSource) -> Self {
        Self {
            texts,
            files: BTreeMap::new(),
        }
    }

    /// Returns the text of a file; `None` if it does not exist.
    pub(super) fn text(&self, path: &str) -> Result<Option<Cow<'_, str>>, HunkRefusal> {
        if let Some(state) = self.files.get(path) {
            return Ok(state.text.as_deref().map(Cow::Borrowed));
        }
        match self.texts.find(path) {
            FileLookup::Text(text) => Ok(Some(text)),
            FileLookup::Missing => Ok(None),
            FileLookup::Refused(reason) => Err(HunkRefusal::Unreadable(reason)),
        }
    }

    /// Returns the original text of a file, if it existed.
    pub(super) fn before(&self, path: &str) -> Option<String> {
        match self.texts.find(path) {
            FileLookup::Text(text) => Some(text.into_owned()),
            FileLookup::Missing | FileLookup::Refused(_) => None,
        }
    }

    /// Refuses a new file whose parent folder is a file.
    pub(super) fn check_folders(&self, path: &str) -> Result<(), HunkRefusal> {
        for (at, _) in path.match_indices('/') {
            let folder = &path[..at];
            // A folder cannot be read as text, which is the expected case.
            if let Ok(Some(_)) = self.text(folder) {
                let reason = format!(
                    "{folder:?} is a file, so nothing can lie below it; choose another path"
                );
                return Err(HunkRefusal::BadPath(reason));
            }
        }
        Ok(())
    }

    pub(super) fn create(&mut self, path: &str, text: String, moved_from: Option<String>) {
        let state = OverlayFile {
            text: Some(text),
            replacements: None,
            moved_from,
        };
        self.files.insert(path.to_owned(), state);
    }

    pub(super) fn delete(&mut self, path: &str) {
        let state = OverlayFile {
            text: None,
            replacements: None,
            moved_from: None,
        };
        self.files.insert(path.to_owned(), state);
    }

    /// Applies a plan made for the current text.
    pub(super) fn change(&mut self, path: &str, planned: &EditPlan) {
        if planned.replacements.is_empty() {
            return;
        }
        let Ok(Some(before)) = self.text(path) else {
            return;
        };
        let before = before.into_owned();
        let after = planned.apply(&before);
        match self.files.get_mut(path) {
            Some(state) => {
                if let Some(all) = &mut state.replacements {
                    compose_all(all, &planned.replacements);
                }
                state.text = Some(after);
            }
            None => {
                let state = OverlayFile {
                    text: Some(after),
                    replacements: Some(planned.replacements.clone()),
                    moved_from: None,
                };
                self.files.insert(path.to_owned(), state);
            }
        }
    }

    /// Moves a file with its present text, over any file at `to`. Its origin is that of its first
    /// move. Fails with `NoFile` if there is no file at `from`.
    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<(), HunkRefusal> {
        let text = self.text(from)?.ok_or(HunkRefusal::NoFile)?.into_owned();
        let origin = self
            .files
            .get(from)
            .and_then(|state| state.moved_from.clone());
        self.create(to, text, Some(origin.unwrap_or_else(|| from.to_owned())));
        self.delete(from);
        Ok(())
    }

    /// Returns the rows of the current text that changed after they were read; changes by edits of
    /// this set are known to their author.
    pub(super) fn changed_rows(&self, path: &str, file: &FileText) -> Vec<Range<Row>> {
        let original = match self.files.get(path) {
            None => return self.texts.guard(path).changed_rows(file),
            Some(OverlayFile {
                replacements: Some(_),
                ..
            }) => self.texts.find(path),
            Some(_) => return Vec::new(),
        };
        let (FileLookup::Text(original), Some(state)) = (original, self.files.get(path)) else {
            return Vec::new();
        };
        let original = FileText::new(&original);
        let changed = self.texts.guard(path).changed_rows(&original);
        let all = state.replacements.as_deref().unwrap_or_default();
        let moved = |rows: &Range<Row>| {
            let span = original.span_of(rows.clone());
            let start = file.row_at(ByteOffset(moved_through(all, span.start.0)));
            let end = file.row_at(ByteOffset(moved_through(all, span.end.0)));
            // A range that ends at the end of the text includes its last row.
            let is_last = span.end.0 == original.text().len() && !rows.is_empty();
            start..if is_last { end + 1 } else { end.max(start) }
        };
        changed.iter().map(moved).collect()
    }

    /// Returns the effects, sorted by path.
    pub(super) fn into_files(self) -> Vec<FilePlan> {
        let Self { texts, files } = self;
        let plans = files.into_iter().filter_map(|(path, state)| {
            let before = match texts.find(&path) {
                FileLookup::Text(text) => Some(text),
                FileLookup::Missing | FileLookup::Refused(_) => None,
            };
            let effect = effect(before.as_deref(), state)?;
            Some(FilePlan { path, effect })
        });
        plans.collect()
    }
}

/// Returns the effect of a file's edits on its text `before`, which is `None` if it does not exist;
/// `None` if they have no effect.
fn effect(before: Option<&str>, state: OverlayFile) -> Option<FileEffect> {
    let moved_from = state.moved_from;
    match (before, state.text) {
        (None, None) => None,
        (None, Some(text)) => Some(FileEffect::Create { text, moved_from }),
        (Some(_), None) => Some(FileEffect::Delete),
        (Some(before), Some(text)) if before == text => None,
        (Some(_), Some(text)) => Some(FileEffect::Modify {
            text,
            replacements: state.replacements.unwrap_or_default(),
            moved_from,
        }),
    }
}

/// Maps an offset through the replacements; an offset inside a replaced span maps to its start.
fn moved_through(all: &[PlannedReplacement], offset: usize) -> usize {
    let mut shift = 0isize;
    for replacement in all {
        if replacement.span.end.0 <= offset {
            shift += replacement.text.len() as isize - replacement.span.len() as isize;
        } else if replacement.span.start.0 < offset {
            return replacement.span.start.0.saturating_add_signed(shift);
        } else {
            break;
        }
    }
    offset.saturating_add_signed(shift)
}
