//! The page with the list of sessions: loading, filter, selection, opening.
//!
//! Invariant: opening a session never stops another one; the panel attaches to it and detaches from
//! the one it showed.
//! Start at `ComposerPanel::show_sessions`.

use futures::StreamExt as _;
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    AppContext as _, Context, Entity, Focusable as _, ScrollStrategy, Subscription, Task,
    UniformListScrollHandle, Window,
};

use super::{ComposerPanel, PanelPage};
use crate::actions::ShowSessions;
use crate::agents::{Error, SessionEntry, StoredChange};
use crate::session_list::SessionList;

/// The list of sessions of the folder, as far as it is loaded.
pub(super) struct SessionsPage {
    pub(super) list: SessionList,
    /// The text that the user types to filter the list.
    pub(super) filter: Entity<InputState>,
    /// The session that is being renamed.
    pub(super) renaming: Option<RenamedSession>,
    pub(super) is_loading: bool,
    /// The latest error, as a sentence.
    pub(super) problem: Option<String>,
    pub(super) scroll: UniformListScrollHandle,
    /// Reads the list, and reads it again after each change while the page is shown.
    _follow: Option<Task<()>>,
    _filter: Subscription,
}

/// A session that is being renamed, with the field for its name.
pub(super) struct RenamedSession {
    pub(super) id: String,
    pub(super) field: Entity<InputState>,
}

/// The time at which the list is read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListReading {
    /// At once.
    Now,
    /// After a change.
    Later,
}

/// Maximum number of reported changes that one reading of the list answers.
const MAX_CHANGES: usize = 1024;

impl SessionsPage {
    /// Creates the page without sessions.
    pub(super) fn new(window: &mut Window, cx: &mut Context<ComposerPanel>) -> Self {
        let filter = cx.new(|cx| InputState::new(window, cx).placeholder("Filter sessions"));
        let subscription = cx.subscribe(
            &filter,
            |this: &mut ComposerPanel, filter, event: &InputEvent, cx| {
                if matches!(event, InputEvent::Change) {
                    let text = filter.read(cx).value().to_string();
                    this.sessions.list.set_filter(&text);
                    this.sessions.reveal_selected();
                    cx.notify();
                }
            },
        );
        Self {
            list: SessionList::default(),
            filter,
            renaming: None,
            is_loading: false,
            problem: None,
            scroll: UniformListScrollHandle::new(),
            _follow: None,
            _filter: subscription,
        }
    }

    /// Removes the sessions of the previous folder.
    pub(super) fn leave_folder(&mut self) {
        self.list.set_entries(Vec::new());
        self.renaming = None;
        self.is_loading = false;
        self.problem = None;
        self._follow = None;
    }

    fn loaded(&mut self, listed: Result<Vec<SessionEntry>, Error>) {
        self.is_loading = false;
        match listed {
            Ok(entries) => {
                self.list.set_entries(entries);
                self.problem = None;
            }
            Err(problem) => self.problem = Some(problem.to_string()),
        }
    }

    fn reveal_selected(&self) {
        if let Some(at) = self.list.selected_index() {
            self.scroll.scroll_to_item(at, ScrollStrategy::Center);
        }
    }
}

impl ComposerPanel {
    pub(super) fn show_sessions(
        &mut self,
        _: &ShowSessions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.agents.is_none() || self.root.is_none() {
            return;
        }
        self.page = PanelPage::Sessions;
        self.sessions.renaming = None;
        self.sessions.is_loading = true;
        self.focus_sessions(window, cx);
        self.follow_sessions(ListReading::Now, cx);
        cx.notify();
    }

    /// Shows the list of sessions, for commands of the window.
    pub fn list_sessions(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.show_sessions(&ShowSessions, window, cx);
    }

    /// Moves the focus to the filter of the list.
    pub(super) fn focus_sessions(&self, window: &mut Window, cx: &mut Context<Self>) {
        let filter = self.sessions.filter.read(cx).focus_handle(cx);
        filter.focus(window, cx);
    }

