//! Renames, archives, deletes, forks and exports sessions.
//!
//! Each change is a mark that the engines append; the list shows it once it is stored.
//! Start at `ComposerPanel::target`.

use gpui_kit::component::input::InputState;
use gpui_kit::{AppContext as _, Context, Window};

use super::sessions::RenamedSession;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::actions::{
    ArchiveSession, DeleteSession, ExportSession, ForkSession, NewSession, RenameSession,
    ShowArchived, ShowSessions,
};
use crate::agents::SessionMark;
use crate::transcript::{ForkPoint, TranscriptEntry};

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 80;

impl ComposerPanel {
    /// The session that an action is about, with its title: the selected one on the page of sessions,
    /// else the open one.
    fn target(&self) -> Option<(String, String)> {
        match self.page {
            PanelPage::Sessions => {
                let entry = self.sessions.list.selected()?;
                Some((entry.id.clone(), entry.title.clone()))
            }
            PanelPage::Session
            | PanelPage::Board
            | PanelPage::Changes
            | PanelPage::Spending
            | PanelPage::Quality
            | PanelPage::Automations => {
                let id = self.open.as_ref()?.live.id.clone();
                let title = self.session_title(&id);
                Some((id, title))
            }
        }
    }

    /// Returns the title of a session, or a substitute if it is not known.
    pub fn session_title(&self, id: &str) -> String {
        let listed = self.sessions.list.find(id).map(|entry| entry.title.clone());
        let open = self.open.as_ref().filter(|open| open.live.id == id);
        let shown = || open.and_then(|open| open.transcript.title());
        let title = listed.or_else(shown);
        title.unwrap_or_else(|| "A session".to_owned())
    }

    pub(super) fn rename_session(
        &mut self,
        _: &RenameSession,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some((id, title)) = self.target() else {
            return;
        };
        if self.page != PanelPage::Sessions {
            self.show_sessions(&ShowSessions, window, cx);
            self.sessions.list.select_session(&id);
        }
        let length = title.len();
        let field = cx.new(|cx| InputState::new(window, cx).default_value(title));
        field.update(cx, |field, cx| {
            field.set_selected_range(0..length, cx);
            field.focus(window, cx);
        });
        self.sessions.renaming = Some(RenamedSession { id, field });
        cx.notify();
    }

    /// Stores the typed name. A blank one changes nothing.
    pub(super) fn finish_rename(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(renaming) = self.sessions.renaming.take() else {
            return;
        };
        let title = renaming.field.read(cx).value();
        let title: String = title.trim().chars().take(MAX_NAME).collect();
        if !title.is_empty() {
            self.mark(renaming.id, SessionMark::Renamed { title }, cx);
        }
        self.focus_sessions(window, cx);
        cx.notify();
    }

    pub(super) fn archive_session(
        &mut self,
        _: &ArchiveSession,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some((id, _)) = self.target() else {
            return;
        };
        let entry = self.sessions.list.find(&id);
        let mark = if entry.is_some_and(|entry| entry.is_archived) {
            SessionMark::Unarchived
        } else {
            SessionMark::Archived
        };
        self.mark(id, mark, cx);
    }

    pub(super) fn show_archived(
        &mut self,
        _: &ShowArchived,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.page != PanelPage::Sessions {
            self.show_sessions(&ShowSessions, window, cx);
        }
        self.sessions.list.toggle_archived();
        self.focus_sessions(window, cx);
        cx.notify();
    }

    pub(super) fn ask_to_delete_session(
        &mut self,
        _: &DeleteSession,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some((id, title)) = self.target() {
            cx.emit(PanelEvent::ConfirmDelete { id, title });
        }
    }

