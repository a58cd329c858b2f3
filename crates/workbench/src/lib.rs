//! The window: panes and tabs, the project tree, pickers, project search, status bar, menus.
//!
//! Knows: the editor view, the open project, the design system. Must not know: how text is edited
//! or drawn, how files are read.
//! Invariant: a command is one action of `actions`, whether a key, a menu or a button dispatches
//! it.
//! Invariant: closing a tab with unsaved text asks first; closing a window does not, because its
//! text is restored.
//! Start at `windows::start` and `Workbench`; the arrangement of panes is `layout`, plain data.

pub mod actions;
pub mod layout;
pub mod services;
pub mod target;
pub mod windows;

mod action_names;
mod awake;
mod code_index;
mod configuration;
mod crumbs;
mod documents;
mod drag;
mod error;
mod excerpt_rows;
mod file_error;
mod file_names;
mod file_operations;
mod finder;
mod folder;
mod folder_diagnostics;
mod indentation;
mod index_status;
mod item;
mod language_servers;
mod lifecycle;
mod menus;
mod navigation;
mod notices;
mod open_options;
mod path_entry;
mod pending_file;
mod pickers;
mod prediction;
mod question;
mod refactoring;
mod region;
mod reread;
mod rewrite_models;
mod search_panel;
mod server_annotations;
mod server_code_actions;
mod server_code_lenses;
mod server_highlights;
mod server_hover;
mod server_inlay_hints;
mod server_items;
mod server_linked_spans;
mod server_selection_ranges;
mod server_semantic_tokens;
mod server_signatures;
mod server_symbols;
mod session;
mod snippet_items;
mod snippet_library;
mod status_bar;
mod suggestion_action;
mod system_notices;
mod tab_models;
mod tab_strip;
mod test_service;
mod tests_panel;
mod title_bar;
mod traffic_lights;
mod tree_panel;
mod window_registry;
mod workbench;

#[cfg(test)]
mod stories;

use autocomplete::local::TabTables;
use gpui_kit::{App, AppContext as _};

pub use code_index::{CodeIndex, OpenIndex};
pub use configuration::Configuration;
pub use documents::Documents;
pub use error::Error;
pub use item::TabItem;
pub use rewrite_models::RewriteModels;
pub use services::Services;
pub use tab_models::{TabModels, TextNews};
pub use test_service::{OpenTests, TestOutput, TestRun, TestService, TestServiceError};
pub use workbench::Workbench;

/// Problems found during startup.
#[must_use]
pub struct StartupReport {
    /// Messages for the user.
    pub problems: Vec<String>,
    /// Channel on which the recovery journal's thread reports problems.
    pub journal: Option<async_channel::Receiver<project::JournalEvent>>,
}

/// Registers commands, menus and settings. Call once, after `gpui_kit::init`, `ui::init` and
/// `Services::set`.
pub fn init(cx: &mut App) -> StartupReport {
    cx.background_spawn(async { TabTables::prepare() }).detach();
    Configuration::start(cx);
    editor::highlight_code_blocks(cx);
    let (problems, journal) = Documents::start(cx);
    menus::install(cx);
    lifecycle::init(cx);
    StartupReport { problems, journal }
}
