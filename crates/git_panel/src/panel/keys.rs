//! Handlers of actions, and typed characters that search a row.

use git_program::IdentityScope;
use gpui_kit::{
    Context, Div, InteractiveElement as _, KeyDownEvent, ScrollStrategy, Stateful, Window,
};

use super::{ChangesPanel, ChangesPanelEvent, commands, identity, staging};
use crate::actions as act;
use crate::rows::RowKey;
use crate::state::SelectionMode;

impl ChangesPanel {
    /// Registers the actions of the whole panel.
    pub(super) fn with_panel_actions(
        element: Stateful<Div>,
        cx: &mut Context<Self>,
    ) -> Stateful<Div> {
        let element = commands::on_commands(element, Self::command, cx);
        element
            .on_action(cx.listener(|this, _: &act::Undo, window, cx| this.undo_step(window, cx)))
            .on_action(cx.listener(|this, _: &act::ToggleTree, _, cx| this.toggle_tree(cx)))
            .on_action(cx.listener(|this, _: &act::FocusMessage, window, cx| {
                this.focus_message(window, cx);
            }))
            .on_action(cx.listener(|this, _: &act::FocusList, window, cx| {
                this.focus.focus(window, cx);
            }))
            .on_action(cx.listener(|this, _: &act::Refresh, window, cx| this.list(window, cx)))
            .on_action(cx.listener(|this, _: &act::ToggleLog, _, cx| {
                this.shows_log = !this.shows_log;
                cx.notify();
            }))
            .on_action(
                cx.listener(|this, _: &act::SaveIdentityForAll, window, cx| {
                    identity::save(this, IdentityScope::User, window, cx);
                }),
            )
            .on_action(cx.listener(|this, _: &act::CancelCall, _, cx| this.cancel_call(cx)))
            .on_action(cx.listener(|this, _: &act::ConfirmQuestion, window, cx| {
                this.confirm_question(window, cx);
            }))
            .on_action(cx.listener(Self::cancel))
    }

    /// Registers the actions of the list.
    pub(super) fn with_list_actions(
        element: Stateful<Div>,
        cx: &mut Context<Self>,
    ) -> Stateful<Div> {
        let single = SelectionMode::Single;
        let extend = SelectionMode::Extend;
        element
            .on_action(cx.listener(move |this, _: &act::SelectNext, _, cx| {
                this.select_by(1, single, cx);
            }))
            .on_action(cx.listener(move |this, _: &act::SelectPrevious, _, cx| {
                this.select_by(-1, single, cx);
            }))
            .on_action(cx.listener(move |this, _: &act::ExtendDown, _, cx| {
                this.select_by(1, extend, cx);
            }))
            .on_action(cx.listener(move |this, _: &act::ExtendUp, _, cx| {
                this.select_by(-1, extend, cx);
            }))
            .on_action(cx.listener(move |this, _: &act::SelectFirst, _, cx| {
                this.select_by(isize::MIN, single, cx);
            }))
            .on_action(cx.listener(move |this, _: &act::SelectLast, _, cx| {
                this.select_by(isize::MAX, single, cx);
            }))
            .on_action(cx.listener(|this, _: &act::Expand, _, cx| this.expand(cx)))
            .on_action(cx.listener(|this, _: &act::Collapse, _, cx| this.collapse(cx)))
            .on_action(cx.listener(|this, _: &act::ToggleStaged, window, cx| {
                this.state.typed.clear();
                this.toggle_selected(window, cx);
            }))
            .on_action(cx.listener(|this, _: &act::OpenDiff, _, cx| this.open_selected(cx)))
            .on_action(cx.listener(|this, _: &act::OpenFile, _, cx| this.open_file(cx)))
            .on_action(cx.listener(|this, _: &act::Discard, window, cx| {
                this.discard_selected(window, cx);
            }))
            .on_key_down(cx.listener(Self::key))
    }