    /// Deletes a session, which the user agreed to. If it is shown, the panel turns to a new one,
    /// so that the session can close.
    pub fn delete_session(&mut self, id: String, window: &mut Window, cx: &mut Context<Self>) {
        let is_shown = self.open.as_ref().is_some_and(|open| open.live.id == id);
        if is_shown && self.is_running() {
            self.report_session_problem("This session is running: stop it, then delete it.", cx);
            return;
        }
        if is_shown {
            let page = self.page;
            self.new_session(&NewSession, window, cx);
            self.page = page;
        }
        if self.page == PanelPage::Sessions {
            self.focus_sessions(window, cx);
        }
        self.mark(id, SessionMark::Deleted, cx);
    }

    /// Appends a mark to a session, and reports a failure.
    pub(super) fn mark(&mut self, id: String, mark: SessionMark, cx: &mut Context<Self>) {
        let Some(agents) = &self.agents else {
            return;
        };
        let marking = agents.mark_session(id, mark);
        let task = cx.spawn(async move |this, cx| {
            if let Err(error) = marking.await {
                // The window may be gone by then.
                this.update(cx, |this, cx| {
                    this.report_session_problem(&error.to_string(), cx);
                })
                .ok();
            }
        });
        // A mark is stored even if another one follows before.
        task.detach();
    }

    /// Shows an error on the page.
    pub(super) fn report_session_problem(&mut self, sentence: &str, cx: &mut Context<Self>) {
        match self.page {
            PanelPage::Sessions => self.sessions.problem = Some(sentence.to_owned()),
            PanelPage::Session
            | PanelPage::Board
            | PanelPage::Changes
            | PanelPage::Spending
            | PanelPage::Quality
            | PanelPage::Automations => self.error = Some(sentence.to_owned()),
        }
        cx.notify();
    }

    /// Forks the open session from the selected item, or from its last one. A message of the user
    /// returns to the prompt box, and the copy ends before it.
    pub(super) fn fork_session(
        &mut self,
        _: &ForkSession,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(open) = self
            .open
            .as_ref()
            .filter(|_| self.page == PanelPage::Session)
        else {
            return;
        };
        let items = open.transcript.items();
        let Some(at) = open.selected.or(items.len().checked_sub(1)) else {
            return;
        };
        let Some(point) = open.transcript.fork_point(at) else {
            self.report_session_problem(
                "This message is still being written: fork it once it is whole.",
                cx,
            );
            return;
        };
        let prompt = match &items[at] {
            TranscriptEntry::User {
                text,
                is_steering: false,
            } => text.clone(),
            _ => String::new(),
        };
        let id = open.live.id.clone();
        match point {
            ForkPoint::After(after) | ForkPoint::Before(Some(after)) => {
                self.open_fork(id, after, prompt, window, cx);
            }
            // Nothing precedes the first message.
            ForkPoint::Before(None) => self.draft_prompt(&prompt, window, cx),
        }
    }

    fn open_fork(
        &mut self,
        id: String,
        after: u64,
        prompt: String,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        let forking = agents.fork_session(root, id, after);
        self.loads.opening = Some(cx.spawn_in(window, async move |this, cx| {
            let forked = forking.await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| match forked {
                Ok(fork) => {
                    if !prompt.is_empty() {
                        this.append_to_prompt(&prompt, window, cx);
                    }
                    this.open_session(fork, window, cx);
                }
                Err(error) => this.report_session_problem(&error.to_string(), cx),
            })
            .ok();
        }));
    }

    pub(super) fn export_session(
        &mut self,
        _: &ExportSession,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let (Some(agents), Some((id, _))) = (self.agents.clone(), self.target()) else {
            return;
        };
        let exporting = agents.export_session(id);
        let task = cx.spawn(async move |this, cx| {
            let exported = exporting.await;
            // The window may be gone by then.
            this.update(cx, |this, cx| match exported {
                Ok(exported) => cx.emit(PanelEvent::ShowExport(exported)),
                Err(error) => this.report_session_problem(&error.to_string(), cx),
            })
            .ok();
        });
        self.loads.export = Some(task);
    }
}
