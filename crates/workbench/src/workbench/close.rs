//! Closing tabs and windows: closing a tab with unsaved text asks first, closing a window does not,
//! because its text is restored. `quitting` asks if agents would end with the last window.

use editor::DocumentModel;
use gpui_kit::{App, Context, Div, Entity, EntityId, InteractiveElement as _, Stateful, Window};
use ui::ButtonStyle;

use super::{Workbench, editor_terminals};
use crate::actions::app::CloseWindow;
use crate::actions::pane::{
    CloseAllTabs, CloseOtherTabs, CloseSavedTabs, CloseTab, CloseTabsToTheRight, ReopenClosedTab,
};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{CloseScope, ItemId, PaneId};
use crate::question::QuestionSpec;
use crate::session::SavedItem;
use crate::window_registry;
use crate::workbench::{quitting, restore};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(close_window))
        .on_action(cx.listener(close_tab))
        .on_action(cx.listener(close_other_tabs))
        .on_action(cx.listener(close_to_the_right))
        .on_action(cx.listener(close_saved_tabs))
        .on_action(cx.listener(close_all_tabs))
        .on_action(cx.listener(reopen_closed))
}

impl Workbench {
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
        after_terminal_question(self, items, close_documents, window, cx);
    }

    /// Closes tabs without asking, whether or not text would be lost.
    pub(super) fn close_now(
        &mut self,
        items: &[ItemId],
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let terminals = editor_terminals::views_of(self, items);
        for item in items {
            let pane = self.layout.pane_of(*item);
            if let Some(entry) = self.items.remove(item) {
                remember_closed_in(self, &entry.item, pane, cx);
            }
            self.layout.close(*item);
        }
        editor_terminals::end(self, &terminals, window, cx);
        self.layout_changed(cx);
        self.watch_visible(cx);
        self.focus_active(window, cx);
    }
}

/// Closes tabs by `close`, after a confirmation if commands run in their terminals.
fn after_terminal_question(
    workbench: &mut Workbench,
    items: Vec<ItemId>,
    close: fn(&mut Workbench, Vec<ItemId>, &mut Window, &mut Context<Workbench>),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let terminals = editor_terminals::views_of(workbench, &items);
    let Some(spec) = editor_terminals::question(&terminals, cx) else {
        return close(workbench, items, window, cx);
    };
    let answer = workbench.ask(spec, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        if answer.await == Ok(editor_terminals::CLOSE) {
            let closed = this.update_in(cx, |this, window, cx| close(this, items, window, cx));
            // The window may be gone by then.
            closed.ok();
        }
    })
    .detach();
}

/// Closes tabs whose text is saved.
fn close_saved(
    workbench: &mut Workbench,
    items: Vec<ItemId>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.close_now(&items, window, cx);
}

/// Closes tabs, after a confirmation if text would be lost.
fn close_documents(
    workbench: &mut Workbench,
    items: Vec<ItemId>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let unsaved = unsaved_last_views(workbench, &items, cx);
    if unsaved.is_empty() {
        workbench.close_now(&items, window, cx);
        return;
    }
    let answer = workbench.ask(question(&unsaved, cx), window, cx);
    cx.spawn_in(window, async move |this, cx| {
        let Ok(answer) = answer.await else {
            return;
        };
        if answer == SAVE {
            for document in &unsaved {
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
                for document in &unsaved {
                    Documents::discard(document, cx);
                }
            }
            this.close_now(&items, window, cx);
        });
        closed.ok();
    })
    .detach();
}

fn close_tab(
    workbench: &mut Workbench,
    _: &CloseTab,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match workbench.layout.active_item() {
        Some(item) => workbench.close(CloseScope::One(item), window, cx),
        None => close_empty_pane(workbench, window, cx),
    }
}

fn close_empty_pane(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let pane = workbench.layout.active_pane();
    if workbench.layout.remove_pane(pane) {
        workbench.layout_changed(cx);
        workbench.focus_active(window, cx);
    }
}

fn close_other_tabs(
    workbench: &mut Workbench,
    _: &CloseOtherTabs,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(item) = workbench.layout.active_item() {
        workbench.close(CloseScope::Others(item), window, cx);
    }
}

fn close_to_the_right(
    workbench: &mut Workbench,
    _: &CloseTabsToTheRight,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(item) = workbench.layout.active_item() {
        workbench.close(CloseScope::RightOf(item), window, cx);
    }
}

fn close_all_tabs(
    workbench: &mut Workbench,
    _: &CloseAllTabs,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.close(CloseScope::All, window, cx);
}

