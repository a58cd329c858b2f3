//! The user's recent edits as a prompt shows them: the passages of the history as unified diffs.

use base::{AbsPath, Bias, Span};

use super::{PromptWindow, shown_path};
use crate::{EditHistory, EditorState};

/// A past edit as shown to a model: a diff, and the changed rows before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastEdit {
    /// Path of the file.
    pub path: String,
    /// Hunks of a unified diff without file headers; ends in a line feed.
    pub diff: String,
    /// Changed rows before the edit.
    pub old: String,
    /// Changed rows after the edit.
    pub new: String,
    /// Whether the edit is an accepted suggestion.
    pub was_accepted: bool,
}

/// Returns the edits, the newest first, with paths relative to `root`.
pub(super) fn newest_first(
    history: &EditHistory,
    root: Option<&AbsPath>,
) -> impl Iterator<Item = PastEdit> {
    history.passages().rev().filter_map(move |passage| {
        let diff = passage.diff()?;
        Some(PastEdit {
            path: shown_path(passage.path.as_ref(), root),
            diff: diff.diff.clone(),
            old: diff.old.clone(),
            new: diff.new.clone(),
            was_accepted: passage.was_accepted,
        })
    })
}

/// Returns the editable part of a window as it was before the newest edit, if that edit lies inside
/// it.
pub(super) fn region_before(
    history: &EditHistory,
    state: &EditorState,
    window: &PromptWindow,
) -> Option<String> {
    let last = history.passages().next_back()?;
    let is_here = last.path == state.path && last.after.revision() == state.snapshot.revision();
    let start = window.region_start();
    let region = Span::new(start, start + window.region().len());
    let touches = last
        .change
        .splices
        .iter()
        .any(|splice| region.start <= splice.new.start && splice.new.end <= region.end);
    if !is_here || !touches {
        return None;
    }
    let back = last.change.inverse();
    let start = back.map(region.start, Bias::Left);
    let end = back.map(region.end, Bias::Right);
    Some(last.before.text(Span::new(start, end)).into_owned())
}

#[cfg(test)]
mod tests;
