//! Modal editing as in Vim: modes, operators, registers, macros and ex commands, as a state machine.
//!
//! Knows: `base`, `text`, `caret`. Must not know: windows, files, time, threads, how text is drawn.
//! Invariant: the same keys on the same text give the same result; there is no clock and no hidden input.
//! Invariant: a key never panics and always ends; macros have a limit of keys.
//! Invariant: every edit goes through `VimHost::edit` and takes effect at once, so that macros and `.` run in one go.
//! Start at `Vim` and `Vim::press`; the host is a `VimHost`, state shared by views is in `VimGlobals`, and actions outside
//! the text are `Effect`s.

#![warn(missing_docs)]

mod chars;
mod command;
mod digraph;
mod effect;
mod error;
mod globals;
mod hint;
mod host;
mod key;
mod lines;
mod mapping;
mod marks;
mod motion;
mod object;
mod options;
mod pattern;
mod register;
mod search;
mod vim;

pub use command::VisualShape;
pub use effect::{
    BufferCommand, CompletionCommand, Effect, FoldCommand, LookUpKind, NavigationTarget,
    OpenTarget, ScrollCommand, WindowCommand, WriteCondition,
};
pub use globals::VimGlobals;
pub use hint::KeyHint;
pub use host::{
    ClipboardKind, DisplayMotion, FileName, ObjectExtent, SyntaxObject, UndoMove, Viewport, VimHost,
};
pub use key::Key;
pub use options::VimOptions;
pub use vim::{CaretView, CommandLineView, Mode, PromptView, Vim, VimrcProblem};
