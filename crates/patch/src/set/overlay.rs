//! Files as the edits so far leave them, over the files as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use base::{ByteOffset, Row};

use crate::file::FileText;
use crate::outcome::Refusal;
use crate::plan::{Planned, Replacement, compose_all};

use super::{Effect, FilePlan, Found, Texts};

pub(super) struct Overlay<'a> {
    texts: &'a dyn Texts,
    files: BTreeMap<String, State>,
}

/// A file that an edit has touched.
struct State {
    /// `None` when it is gone.
    text: Option<String>,
    /// From the text before all edits to this one; `None` when it does not come from there.
    replacements: Option<Vec<Replacement>>,
    moved_from: Option<String>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(texts: &'a dyn Texts) -> Self {
        Self {
            texts,
            files: BTreeMap::new(),
        }
    }

    /// The text of a file; `None` if there is none.
    pub(super) fn text(&self, path: &str) -> Result<Option<Cow<'_, str>>, Refusal> {
        if let Some(state) = self.files.get(path) {
            return Ok(state.text.as_deref().map(Cow::Borrowed));
        }
        match self.texts.find(path) {
            Found::Text(text) => Ok(Some(text)),
            Found::Missing => Ok(None),
            Found::Refused(reason) => Err(Refusal::Unreadable(reason)),
        }
    }

    /// The text that a file had before all edits, where there was one.
    pub(super) fn before(&self, path: &str) -> Option<String> {
        match self.texts.find(path) {
            Found::Text(text) => Some(text.into_owned()),
            Found::Missing | Found::Refused(_) => None,
        }
    }

    /// Refuses a new file that would have to lie within another file.
    pub(super) fn check_folders(&self, path: &str) -> Result<(), Refusal> {
        for (at, _) in path.match_indices('/') {
            let folder = &path[..at];
            // A folder cannot be read as text, which is as it should be here.
            if let Ok(Some(_)) = self.text(folder) {
                let reason = format!(
                    "{folder:?} is a file, so nothing can lie below it; choose another path"
                );
                return Err(Refusal::BadPath(reason));
            }
        }
        Ok(())
    }

    pub(super) fn create(&mut self, path: &str, text: String, moved_from: Option<String>) {
        let state = State {
            text: Some(text),
            replacements: None,
            moved_from,
        };
        self.files.insert(path.to_owned(), state);
    }

    pub(super) fn delete(&mut self, path: &str) {
        let state = State {
            text: None,
            replacements: None,
            moved_from: None,
        };
        self.files.insert(path.to_owned(), state);
    }

    /// Applies a plan made for the text as it is here.
    pub(super) fn change(&mut self, path: &str, planned: &Planned) {
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
                let state = State {
                    text: Some(after),
                    replacements: Some(planned.replacements.clone()),
                    moved_from: None,
                };
                self.files.insert(path.to_owned(), state);
            }
        }
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<(), Refusal> {
        let text = self.text(from)?.ok_or(Refusal::NoFile)?.into_owned();
        let origin = self
            .files
            .get(from)
            .and_then(|state| state.moved_from.clone());
        self.create(to, text, Some(origin.unwrap_or_else(|| from.to_owned())));
        self.delete(from);
        Ok(())
    }

    /// Rows of the text as it is here that changed after they were read; what edits of this set
    /// wrote is known to their author.
    pub(super) fn changed_rows(&self, path: &str, file: &FileText) -> Vec<Range<Row>> {
        let original = match self.files.get(path) {
            None => return self.texts.guard(path).changed_rows(file),
            Some(State {
                replacements: Some(_),
                ..
            }) => self.texts.find(path),
            Some(_) => return Vec::new(),
        };
        let (Found::Text(original), Some(state)) = (original, self.files.get(path)) else {
            return Vec::new();
        };
        let original = FileText::new(&original);
        let changed = self.texts.guard(path).changed_rows(&original);
        let all = state.replacements.as_deref().unwrap_or_default();
        let moved = |rows: &Range<Row>| {
            let span = original.span_of(rows.clone());
            let start = file.row_at(ByteOffset(moved_through(all, span.start.0)));
            let end = file.row_at(ByteOffset(moved_through(all, span.end.0)));
            // An end at the end of the text lies in its last row.
            let is_last = span.end.0 == original.text().len() && !rows.is_empty();
            start..if is_last { end + 1 } else { end.max(start) }
        };
        changed.iter().map(moved).collect()
    }

    /// What is to be done, in the order of paths.
    pub(super) fn into_files(self) -> Vec<FilePlan> {
        let Self { texts, files } = self;
        let plans = files.into_iter().filter_map(|(path, state)| {
            let before = match texts.find(&path) {
                Found::Text(text) => Some(text),
                Found::Missing | Found::Refused(_) => None,
            };
            let effect = effect(before.as_deref(), state)?;
            Some(FilePlan { path, effect })
        });
        plans.collect()
    }
}

fn effect(before: Option<&str>, state: State) -> Option<Effect> {
    let moved_from = state.moved_from;
    match (before, state.text) {
        (None, None) => None,
        (None, Some(text)) => Some(Effect::Create { text, moved_from }),
        (Some(_), None) => Some(Effect::Delete),
        (Some(before), Some(text)) if before == text => None,
        (Some(_), Some(text)) => Some(Effect::Modify {
            text,
            replacements: state.replacements.unwrap_or_default(),
            moved_from,
        }),
    }
}

/// Where an offset of the text before lies after the replacements; the start of what replaced it
/// for one within.
fn moved_through(all: &[Replacement], offset: usize) -> usize {
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
