//! Sessions with news: a turn that ended or waits while the user did not look.
//!
//! Invariant: a session that the user opens has no news, in any window.
//! Start at `ComposerPanel::note_news`.

use std::collections::HashSet;

use futures::StreamExt as _;
use gpui_kit::Context;

use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::agents::SessionMark;

/// The sessions of the folder with news since the window opened, by id.
#[derive(Default)]
pub(super) struct SessionNews {
    unread: HashSet<String>,
}

impl SessionNews {
    pub(super) fn count(&self) -> usize {
        self.unread.len()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.unread.contains(id)
    }

    pub(super) fn leave_folder(&mut self) {
        self.unread.clear();
    }
}

impl ComposerPanel {
    /// Passes the changes of this folder's sessions to the window, which knows what the user sees.
    pub(super) fn follow_changes(&mut self, cx: &mut Context<Self>) {
        let Some(mut changes) = self.agents.as_ref().map(|it| it.session_changes()) else {
            return;
        };
        self._changes = Some(cx.spawn(async move |this, cx| {
            while let Some(change) = changes.next().await {
                let taken = this.update(cx, |this, cx| {
                    if this.root.as_ref() == Some(&change.folder) {
                        cx.emit(PanelEvent::SessionChanged(change));
                    }
                });
                if taken.is_err() {
                    return;
                }
            }
        }));
    }

    /// Passes problems of the engines that belong to no open session to the window.
    pub(super) fn follow_problems(&mut self, cx: &mut Context<Self>) {
        let Some(mut problems) = self.agents.as_ref().map(|it| it.problems()) else {
            return;
        };
        self._problems = Some(cx.spawn(async move |this, cx| {
            while let Some(problem) = problems.next().await {
                let taken = this.update(cx, |_, cx| cx.emit(PanelEvent::Problem(problem)));
                if taken.is_err() {
                    return;
                }
            }
        }));
    }

    /// Whether the panel shows a session or its changes, if the panel itself is visible.
    pub fn shows_session(&self, id: &str) -> bool {
        self.shown_session() == Some(id)
    }

    fn shown_session(&self) -> Option<&str> {
        match self.page {
            PanelPage::Session | PanelPage::Changes => {
                self.open.as_ref().map(|open| open.live.id.as_str())
            }
            _ => None,
        }
    }

    /// Marks a session as unread. `is_stored` says that the engines have marked it already.
    pub fn note_news(&mut self, id: &str, is_stored: bool, cx: &mut Context<Self>) {
        if self.news.unread.insert(id.to_owned()) && !is_stored {
            self.mark(id.to_owned(), SessionMark::Unread, cx);
        }
        cx.notify();
    }

    /// Marks the shown session as read. Call it when the user comes to see it or its changes.
    pub fn note_seen(&mut self, cx: &mut Context<Self>) {
        let Some(id) = self.shown_session().map(ToOwned::to_owned) else {
            return;
        };
        let listed = self.sessions.list.find(&id);
        let is_unread = listed.is_some_and(|entry| entry.is_unread);
        if self.news.unread.remove(&id) | is_unread {
            self.mark(id, SessionMark::Read, cx);
            cx.notify();
        }
    }

    /// Drops the news of sessions that are read in the list, perhaps in another window.
    pub(super) fn note_listed(&mut self) {
        let list = &self.sessions.list;
        self.news
            .unread
            .retain(|id| list.find(id).is_none_or(|entry| entry.is_unread));
    }
}