    /// Follows the stored sessions: reads the list after each change while the page is shown, and
    /// otherwise after changes of titles and other marks. With `ListReading::Now` it is read at once.
    /// Changes during a reading are answered by one further reading.
    pub(super) fn follow_sessions(&mut self, first: ListReading, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        let mut changes = agents.stored_changes().ready_chunks(MAX_CHANGES);
        self.sessions._follow = Some(cx.spawn(async move |this, cx| {
            let mut is_due = first == ListReading::Now;
            loop {
                if is_due {
                    let listed = agents.sessions(root.clone()).await;
                    let taken = this.update(cx, |this, cx| {
                        this.sessions.loaded(listed);
                        this.note_listed();
                        this.refresh_automations(cx);
                        cx.notify();
                    });
                    // The window may be gone by then.
                    if taken.is_err() {
                        return;
                    }
                }
                let Some(changed) = changes.next().await else {
                    return;
                };
                let is_shown = this.update(cx, |this, _| {
                    matches!(this.page, PanelPage::Sessions | PanelPage::Automations)
                });
                let has_marks = changed.contains(&StoredChange::Marks);
                is_due = has_marks || is_shown.unwrap_or(false);
            }
        }));
    }

    /// Moves the selection in the list.
    pub(super) fn step_session(&mut self, step: isize, cx: &mut Context<Self>) {
        self.sessions.list.move_by(step);
        self.sessions.reveal_selected();
        cx.notify();
    }

    /// Opens the selected session in the panel.
    pub(super) fn open_selected_session(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.sessions.renaming.is_some() {
            self.finish_rename(window, cx);
            return;
        }
        let Some(entry) = self.sessions.list.selected().cloned() else {
            return;
        };
        if self.turn_to_session(&entry.id, window, cx) {
            return;
        }
        match entry.agent.map(|agent| agent.job) {
            Some(Some(job)) => self.watch_job(job, window, cx),
            Some(None) => {
                let sentence = "The agent of this session was removed from the board, so that it cannot be \
                                continued. Export the session to read it.";
                self.sessions.problem = Some(sentence.to_owned());
                cx.notify();
            }
            None => self.open_session(entry.id, window, cx),
        }
    }

    /// Opens a session that works in the folder itself, or turns to it if it is open.
    pub fn show_session(&mut self, id: String, window: &mut Window, cx: &mut Context<Self>) {
        if !self.turn_to_session(&id, window, cx) {
            self.open_session(id, window, cx);
        }
    }

    /// Turns to the page of the open session if it is this one, and returns whether it is.
    pub(super) fn turn_to_session(
        &mut self,
        id: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let is_open = self.open.as_ref().is_some_and(|open| open.live.id == id);
        if is_open {
            self.loads.opening = None;
            self.page = PanelPage::Session;
            self.note_seen(cx);
            self.focus_prompt(window, cx);
            cx.notify();
        }
        is_open
    }

    /// Opens a session that works in the folder itself.
    pub(super) fn open_session(&mut self, id: String, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self.loads.opening = Some(cx.spawn_in(window, async move |this, cx| {
            let opened = agents.open(root, id).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| match opened {
                Ok(live) => {
                    this.page = PanelPage::Session;
                    this.show(live, window, cx);
                    this.focus_prompt(window, cx);
                }
                Err(error) => {
                    this.sessions.problem = Some(error.to_string());
                    cx.notify();
                }
            })
            .ok();
        }));
    }

    /// Handles Escape on the page: ends renaming, clears the filter, or returns to the session.
    pub(super) fn cancel_sessions(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.sessions.renaming.take().is_some() {
            self.focus_sessions(window, cx);
        } else if self.sessions.list.has_filter() {
            let filter = self.sessions.filter.clone();
            filter.update(cx, |filter, cx| filter.set_value("", window, cx));
            self.sessions.list.set_filter("");
        } else {
            self.page = PanelPage::Session;
            self.loads.opening = None;
            self.note_seen(cx);
            self.focus_prompt(window, cx);
        }
        cx.notify();
    }
}
