//! The application menus: native on macOS, behind a button or in a bar elsewhere.

use gpui_kit::component::GlobalState;
use gpui_kit::{App, Menu, MenuItem, OsAction};

use crate::actions::{app, file, go, pane, project_search, view};

/// Registers the menus with the system and with the menu bar drawn by Burin.
pub(crate) fn install(cx: &mut App) {
    cx.set_menus(menus());
    if let Some(menus) = cx.get_menus() {
        GlobalState::global_mut(cx).set_app_menus(menus);
    } else {
        let owned = menus().into_iter().map(Menu::owned).collect();
        GlobalState::global_mut(cx).set_app_menus(owned);
    }
}

/// Returns all menus in display order.
pub(crate) fn menus() -> Vec<Menu> {
    let mut menus = Vec::new();
    if cfg!(target_os = "macos") {
        menus.push(Menu::new("Burin").items([
            MenuItem::action("About Burin", app::About),
            MenuItem::separator(),
            MenuItem::action("Settings", app::OpenSettings),
            MenuItem::action("Key bindings", app::OpenKeymap),
            MenuItem::action("Theme\u{2026}", app::SelectTheme),
            MenuItem::separator(),
            MenuItem::action("Quit Burin", app::Quit),
        ]));
    }
    menus.extend([
        file_menu(),
        edit_menu(),
        selection_menu(),
        view_menu(),
        go_menu(),
        window_menu(),
        help_menu(),
    ]);
    menus
}

fn file_menu() -> Menu {
    Menu::new("File").items([
        MenuItem::action("New text", file::New),
        MenuItem::action("New window", app::NewWindow),
        MenuItem::separator(),
        MenuItem::action("Open\u{2026}", file::Open),
        MenuItem::action("Open folder\u{2026}", file::OpenFolder),
        MenuItem::action("Open recent\u{2026}", file::OpenRecent),
        MenuItem::separator(),
        MenuItem::action("Save", file::Save),
        MenuItem::action("Save as\u{2026}", file::SaveAs),
        MenuItem::action("Save all", file::SaveAll),
        MenuItem::action("Revert to saved", file::Revert),
        MenuItem::separator(),
        MenuItem::action("Close tab", pane::CloseTab),
        MenuItem::action("Close folder", file::CloseFolder),
        MenuItem::action("Close window", app::CloseWindow),
        MenuItem::separator(),
        MenuItem::action("Quit", app::Quit),
    ])
}

fn edit_menu() -> Menu {
    Menu::new("Edit").items([
        MenuItem::os_action("Undo", editor::Undo, OsAction::Undo),
        MenuItem::os_action("Redo", editor::Redo, OsAction::Redo),
        MenuItem::separator(),
        MenuItem::os_action("Cut", editor::Cut, OsAction::Cut),
        MenuItem::os_action("Copy", editor::Copy, OsAction::Copy),
        MenuItem::os_action("Paste", editor::Paste, OsAction::Paste),
        MenuItem::separator(),
        MenuItem::action("Find", editor::Find),
        MenuItem::action("Replace", editor::Replace),
        MenuItem::separator(),
        MenuItem::action("Find in project", project_search::Show),
        MenuItem::action("Replace in project", project_search::ShowReplace),
        MenuItem::separator(),
        MenuItem::action("Toggle line comment", editor::ToggleLineComment),
        MenuItem::action("Toggle block comment", editor::ToggleBlockComment),
    ])
}

fn selection_menu() -> Menu {
    Menu::new("Selection").items([
        MenuItem::os_action("Select all", editor::SelectAll, OsAction::SelectAll),
        MenuItem::action("Expand selection", editor::ExpandSelection),
        MenuItem::action("Shrink selection", editor::ShrinkSelection),
        MenuItem::separator(),
        MenuItem::action("Add caret above", editor::AddCaretAbove),
        MenuItem::action("Add caret below", editor::AddCaretBelow),
        MenuItem::action("Carets at line ends", editor::CaretsAtRowEnds),
        MenuItem::separator(),
        MenuItem::action("Add next occurrence", editor::SelectNextOccurrence),
        MenuItem::action("Add previous occurrence", editor::SelectPreviousOccurrence),
        MenuItem::action("Select all occurrences", editor::SelectAllOccurrences),
        MenuItem::separator(),
        MenuItem::action("Move lines up", editor::MoveRowsUp),
        MenuItem::action("Move lines down", editor::MoveRowsDown),
        MenuItem::action("Copy lines up", editor::DuplicateUp),
        MenuItem::action("Copy lines down", editor::DuplicateDown),
    ])
}

fn view_menu() -> Menu {
    Menu::new("View").items([
        MenuItem::action("Commands\u{2026}", go::ShowCommands),
        MenuItem::separator(),
        MenuItem::action("Project tree", view::ToggleProjectTree),
        MenuItem::action("Agents", composer_panel::actions::TogglePanel),
        MenuItem::action("Notifications", view::ShowNotifications),
        MenuItem::separator(),
        MenuItem::action("Split right", pane::SplitRight),
        MenuItem::action("Split down", pane::SplitDown),
        MenuItem::action("Even out panes", pane::EvenOut),
        MenuItem::separator(),
        MenuItem::action("Soft wrap", editor::ToggleSoftWrap),
        MenuItem::action("Show whitespace", editor::ToggleWhitespace),
        MenuItem::action("Fold all", editor::FoldAll),
        MenuItem::action("Unfold all", editor::UnfoldAll),
        MenuItem::separator(),
        MenuItem::action("Theme\u{2026}", app::SelectTheme),
        MenuItem::action("Zoom in", view::ZoomIn),
        MenuItem::action("Zoom out", view::ZoomOut),
        MenuItem::action("Reset zoom", view::ResetZoom),
        MenuItem::action("Full screen", view::ToggleFullScreen),
    ])
}

fn go_menu() -> Menu {
    Menu::new("Go").items([
        MenuItem::action("Back", go::Back),
        MenuItem::action("Forward", go::Forward),
        MenuItem::separator(),
        MenuItem::action("Search\u{2026}", go::Search),
        MenuItem::action("File\u{2026}", go::FindFile),
        MenuItem::action("Symbol\u{2026}", go::FindSymbol),
        MenuItem::action("Line\u{2026}", go::ToLine),
        MenuItem::separator(),
        MenuItem::action("Next change", editor::NextHunk),
        MenuItem::action("Previous change", editor::PreviousHunk),
        MenuItem::action("Matching bracket", editor::MoveMatchingBracket),
    ])
}

fn window_menu() -> Menu {
    Menu::new("Window").items([
        MenuItem::action("Minimize", app::Minimize),
        MenuItem::action("Zoom", app::Zoom),
        MenuItem::separator(),
        MenuItem::action("Next tab", pane::NextTab),
        MenuItem::action("Previous tab", pane::PreviousTab),
        MenuItem::action("Switch tab\u{2026}", pane::SwitchTab),
        MenuItem::action("Next pane", pane::FocusNext),
    ])
}

fn help_menu() -> Menu {
    Menu::new("Help").items([
        MenuItem::action("Settings", app::OpenSettings),
        MenuItem::action("Default settings", app::OpenDefaultSettings),
        MenuItem::action("Key bindings", app::OpenKeymap),
        MenuItem::action("Default key bindings", app::OpenDefaultKeymap),
        MenuItem::separator(),
        MenuItem::action("About Burin", app::About),
    ])
}
