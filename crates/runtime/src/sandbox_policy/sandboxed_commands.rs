//! Sandboxed commands of a session: in its warm sandbox, in that of read-only commands, or in a new
//! one.

use std::ffi::OsString;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host::process::{
    Denial, PlantedFile, ProcessExit, SandboxSpawner, SandboxStartError, SandboxedCommand,
    SandboxedProcess,
};
use sandbox::{
    DeniedAccess, KillHandle, PathAccess, Policy, RunningCommand, SandboxError, SpawnRequest,
    WarmSandbox,
};

use super::hook_scanner::HookScanner;

/// Commands with one policy of their own.
pub(super) struct OneShotSandbox {
    pub(super) policy: Policy,
    pub(super) scanner: Arc<HookScanner>,
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// Commands in a warm sandbox.
pub(super) struct ReusedSandbox {
    pub(super) sandbox: Arc<WarmSandbox>,
    pub(super) scanner: Arc<HookScanner>,
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// Read-only commands in a warm sandbox. No scan follows them: they can change nothing, and what
/// appears meanwhile comes from the user, or from another command, after which a scan follows.
pub(super) struct ReadOnlySandbox {
    pub(super) sandbox: Arc<WarmSandbox>,
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// The variable that keeps `git status` from writing the index.
const NO_OPTIONAL_LOCKS: (&str, &str) = ("GIT_OPTIONAL_LOCKS", "0");

impl SandboxSpawner for OneShotSandbox {
    fn start(
        &self,
        start: SandboxedCommand,
    ) -> Result<Box<dyn SandboxedProcess>, SandboxStartError> {
        let request = request(start, &self.variables);
        started(&self.scanner, || sandbox::start(&self.policy, request))
    }
}

impl SandboxSpawner for ReusedSandbox {
    fn start(
        &self,
        start: SandboxedCommand,
    ) -> Result<Box<dyn SandboxedProcess>, SandboxStartError> {
        let request = request(start, &self.variables);
        started(&self.scanner, || self.sandbox.start(request))
    }
}

impl SandboxSpawner for ReadOnlySandbox {
    fn start(
        &self,
        start: SandboxedCommand,
    ) -> Result<Box<dyn SandboxedProcess>, SandboxStartError> {
        let mut request = request(start, &self.variables);
        let (name, value) = NO_OPTIONAL_LOCKS;
        request.environment.push((name.into(), value.into()));
        match self.sandbox.start(request) {
            Ok(running) => Ok(Box::new(SandboxProcess::of(running, None))),
            Err(refused) => Err(SandboxStartError(refused.to_string())),
        }
    }
}

/// Starts a command with `start` while the scanner watches for changes to hooks. Returns an error,
/// and ends the watch, if the sandbox refuses the command.
fn started(
    scanner: &Arc<HookScanner>,
    start: impl FnOnce() -> Result<RunningCommand, SandboxError>,
) -> Result<Box<dyn SandboxedProcess>, SandboxStartError> {
    scanner.command_started();
    match start() {
        Ok(running) => {
            let scanner = Some(scanner.clone());
            Ok(Box::new(SandboxProcess::of(running, scanner)))
        }
        Err(refused) => {
            scanner.command_ended(&[]);
            Err(SandboxStartError(refused.to_string()))
        }
    }
}

fn request(start: SandboxedCommand, more: &[(OsString, OsString)]) -> SpawnRequest {
    let mut environment = start.variables;
    environment.extend(more.iter().cloned());
    SpawnRequest {
        program: start.program,
        arguments: start.arguments,
        folder: start.folder,
        environment,
        streams: start.streams,
        terminal: start.has_terminal,
    }
}

/// A command that runs, or ran.
struct SandboxProcess {
    id: u32,
    ender: KillHandle,
    running: Mutex<Option<RunningCommand>>,
    denials: Mutex<Vec<Denial>>,
    /// `None` for a read-only command.
    scanner: Option<Arc<HookScanner>>,
    planted: Mutex<Vec<PlantedFile>>,
    is_over: Mutex<bool>,
    ended: Condvar,
}

impl SandboxProcess {
    fn of(running: RunningCommand, scanner: Option<Arc<HookScanner>>) -> Self {
        Self {
            id: running.id(),
            ender: running.kill_handle(),
            running: Mutex::new(Some(running)),
            denials: Mutex::default(),
            scanner,
            planted: Mutex::default(),
            is_over: Mutex::new(false),
            ended: Condvar::new(),
        }
    }
}

impl SandboxedProcess for SandboxProcess {
    fn id(&self) -> u32 {
        self.id
    }

    fn wait(&self) -> (ProcessExit, usize) {
        let Some(running) = lock(&self.running).take() else {
            return (ProcessExit::Signalled(0), 0);
        };
        let fixed = running.fixed();
        let mut finished = running.wait();
        match &self.scanner {
            Some(scanner) => *lock(&self.planted) = scanner.command_ended(&fixed),
            None => finished.denials.retain(|denied| !is_index_refresh(denied)),
        }
        let denials = finished.denials.iter().map(denial).collect();
        *lock(&self.denials) = denials;
        *lock(&self.is_over) = true;
        self.ended.notify_all();
        let end = match finished.exit {
            sandbox::CommandExit::Exit(code) => ProcessExit::Exited(code),
            sandbox::CommandExit::Signal(signal) => ProcessExit::Signalled(signal),
        };
        (end, 0)
    }

    fn denials(&self) -> Vec<Denial> {
        lock(&self.denials).clone()
    }

    fn planted(&self) -> Vec<PlantedFile> {
        lock(&self.planted).clone()
    }

    fn interrupt(&self) {
        self.ender.signal(INTERRUPT);
    }

    fn stop(&self, grace: Duration) {
        if grace > Duration::ZERO {
            self.ender.signal(END);
            let waited = self
                .ended
                .wait_timeout_while(lock(&self.is_over), grace, |is_over| !*is_over);
            drop(waited);
        }
        self.ender.kill();
    }

    fn members(&self) -> Vec<u32> {
        if *lock(&self.is_over) {
            Vec::new()
        } else {
            vec![self.id]
        }
    }
}

/// Returns whether a denied access of a read-only command was git's attempt to refresh its index.
/// `git diff` and `git describe --dirty` try it whatever `GIT_OPTIONAL_LOCKS` says (git 2.47), and
/// do without.
fn is_index_refresh(denied: &DeniedAccess) -> bool {
    matches!(denied, DeniedAccess::Path { path, .. } if path.file_name() == "index.lock")
}

/// SIGINT, as Ctrl+C sends it, and SIGTERM; the numbers are the same on every system.
const INTERRUPT: i32 = 2;
const END: i32 = 15;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts an access that the sandbox denied for the session.
pub(super) fn denial(denied: &DeniedAccess) -> Denial {
    match denied {
        DeniedAccess::Path { path, access } => match access {
            PathAccess::Read => Denial::Read(path.clone()),
            PathAccess::Write | PathAccess::Create | PathAccess::Remove => {
                Denial::Write(path.clone())
            }
            PathAccess::Connect => Denial::Connect(path.clone()),
        },
        DeniedAccess::Host { host, port } => Denial::Host(host.clone(), *port),
        DeniedAccess::Call { name } => Denial::Call((*name).to_owned()),
    }
}
