//! Comparison of two commits: one is marked, then another one is chosen.

use gpui_kit::{Context, Window};

use super::{HistoryEvent, HistoryView};
use crate::actions::{CompareWithMarked, CompareWithWorkingTree, MarkForComparison};

impl HistoryView {
    /// Returns whether a commit is marked for a comparison.
    pub(super) fn is_marked(&self, id: &str) -> bool {
        self.marked.as_deref() == Some(id)
    }

    pub(super) fn mark_for_comparison(
        &mut self,
        _: &MarkForComparison,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(commit) = self.commit_or_tell(cx) {
            let is_marked = self.is_marked(&commit.id);
            self.marked = (!is_marked).then_some(commit.id);
            cx.notify();
        }
    }

    pub(super) fn compare_with_marked(
        &mut self,
        _: &CompareWithMarked,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(commit) = self.commit_or_tell(cx) else {
            return;
        };
        let Some(marked) = self.marked.clone().filter(|id| *id != commit.id) else {
            let sentence = "Mark another commit for the comparison first";
            return cx.emit(HistoryEvent::Tell(sentence.into()));
        };
        // Rows are sorted from the newest to the oldest commit.
        let place = self.rows.iter().position(|row| row.commit.id == marked);
        let is_newer = place.is_some_and(|place| Some(place) < self.selected);
        let (before, after) = if is_newer {
            (commit.id, marked)
        } else {
            (marked, commit.id)
        };
        let after = Some(after);
        cx.emit(HistoryEvent::Compare { before, after });
    }

    pub(super) fn compare_with_working_tree(
        &mut self,
        _: &CompareWithWorkingTree,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(commit) = self.commit_or_tell(cx) {
            let (before, after) = (commit.id, None);
            cx.emit(HistoryEvent::Compare { before, after });
        }
    }
}
