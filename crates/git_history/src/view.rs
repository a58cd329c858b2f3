//! The history in a tab: filter, commits with their graph, and the selected commit with its files.
//!
//! Start at `HistoryView::new`; `loading` streams the rows, `selecting` moves the selection, `commands` runs commands of
//! a commit, `comparing` asks for the changes between two.

mod commands;
mod comparing;
mod details;
mod loading;
mod render;
mod selecting;

use std::sync::Arc;

use git_program::{CommittedChange, GraphRow, LogQuery, LogRow};
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, SharedString,
    Subscription, UniformListScrollHandle, Window,
};
use ui::RestTimer;

use crate::service::{CommitCommand, HistoryError, HistoryService};
use details::ShownCommit;
use loading::{LoadState, REST};

/// The history of a repository, as a tab shows it.
pub struct HistoryView {
    service: Arc<dyn HistoryService>,
    filter: Entity<InputState>,
    /// Whether all branches are shown where the filter names none.
    is_all: bool,
    /// The query whose rows are shown.
    query: LogQuery,
    rows: Vec<HistoryRow>,
    /// The lanes that the widest row needs.
    lanes: usize,
    load: LoadState,
    selected: Option<usize>,
    /// A commit to select once its row arrives.
    awaited: Option<String>,
    /// The commit that is marked for a comparison.
    marked: Option<String>,
    shown: ShownCommit,
    /// Whether the files of the commit have the keyboard.
    is_in_files: bool,
    now: i64,
    scroll: UniformListScrollHandle,
    files_scroll: UniformListScrollHandle,
    focus: FocusHandle,
    list_focus: FocusHandle,
    /// Delays the query while the filter is typed.
    typing: RestTimer<HistoryView>,
    /// Delays the details while the selection moves.
    resting: RestTimer<HistoryView>,
    _filter_changes: Subscription,
}

/// A row of the list: a commit with its part of the graph.
struct HistoryRow {
    commit: LogRow,
    graph: Option<GraphRow>,
}

/// A request of the history to its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryEvent {
    /// Show the change of a file by a commit.
    OpenChange {
        /// The commit.
        id: String,
        /// The file.
        change: Box<CommittedChange>,
    },
    /// Ask for the name of a new branch or tag at a commit, then run it.
    NameWanted {
        /// The commit.
        commit: Box<LogRow>,
        /// Whether it is a tag.
        is_tag: bool,
    },
    /// Ask whether to run a command at a commit, if it loses something, then run it.
    Run {
        /// The commit.
        commit: Box<LogRow>,
        /// The command.
        command: CommitCommand,
    },
    /// Show the changes between two versions.
    Compare {
        /// The commit before.
        before: String,
        /// The commit after; `None` for the files as they are now.
        after: Option<String>,
    },
    /// Edit the list of the commits from this one on, to replay them.
    RebaseFrom(String),
    /// Open the web page of a commit.
    OpenPage(String),
    /// A sentence for the user.
    Tell(SharedString),
    /// Return the focus to the text.
    Cancelled,
}

impl EventEmitter<HistoryEvent> for HistoryView {}

impl Focusable for HistoryView {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.list_focus.clone()
    }
}

impl HistoryView {
    /// Creates the view with a filter, and begins to read. `now` is the current time in seconds since 1970.
    pub fn new(
        service: Arc<dyn HistoryService>,
        filter: &str,
        now: i64,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let text = filter.to_owned();
        let input = cx.new(|cx| {
            InputState::new(window, cx)
                .placeholder("Filter: words, author:, path:, since:, branch:, -S text")
                .default_value(text)
        });
        let mut this = Self {
            service,
            _filter_changes: cx.subscribe_in(&input, window, Self::filter_event),
            filter: input,
            is_all: false,
            query: LogQuery::default(),
            rows: Vec::new(),
            lanes: 0,
            load: LoadState::default(),
            selected: None,
            awaited: None,
            marked: None,
            shown: ShownCommit::None,
            is_in_files: false,
            now,
            scroll: UniformListScrollHandle::new(),
            files_scroll: UniformListScrollHandle::new(),
            focus: cx.focus_handle(),
            list_focus: cx.focus_handle().tab_stop(true),
            typing: RestTimer::new(REST, |it| &mut it.typing, Self::follow_filter),
            resting: RestTimer::new(REST, |it| &mut it.resting, Self::selection_rested),
        };
        this.reload(cx);
        this
    }

    /// Returns the title of the tab.
    pub fn title(&self) -> SharedString {
        let path = self.query.lines.as_ref().map(|(path, _)| path);
        let path = path.or(self.query.path.as_ref());
        let name = path.and_then(|path| path.file_name());
        match name {
            Some(name) => format!("History of {}", base::path_text(name)).into(),
            None => "History".into(),
        }
    }

    /// Returns the commits of the history of a file or of its lines, as far as they are read, the newest first; `None` if
    /// other commits are shown.
    pub fn file_versions(&self) -> Option<Vec<String>> {
        let is_of_file = self.query.lines.is_some() || self.query.follow;
        let ids = self.rows.iter().map(|row| row.commit.id.clone());
        is_of_file.then(|| ids.collect())
    }

    /// Replaces the filter and reads the history anew.
    pub fn set_filter(&mut self, filter: &str, window: &mut Window, cx: &mut Context<Self>) {
        let text = filter.to_owned();
        self.filter
            .update(cx, |input, cx| input.set_value(text, window, cx));
        self.reload(cx);
    }

    /// Selects a commit, now or once its row is read.
    pub fn select_commit(&mut self, id: &str, cx: &mut Context<Self>) {
        match self.rows.iter().position(|row| row.commit.id == id) {
            Some(ix) => self.select(ix, cx),
            None => self.awaited = Some(id.to_owned()),
        }
    }

    /// Reads the history anew, such as after HEAD moved, and keeps the selected commit.
    pub fn refresh(&mut self, now: i64, cx: &mut Context<Self>) {
        self.now = now;
        self.awaited = self.selected_commit().map(|commit| commit.id.clone());
        self.reload(cx);
    }

    /// Returns the selected commit.
    fn selected_commit(&self) -> Option<&LogRow> {
        Some(&self.rows.get(self.selected?)?.commit)
    }

    fn filter_event(
        &mut self,
        _: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::Change => self.typing.put_off(cx),
            InputEvent::PressEnter { .. } => {
                self.typing.cancel();
                self.follow_filter(cx);
                self.list_focus.focus(window, cx);
            }
            InputEvent::Focus | InputEvent::Blur => {}
        }
    }

    /// Shows a failure as a sentence with a capital.
    fn failure(error: &HistoryError) -> SharedString {
        base::sentence(&error.to_string()).into()
    }
}

#[cfg(test)]
mod tests;
