//! The menu of the program's icon in the Dock. Other systems have none.

use gpui_kit::{App, MenuItem};

use crate::actions::app;
use crate::window_registry;

/// Number of recent folders in the menu.
const MAX_FOLDERS: usize = 8;

/// Registers the menu with the system; without effect on Linux.
pub(crate) fn install(cx: &App) {
    cx.set_dock_menu(dock_menu(cx));
}

/// Returns the items: a new window, then the recent folders, newest first.
pub(crate) fn dock_menu(cx: &App) -> Vec<MenuItem> {
    let mut items = vec![MenuItem::action("New Window", app::NewWindow)];
    let folders = window_registry::recent_folders(cx).into_iter();
    let folders = folders.take(MAX_FOLDERS).map(|folder| {
        let path = base::path_text(folder.as_path().as_os_str());
        MenuItem::action(folder.printable_name(), app::OpenRecentFolder(path))
    });
    let folders: Vec<MenuItem> = folders.collect();
    if !folders.is_empty() {
        items.push(MenuItem::separator());
        items.extend(folders);
    }
    items
}
