//! Opens the boards of repositories over this program's sessions, models and sandbox.
//!
//! Must not know: command lines, how anything is shown.
//! Start at `open_composer`, on a tokio runtime.

use std::sync::Arc;

use base::AbsPath;
use composer::Error;
use composer::board::{BoardStore as _, JobSession, LedgerBoardStore};
use composer::change_history::TreeWatchers;
use composer::roles::RoleSet;
use composer::service::{ComposerHandle, OpenBoard, ServiceOptions};
use composer::worktrees::JobWorktrees;
use host::{Clock as _, Dirs, Files as _, RealClock, RealFiles};
use ledger::Ledger;
use model::Cost;
use project::UnsavedTexts;

use super::checks::CheckCommands;
use super::hosted_sessions::HostedSessions;
use super::job_sessions::JobSessionStarter;
use crate::agent_services::AgentServices;
use crate::external_agents::directory;
use crate::sample_project;
use crate::sandbox_policy::Confinement;

/// Maximum number of agents that a window's board runs at the same time.
const MAX_PARALLEL: usize = 8;
/// The largest file of roles that is read, in bytes.
const MAX_ROLES_BYTES: u64 = 1 << 20;

/// The options of all sessions of a board.
#[derive(Clone, Debug)]
pub struct SessionStartOptions {
    /// Whether calls that need permission are allowed without asking.
    pub allows_asked: bool,
    /// Whether a user can answer questions.
    pub has_user: bool,
    /// Maximum cost of each session.
    pub budget: Option<Cost>,
    /// The sandbox options.
    pub confinement: Confinement,
}

/// Opens the composer service of the repository around a folder. Without configured models and
/// external agents it opens the sample project's board, because the demo model works on nothing else.
/// Blocks on the disk.
pub fn open_composer(
    services: &Arc<AgentServices>,
    dirs: &Dirs,
    folder: &AbsPath,
    unsaved: Arc<UnsavedTexts>,
) -> Result<ComposerHandle, Error> {
    let main_repo = if works_on_sample(services, dirs, folder) {
        sample_repository(dirs)?
    } else {
        folder.clone()
    };
    if sample_project::is_sample(&main_repo) && git::Repository::discover(&main_repo).is_err() {
        let created = sample_project::create_repository(&main_repo);
        created.map_err(|error| Error::Failed(error.to_string()))?;
    }
    let options = SessionStartOptions {
        allows_asked: false,
        has_user: true,
        budget: None,
        confinement: Confinement::default(),
    };
    let board = open_board(services, dirs, &main_repo, options, MAX_PARALLEL)?;
    let checks = CheckCommands::new(dirs, &board.worktrees);
    let options = ServiceOptions {
        unsaved,
        checks: Arc::new(checks),
        default_model: services.settings_model().to_owned(),
        is_sample: sample_project::is_sample(board.worktrees.main_repo()),
        project: (main_repo != *folder).then(|| "sample project".to_owned()),
    };
    ComposerHandle::open(board, options)
}

/// Whether the board of a folder is that of the sample project. Blocks on the disk.
fn works_on_sample(services: &AgentServices, dirs: &Dirs, folder: &AbsPath) -> bool {
    let has_external = || {
        let (agents, _) = directory::list(&RealFiles, dirs);
        agents.iter().any(|agent| agent.command.is_some())
    };
    services.models().is_empty() && !sample_project::is_sample(folder) && !has_external()
}

/// Returns the sessions of all jobs that the board of a folder had. Returns none without a Git
/// checkout. Blocks on the disk.
pub(crate) fn job_sessions(
    services: &AgentServices,
    dirs: &Dirs,
    folder: &AbsPath,
) -> Result<Vec<JobSession>, Error> {
    let folder = if works_on_sample(services, dirs, folder) {
        dirs.state.join("sample")
    } else {
        folder.clone()
    };
    let Ok(repository) = git::Repository::discover(&folder) else {
        return Ok(Vec::new());
    };
    let main_repo = RealFiles.canonicalize(repository.workdir())?;
    let records = open_board_store(dirs, &main_repo)?.records()?;
    Ok(JobSession::from_records(&records))
}

/// Opens the board of a repository on the current tokio runtime. Only one program at a time can
/// open a board. Blocks on the disk.
pub fn open_board(
    services: &AgentServices,
    dirs: &Dirs,
    main_repo: &AbsPath,
    options: SessionStartOptions,
    max_parallel: usize,
) -> Result<OpenBoard, Error> {
    let factory = services.factory().clone();
    let worktrees = open_worktrees(dirs, main_repo, factory.watchers().clone())?;
    let store = open_board_store(dirs, worktrees.main_repo())?;
    let starter = JobSessionStarter {
        factory,
        worktrees: worktrees.clone(),
        roles: Arc::new(load_roles(dirs).0),
        options,
        hosted: HostedSessions::default(),
    };
    OpenBoard::open(worktrees, Arc::new(store), Arc::new(starter), max_parallel)
}

/// Opens the worktrees of the repository around a folder. Blocks on the disk.
pub fn open_worktrees(
    dirs: &Dirs,
    folder: &AbsPath,
    watchers: TreeWatchers,
) -> Result<JobWorktrees, Error> {
    JobWorktrees::open(dirs, folder, crate::lease_settings(), watchers)
}

/// Opens the records of a repository's board. Blocks on the disk.
pub fn open_board_store(dirs: &Dirs, main_repo: &AbsPath) -> Result<LedgerBoardStore, Error> {
    dirs.create()?;
    let now_ms = RealClock::default().wall_ms();
    let opened = Ledger::open(&crate::usage_store::ledger_path(dirs), now_ms)?;
    Ok(LedgerBoardStore::new(opened.ledger, &main_repo.to_string()))
}

/// Returns the built-in roles and the roles of the user's `roles.json`, with a sentence for each
/// error. If the file is missing, returns only the built-in roles. Blocks on the disk.
pub fn load_roles(dirs: &Dirs) -> (RoleSet, Vec<String>) {
    let text = RealFiles.read(&dirs.config.join("roles.json"), MAX_ROLES_BYTES);
    let text = text.unwrap_or_default();
    RoleSet::load(&String::from_utf8_lossy(&text))
}

/// The sample project's repository, created if it is missing.
fn sample_repository(dirs: &Dirs) -> Result<AbsPath, Error> {
    let folder = dirs.state.join("sample");
    if sample_project::is_sample(&folder) {
        return Ok(folder);
    }
    let fresh = sample_project::create(&RealFiles, dirs);
    let fresh = fresh.map_err(|error| Error::Failed(error.to_string()))?;
    RealFiles.rename(&fresh, &folder)?;
    Ok(folder)
}
