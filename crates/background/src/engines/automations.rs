//! The automations of this process: their scheduler, and their runs as sessions and jobs.
//!
//! Invariant: a run's start is in the ledger before its session gets the prompt.
//! Start at `Automations::start`.

mod engine_host;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent_service::{AutomationChange, AutomationEntry, Error};
use automation::{AutomationScheduler, SchedulerParts, Tick};
use base::AbsPath;
use futures::channel::mpsc;
use host::{Clock, Dirs, RealFiles};
use runtime::agent_services::AgentServices;
use runtime::automations;
use runtime::live_sessions::LiveSessions;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::boards::Boards;
use super::{failed, on_disk};
use engine_host::EngineHost;

/// Time between two looks for events, and for the end of a run.
const LOOK_TIME: Duration = Duration::from_secs(30);
const BUSY_LOOK_TIME: Duration = Duration::from_secs(2);

/// The automations of a process. Clones share them.
#[derive(Clone)]
pub(super) struct Automations(Arc<AutomationParts>);

struct AutomationParts {
    dirs: Dirs,
    clock: Arc<dyn Clock>,
    /// Held while it looks or starts a run.
    scheduler: Mutex<AutomationScheduler>,
    /// Notified when the list of automations changed.
    wake: Notify,
    is_on: AtomicBool,
}

/// The parts that start the automations when the services are open.
pub(super) struct Scheduling {
    pub(super) is_wanted: bool,
    pub(super) dirs: Dirs,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) boards: Boards,
    pub(super) reports: Reports,
    pub(super) started: Arc<OnceLock<Automations>>,
}

impl Scheduling {
    /// Starts the automations, if these engines run them.
    pub(super) fn start(self, services: &Arc<AgentServices>, sessions: LiveSessions) {
        if !self.is_wanted {
            return;
        }
        let engines = (services.clone(), sessions, self.boards);
        match Automations::start(&self.dirs, self.clock, engines, self.reports) {
            // The services open once.
            Ok(started) => drop(self.started.set(started)),
            Err(error) => log::error!("automations do not run: {error}"),
        }
    }
}

/// Sentences for the user. Clones share the receivers.
#[derive(Clone, Default)]
pub(super) struct Reports(Arc<Mutex<Vec<mpsc::UnboundedSender<String>>>>);

impl Reports {
    /// The sentences from now on. Unbounded: there are few.
    pub(super) fn follow(&self) -> mpsc::UnboundedReceiver<String> {
        let (sender, receiver) = mpsc::unbounded();
        lock(&self.0).push(sender);
        receiver
    }

    pub(super) fn send(&self, sentence: &str) {
        lock(&self.0).retain(|it| it.unbounded_send(sentence.to_owned()).is_ok());
    }
}

impl Automations {
    /// Starts the scheduler on the current runtime. It ends with the runtime. Fails if the ledger
    /// cannot be opened. Blocks on the disk.
    pub(super) fn start(
        dirs: &Dirs,
        clock: Arc<dyn Clock>,
        engines: (Arc<AgentServices>, LiveSessions, Boards),
        reports: Reports,
    ) -> Result<Self, Error> {
        let (services, sessions, boards) = engines;
        let host = EngineHost {
            dirs: dirs.clone(),
            runtime: Handle::current(),
            services,
            sessions,
            boards,
            reports,
            results: Arc::default(),
        };
        let scheduler = AutomationScheduler::new(SchedulerParts {
            files: Arc::new(RealFiles),
            clock: clock.clone(),
            consents: automations::consents(dirs),
            ledger: automations::open_ledger(dirs).map_err(failed)?,
            host: Arc::new(host),
        });
        let this = Self(Arc::new(AutomationParts {
            dirs: dirs.clone(),
            clock,
            scheduler: Mutex::new(scheduler),
            wake: Notify::new(),
            is_on: AtomicBool::new(false),
        }));
        tokio::spawn(this.clone().run());
        Ok(this)
    }

    /// Returns whether an automation is on, so that the process must not end.
    pub(super) fn is_on(&self) -> bool {
        self.0.is_on.load(Ordering::Relaxed)
    }

    /// Looks at the automations again and again.
    async fn run(self) {
        loop {
            let this = self.clone();
            let look = move || lock(&this.0.scheduler).tick();
            let Ok(tick) = tokio::task::spawn_blocking(look).await else {
                return;
            };
            self.0.is_on.store(tick.is_on, Ordering::Relaxed);
            let wait = wait_time(tick, self.0.clock.wall_ms());
            // Ends at the time or when the list changed; both mean another look.
            tokio::time::timeout(wait, self.0.wake.notified())
                .await
                .ok();
        }
    }

    /// Lets the scheduler look at once.
    pub(super) fn wake(&self) {
        self.0.wake.notify_one();
    }

    /// Changes an automation.
    pub(super) async fn change(
        &self,
        root: AbsPath,
        change: AutomationChange,
    ) -> Result<(), Error> {
        let this = self.clone();
        on_disk(move || {
            if let AutomationChange::Run(name) = &change {
                return lock(&this.0.scheduler).run_now(&root, name).map_err(failed);
            }
            let now_ms = this.0.clock.wall_ms();
            apply(&this.0.dirs, &root, &change, now_ms)
        })
        .await?;
        self.wake();
        Ok(())
    }
}

/// Stores whether an automation is on. Running one needs a scheduler.
pub(super) fn apply(
    dirs: &Dirs,
    root: &AbsPath,
    change: &AutomationChange,
    now_ms: u64,
) -> Result<(), Error> {
    let consents = automations::consents(dirs);
    let stored = match change {
        AutomationChange::Trust { name, mark } => {
            consents.trust(&RealFiles, root, name, mark, now_ms)
        }
        AutomationChange::TurnOff(name) => consents.revoke(&RealFiles, root, name),
        AutomationChange::Run(_) => {
            let why = "automations run in the background process, which does not run";
            return Err(Error::Failed(why.to_owned()));
        }
    };
    stored.map_err(failed)
}

/// Lists the automations of a folder. Blocks on the disk.
pub(super) fn list(
    dirs: &Dirs,
    root: &AbsPath,
    now_ms: u64,
) -> Result<Vec<AutomationEntry>, Error> {
    automations::entries(dirs, root, now_ms).map_err(failed)
}

/// The time until the next look.
fn wait_time(tick: Tick, now_ms: u64) -> Duration {
    let longest = if tick.is_busy {
        BUSY_LOOK_TIME
    } else {
        LOOK_TIME
    };
    let planned = tick
        .next_ms
        .map(|at| Duration::from_millis(at.saturating_sub(now_ms)));
    planned.map_or(longest, |planned| planned.min(longest))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
