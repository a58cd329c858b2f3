//! The engine of the terminal: emulator, commands of the shell, keys, links, sessions and saved text.
//!
//! Knows: processes of `host`. Must not know: windows, fonts, themes, settings files.
//! Invariant: no output of a program is typed back or run; only the answers that its queries are due are sent to it.
//! Invariant: memory is bounded, whatever a program prints.
//! Start at `TerminalSession`; the pure part is `Emulator`.

mod cells;
mod commands;
mod emulator;
mod event;
mod event_queue;
mod frame;
mod grid_text;
mod hyperlinks;
mod integration;
mod keys;
mod lines;
mod links;
mod modes;
mod mouse;
mod observer;
mod paste;
mod performer;
mod position;
mod reflow;
mod reported_folder;
mod restore;
mod scanner;
mod scroll_region;
mod search;
mod selection;
mod session;
mod snapshot;
#[cfg(test)]
mod test_terminal;
#[cfg(test)]
mod tests;

pub use cells::{
    CellStyle, CellWidth, StyleRun, TerminalCell, TerminalColor, TerminalRow, Underline,
};
pub use commands::{
    CommandId, CommandLine, CommandLineSource, CommandLog, CommandState, MAX_COMMANDS, OutputEnd,
    OutputText, ShellCommand,
};
pub use emulator::{CopyMotion, CopyStep, Emulator, EmulatorOptions};
pub use event::{
    ClipboardKind, ClipboardQuery, ColorQuery, TerminalEvent, TerminalNotification,
    TerminalProgress,
};
pub use integration::{ShellIntegration, ShellKind, install_integration, integrate};
pub use keys::{
    KeyEventKind, KeyModifiers, KeyOptions, KeyPress, KeypadKey, TerminalKey, encode_focus,
    encode_key,
};
pub use links::{LogicalLine, PathLink, TerminalLink, UrlLink, find_paths, find_urls, link_target};
pub use mouse::{
    MouseInput, MouseKind, TerminalMouseButton, WheelDirection, WheelEffect, encode_mouse,
    is_mouse_reported, wheel_effect,
};
pub use observer::OutputObserver;
pub use paste::{PasteRisk, PreparedPaste, prepare_paste};
pub use performer::ClipboardAccess;
pub use position::{CellHalf, CellPosition, CellSpan, LineNumber, SelectedCells};
pub use restore::{MAX_SAVED_BYTES, RestoreError, SavedCommand, SavedTerminal};
pub use search::{PatternError, SearchOptions, SearchStep, TerminalDirection, TerminalSearch};
pub use selection::SelectionKind;
pub use session::{TerminalSession, TerminalSpec, WakeUp};
pub use snapshot::{
    ColorSlot, CursorShape, CursorState, KittyFlags, MouseEncoding, MouseTracking, ScrollState,
    ScrollTarget, TerminalModes, TerminalSnapshot,
};
