//! Several agents at once: each in a worktree of its own, on a board that outlives the program.
//!
//! The windows use the same: a `Fleet` is everything that a board needs, put together.
//! Start at `Fleet::open`; the command line is in `Compose`.

mod board_line;
mod checks;
pub mod desk;
mod follow;
mod hands;
mod land;
mod parts;
mod past;
mod picks;
mod review;
mod start;
mod trees;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use base::AbsPath;
use clap::{Args, Subcommand};
use composer::authored::Watchers;
use composer::board::{Board, LedgerBook, Parts, Past};
use composer::roles::Roles;
use host::{Dirs, Files as _, RealClock, RealFiles};
use ledger::Ledger;
use model::Cost;

use crate::Streams;
use crate::confined::Confinement;
use crate::workshop::Workshop;

pub use trees::Trees;

/// Run several agents at once
///
/// Each works in a worktree of its own of the repository around the folder; nothing of what they do touches your
/// checkout before you land it. Several tasks are done at once; one task is given to --agents N, who share it, or
/// with --best-of each do all of it, to choose from.
///
/// Exit codes: 0 all are done; 1 one is not; 2 wrong arguments; 130 stopped with Ctrl-C.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Compose {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    start: start::Start,
}

#[derive(Subcommand)]
enum What {
    /// List the agents of a repository and their states
    List(past::List),
    /// Show what an agent did, and who changed what in its worktree
    Show(past::Show),
    /// Forecast which agents will conflict with each other, and with you
    Forecast(land::Forecast),
    /// Review what they changed, hunk by hunk, and choose what may land
    Review(review::Review),
    /// Land what they did on your branch, or take a landing back
    Land(land::Land),
    /// Restore what an agent changed to how one of its turns found it; what others changed stays
    Restore(past::Restore),
    /// Undo some of the changes in an agent's worktree; what others changed stays
    Undo(past::Undo),
    /// Start another agent from the work of one, in a worktree of its own
    Fork(start::Fork),
    /// Compare the agents that did the same task
    Compare(past::Compare),
    /// Copy an agent's work into the checkout, or your work there into its worktree
    HandOver(past::HandOver),
}

/// Which repository is meant.
#[derive(Args, Clone)]
pub(crate) struct Where {
    /// A folder of the repository; the one around this folder without it
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// How sessions of a fleet are begun.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Whether everything is allowed that would be asked.
    pub allows_asked: bool,
    /// Whether somebody is there to be asked.
    pub has_person: bool,
    /// The most that each may cost.
    pub budget: Option<Cost>,
    /// What the person says about the sandbox.
    pub(crate) confinement: Confinement,
}

/// What a board of a repository is made of.
pub struct Fleet {
    /// The board.
    pub board: Board,
    /// How it stood when it was opened.
    pub past: Past,
    /// The worktrees of its jobs, and who changed what in them.
    pub trees: Trees,
}

impl Fleet {
    /// Opens the board of a repository on tokio's current runtime, with a workshop's models and tools. `hub` is the
    /// person's checkout. One program at a time has it open. Blocks on the disk.
    pub fn open(
        workshop: &Workshop,
        dirs: &Dirs,
        hub: &AbsPath,
        manner: Manner,
        room: usize,
    ) -> Result<Self, String> {
        let crew = workshop.crew().clone();
        let trees = Trees::open(dirs, hub, crew.watchers().clone())?;
        trees.claim()?;
        land::recover(&trees);
        let hands = hands::CrewHands {
            crew,
            trees: trees.clone(),
            roles: Arc::new(own_roles(dirs).0),
            manner,
        };
        let parts = Parts {
            book: Arc::new(book(dirs, trees.hub())?),
            ground: Arc::new(trees.clone()),
            hands: Arc::new(hands),
            clock: Arc::new(RealClock::default()),
            room,
        };
        let (board, past) = Board::open(parts)?;
        Ok(Self { board, past, trees })
    }
}

impl Compose {
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        // Without it there are other ways to make worktrees.
        ::worktree::enter().ok();
        match &self.what {
            None => self.start.run(dirs, streams),
            Some(What::List(list)) => list.run(dirs, streams),
            Some(What::Show(show)) => show.run(dirs, streams),
            Some(What::Forecast(forecast)) => forecast.run(dirs, streams),
            Some(What::Review(review)) => review.run(dirs, streams),
            Some(What::Land(land)) => land.run(dirs, streams),
            Some(What::Restore(restore)) => restore.run(dirs, streams),
            Some(What::Undo(undo)) => undo.run(dirs, streams),
            Some(What::Fork(fork)) => fork.run(dirs, streams),
            Some(What::Compare(compare)) => compare.run(dirs, streams),
            Some(What::HandOver(over)) => over.run(dirs, streams),
        }
    }
}

impl Where {
    /// The checkout, and how its board stands.
    fn look(&self, dirs: &Dirs) -> Result<(Trees, Past), String> {
        let folder = crate::folder(self.root.as_deref(), &RealFiles)?;
        let trees = Trees::open(dirs, &folder, Watchers::default())?;
        land::recover(&trees);
        let past = Board::look(&book(dirs, trees.hub())?)?;
        Ok((trees, past))
    }
}

/// The records of a repository's board.
fn book(dirs: &Dirs, hub: &AbsPath) -> Result<LedgerBook, String> {
    dirs.create().map_err(|error| error.to_string())?;
    let now_ms = host::Clock::wall_ms(&RealClock::default());
    let opened = Ledger::open(&crate::ask::ledger_path(dirs), now_ms);
    let opened = opened.map_err(|error| error.to_string())?;
    Ok(LedgerBook::new(opened.ledger, &hub.to_string()))
}

/// The largest file of roles that is read, in bytes.
const MOST_ROLES: u64 = 1 << 20;

/// Our roles and the person's own, with what could not be read.
fn own_roles(dirs: &Dirs) -> (Roles, Vec<String>) {
    let text = RealFiles.read(&dirs.config.join("roles.json"), MOST_ROLES);
    let text = text.unwrap_or_default();
    Roles::of(&String::from_utf8_lossy(&text))
}
