//! Several agents at once: each in its own worktree, on a board that outlives the program.
//!
//! A `Composer` is a repository's board with its stored state and its worktrees; windows and the
//! command line use the same one.
//! Start at `Composer::open`; `service` runs a board for a window.

pub mod checks;
pub mod history;
mod job_sessions;
pub mod job_worktrees;
pub mod land;
pub mod review;
pub mod selection;
pub mod service;
pub mod tasks;

use std::sync::Arc;

use base::AbsPath;
use composer::board::{BoardConfig, BoardHandle, LedgerBoardStore, SavedBoard};
use composer::change_history::TreeWatchers;
use composer::roles::RoleSet;
use host::{Dirs, Files as _, RealClock, RealFiles};
use ledger::Ledger;
use model::Cost;

use crate::agent_services::AgentServices;
use crate::sandbox_policy::Confinement;
use crate::usage_store::ledger_path;

pub use job_worktrees::JobWorktrees;

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
    pub confinement: Confinement,
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

/// Returns the worktrees of the repository around a folder, and the stored state of its board.
/// Blocks on the disk.
pub fn load_board(dirs: &Dirs, folder: &AbsPath) -> Result<(JobWorktrees, SavedBoard), String> {
    let trees = JobWorktrees::open(dirs, folder, TreeWatchers::default())?;
    land::recover(&trees);
    let past = BoardHandle::load(&open_board_store(dirs, trees.main_repo())?)?;
    Ok((trees, past))
}

/// The records of a repository's board.
pub fn open_board_store(dirs: &Dirs, hub: &AbsPath) -> Result<LedgerBoardStore, String> {
    dirs.create().map_err(|error| error.to_string())?;
    let now_ms = host::Clock::wall_ms(&RealClock::default());
    let opened = Ledger::open(&ledger_path(dirs), now_ms);
    let opened = opened.map_err(|error| error.to_string())?;
    Ok(LedgerBoardStore::new(opened.ledger, &hub.to_string()))
}

/// The largest file of roles that is read, in bytes.
const MAX_ROLES_BYTES: u64 = 1 << 20;

/// Returns the built-in roles and the user's own, with the errors in them.
pub fn load_roles(dirs: &Dirs) -> (RoleSet, Vec<String>) {
    let text = RealFiles.read(&dirs.config.join("roles.json"), MAX_ROLES_BYTES);
    let text = text.unwrap_or_default();
    RoleSet::load(&String::from_utf8_lossy(&text))
}
