//! The selection in the list of commits and in the files of a commit.

use gpui_kit::{Context, Focusable as _, ScrollStrategy, Window};

use super::{HistoryEvent, HistoryView, ShownCommit};
use crate::actions::{
    Cancel, FocusFilter, OpenSelected, SelectFirst, SelectLast, SelectNext, SelectPageDown,
    SelectPageUp, SelectPrevious,
};

/// Rows of a page.
const PAGE: usize = 20;

impl HistoryView {
    pub(super) fn select(&mut self, ix: usize, cx: &mut Context<Self>) {
        if ix >= self.rows.len() {
            return;
        }
        if self.selected != Some(ix) {
            self.selected = Some(ix);
            self.shown = ShownCommit::None;
            self.is_in_files = false;
            self.resting.put_off(cx);
        }
        self.scroll.scroll_to_item(ix, ScrollStrategy::Nearest);
        cx.notify();
    }

    /// Moves the selection by `step` rows, to the ends at most.
    fn step(&mut self, step: isize, cx: &mut Context<Self>) {
        if self.is_in_files {
            if let ShownCommit::Ready { page, file } = &mut self.shown {
                let last = page.files.len().saturating_sub(1);
                *file = file.saturating_add_signed(step).min(last);
                self.files_scroll
                    .scroll_to_item(*file, ScrollStrategy::Nearest);
            }
            return cx.notify();
        }
        let last = self.rows.len().saturating_sub(1);
        let next = self.selected.map_or(0, |ix| ix.saturating_add_signed(step));
        self.select(next.min(last), cx);
    }

    pub(super) fn select_next(
        &mut self,
        _: &SelectNext,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        // From the filter, the first key only leaves it.
        if self.list_focus.is_focused(window) {
            self.step(1, cx);
        } else {
            self.list_focus.focus(window, cx);
            cx.notify();
        }
    }

    pub(super) fn select_previous(
        &mut self,
        _: &SelectPrevious,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.list_focus.focus(window, cx);
        self.step(-1, cx);
    }

    pub(super) fn select_page_down(
        &mut self,
        _: &SelectPageDown,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.step(PAGE.cast_signed(), cx);
    }

    pub(super) fn select_page_up(
        &mut self,
        _: &SelectPageUp,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.step(-PAGE.cast_signed(), cx);
    }

    pub(super) fn select_first(&mut self, _: &SelectFirst, _: &mut Window, cx: &mut Context<Self>) {
        self.step(isize::MIN, cx);
    }

    pub(super) fn select_last(&mut self, _: &SelectLast, _: &mut Window, cx: &mut Context<Self>) {
        self.step(isize::MAX, cx);
    }

    /// Goes to the files of the commit, or opens the change of the selected file.
    pub(super) fn open_selected(
        &mut self,
        _: &OpenSelected,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let ShownCommit::Ready { page, file } = &self.shown else {
            return;
        };
        if self.is_in_files {
            let file = *file;
            self.open_change(file, cx);
        } else if !page.files.is_empty() {
            self.is_in_files = true;
            cx.notify();
        }
    }

    /// Asks the window for the change of a file of the shown commit.
    pub(super) fn open_change(&mut self, file: usize, cx: &mut Context<Self>) {
        let ShownCommit::Ready { page, .. } = &self.shown else {
            return;
        };
        if let Some(change) = page.files.get(file) {
            cx.emit(HistoryEvent::OpenChange {
                id: page.details.id.clone(),
                change: Box::new(change.clone()),
            });
        }
    }

    pub(super) fn focus_filter(
        &mut self,
        _: &FocusFilter,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let focus = self.filter.read(cx).focus_handle(cx);
        focus.focus(window, cx);
    }

    /// Steps back by one level: from the files, from the filter, from the filtered list, to the text.
    pub(super) fn cancel(&mut self, _: &Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.is_in_files {
            self.is_in_files = false;
            return cx.notify();
        }
        let has_filter = !self.filter.read(cx).value().is_empty();
        if !self.list_focus.is_focused(window) {
            self.list_focus.focus(window, cx);
            cx.notify();
        } else if has_filter {
            self.set_filter("", window, cx);
        } else {
            cx.emit(HistoryEvent::Cancelled);
        }
    }
}
