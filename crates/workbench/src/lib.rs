//! The window: panes and tabs, the project tree, pickers, project search, status bar, menus.
//!
//! Knows: the editor view, the open project, the design system. Must not know: how text is edited
//! or drawn, how files are read.
//! Invariant: a command is one action of `actions`, whoever asks for it.
//! Invariant: a tab with unsaved text closes only after a question; a window closes without one,
//! because its text comes back.
//! Start at `windows::start` and `Workbench`; the arrangement of panes is `layout`, plain data.

pub mod actions;
pub mod layout;
pub mod services;
pub mod target;
pub mod windows;

mod action_names;
mod code_index;
mod configuration;
mod crumbs;
mod documents;
mod finder;
mod folder;
mod grid;
mod index_status;
mod item;
mod menus;
mod notices;
mod path_entry;
mod pickers;
mod prediction;
mod question;
mod refusal;
mod region;
mod search_panel;
mod session;
mod status_bar;
mod tab_strip;
mod title_bar;
mod trail;
mod tree_panel;
mod waiting;
mod workbench;

#[cfg(test)]
mod stories;

use gpui_kit::App;

pub use code_index::{CodeIndex, OpenIndex};
pub use configuration::Configuration;
pub use documents::Documents;
pub use item::Item;
pub use services::Services;
pub use workbench::Workbench;

/// What the start brought to light.
#[must_use]
pub struct Started {
    /// Sentences for the user's eyes.
    pub problems: Vec<String>,
    /// Where the recovery journal reports trouble; its thread writes there.
    pub journal: Option<async_channel::Receiver<project::JournalEvent>>,
}

/// Prepares the window's commands, menus and settings. Once, after `gpui_kit::init`, `ui::init` and
/// `Services::set`.
pub fn init(cx: &mut App) -> Started {
    Configuration::start(cx);
    let (problems, journal) = Documents::start(cx);
    menus::install(cx);
    cx.on_action(|_: &actions::app::Quit, cx| windows::end(cx));
    cx.on_action(|_: &actions::app::NewWindow, cx| {
        windows::open_folder(None, cx);
    });
    Started { problems, journal }
}
