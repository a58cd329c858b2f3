//! Closing tabs and windows: closing a tab with unsaved text asks first, closing a window never
//! does, because its text is restored.

use editor::DocumentModel;
use gpui_kit::{Context, Entity, Window};
use ui::ButtonStyle;

use super::{CLOSED_KEPT, ClosedTab, Workbench};
use crate::actions::app::CloseWindow;
use crate::actions::pane::{
    CloseAllTabs, CloseOtherTabs, CloseSavedTabs, CloseTab, CloseTabsToTheRight, ReopenClosedTab,
};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{CloseScope, ItemId, PaneId};
use crate::question::QuestionSpec;

impl Workbench {
    pub(super) fn close_tab(&mut self, _: &CloseTab, window: &mut Window, cx: &mut Context<Self>) {
        match self.layout.active_item() {
            Some(item) => self.close(CloseScope::One(item), window, cx),
            None => self.close_empty_pane(window, cx),
        }
    }

    fn close_empty_pane(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let pane = self.layout.active_pane();
        if self.layout.remove_pane(pane) {
            self.layout_changed(cx);
            self.focus_active(window, cx);
        }
    }

    pub(super) fn close_other_tabs(
        &mut self,
        _: &CloseOtherTabs,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(item) = self.layout.active_item() {
            self.close(CloseScope::Others(item), window, cx);
        }
    }

    pub(super) fn close_to_the_right(
        &mut self,
        _: &CloseTabsToTheRight,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(item) = self.layout.active_item() {
            self.close(CloseScope::RightOf(item), window, cx);
        }
    }

    pub(super) fn close_all_tabs(
        &mut self,
        _: &CloseAllTabs,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.close(CloseScope::All, window, cx);
    }

    pub(super) fn close_saved_tabs(
        &mut self,
        _: &CloseSavedTabs,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(tabs) = self.layout.tabs(self.layout.active_pane()) else {
            return;
        };
        let all = tabs.closing(CloseScope::All);
        let is_saved = |item: &ItemId| self.item(*item).is_some_and(|item| !item.is_dirty(cx));
        let saved: Vec<_> = all.into_iter().filter(is_saved).collect();
        self.close_now(&saved, window, cx);
    }

    /// Closes the tabs in `closing`, after a confirmation if text would be lost.
    pub(crate) fn close(
        &mut self,
        closing: CloseScope,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = match closing {
            CloseScope::One(item) | CloseScope::Others(item) | CloseScope::RightOf(item) => {
                self.layout.pane_of(item)
            }
            CloseScope::All => Some(self.layout.active_pane()),
        };
        let Some(tabs) = pane.and_then(|pane| self.layout.tabs(pane)) else {
            return;
        };
        let items = tabs.closing(closing);
        let losing = self.unsaved_last_views(&items, cx);
        if losing.is_empty() {
            self.close_now(&items, window, cx);
            return;
        }
        let answer = self.ask(question(&losing, cx), window, cx);
        cx.spawn_in(window, async move |this, cx| {
            let Ok(answer) = answer.await else {
                return;
            };
            if answer == SAVE {
                for document in &losing {
                    let Ok(saving) = this.update_in(cx, |this, window, cx| {
                        this.save_document(document.clone(), window, cx)
                    }) else {
                        return;
                    };
                    // If one document cannot be saved, all tabs stay open.
                    if !saving.await {
                        return;
                    }
                }
            } else if answer != DISCARD {
                return;
            }
            let closed = this.update_in(cx, |this, window, cx| {
                if answer == DISCARD {
                    for document in &losing {
                        Documents::discard(document, cx);
                    }
                }
                this.close_now(&items, window, cx);
            });
            closed.ok();
        })
        .detach();
    }

    /// Returns the unsaved documents whose last view is among `items`.
    fn unsaved_last_views(
        &self,
        items: &[ItemId],
        cx: &Context<Self>,
    ) -> Vec<Entity<DocumentModel>> {
        let mut losing: Vec<Entity<DocumentModel>> = Vec::new();
        let closing = items.iter().filter_map(|item| self.item(*item));
        let shown = closing.flat_map(|item| item.documents(cx));
        for document in shown.filter(|document| document.read(cx).document().is_dirty()) {
            let id = document.entity_id();
            let stays = self
                .items_of(id, cx)
                .iter()
                .any(|item| !items.contains(item))
                || crate::windows::is_shown_elsewhere(id, cx.entity().entity_id(), cx);
            if !stays && !losing.iter().any(|known| known.entity_id() == id) {
                losing.push(document);
            }
        }
        losing
    }

    pub(super) fn close_now(
        &mut self,
        items: &[ItemId],
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        for item in items {
            let pane = self.layout.pane_of(*item);
            if let Some(entry) = self.items.remove(item) {
                self.remember_closed_in(&entry.item, pane, cx);
            }
            self.layout.close(*item);
        }
        self.layout_changed(cx);
        self.watch_visible(cx);
        self.focus_active(window, cx);
    }

    pub(super) fn remember_closed(&mut self, item: &TabItem, cx: &mut Context<Self>) {
        self.remember_closed_in(item, Some(self.layout.active_pane()), cx);
    }

    fn remember_closed_in(&mut self, item: &TabItem, pane: Option<PaneId>, cx: &mut Context<Self>) {
        // A discarded text without a file cannot be reopened.
        let is_text = matches!(item, TabItem::Text(_) | TabItem::Excerpts(..));
        if is_text && item.path(cx).is_none() {
            return;
        }
        if let (Some(item), Some(pane)) = (self.save_item_state(item, cx), pane) {
            self.closed.push(ClosedTab { item, pane });
            let surplus = self.closed.len().saturating_sub(CLOSED_KEPT);
            self.closed.drain(..surplus);
        }
    }

    pub(super) fn reopen_closed(
        &mut self,
        _: &ReopenClosedTab,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(closed) = self.closed.pop() else {
            return;
        };
        let pane = if self.layout.tabs(closed.pane).is_some() {
            closed.pane
        } else {
            self.layout.active_pane()
        };
        self.reopen(closed.item, pane, window, cx);
    }

    pub(super) fn close_window(
        &mut self,
        _: &CloseWindow,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.store_now(window, cx);
        window.remove_window();
    }
}

const CANCEL: usize = 0;
const DISCARD: usize = 1;
const SAVE: usize = 2;

fn question(losing: &[Entity<DocumentModel>], cx: &Context<Workbench>) -> QuestionSpec {
    let (title, save) = match losing {
        [one] => (
            format!(
                "Save the changes to \u{201c}{}\u{201d}?",
                one.read(cx).document().title()
            ),
            "Save".to_owned(),
        ),
        many => (
            format!("Save the changes to {} files?", many.len()),
            format!("Save {} files", many.len()),
        ),
    };
    let names: Vec<String> = losing
        .iter()
        .take(6)
        .map(|document| document.read(cx).document().title())
        .collect();
    let detail = match losing {
        [_] => "Otherwise, the changes since the last save are lost.".to_owned(),
        _ => format!("Otherwise, the changes in {} are lost.", names.join(", ")),
    };
    QuestionSpec {
        title: title.into(),
        detail: detail.into(),
        answers: vec![
            ("Cancel".into(), ButtonStyle::Plain),
            ("Don\u{2019}t save".into(), ButtonStyle::Danger),
            (save.into(), ButtonStyle::Primary),
        ],
        // Saving loses nothing either, but it overwrites a file, so Cancel is the safe answer.
        safest: if losing.is_empty() { CANCEL } else { SAVE },
    }
}
