//! The window: panes and tabs, the project tree, pickers, project search, status bar, menus.
//!
//! Knows: the editor view, the open project, the design system. Must not know: how text is edited
//! or drawn, how files are read.
//! Invariant: a command is one action of `actions`, whoever asks for it.
//! Start at `layout`, which is plain data.

pub mod actions;
pub mod layout;
