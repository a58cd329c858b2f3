//! Action handlers of the search panel.

use std::time::Duration;

use base::AbsPath;
use gpui_kit::{Context, Focusable as _, Window};
use project::search::MatchingRow;
use text::RowSpan;

use super::{SearchPanel, SearchPanelEvent, SearchProgress};
use crate::actions::project_search as act;
use crate::excerpt_rows::{expanded_rows, gather};
use crate::layout::TabOpenMode;
use crate::open_options::{Focus, GoToPosition, OpenOptions};

/// Rows of context around a match when results are edited as one text.
const AROUND: u32 = 2;
/// Maximum number of matches edited as one text.
const MAX_EDITED_MATCHES: usize = 1000;

impl SearchPanel {
    pub(super) fn toggle_regex(
        &mut self,
        _: &act::ToggleRegex,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.options.is_regex = !self.options.is_regex;
        self.search(Duration::ZERO, window, cx);
    }

    pub(super) fn toggle_case(
        &mut self,
        _: &act::ToggleCase,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.options.is_case_sensitive = !self.options.is_case_sensitive;
        self.search(Duration::ZERO, window, cx);
    }

    pub(super) fn toggle_word(
        &mut self,
        _: &act::ToggleWord,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.options.is_whole_word = !self.options.is_whole_word;
        self.search(Duration::ZERO, window, cx);
    }

    pub(super) fn toggle_filters(
        &mut self,
        _: &act::ToggleFilters,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.options.shows_filters = !self.options.shows_filters;
        if self.options.shows_filters {
            self.include.update(cx, |field, cx| field.focus(window, cx));
        }
        cx.notify();
    }

    pub(super) fn toggle_replace(
        &mut self,
        _: &act::ToggleReplace,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.options.shows_replace = !self.options.shows_replace;
        if self.options.shows_replace {
            self.replacement
                .update(cx, |field, cx| field.focus(window, cx));
        }
        self.results.rebuild(self.replaced());
        cx.notify();
    }

    pub(super) fn run(&mut self, _: &act::Run, window: &mut Window, cx: &mut Context<Self>) {
        self.search(Duration::ZERO, window, cx);
    }

    pub(super) fn stop(&mut self, _: &act::Stop, _: &mut Window, cx: &mut Context<Self>) {
        self.wants_replace = false;
        if self.running.take().is_some() && self.progress == SearchProgress::Running {
            self.progress = SearchProgress::Stopped;
            cx.notify();
        }
    }

    pub(super) fn select_next(
        &mut self,
        _: &act::SelectNext,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.step(1, window, cx);
    }

    pub(super) fn select_previous(
        &mut self,
        _: &act::SelectPrevious,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.step(-1, window, cx);
    }

    fn step(&mut self, step: isize, window: &mut Window, cx: &mut Context<Self>) {
        self.picked = self.results.step(self.picked.as_ref(), step);
        self.list_focus.focus(window, cx);
        self.show_picked(cx);
    }

    pub(super) fn focus_results(
        &mut self,
        _: &act::FocusResults,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus_results_now(window, cx);
    }

    pub(super) fn open(&mut self, _: &act::Open, _: &mut Window, cx: &mut Context<Self>) {
        self.open_picked(TabOpenMode::Lasting, Focus::Take, cx);
    }

    /// Opens the selected result in a tab; for a heading, expands or collapses its rows.
    pub(super) fn open_picked(
        &mut self,
        opening: TabOpenMode,
        focus: Focus,
        cx: &mut Context<Self>,
    ) {
        let Some(picked) = self.picked.clone() else {
            return;
        };
        let Some((file, row)) = self.results.picked_match(&picked) else {
            return;
        };
        let path = file.path.clone();
        let Some(position) = row.map(position) else {
            self.toggle_file(&path, cx);
            return;
        };
        let options = OpenOptions {
            opening,
            focus,
            ..OpenOptions::lasting()
        }
        .at(Some(position));
        cx.emit(SearchPanelEvent::Open(path, options));
    }

    /// Expands or collapses the rows of a file.
    pub(super) fn toggle_file(&mut self, path: &AbsPath, cx: &mut Context<Self>) {
        let index = self
            .results
            .files()
            .iter()
            .position(|file| file.path == *path);
        if let Some(index) = index {
            self.results.toggle(index, self.replaced());
            cx.notify();
        }
    }

    pub(super) fn dismiss(&mut self, _: &act::Dismiss, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(picked) = self.picked.take() {
            self.picked = self.results.dismiss(&picked, self.replaced());
            self.show_picked(cx);
        }
    }

    pub(super) fn cancel(&mut self, _: &act::Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.progress == SearchProgress::Running {
            self.stop(&act::Stop, window, cx);
        } else if !self.focus_handle(cx).is_focused(window) {
            self.focus_field(window, cx);
        }
    }

    /// Opens the matching rows, with context, as one editable text.
    pub(super) fn edit_results(
        &mut self,
        _: &act::EditResults,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let files = self.results.files().iter();
        let places = files.flat_map(|file| {
            file.rows.iter().map(|row| {
                let rows = RowSpan {
                    start: row.row,
                    end: row.row + 1,
                };
                (file.path.clone(), expanded_rows(rows, AROUND))
            })
        });
        let files = gather(places.take(MAX_EDITED_MATCHES));
        let title = format!("\u{201c}{}\u{201d}", self.pattern.read(cx).value());
        cx.emit(SearchPanelEvent::OpenExcerpts { title, files });
    }
}

fn position(row: &MatchingRow) -> GoToPosition {
    let columns = row.columns.first().cloned().unwrap_or(0..0);
    let column = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    GoToPosition::InRow {
        row: row.row,
        start: column(columns.start),
        end: column(columns.end),
    }
}

/// Formats a number of matches: `1 match`, `3 matches`.
pub(super) fn matches(count: usize) -> String {
    if count == 1 {
        "1 match".to_owned()
    } else {
        format!("{count} matches")
    }
}

/// Formats a number of files: `1 file`, `3 files`.
pub(super) fn files(count: usize) -> String {
    if count == 1 {
        "1 file".to_owned()
    } else {
        format!("{count} files")
    }
}
