//! Several agents at once on the command line: each in its own worktree, on a board that outlives
//! the program.
//!
//! Start at `ComposeCommand`; `runtime::compose` opens the boards.

mod board_line;
mod follow;
mod history;
mod land;
mod review;
mod start;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use composer::board::{BoardHandle, SavedBoard};
use composer::change_history::TreeWatchers;
use composer::worktrees::JobWorktrees;
use host::{Dirs, RealFiles};

use crate::{Streams, error_text};

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
    action: Option<ComposeAction>,
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

/// The repository that a command is about.
#[derive(Args, Clone)]
pub(crate) struct RepositoryArg {
    /// A folder of the repository; the one around this folder without it
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl ComposeCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        // Without a namespace, worktrees are made in another way.
        ::worktree::enter_namespace().ok();
        match &self.action {
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
    /// The repository's worktrees and the saved state of its board.
    fn load_board(&self, dirs: &Dirs) -> Result<(JobWorktrees, SavedBoard), String> {
        let folder = crate::folder(self.root.as_deref(), &RealFiles)?;
        let worktrees =
            runtime::compose::service::open_worktrees(dirs, &folder, TreeWatchers::default());
        let worktrees = worktrees.map_err(error_text)?;
        composer::landing::recover(&worktrees);
        let store = runtime::compose::service::open_board_store(dirs, worktrees.main_repo())
            .map_err(error_text)?;
        let saved = BoardHandle::load(&store).map_err(error_text)?;
        Ok((worktrees, saved))
    }
}
