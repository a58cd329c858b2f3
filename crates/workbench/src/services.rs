//! External services of the window: the disk, the clock, Burin's folders.
//!
//! Passed in at startup, so that tests can replace them. Start at `Services`.

use std::sync::Arc;

use base::{AbsPath, LineFeeds, printable};
use git_panel::GitService;
use gpui_kit::{App, Global};
use host::{Clock, Dirs, Fact, Files, ProgramFile};
use language::RunningOptions;
use project::{UnsavedTexts, WalkBackend};
use settings::MachineSetting;
use tasks::TaskFile;
use terminal_panel::TerminalService;

/// Installs the running program as a command; returns the path of the command. Blocks.
pub type InstallProgram = Arc<dyn Fn() -> Result<AbsPath, host::Error> + Send + Sync>;

/// Probes the machine, as `burin-agent doctor` does. Blocks for up to some seconds.
pub type ReadFacts = Arc<dyn Fn() -> Vec<Fact> + Send + Sync>;

/// Ends this process and starts the program at a path.
pub type RestartProgram = Arc<dyn Fn(&AbsPath, &mut App) + Send + Sync>;

/// The running program, which a package may replace.
#[derive(Clone)]
pub struct RunningProgram {
    /// Its file as it was when it started.
    pub file: ProgramFile,
    /// Called once everything is stored.
    pub restart: RestartProgram,
}

/// Prepares the language servers of a folder.
pub type OpenLanguageServers = Arc<dyn Fn(&AbsPath) -> RunningOptions + Send + Sync>;

/// Opens the agents of a machine by its name and its setting; `None` if the setting is invalid.
pub type OpenMachineAgents = Arc<
    dyn Fn(&str, &MachineSetting) -> Option<Arc<dyn composer_panel::AgentService>> + Send + Sync,
>;

/// Returns the service for the repositories of a folder.
pub type OpenGit = Arc<dyn Fn(&AbsPath) -> Arc<dyn GitService> + Send + Sync>;

/// Returns the service for the terminals of a window over a folder.
pub type OpenTerminals = Arc<dyn Fn(Option<&AbsPath>) -> Arc<dyn TerminalService> + Send + Sync>;

/// The folders and files whose tasks the user allows to run. Every method blocks on the disk.
pub trait TaskTrust: Send + Sync {
    /// Returns whether the user trusts a folder.
    fn is_trusted(&self, root: &AbsPath) -> bool;

    /// Returns whether the user allowed a file of tasks of a folder with exactly this text.
    fn is_allowed(&self, root: &AbsPath, file: &TaskFile) -> bool;

    /// Records that the user allows a file of tasks with this text.
    ///
    /// # Errors
    /// The record cannot be written.
    fn allow(&self, root: &AbsPath, file: &TaskFile) -> Result<(), host::Error>;
}

/// Services shared by all windows of the process.
#[derive(Clone)]
pub struct Services {
    /// Access to the file system.
    pub files: Arc<dyn Files>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Burin's configuration and state folders.
    pub dirs: Dirs,
    /// File access for walks and searches.
    pub ground: WalkBackend,
    /// The user's home folder, for paths written with `~`.
    pub home: Option<AbsPath>,
    /// Runs agents; without it, the agents panel shows the missing setup.
    pub agents: Option<Arc<dyn composer_panel::AgentService>>,
    /// Opens the agents of other machines; without it, there are none.
    pub machine_agents: Option<OpenMachineAgents>,
    /// Models for completions and edit predictions; without it, Tab uses only the local tier.
    pub tab: Option<Arc<dyn crate::tab_models::TabModels>>,
    /// Models for inline edits; without it, there are none.
    pub rewrite: Option<Arc<dyn crate::rewrite_models::RewriteModels>>,
    /// Opens the index of a folder; without it, there is no index.
    pub index: Option<crate::code_index::OpenIndex>,
    /// Prepares the language servers of a folder; without it, there are none.
    pub language_servers: Option<OpenLanguageServers>,
    /// Starts programs in terminals; without it, there are no terminals.
    pub terminals: Option<OpenTerminals>,
    /// Reads the history of a repository; without it, there is neither history nor blame.
    pub history: Option<git_history::OpenHistory>,
    /// Runs the tests of a folder; without it, there are no tests.
    pub tests: Option<crate::test_service::OpenTests>,
    /// Reads and changes the repositories of a folder; without it, there is no panel of changes.
    pub git: Option<OpenGit>,
    /// Knows which tasks may run; without it, none may.
    pub task_trust: Option<Arc<dyn TaskTrust>>,
    /// Registry of open texts with unsaved edits, read by agents.
    pub unsaved: Arc<UnsavedTexts>,
    /// Installs the command `burin` for terminals; without it, the path of the program is unknown.
    pub install: Option<InstallProgram>,
    /// Probes the machine; without it, reports have no facts about it.
    pub facts: Option<ReadFacts>,
    /// The running program; without it, updates are not noticed.
    pub program: Option<RunningProgram>,
    /// The base folder of relative paths.
    pub working_folder: AbsPath,
}

struct ServicesHandle(Services);

impl Global for ServicesHandle {}

impl Services {
    /// Installs the services for all windows.
    pub fn set(self, cx: &mut App) {
        cx.set_global(ServicesHandle(self));
    }

    /// Returns the services of this process. Panics if `set` has not run.
    pub fn of(cx: &App) -> Self {
        cx.global::<ServicesHandle>().0.clone()
    }

    /// Returns the registry of open texts with unsaved edits, which agents read.
    pub(crate) fn unsaved(cx: &App) -> &UnsavedTexts {
        &cx.global::<ServicesHandle>().0.unsaved
    }

    /// Returns a path for display on one line: relative to the open folder, or with `~`.
    pub(crate) fn display_in(&self, root: Option<&AbsPath>, path: &AbsPath) -> String {
        match root.and_then(|root| path.relative_to(root)) {
            Some(relative) if !relative.as_os_str().is_empty() => {
                printable(&relative.to_string_lossy(), LineFeeds::Escape).into_owned()
            }
            _ => self.display(path),
        }
    }

    /// Returns the folder of trashed files on desktops of Linux.
    pub(crate) fn trash_folder(&self) -> AbsPath {
        let home = self.home.as_ref().unwrap_or(&self.working_folder);
        home.join(".local/share/Trash")
    }

    /// Returns the text form of a path, with `~` for the home folder, for display and for typing.
    pub fn display(&self, path: &AbsPath) -> String {
        crate::path_entry::shorten(path, self.home.as_ref())
    }
}
