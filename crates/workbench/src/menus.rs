//! The application menus: native on macOS, behind a button or in a bar elsewhere.
//!
//! The items are plain data that depends on the platform alone; the toolkit adds the keys. On macOS
//! it reads them once, so the menus are installed again after every change of the key bindings.

pub(crate) mod dock;

use base::Platform;
use git_history::actions::git;
use gpui_kit::{Action, App, Menu, MenuItem, OsAction, SystemMenuType};
use ui::ActivePlatform as _;

use crate::actions::{
    app, excerpts, file, go, help, inline_edit, language, pane, project_search, project_tree,
    snippets, suggestions, tasks, test_runs, view,
};

/// Registers the menus with the system.
pub(crate) fn install(cx: &mut App) {
    cx.set_menus(menus(cx.platform()));
    dock::install(cx);
}

/// Registers the menus with the system again, after the key bindings or the recent folders changed.
pub(crate) fn refresh(cx: &App) {
    if cx.platform() == Platform::MacOs {
        cx.set_menus(menus(Platform::MacOs));
        dock::install(cx);
    }
}

/// Returns all menus of a platform in display order.
pub(crate) fn menus(platform: Platform) -> Vec<Menu> {
    let menus = [
        file_menu(platform),
        edit_menu(),
        selection_menu(),
        view_menu(platform),
        go_menu(),
        agents_menu(),
        terminal_menu(),
        window_menu(),
        help_menu(platform),
    ];
    match platform {
        Platform::Linux => menus.into(),
        Platform::MacOs => {
            let app_menu = std::iter::once(mac_app_menu());
            app_menu.chain(menus).map(with_title_case).collect()
        }
    }
}

/// The menu with the program's name.
fn mac_app_menu() -> Menu {
    Menu::new("Burin").items([
        MenuItem::action("About Burin", app::About),
        MenuItem::separator(),
        MenuItem::action("Settings\u{2026}", app::OpenSettings),
        MenuItem::action("Key bindings\u{2026}", app::OpenKeymap),
        MenuItem::action("Theme\u{2026}", app::SelectTheme),
        MenuItem::separator(),
        MenuItem::action("Install burin command", app::InstallCommand),
        MenuItem::separator(),
        MenuItem::os_submenu("Services", SystemMenuType::Services),
        MenuItem::separator(),
        MenuItem::action("Hide Burin", app::Hide),
        MenuItem::action("Hide others", app::HideOthers),
        MenuItem::action("Show all", app::ShowAll),
        MenuItem::separator(),
        MenuItem::action("Quit Burin", app::Quit),
    ])
}

/// Appends items that only Linux has in this menu: macOS has them in the menu with its name.
fn on_linux(
    menu: impl IntoIterator<Item = MenuItem>,
    platform: Platform,
    items: impl IntoIterator<Item = MenuItem>,
) -> Vec<MenuItem> {
    let mut menu: Vec<MenuItem> = menu.into_iter().collect();
    if platform == Platform::Linux {
        menu.extend(items);
    }
    menu
}

fn file_menu(platform: Platform) -> Menu {
    let reveal = match platform {
        Platform::Linux => "Reveal in file manager",
        Platform::MacOs => "Reveal in Finder",
    };
    let items = [
        MenuItem::action("New text", file::New),
        MenuItem::action("New window", app::NewWindow),
        MenuItem::separator(),
        MenuItem::action("Open\u{2026}", file::Open),
        MenuItem::action("Open folder\u{2026}", file::OpenFolder),
        MenuItem::action("Open recent\u{2026}", file::OpenRecent),
        MenuItem::action("Reopen closed tab", pane::ReopenClosedTab),
        MenuItem::separator(),
        MenuItem::action("Save", file::Save),
        MenuItem::action("Save as\u{2026}", file::SaveAs),
        MenuItem::action("Save all", file::SaveAll),
        MenuItem::action("Revert to saved", file::Revert),
        MenuItem::action("Compare with disk", file::CompareWithDisk),
        MenuItem::separator(),
        MenuItem::action("Language\u{2026}", file::SelectLanguage),
        MenuItem::action("Line ending\u{2026}", file::SelectLineEnding),
        MenuItem::action("Indentation\u{2026}", file::SelectIndentation),
        MenuItem::action("Reopen with encoding\u{2026}", file::ReopenWithEncoding),
        MenuItem::action("Save with encoding\u{2026}", file::SaveWithEncoding),
        MenuItem::separator(),
        MenuItem::action("Copy path", file::CopyPath),
        MenuItem::action("Copy relative path", file::CopyRelativePath),
        MenuItem::action(reveal, file::RevealInFileManager),
        MenuItem::separator(),
        MenuItem::action("Close tab", pane::CloseTab),
        MenuItem::action("Close all tabs", pane::CloseAllTabs),
        MenuItem::action("Close folder", file::CloseFolder),
        MenuItem::action("Close window", app::CloseWindow),
    ];
    let quit = [MenuItem::separator(), MenuItem::action("Quit", app::Quit)];
    Menu::new("File").items(on_linux(items, platform, quit))
}

