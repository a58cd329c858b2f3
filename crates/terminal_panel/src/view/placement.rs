//! A terminal among the texts of the window: its number, its name, and the text of an earlier run that it waits for.

use gpui_kit::Context;
use terminal::SavedTerminal;

use super::{TerminalView, TerminalViewEvent};

/// The place of a terminal among the texts of the window.
pub(crate) struct EditorPlacement {
    /// The number that the window stores for the tab, unique in the panel.
    pub(crate) id: u64,
    /// The name that the user or the request gave.
    pub(crate) name: Option<String>,
    /// Whether the text of an earlier run is still being loaded; the program starts after that.
    pub(crate) is_held: bool,
}

/// Gives a terminal whose program was not started its text of an earlier run.
pub(crate) fn give_saved(
    view: &mut TerminalView,
    saved: SavedTerminal,
    cx: &mut Context<TerminalView>,
) {
    view.title.clone_from(&saved.title);
    if saved.folder.is_some() {
        view.request.folder.clone_from(&saved.folder);
    }
    view.saved = Some(saved);
    cx.emit(TerminalViewEvent::Changed);
}

/// Returns whether another run of Burin can show the terminal again: not one of a task or of an agent's command.
pub(crate) fn is_restorable(view: &TerminalView) -> bool {
    !view.is_task() && !view.is_agents()
}