fn close_saved_tabs(
    workbench: &mut Workbench,
    _: &CloseSavedTabs,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(tabs) = workbench.layout.tabs(workbench.layout.active_pane()) else {
        return;
    };
    let all = tabs.closing(CloseScope::All);
    let is_saved = |item: &ItemId| workbench.item(*item).is_some_and(|item| !item.is_dirty(cx));
    let saved: Vec<_> = all.into_iter().filter(is_saved).collect();
    after_terminal_question(workbench, saved, close_saved, window, cx);
}

/// Closes a tab and gives up its unsaved text, unless another tab shows it.
pub(super) fn give_up(
    workbench: &mut Workbench,
    item: ItemId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    for document in unsaved_last_views(workbench, &[item], cx) {
        Documents::discard(&document, cx);
    }
    workbench.close_now(&[item], window, cx);
}

/// Returns the unsaved documents whose last view is among `items`.
fn unsaved_last_views(
    workbench: &Workbench,
    items: &[ItemId],
    cx: &Context<Workbench>,
) -> Vec<Entity<DocumentModel>> {
    let mut unsaved: Vec<Entity<DocumentModel>> = Vec::new();
    let closing = items.iter().filter_map(|item| workbench.item(*item));
    let shown = closing.flat_map(|item| item.documents(cx));
    for document in shown.filter(|document| document.read(cx).document().is_dirty()) {
        let id = document.entity_id();
        let stays = workbench
            .items_of(id, cx)
            .iter()
            .any(|item| !items.contains(item))
            || is_shown_elsewhere(id, cx.entity_id(), cx);
        if !stays && !unsaved.iter().any(|known| known.entity_id() == id) {
            unsaved.push(document);
        }
    }
    unsaved
}

/// Remembers a closed tab of the active pane, so that it can be reopened.
pub(super) fn remember_closed(
    workbench: &mut Workbench,
    item: &TabItem,
    cx: &mut Context<Workbench>,
) {
    let pane = workbench.layout.active_pane();
    remember_closed_in(workbench, item, Some(pane), cx);
}

fn remember_closed_in(
    workbench: &mut Workbench,
    item: &TabItem,
    pane: Option<PaneId>,
    cx: &mut Context<Workbench>,
) {
    // The program of a closed terminal has ended.
    if item.terminal().is_some() {
        return;
    }
    // A discarded text without a file cannot be reopened.
    let is_text = matches!(item, TabItem::Text(_) | TabItem::Excerpts(..));
    if is_text && item.path(cx).is_none() {
        return;
    }
    if let (Some(item), Some(pane)) = (restore::save_item_state(item, cx), pane) {
        workbench.closed.push(ClosedTab { item, pane });
    }
}

fn reopen_closed(
    workbench: &mut Workbench,
    _: &ReopenClosedTab,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(closed) = workbench.closed.0.pop() else {
        return;
    };
    let pane = if workbench.layout.tabs(closed.pane).is_some() {
        closed.pane
    } else {
        workbench.layout.active_pane()
    };
    restore::reopen(workbench, closed.item, pane, window, cx);
}

fn close_window(
    workbench: &mut Workbench,
    _: &CloseWindow,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if quitting::asks_before_closing(workbench, cx.entity_id(), window, cx) {
        return;
    }
    workbench.store_now(window, cx);
    window.remove_window();
}

/// Maximum number of closed tabs that can be reopened.
const MAX_CLOSED_TABS: usize = 40;

/// Closed tabs that can be reopened, the latest last.
#[derive(Default)]
pub(super) struct ClosedTabs(Vec<ClosedTab>);

/// A closed tab and the pane it was in.
#[derive(Clone, Debug)]
struct ClosedTab {
    item: SavedItem,
    pane: PaneId,
}

impl ClosedTabs {
    fn push(&mut self, closed: ClosedTab) {
        self.0.push(closed);
        let surplus = self.0.len().saturating_sub(MAX_CLOSED_TABS);
        self.0.drain(..surplus);
    }
}

const CANCEL: usize = 0;
const DISCARD: usize = 1;
const SAVE: usize = 2;

fn question(unsaved: &[Entity<DocumentModel>], cx: &Context<Workbench>) -> QuestionSpec {
    let (title, save) = match unsaved {
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
    let names: Vec<String> = unsaved
        .iter()
        .take(6)
        .map(|document| document.read(cx).document().title())
        .collect();
    let detail = match unsaved {
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
        safest: if unsaved.is_empty() { CANCEL } else { SAVE },
    }
}

/// Returns whether another window shows a document.
fn is_shown_elsewhere(document: EntityId, this: EntityId, cx: &App) -> bool {
    let others = window_registry::others(this, cx).into_iter();
    let mut others = others.filter_map(|other| other.downcast::<Workbench>().ok());
    others.any(|workbench| !workbench.read(cx).items_of(document, cx).is_empty())
}
