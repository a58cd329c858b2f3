//! A board with somebody at it: jobs, forecast, review and landings of a repository, kept together for a window.
//!
//! It goes on as long as the program, whether or not somebody looks on. What is slow (trees, merges, landings) is done
//! beside the task that owns how everything stands.
//! Start at `Desk::open`, on a tokio runtime.

mod judge;
mod look;
mod notes;
mod seat;
mod table;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base::AbsPath;
use composer::desk::{Board, Wish};
use futures::channel::mpsc;
use host::Dirs;
use project::Unsaved;

use super::trees::lock_of;
use super::{Fleet, Manner};
use crate::confined::Confinement;
use crate::workshop::{self, Workshop};

/// Agents that work at the same time.
const ROOM: usize = 8;

/// A board that goes on. Clones are the same.
#[derive(Clone)]
pub struct Desk {
    wishes: mpsc::UnboundedSender<Wish>,
    shared: Arc<Shared>,
}

/// What the task and those who look on have in common.
pub(super) struct Shared {
    pub(super) workshop: Arc<Workshop>,
    pub(super) commands: async_channel::Sender<composer::board::Command>,
    /// How everything stands now.
    now: Mutex<Arc<Board>>,
    /// Who is told of it.
    lookers: Mutex<Vec<mpsc::UnboundedSender<Arc<Board>>>>,
    /// Who looks on at single agents, by job.
    watching: Mutex<HashMap<String, Vec<mpsc::UnboundedSender<agent::Event>>>>,
    /// The jobs' sessions, and what each asks right now.
    sessions: Mutex<HashMap<String, Told>>,
}

/// What is known of a job's session.
#[derive(Clone, Default)]
struct Told {
    session: Option<String>,
    root: Option<AbsPath>,
    asking: Option<agent::Event>,
}

/// An agent that is looked on at.
pub struct Watched {
    /// Its session.
    pub session: String,
    /// Its worktree.
    pub root: AbsPath,
    /// What it did so far.
    pub past: Vec<agent::Event>,
    /// What it does from then on.
    pub events: mpsc::UnboundedReceiver<agent::Event>,
    /// What it is told.
    pub tell: Arc<dyn Fn(agent::Command) + Send + Sync>,
}

impl Desk {
    /// Opens the board of the repository around a folder. A person without models gets one of the sample project, as
    /// the demo model plays on nothing else. Blocks on the disk; must be called on a runtime.
    pub fn open(
        workshop: &Arc<Workshop>,
        dirs: &Dirs,
        folder: &AbsPath,
        unsaved: Arc<Unsaved>,
    ) -> Result<Self, String> {
        let hub = match workshop.models().is_empty() && !workshop::is_sample(folder) {
            true => sample(dirs)?,
            false => folder.clone(),
        };
        if workshop::is_sample(&hub) && git::Repository::discover(&hub).is_err() {
            super::start::begin_repository(&hub)?;
        }
        let manner = Manner {
            allows_asked: false,
            has_person: true,
            budget: None,
            confinement: Confinement::default(),
        };
        let fleet = Fleet::open(workshop, dirs, &hub, manner, ROOM)?;
        let shared = Arc::new(Shared {
            workshop: workshop.clone(),
            commands: fleet.board.commands.clone(),
            now: Mutex::default(),
            lookers: Mutex::default(),
            watching: Mutex::default(),
            sessions: Mutex::default(),
        });
        let (wishes, heard) = mpsc::unbounded();
        let project = (hub != *folder).then(|| "sample project".to_owned());
        let seat = seat::Seat::new((fleet, project), dirs, unsaved, shared.clone())?;
        tokio::spawn(seat.run(heard));
        Ok(Self { wishes, shared })
    }

    /// Tells it what the person wants. Never waits.
    pub fn tell(&self, wish: Wish) {
        // A board that has ended does nothing any more, and shows so.
        self.wishes.unbounded_send(wish).ok();
    }

    /// How everything stands, now and each time something changes.
    pub fn boards(&self) -> mpsc::UnboundedReceiver<Arc<Board>> {
        let (sender, receiver) = mpsc::unbounded();
        let now = lock_of(&self.shared.now).clone();
        // The receiver is still here.
        sender.unbounded_send(now).ok();
        lock_of(&self.shared.lookers).push(sender);
        receiver
    }

    /// Looks on at an agent. Blocks on the disk.
    pub fn watch(&self, job: &str) -> Result<Watched, String> {
        let (sender, events) = mpsc::unbounded();
        let mut watching = lock_of(&self.shared.watching);
        watching
            .entry(job.to_owned())
            .or_default()
            .push(sender.clone());
        drop(watching);
        let told = lock_of(&self.shared.sessions).get(job).cloned();
        let told = told.unwrap_or_default();
        let (Some(session), Some(root)) = (told.session, told.root) else {
            return Err("this agent has not begun yet".to_owned());
        };
        let records = self.shared.workshop.records(&session)?;
        let recorded = records
            .into_iter()
            .map(|it| agent::Event::Recorded(Arc::new(it)));
        let past = recorded.chain(told.asking).collect();
        let (commands, job) = (self.shared.commands.clone(), job.to_owned());
        let tell = move |command| {
            if let Some(command) = seat::passed_on(&job, command) {
                // Full or closed: the board shows that nothing goes on.
                commands.try_send(command).ok();
            }
        };
        Ok(Watched {
            session,
            root,
            past,
            events,
            tell: Arc::new(tell),
        })
    }
}

impl Shared {
    /// Everything stands like this now.
    fn show(&self, board: Board) {
        let board = Arc::new(board);
        let mut now = lock_of(&self.now);
        if *now == board {
            return;
        }
        now.clone_from(&board);
        drop(now);
        lock_of(&self.lookers).retain(|looker| looker.unbounded_send(board.clone()).is_ok());
    }

    /// A job's session tells something.
    fn pass_on(&self, job: &str, event: &agent::Event) {
        if let agent::Event::Asking { .. } = event {
            let mut sessions = lock_of(&self.sessions);
            sessions.entry(job.to_owned()).or_default().asking = Some(event.clone());
        }
        if let Some(lookers) = lock_of(&self.watching).get_mut(job) {
            lookers.retain(|looker| looker.unbounded_send(event.clone()).is_ok());
        }
    }

    /// A job stands so now.
    fn stands(&self, line: &composer::board::Line) {
        let mut sessions = lock_of(&self.sessions);
        let told = sessions.entry(line.job.clone()).or_default();
        told.session.clone_from(&line.session);
        let place = line.place.as_ref();
        told.root = place.and_then(|place| AbsPath::new(&place.root));
        if !matches!(line.state, composer::board::State::Waiting { .. }) {
            told.asking = None;
        }
    }
}

/// The sample project as a repository: the one that lies there, or a fresh one.
fn sample(dirs: &Dirs) -> Result<AbsPath, String> {
    use host::Files as _;
    let folder = dirs.state.join("sample");
    if workshop::is_sample(&folder) {
        return Ok(folder);
    }
    let fresh = crate::run::sample(&host::RealFiles, dirs)?;
    host::RealFiles
        .rename(&fresh, &folder)
        .map_err(|error| error.to_string())?;
    Ok(folder)
}
