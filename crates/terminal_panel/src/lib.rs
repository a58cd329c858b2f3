//! The terminals of the window: the element that draws a terminal, its keys and mouse, links, search, commands of the
//! shell, and the panel with tabs and splits.
//!
//! Knows: the engine `terminal`, the design system, the user's settings. Must not know: processes, files, the window's panes,
//! how agents run their programs.
//! Invariant: the panel owns every terminal of its window, also those that the window shows as tabs among its texts.
//! Invariant: work on the UI thread does not grow with the scrollback or the output.
//! Invariant: nothing is drawn while nothing changes, or while a terminal is hidden.
//! Invariant: text of an input method reaches the program only when it is committed.
//! Start at `TerminalPanel` (tabs and splits) and `TerminalView` (one terminal); programs are behind `TerminalService`; those
//! of agents, and shells of another process, are an `AttachedProgram`.

#![warn(missing_docs)]

pub mod actions;

mod attached;
mod fake;
mod frame;
mod panel;
mod program;
mod service;
pub mod tab;
mod view;

pub use attached::{AttachedInput, AttachedProgram, KeptShellLink};
pub use fake::{FakeProgram, FakeTerminals};
pub use panel::{
    DraggedTerminal, KEEP_OPEN, LaunchedTerminal, MentionedOutput, STOP_AND_CLOSE, TerminalMention,
    TerminalPanel, TerminalPanelEvent, closing_question,
};
pub use program::{ProgramControl, TerminalProgram};
pub use service::{
    ProgramCommand, ProgramLaunch, RestoredOutput, SavedPane, ServiceAnswer, TerminalRequest,
    TerminalService, TerminalServiceError,
};
pub use terminal::OutputObserver;
pub use view::{FailedCommand, FailureRequest, TerminalStatus, TerminalView, TerminalViewEvent};
