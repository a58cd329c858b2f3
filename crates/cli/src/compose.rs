//! Several agents at once: each in its own worktree, on a board that outlives the program.
//!
//! The windows use the same: a `Fleet` is a board with its stored state and its worktrees.
//! Start at `Fleet::open`; the command line is in `Compose`.

mod board_line;
mod checks;
mod follow;
mod history;
mod job_sessions;
mod job_worktrees;
mod land;
mod review;
mod selection;
pub mod service;
mod start;
mod tasks;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use base::AbsPath;
use clap::{Args, Subcommand};
use composer::board::{BoardConfig, BoardHandle, LedgerBoardStore, SavedBoard};
use composer::change_history::TreeWatchers;
use composer::roles::RoleSet;
use host::{Dirs, Files as _, RealClock, RealFiles};
use ledger::Ledger;
use model::Cost;

use crate::Streams;
use crate::agent_services::AgentServices;
use crate::sandbox_policy::Confinement;

pub use job_worktrees::JobWorktrees;

/// Run several agents at once
///
/// Each works in its own worktree of the repository around the folder; your checkout does not
/// change before you land the work. Several tasks run in parallel; a single task with --agents N is
/// shared by them, or with --best-of done by each, to choose from the results.
///
/// Exit codes: 0 all are done; 1 one is not; 2 wrong arguments; 130 stopped with Ctrl-C.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ComposeCommand {
    #[command(subcommand)]
    what: Option<ComposeAction>,
    #[command(flatten)]
    start: start::StartCommand,
}

#[derive(Subcommand)]
enum ComposeAction {
    /// List the agents of a repository and their states
    List(history::ListCommand),
    /// Show an agent's work, and the authors of the changes in its worktree
    Show(history::ShowCommand),
    /// Forecast which agents will conflict with each other, and with you
    Forecast(land::ForecastCommand),
    /// Review agents' changes hunk by hunk, and choose which may land
    Review(review::ReviewCommand),
    /// Land agents' work on your branch, or undo a landing
    Land(land::LandCommand),
    /// Restore an agent's changes to the start of one of its turns; changes by others stay
    Restore(history::RestoreCommand),
    /// Undo some of the changes in an agent's worktree; changes by others stay
    Undo(history::UndoCommand),
    /// Start another agent from the work of one, in a worktree of its own
    Fork(start::ForkCommand),
    /// Compare the agents that did the same task
    Compare(history::CompareCommand),
    /// Copy an agent's work into the checkout, or your work there into its worktree
    HandOver(history::HandOverCommand),
}

/// Which repository is meant.
#[derive(Args, Clone)]
pub(crate) struct RepositoryArg {
    /// A folder of the repository; the one around this folder without it
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// Options that all sessions of a board start with.
#[derive(Clone, Debug)]
pub struct SessionStartOptions {
    /// Whether calls that would need permission are allowed.
    pub allows_asked: bool,
    /// Whether a user can answer questions.
    pub has_user: bool,
    /// The most that each may cost.
    pub budget: Option<Cost>,
    /// The sandbox options of the command line.
    pub(crate) confinement: Confinement,
}

/// A board, its stored state, and its worktrees.
pub struct Composer {
    /// The board of the repository.
    pub board: BoardHandle,
    /// The board's stored state when it was opened.
    pub past: SavedBoard,
    /// The worktrees of its jobs, with the authors of their changes.
    pub worktrees: JobWorktrees,
}

impl Composer {
    /// Opens the board of a repository on tokio's current runtime, with a workshop's models and
    /// tools. `hub` is the user's main checkout. Only one program at a time can open a board.
    /// Blocks on the disk.
    pub fn open(
        workshop: &AgentServices,
        dirs: &Dirs,
        hub: &AbsPath,
        manner: SessionStartOptions,
        room: usize,
    ) -> Result<Self, String> {
        let crew = workshop.factory().clone();
        let trees = JobWorktrees::open(dirs, hub, crew.watchers().clone())?;
        trees.lock_board()?;
        land::recover(&trees);
        let hands = job_sessions::JobSessionStarter {
            factory: crew,
            worktrees: trees.clone(),
            roles: Arc::new(load_roles(dirs).0),
            options: manner,
        };
        let parts = BoardConfig {
            store: Arc::new(open_board_store(dirs, trees.main_repo())?),
            worktrees: Arc::new(trees.clone()),
            starter: Arc::new(hands),
            clock: Arc::new(RealClock::default()),
            max_parallel: room,
        };
        let (board, past) = BoardHandle::open(parts)?;
        Ok(Self {
            board,
            past,
            worktrees: trees,
        })
    }
}

impl ComposeCommand {
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        // Without it there are other ways to make worktrees.
        ::worktree::enter_namespace().ok();
        match &self.what {
            None => self.start.run(dirs, streams),
            Some(ComposeAction::List(list)) => list.run(dirs, streams),
            Some(ComposeAction::Show(show)) => show.run(dirs, streams),
            Some(ComposeAction::Forecast(forecast)) => forecast.run(dirs, streams),
            Some(ComposeAction::Review(review)) => review.run(dirs, streams),
            Some(ComposeAction::Land(land)) => land.run(dirs, streams),
            Some(ComposeAction::Restore(restore)) => restore.run(dirs, streams),
            Some(ComposeAction::Undo(undo)) => undo.run(dirs, streams),
            Some(ComposeAction::Fork(fork)) => fork.run(dirs, streams),
            Some(ComposeAction::Compare(compare)) => compare.run(dirs, streams),
            Some(ComposeAction::HandOver(over)) => over.run(dirs, streams),
        }
    }
}

impl RepositoryArg {
    /// Returns the repository's worktrees and the stored state of its board.
    fn load_board(&self, dirs: &Dirs) -> Result<(JobWorktrees, SavedBoard), String> {
        let folder = crate::folder(self.root.as_deref(), &RealFiles)?;
        let trees = JobWorktrees::open(dirs, &folder, TreeWatchers::default())?;
        land::recover(&trees);
        let past = BoardHandle::load(&open_board_store(dirs, trees.main_repo())?)?;
        Ok((trees, past))
    }
}

/// The records of a repository's board.
fn open_board_store(dirs: &Dirs, hub: &AbsPath) -> Result<LedgerBoardStore, String> {
    dirs.create().map_err(|error| error.to_string())?;
    let now_ms = host::Clock::wall_ms(&RealClock::default());
    let opened = Ledger::open(&crate::ask::ledger_path(dirs), now_ms);
    let opened = opened.map_err(|error| error.to_string())?;
    Ok(LedgerBoardStore::new(opened.ledger, &hub.to_string()))
}

/// The largest file of roles that is read, in bytes.
const MAX_ROLES_BYTES: u64 = 1 << 20;

/// Returns the built-in roles and the user's own, with the errors in them.
fn load_roles(dirs: &Dirs) -> (RoleSet, Vec<String>) {
    let text = RealFiles.read(&dirs.config.join("roles.json"), MAX_ROLES_BYTES);
    let text = text.unwrap_or_default();
    RoleSet::load(&String::from_utf8_lossy(&text))
}
