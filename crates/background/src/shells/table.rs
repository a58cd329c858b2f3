//! The shells of the background process, by their ids.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_service::Error;
use base::AbsPath;
use host::Clock;

use super::running::RunningShell;
use super::{KeptShell, MAX_SHELLS, ShellLaunch, ShellWatch};

/// Number of shells that are kept after their end, for windows whose connection broke.
const MAX_ENDED: usize = 8;

/// The shells of the background process.
pub(crate) struct KeptShells {
    /// Id of the run of the process.
    run: String,
    clock: Arc<dyn Clock>,
    table: Mutex<ShellTable>,
}

#[derive(Default)]
struct ShellTable {
    next_number: u64,
    /// Oldest first.
    shells: Vec<Arc<RunningShell>>,
}

impl KeptShells {
    /// Creates an empty table for a run of the process.
    pub(crate) fn new(run: String, clock: Arc<dyn Clock>) -> Self {
        Self {
            run,
            clock,
            table: Mutex::default(),
        }
    }

    /// Starts a shell and returns its id. Fails if the program does not start, or if there are too many shells.
    pub(crate) async fn start(&self, launch: ShellLaunch) -> Result<String, Error> {
        let id = self.fresh_id()?;
        let (own, clock) = (id.clone(), Arc::clone(&self.clock));
        let starting = tokio::task::spawn_blocking(move || RunningShell::start(own, launch, clock));
        let started = starting.await.map_err(failed)?;
        let shell = Arc::new(started.map_err(failed)?);
        self.table().shells.push(Arc::clone(&shell));
        tokio::spawn(shell.follow());
        Ok(id)
    }

    fn fresh_id(&self) -> Result<String, Error> {
        let mut table = self.table();
        table.forget_ended(MAX_ENDED);
        if table.shells.len() >= MAX_SHELLS {
            table.forget_ended(0);
        }
        if table.shells.len() >= MAX_SHELLS {
            return Err(Error::Failed(format!(
                "the background process has {MAX_SHELLS} shells already"
            )));
        }
        let number = table.next_number;
        table.next_number += 1;
        Ok(format!("{}-{number}", self.run))
    }

    /// Attaches a window that has the first `from` bytes of the output. Returns `None` if there is no such shell.
    pub(crate) fn watch(&self, id: &str, from: u64) -> Option<ShellWatch> {
        let table = self.table();
        let shell = table.shells.iter().find(|shell| shell.id() == id)?;
        Some(ShellWatch::new(Arc::clone(shell), from))
    }

    /// Describes the living shells of all folders.
    pub(crate) async fn list(&self) -> Vec<KeptShell> {
        self.describe(|_| true).await
    }

    /// Describes the living shells of a folder.
    pub(crate) async fn list_of(&self, root: Option<&AbsPath>) -> Vec<KeptShell> {
        self.describe(|shell| shell.root() == root).await
    }

    async fn describe(&self, is_listed: impl Fn(&RunningShell) -> bool) -> Vec<KeptShell> {
        let shells = self.living();
        let listed = shells.into_iter().filter(|shell| is_listed(shell));
        let listed: Vec<_> = listed.collect();
        let described =
            move || -> Vec<KeptShell> { listed.iter().map(|shell| shell.describe()).collect() };
        let described = tokio::task::spawn_blocking(described).await;
        described.unwrap_or_default()
    }

    /// Ends a shell.
    pub(crate) async fn end(&self, id: &str) {
        let shell = {
            let mut table = self.table();
            let at = table.shells.iter().position(|shell| shell.id() == id);
            at.map(|at| table.shells.remove(at))
        };
        end_all(shell.into_iter().collect()).await;
    }

    /// Ends all shells.
    pub(crate) async fn end_all(&self) {
        let shells = std::mem::take(&mut self.table().shells);
        end_all(shells).await;
    }

    /// Looks at the shells, and ends those without a window and without a command at more than `looks` looks in a row. A
    /// connected program uses all of them: its window may show them later.
    pub(crate) async fn end_unused(&self, is_connected: bool, looks: u32) {
        let shells = self.living();
        let look = move || -> Vec<Arc<RunningShell>> {
            let is_unused = |shell: &Arc<RunningShell>| shell.look(is_connected) > looks;
            shells.into_iter().filter(is_unused).collect()
        };
        let unused = tokio::task::spawn_blocking(look).await;
        for shell in unused.unwrap_or_default() {
            log::info!("a shell that was idle for long ends");
            self.end(shell.id()).await;
        }
    }

    fn living(&self) -> Vec<Arc<RunningShell>> {
        let table = self.table();
        let living = table.shells.iter().filter(|shell| !shell.has_ended());
        living.cloned().collect()
    }

    fn table(&self) -> MutexGuard<'_, ShellTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShellTable {
    /// Forgets the oldest ended shells; `kept` of them stay.
    fn forget_ended(&mut self, kept: usize) {
        let ended = self.shells.iter().filter(|shell| shell.has_ended()).count();
        let mut over = ended.saturating_sub(kept);
        self.shells.retain(|shell| {
            let is_forgotten = over > 0 && shell.has_ended();
            over -= usize::from(is_forgotten);
            !is_forgotten
        });
    }
}

/// Ends shells at the same time.
async fn end_all(shells: Vec<Arc<RunningShell>>) {
    let ending = shells
        .into_iter()
        .map(|shell| tokio::task::spawn_blocking(move || shell.hang_up()));
    let ending: Vec<_> = ending.collect();
    for one in ending {
        if let Err(error) = one.await {
            log::error!("a shell was not ended: {error}");
        }
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed(error.to_string())
}
