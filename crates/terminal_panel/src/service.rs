//! The service that starts programs for terminals and answers questions about this machine. Wired by the app.

use std::sync::Arc;

use base::AbsPath;
use futures::future::BoxFuture;
use host::process::TerminalSize;
use settings::TerminalSettings;
use terminal::{OutputObserver, SavedTerminal, WakeUp};

use crate::program::TerminalProgram;

/// A terminal to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalRequest {
    /// The folder in which the program starts; `None` is the folder of the window.
    pub folder: Option<AbsPath>,
    /// The program; `None` is the user's shell.
    pub program: Option<ProgramCommand>,
    /// The title of the tab, instead of the one that the program sets.
    pub title: Option<String>,
    /// The sandbox of a program that an agent runs, in a few words; `None` for a program of the user.
    pub sandbox: Option<String>,
    /// Reads the output as well. Such a terminal is one of a task: it is not saved, and the window starts it again.
    pub output: Option<OutputObserver>,
}

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCommand {
    /// The program: a name looked up in `PATH`, or a path.
    pub name: String,
    /// The arguments, without the program's name.
    pub arguments: Vec<String>,
    /// Variables that are added to its environment.
    pub variables: Vec<(String, String)>,
}

/// A program to start, with everything that the service needs for it.
#[derive(Clone, Debug)]
pub struct ProgramLaunch {
    /// The folder in which it starts; `None` if neither the request nor the window has one.
    pub folder: Option<AbsPath>,
    /// The program; `None` is the user's shell.
    pub program: Option<ProgramCommand>,
    /// The user's settings: shell, environment, scrollback, integration.
    pub settings: TerminalSettings,
    /// The size of the grid.
    pub size: TerminalSize,
    /// The colours that programs can query, by `terminal::ColorSlot::index`.
    pub colors: Vec<(u8, u8, u8)>,
    /// The shell of an earlier window to attach to: see `TerminalProgram::kept_id`. If it is gone, the program starts.
    pub shell: Option<String>,
    /// Text to show above the output of a program that starts: see `Emulator::show_saved`.
    pub restored: Option<RestoredOutput>,
    /// Reads the output as well.
    pub output: Option<OutputObserver>,
}

/// Text of an earlier run, shown above the output of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredOutput {
    /// The text.
    pub saved: SavedTerminal,
    /// The line below the text, such as "restored, 14:02".
    pub notice: String,
}

/// A terminal that was saved, with its place in the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPane {
    /// The tab: panes with equal numbers are splits of one tab.
    pub tab: u32,
    /// The name that the user gave to the tab.
    pub name: Option<String>,
    /// The number of its tab among the texts of the window; `None` in the panel.
    pub editor: Option<u64>,
    /// The text, the folder and the commands.
    pub terminal: SavedTerminal,
    /// The shell, if it may go on without its window: see `TerminalProgram::kept_id`.
    pub shell: Option<String>,
}

/// The reason why a service failed, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TerminalServiceError(pub String);

/// The answer of a service, computed off the UI thread.
pub type ServiceAnswer<T> = BoxFuture<'static, Result<T, TerminalServiceError>>;

/// Starts programs for terminals and answers questions about this machine. No method blocks.
///
/// The service decides which clipboards a program may use: see `terminal::EmulatorOptions::clipboard`. The panel passes
/// writes on only while the terminal has the focus, and asks the user before each read.
pub trait TerminalService: Send + Sync {
    /// Attaches to the shell of an earlier window, or starts a program below the restored text. The program calls `wake` when something changed.
    fn open(&self, launch: ProgramLaunch, wake: WakeUp) -> ServiceAnswer<Arc<dyn TerminalProgram>>;

    /// Ends a shell of an earlier window, because the user closed its terminal before a view attached to it.
    fn end_shell(&self, _id: String) {}

    /// Returns those of the paths that exist. The panel asks for few paths, of one line of text, at a time.
    fn existing_paths(&self, paths: Vec<AbsPath>) -> BoxFuture<'static, Vec<AbsPath>>;

    /// Returns the home folder of the user, for paths that begin with `~/`.
    fn home_folder(&self) -> Option<AbsPath>;

    /// Returns the name of this machine, for hyperlinks to files.
    fn host_name(&self) -> Option<String>;

    /// Returns the time of day in the user's time zone, such as `14:02`.
    fn time_of_day(&self) -> String;

    /// Returns the terminals saved for the window's folder, and those of its shells that run without a window.
    fn load_saved(&self) -> ServiceAnswer<Vec<SavedPane>>;

    /// Replaces the saved terminals of the window's folder. The panel calls it at most every two seconds.
    fn save(&self, panes: Vec<SavedPane>) -> ServiceAnswer<()>;
}
