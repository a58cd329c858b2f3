//! The context menu of the text.

use std::rc::Rc;

use gpui_kit::{App, Context, Window};
use ui::{Menu, open_menu_at};

use super::Editor;
use crate::actions::{Copy, Cut, FindSelection, Fold, Paste, Redo, RevertHunk, Undo, Unfold};
use crate::caret_actions::{SelectAll, SelectAllOccurrences, ToggleLineComment};

/// Adds entries to the context menu of a view, at its start.
pub type MenuSection = Rc<dyn Fn(Menu, &App) -> Menu>;

impl Editor {
    /// Sets the entries that the context menu starts with, such as those of the window.
    pub fn set_menu_section(&mut self, section: MenuSection) {
        self.menu_section = Some(section);
    }
}

/// Builds the context menu of the text; entries that cannot apply now are disabled.
pub(crate) fn menu(editor: &Editor, cx: &App) -> Menu {
    let model = editor.model.read(cx);
    let can_edit = model.document().can_edit();
    let history = model.document().buffer().history();
    let mut menu = Menu::new().focus(editor.focus.clone());
    if let Some(section) = &editor.menu_section {
        menu = section(menu, cx);
    }
    let menu = menu
        .action_if("Cut", Box::new(Cut), can_edit)
        .action("Copy", Box::new(Copy))
        .action_if("Paste", Box::new(Paste), can_edit)
        .separator()
        .action_if("Undo", Box::new(Undo), can_edit && history.can_undo())
        .action_if("Redo", Box::new(Redo), can_edit && history.can_redo())
        .separator()
        .action("Select all", Box::new(SelectAll))
        .action("Select all occurrences", Box::new(SelectAllOccurrences))
        .action("Find selection", Box::new(FindSelection))
        .separator()
        .action_if("Toggle line comment", Box::new(ToggleLineComment), can_edit)
        .action("Fold", Box::new(Fold))
        .action("Unfold", Box::new(Unfold));
    if model.hunks().is_empty() {
        menu
    } else {
        menu.separator()
            .action_if("Revert change", Box::new(RevertHunk), can_edit)
    }
}

/// Opens the menu below the caret without moving it.
pub(crate) fn open_menu(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    if let Some(position) = editor.caret_corner() {
        editor.mouse.menu_at_caret = true;
        open_menu_at(position, window, cx);
        // The click does not arrive if something covers the text.
        cx.defer_in(window, |editor, _, _| editor.mouse.menu_at_caret = false);
    }
}