fn edit_menu() -> Menu {
    Menu::new("Edit").items([
        MenuItem::os_action("Undo", editor::Undo, OsAction::Undo),
        MenuItem::os_action("Redo", editor::Redo, OsAction::Redo),
        MenuItem::separator(),
        MenuItem::os_action("Cut", editor::Cut, OsAction::Cut),
        MenuItem::os_action("Copy", editor::Copy, OsAction::Copy),
        MenuItem::os_action("Paste", editor::Paste, OsAction::Paste),
        MenuItem::action("Paste as is", editor::PasteAsIs),
        MenuItem::separator(),
        MenuItem::action("Find", editor::Find),
        MenuItem::action("Find next", editor::FindNext),
        MenuItem::action("Find previous", editor::FindPrevious),
        MenuItem::action("Replace", editor::Replace),
        MenuItem::separator(),
        MenuItem::action("Find in project", project_search::Show),
        MenuItem::action("Replace in project", project_search::ShowReplace),
        MenuItem::action("Edit results in one tab", project_search::EditResults),
        MenuItem::action("Open source of the line", excerpts::OpenSource),
        MenuItem::separator(),
        MenuItem::action("Toggle line comment", editor::ToggleLineComment),
        MenuItem::action("Toggle block comment", editor::ToggleBlockComment),
        MenuItem::action("Join lines", editor::JoinRows),
        MenuItem::action("Delete lines", editor::DeleteRows),
        MenuItem::action("Insert snippet\u{2026}", snippets::Insert),
        MenuItem::separator(),
        MenuItem::action("Rename symbol\u{2026}", language::RenameSymbol),
        MenuItem::action("Code actions\u{2026}", language::ShowCodeActions),
        MenuItem::action("Organize imports", language::OrganizeImports),
        MenuItem::action("Format", language::FormatDocument),
        MenuItem::action("Format selection", language::FormatSelection),
        MenuItem::separator(),
        MenuItem::action("Request suggestion", editor::RequestSuggestion),
        MenuItem::action("Suggestion status\u{2026}", suggestions::ShowStatus),
        MenuItem::action("Refused suggestions\u{2026}", suggestions::ShowLog),
        MenuItem::action("Snooze suggestions", suggestions::Snooze),
        MenuItem::action("Turn suggestions on or off", suggestions::Toggle),
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

fn view_menu(platform: Platform) -> Menu {
    let items = [
        MenuItem::action("Commands\u{2026}", go::ShowCommands),
        MenuItem::separator(),
        MenuItem::action("Project tree", view::ToggleProjectTree),
        MenuItem::action("Git changes", git_panel::actions::ShowChanges),
        MenuItem::action("Reveal file in tree", file::RevealInTree),
        MenuItem::action("Collapse all folders", project_tree::CollapseAll),
        MenuItem::action("Ignored files in tree", project_tree::ToggleIgnored),
        MenuItem::action("Notifications", view::ShowNotifications),
        MenuItem::separator(),
        MenuItem::action("Open preview", preview_view::actions::Open),
        MenuItem::action(
            "Open preview to the side",
            preview_view::actions::OpenToTheSide,
        ),
        MenuItem::action("Open with\u{2026}", preview_view::actions::OpenWith),
        MenuItem::separator(),
        MenuItem::action("Split right", pane::SplitRight),
        MenuItem::action("Split down", pane::SplitDown),
        MenuItem::action("Even out panes", pane::EvenOut),
        MenuItem::separator(),
        MenuItem::action("Soft wrap", editor::ToggleSoftWrap),
        MenuItem::action("Show whitespace", editor::ToggleWhitespace),
        MenuItem::action("Show inlay hints", editor::ToggleInlayHints),
        MenuItem::action("Fold", editor::Fold),
        MenuItem::action("Unfold", editor::Unfold),
        MenuItem::action("Fold all", editor::FoldAll),
        MenuItem::action("Unfold all", editor::UnfoldAll),
        MenuItem::separator(),
        MenuItem::action("Zoom in", view::ZoomIn),
        MenuItem::action("Zoom out", view::ZoomOut),
        MenuItem::action("Reset zoom", view::ResetZoom),
        MenuItem::action("Full screen", view::ToggleFullScreen),
    ];
    let theme = [
        MenuItem::separator(),
        MenuItem::action("Theme\u{2026}", app::SelectTheme),
    ];
    Menu::new("View").items(on_linux(items, platform, theme))
}

fn go_menu() -> Menu {
    Menu::new("Go").items([
        MenuItem::action("Back", go::Back),
        MenuItem::action("Forward", go::Forward),
        MenuItem::separator(),
        MenuItem::action("Search\u{2026}", go::Search),
        MenuItem::action("File\u{2026}", go::FindFile),
        MenuItem::action("Symbol\u{2026}", go::FindSymbol),
        MenuItem::action("Symbol in project\u{2026}", go::FindProjectSymbol),
        MenuItem::action("Line\u{2026}", go::ToLine),
        MenuItem::separator(),
        MenuItem::action("Definition", language::GoToDefinition),
        MenuItem::action("Declaration", language::GoToDeclaration),
        MenuItem::action("Type definition", language::GoToTypeDefinition),
        MenuItem::action("Implementations", language::GoToImplementation),
        MenuItem::action("References", language::FindReferences),
        MenuItem::action("Peek definition", language::PeekDefinition),
        MenuItem::action("Peek references", language::PeekReferences),
        MenuItem::action("Incoming calls", language::ShowIncomingCalls),
        MenuItem::action("Outgoing calls", language::ShowOutgoingCalls),
        MenuItem::action("Supertypes", language::ShowSupertypes),
        MenuItem::action("Subtypes", language::ShowSubtypes),
        MenuItem::separator(),
        MenuItem::action("Problems\u{2026}", language::ShowProblems),
        MenuItem::action("Next problem", language::NextProblem),
        MenuItem::action("Previous problem", language::PreviousProblem),
        MenuItem::action("Show information", editor::ShowHover),
        MenuItem::action("Show signature", editor::ShowSignatureHelp),
        MenuItem::separator(),
        MenuItem::action("Tests", test_runs::ShowTests),
        MenuItem::action("Run test at caret", test_runs::RunAtCaret),
        MenuItem::action("Run tests of file", test_runs::RunFile),
        MenuItem::action("Run all tests", test_runs::RunAll),
        MenuItem::action("Run failed tests", test_runs::RunFailed),
        MenuItem::separator(),
        MenuItem::action("History", git::ShowHistory),
        MenuItem::action("History of file", git::ShowFileHistory),
        MenuItem::action("History of selected lines", git::ShowLineHistory),
        MenuItem::action("Authors of lines", git::ToggleBlame),
        MenuItem::separator(),
        MenuItem::action("Next change", editor::NextHunk),
        MenuItem::action("Previous change", editor::PreviousHunk),
        MenuItem::action("Matching bracket", editor::MoveMatchingBracket),
        MenuItem::separator(),
        MenuItem::action("Index status\u{2026}", go::ShowIndex),
        MenuItem::action("Language servers\u{2026}", language::ShowServers),
    ])
}

fn terminal_menu() -> Menu {
    use terminal_panel::actions as terminal;
    Menu::new("Terminal").items([
        MenuItem::action("Terminals", terminal::TogglePanel),
        MenuItem::action("Focus terminal", terminal::FocusPanel),
        MenuItem::action("New terminal", terminal::NewTerminal),
        MenuItem::action("Split terminal", terminal::SplitTerminal),
        MenuItem::action(
            "New terminal in editor area",
            terminal::NewTerminalInEditorArea,
        ),
        MenuItem::action(
            "Move terminal into editor area",
            terminal::MoveTerminalIntoEditorArea,
        ),
        MenuItem::action("Move terminal into panel", terminal::MoveTerminalIntoPanel),
        MenuItem::separator(),
        MenuItem::action("Previous command", terminal::PreviousCommand),
        MenuItem::action("Next command", terminal::NextCommand),
        MenuItem::action("Copy output of command", terminal::CopyCommandOutput),
        MenuItem::action("Run command again", terminal::RunCommandAgain),
        MenuItem::action("Send output to agent", terminal::SendOutputToAgent),
        MenuItem::action("Explain last failure", terminal::ExplainLastFailure),
        MenuItem::action("Fix last failure", terminal::FixLastFailure),
        MenuItem::separator(),
        MenuItem::action("Run task\u{2026}", tasks::RunTask),
        MenuItem::action("Run build task", tasks::RunBuildTask),
        MenuItem::action("Run test task", tasks::RunTestTask),
        MenuItem::action("Run last task", tasks::RunLastTask),
        MenuItem::action("Stop task\u{2026}", tasks::StopTask),
        MenuItem::separator(),
        MenuItem::action("Find in terminal", terminal::Find),
        MenuItem::action("Clear terminal", terminal::Clear),
        MenuItem::action("Close terminal", terminal::CloseTerminal),
    ])
}

fn agents_menu() -> Menu {
    use composer_panel::actions as agents;
    Menu::new("Agents").items([
        MenuItem::action("Agents", agents::TogglePanel),
        MenuItem::action("Focus agents", agents::FocusPanel),
        MenuItem::action("Board", agents::ShowBoard),
        MenuItem::separator(),
        MenuItem::action("New session", agents::NewSession),
        MenuItem::action(
            "New external agent session\u{2026}",
            agents::NewExternalSession,
        ),
        MenuItem::action("Sessions\u{2026}", agents::ShowSessions),
        MenuItem::action("Use another machine\u{2026}", agents::UseAnotherMachine),
        MenuItem::action("Add selection to prompt", agents::AddSelection),
        MenuItem::action("Edit inline\u{2026}", inline_edit::Open),
        MenuItem::separator(),
        MenuItem::action("Model\u{2026}", agents::ChooseModel),
        MenuItem::action(
            "Option of the external agent\u{2026}",
            agents::ChooseAgentOption,
        ),
        MenuItem::action("Next mode", agents::NextMode),
        MenuItem::action("Build plan", agents::BuildPlan),
        MenuItem::action("Context", agents::ShowContext),
        MenuItem::action("Compact conversation", agents::CompactSession),
        MenuItem::action("Cost of models", agents::ShowSpending),
        MenuItem::action("Quality", agents::ShowQuality),
        MenuItem::action("Automations\u{2026}", agents::ShowAutomations),
        MenuItem::action("Stop", agents::Stop),
        MenuItem::separator(),
        MenuItem::action("Accept change at caret", agents::AcceptHere),
        MenuItem::action("Reject change at caret", agents::RejectHere),
        MenuItem::action("Comment on change\u{2026}", agents::CommentOnChange),
        MenuItem::action("Land accepted changes", agents::Land),
        MenuItem::action("Land without checking for errors", agents::LandWithErrors),
        MenuItem::action("Undo landing", agents::UndoLanding),
        MenuItem::separator(),
        MenuItem::action("Permissions\u{2026}", agents::ShowPermissions),
        MenuItem::action("MCP servers\u{2026}", agents::ShowMcpServers),
        MenuItem::action("Trust and hooks\u{2026}", agents::ShowTrust),
        MenuItem::action("Trust folder", agents::TrustFolder),
        MenuItem::action("Distrust folder", agents::DistrustFolder),
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

fn help_menu(platform: Platform) -> Menu {
    let items = [
        MenuItem::action("Search docs\u{2026}", help::SearchDocs),
        MenuItem::action("Report issue", help::ReportIssue),
        MenuItem::separator(),
        MenuItem::action("Default settings", app::OpenDefaultSettings),
        MenuItem::action("Default key bindings", app::OpenDefaultKeymap),
        MenuItem::action("Themes folder", app::OpenThemesFolder),
        MenuItem::action("Configure snippets", snippets::Configure),
    ];
    let own = [
        MenuItem::separator(),
        MenuItem::action("Settings", app::OpenSettings),
        MenuItem::action("Key bindings", app::OpenKeymap),
        MenuItem::action("Install burin command", app::InstallCommand),
        MenuItem::separator(),
        MenuItem::action("About Burin", app::About),
    ];
    Menu::new("Help").items(on_linux(items, platform, own))
}

/// Capitalizes the items of a menu as Apple's guidelines ask.
fn with_title_case(mut menu: Menu) -> Menu {
    for item in &mut menu.items {
        if let MenuItem::Action { name, .. } = item {
            *name = title_case(name).into();
        }
    }
    menu
}

/// Capitalizes every word but articles and short prepositions inside: `Reveal file in tree` becomes
/// `Reveal File in Tree`. The name of the command, `burin`, stays.
fn title_case(name: &str) -> String {
    const SMALL: [&str; 8] = ["a", "and", "at", "in", "of", "or", "the", "to"];
    let last = name.split(' ').count() - 1;
    let words = name.split(' ').enumerate().map(|(ix, word)| {
        let is_small = word == "burin" || (ix < last && SMALL.contains(&word));
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if !is_small => first.to_uppercase().chain(letters).collect(),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether a command has an effect on a platform.
pub(crate) fn is_offered(action: &str, platform: Platform) -> bool {
    match platform {
        // The menu of the program is Apple's.
        Platform::Linux => {
            let only_mac = [
                app::Hide.name(),
                app::HideOthers.name(),
                app::ShowAll.name(),
            ];
            !only_mac.contains(&action)
        }
        // The system opens its menu bar itself.
        Platform::MacOs => action != view::ShowMenu.name(),
    }
}

#[cfg(test)]
mod tests;
