//! The user's shells that go on when their windows are closed or killed.
//!
//! A shell belongs to the background process, which keeps its latest output for the windows that attach to it. The emulator
//! here answers the queries of its program, with or without an attached window; the emulators of windows answer none. Each
//! window gets the same output, split at the same sizes, so that its emulator has the grid of the one here.
//! Invariant: at most `MAX_SHELLS` are kept, each with `MAX_BACKLOG` bytes of output and the restored text above it.
//! Invariant: a shell ends with the process, by its user, or after the idle time without a window and without a command.
//! Start at `KeptShells`.

mod running;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod watcher;

use std::ffi::OsString;

use base::AbsPath;
use serde::{Deserialize, Serialize};

pub(crate) use table::KeptShells;
pub(crate) use watcher::ShellWatch;

/// Number of bytes that are kept of a shell's output.
const MAX_BACKLOG: usize = 1 << 20;
/// Maximum number of shells.
const MAX_SHELLS: usize = 32;

/// A shell to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShellLaunch {
    /// The folder of the window to which it belongs.
    pub root: Option<AbsPath>,
    /// The program: a name looked up in `PATH`, or a path.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The folder in which it starts.
    pub folder: AbsPath,
    /// The environment before the variables of the terminal are set.
    pub variables: Vec<(OsString, OsString)>,
    /// The shell integration.
    pub integration: Option<LaunchedIntegration>,
    /// Rows and columns of the terminal.
    pub size: (u16, u16),
    /// Number of lines of the window's scrollback.
    pub scrollback: u32,
    /// The colours that programs can query, by `terminal::ColorSlot::index`.
    pub colors: Vec<(u8, u8, u8)>,
    /// Text of an earlier run to show above the output.
    pub restored: Option<RestoredText>,
}

/// The shell integration of a shell: see `terminal::ShellIntegration`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaunchedIntegration {
    /// Proves that a command line was reported by the shell.
    pub nonce: String,
    /// Arguments before those of the user.
    pub arguments: Vec<OsString>,
    /// Variables that replace those of the environment.
    pub variables: Vec<(OsString, OsString)>,
}

/// Text of an earlier run, as `terminal::Emulator::show_saved` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredText {
    /// The bytes of the saved terminal.
    #[serde(with = "agent::base64_text")]
    pub saved: Vec<u8>,
    /// The line below the text.
    pub notice: String,
}

/// A shell of the background process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptShell {
    /// Id of the shell. Other runs of the process have other ids.
    pub id: String,
    /// The folder of the window to which it belongs.
    pub root: Option<AbsPath>,
    /// Name of the program.
    pub program: String,
    /// The folder that the shell reported last, or the one in which it started.
    pub folder: AbsPath,
    /// Seconds since its start.
    pub age_s: u64,
    /// Whether a command runs in it.
    pub is_busy: bool,
    /// Whether a window is attached to it.
    pub is_attached: bool,
    /// Whether its program has ended.
    pub has_ended: bool,
}

/// An event of a shell, for a window that is attached to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShellEvent {
    /// The window is attached. Comes first, and again after a broken connection.
    Attached {
        /// Whether the program has ended.
        has_ended: bool,
        /// The text above the output, for a window that has nothing of the output.
        restored: Option<RestoredText>,
        /// The nonce of the shell integration.
        nonce: Option<String>,
    },
    /// Rows and columns of the terminal for the output that follows. Comes only before `CaughtUp`.
    Size(u16, u16),
    /// A part of the output. A gap before it is output that is not kept any more.
    Output {
        /// Number of bytes of output before this part.
        offset: u64,
        /// The bytes.
        #[serde(with = "agent::base64_text")]
        bytes: Vec<u8>,
        /// Whether it was printed before the window could see it.
        is_backlog: bool,
    },
    /// The window has the earlier output.
    CaughtUp {
        /// Sequences that set the modes of the program, if output is missing.
        #[serde(with = "agent::base64_text")]
        modes: Vec<u8>,
    },
    /// Number of living processes, after each change.
    Processes(usize),
    /// The last event: the program ended with this exit code, or a signal killed it (`None`).
    Ended(Option<i32>),
}

/// An input of a window that is attached to a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShellInput {
    /// Bytes for the program.
    Typed(#[serde(with = "agent::base64_text")] Vec<u8>),
    /// The size of the window's terminal. Only that of the window that attached last counts.
    Resize {
        /// Height in rows.
        rows: u16,
        /// Width in columns.
        columns: u16,
    },
    /// The colours that programs can query, by `terminal::ColorSlot::index`.
    Colors(Vec<(u8, u8, u8)>),
}