    fn select_by(&mut self, step: isize, mode: SelectionMode, cx: &mut Context<Self>) {
        self.state.typed.clear();
        self.state.select_by(step, mode);
        self.reveal_cursor();
        // The branch and the message are those of the repository of the selected row.
        cx.emit(ChangesPanelEvent::SelectionChanged);
        cx.notify();
    }

    /// Scrolls to the selected row.
    pub(super) fn reveal_cursor(&self) {
        if let Some(ix) = self.state.cursor_ix() {
            self.scroll.scroll_to_item(ix, ScrollStrategy::Nearest);
        }
    }

    fn toggle_tree(&mut self, cx: &mut Context<Self>) {
        self.state.is_tree = !self.state.is_tree;
        self.state.update_rows();
        self.reveal_cursor();
        cx.notify();
    }

    /// Folds a row, or unfolds it.
    pub(super) fn toggle_fold(&mut self, key: &RowKey, cx: &mut Context<Self>) {
        if !self.state.folded.remove(key) {
            self.state.folded.insert(key.clone());
        }
        self.state.update_rows();
        cx.notify();
    }

    fn expand(&mut self, cx: &mut Context<Self>) {
        let Some(key) = self.state.cursor.clone() else {
            return;
        };
        if self.state.folded.contains(&key) {
            self.toggle_fold(&key, cx);
        } else if !key.is_file() {
            self.select_by(1, SelectionMode::Single, cx);
        }
    }

    fn collapse(&mut self, cx: &mut Context<Self>) {
        let (Some(key), Some(ix)) = (self.state.cursor.clone(), self.state.cursor_ix()) else {
            return;
        };
        if !key.is_file() && !self.state.folded.contains(&key) {
            return self.toggle_fold(&key, cx);
        }
        let rows = self.state.rows();
        let depth = rows[ix].depth;
        let around = rows[..ix].iter().rposition(|row| row.depth < depth);
        if let Some(around) = around {
            self.state.select(around, SelectionMode::Single);
            self.reveal_cursor();
            cx.notify();
        }
    }

    /// Opens the diff of the selected file, or unfolds the selected row.
    pub(super) fn open_selected(&mut self, cx: &mut Context<Self>) {
        let Some(key) = self.state.cursor.clone() else {
            return;
        };
        if !key.is_file() {
            return self.toggle_fold(&key, cx);
        }
        let RowKey::File(repository, group, path) = key else {
            return;
        };
        cx.emit(match staging::side_of(group) {
            Some(side) => ChangesPanelEvent::OpenDiff {
                repository,
                path,
                side,
            },
            // A conflict is edited in its file.
            None => ChangesPanelEvent::OpenFile(repository.join(path.to_path())),
        });
    }

    fn open_file(&mut self, cx: &mut Context<Self>) {
        if let Some(RowKey::File(root, _, path)) = &self.state.cursor {
            let file = root.join(path.to_path());
            cx.emit(ChangesPanelEvent::OpenFile(file));
        }
    }

    fn cancel(&mut self, _: &act::Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.question.is_some() {
            self.dismiss_question(window, cx);
        } else if self.prompt.is_some() {
            self.refuse_prompt(window, cx);
        } else if self.identity.is_some() {
            identity::close(self, window, cx);
        } else if !self.state.typed.is_empty() {
            self.state.typed.clear();
        } else if self.notice.take().is_none() {
            cx.emit(ChangesPanelEvent::Cancelled);
        }
        cx.notify();
    }

    /// Adds a typed character to the search for a row.
    fn key(&mut self, event: &KeyDownEvent, _: &mut Window, cx: &mut Context<Self>) {
        let stroke = &event.keystroke;
        let modifiers = stroke.modifiers;
        if modifiers.control || modifiers.alt || modifiers.platform || modifiers.function {
            return;
        }
        let typed = stroke.key_char.as_deref().unwrap_or_default();
        let is_text = !typed.is_empty() && !typed.chars().any(char::is_control);
        // Space is a key of the list.
        if !is_text || typed == " " {
            return;
        }
        self.state.typed.push_str(typed);
        self.state.select_typed();
        self.reveal_cursor();
        cx.stop_propagation();
        cx.notify();
    }
}
