//! A program in a terminal: joins a process and an emulator.
//!
//! Invariant: the emulator is locked for one piece of output at a time.
//! Invariant: answers to the program's queries go to the program alone.

mod environment;
mod updates;

use std::ffi::OsString;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use base::AbsPath;
use host::process::{
    ExitReport, LaunchRequest, SandboxSpawner, SpawnedProcess, TerminalSize, spawn,
};
use host::{Clock, Error};

use crate::emulator::{Emulator, EmulatorOptions};
use crate::event::TerminalEvent;
use crate::integration::ShellIntegration;
use crate::observer::OutputObserver;
use crate::restore::SavedTerminal;
use crate::snapshot::TerminalSnapshot;
use environment::terminal_variables;
use updates::UpdateTimer;

/// Bytes of output for which the emulator is locked at once. Some sequences make it do thousands of times more work than
/// they have bytes.
const PIECE: usize = 4 << 10;

/// A program to run in a terminal.
#[derive(Clone)]
pub struct TerminalSpec {
    /// The program: a name looked up in `PATH`, or a path.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The folder in which it starts.
    pub folder: AbsPath,
    /// The environment before the variables of the terminal are set: begin with `host::environment::variables`.
    pub variables: Vec<(OsString, OsString)>,
    /// The shell integration; `None` for programs that are no shells.
    pub integration: Option<ShellIntegration>,
    /// The sandbox; without one the program has Burin's own rights.
    pub sandbox: Option<Arc<dyn SandboxSpawner>>,
    /// The emulator. Its nonce is that of `integration`, if there is one.
    pub emulator: EmulatorOptions,
    /// Text of an earlier run to show above the output, and the line below it: see `Emulator::show_saved`.
    pub restored: Option<(SavedTerminal, String)>,
    /// Reads the output as well.
    pub output: Option<OutputObserver>,
}

/// Called on a thread of the session when something changed: output, events or the end. At most one call is made between
/// two calls of `TerminalSession::acknowledge`.
pub type WakeUp = Arc<dyn Fn() + Send + Sync>;

/// A program in a terminal. Dropping it kills the program and all its descendants.
pub struct TerminalSession {
    process: Arc<SpawnedProcess>,
    shared: Arc<SharedSession>,
}

/// The part of a session that its threads use.
struct SharedSession {
    emulator: Mutex<Emulator>,
    clock: Arc<dyn Clock>,
    wake: WakeUp,
    output: Option<OutputObserver>,
    /// Whether a wake-up was not acknowledged.
    is_woken: AtomicBool,
    /// The process, once it has started.
    process: OnceLock<Weak<SpawnedProcess>>,
    /// Ends synchronized updates that the program does not end.
    updates: UpdateTimer,
    exit: OnceLock<ExitReport>,
}

impl fmt::Debug for TerminalSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalSession")
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

impl TerminalSession {
    /// Starts a program.
    ///
    /// # Errors
    /// The program or the folder does not exist, or the sandbox cannot be set up.
    pub fn start(spec: TerminalSpec, clock: Arc<dyn Clock>, wake: WakeUp) -> Result<Self, Error> {
        let mut options = spec.emulator;
        options.host_name = options.host_name.or_else(host::host_name);
        let mut arguments = Vec::new();
        let mut variables = terminal_variables(spec.variables);
        if let Some(integration) = spec.integration {
            arguments = integration.arguments;
            let is_replaced =
                |name: &OsString| integration.variables.iter().any(|(set, _)| set == name);
            variables.retain(|(name, _)| !is_replaced(name));
            variables.extend(integration.variables.iter().cloned());
            options.nonce = Some(integration.nonce);
        }
        arguments.extend(spec.arguments);
        let mut emulator = Emulator::new(options);
        if let Some((saved, notice)) = &spec.restored {
            emulator.show_saved(saved, notice);
        }
        let launch = LaunchRequest {
            program: spec.program,
            arguments,
            folder: spec.folder,
            variables,
            terminal: Some(emulator.size()),
            sandbox: spec.sandbox,
        };
        let shared = Arc::new(SharedSession {
            emulator: Mutex::new(emulator),
            clock,
            wake,
            output: spec.output,
            is_woken: AtomicBool::new(false),
            process: OnceLock::new(),
            updates: UpdateTimer::default(),
            exit: OnceLock::new(),
        });
        let fed = Arc::clone(&shared);
        let process = Arc::new(spawn(&launch, Box::new(move |bytes| fed.feed(bytes)))?);
        if shared.process.set(Arc::downgrade(&process)).is_err() {
            base::never!("the session has two processes");
        }
        shared.write_replies();
        shared.watch_exit(&process);
        shared.watch_updates();
        Ok(Self { process, shared })
    }

    /// Allows the next wake-up. The caller acknowledges before it reads.
    pub fn acknowledge(&self) {
        self.shared.is_woken.store(false, Ordering::SeqCst);
    }

    /// Returns the visible part.
    pub fn snapshot(&self) -> TerminalSnapshot {
        self.shared.lock().snapshot()
    }

    /// Takes the events since the last call, without replies, which were written.
    pub fn take_events(&self) -> Vec<TerminalEvent> {
        let mut events = self.shared.lock().take_events();
        events.retain(|event| match event {
            TerminalEvent::Reply(bytes) => {
                self.process.write(bytes.clone());
                false
            }
            _ => true,
        });
        events
    }

    /// Calls `read` with the emulator. Output waits meanwhile.
    pub fn with_emulator<T>(&self, read: impl FnOnce(&mut Emulator) -> T) -> T {
        read(&mut self.shared.lock())
    }

    /// Writes input to the program; returns false if it ended or does not read its input.
    pub fn write(&self, bytes: Vec<u8>) -> bool {
        self.process.write(bytes)
    }

    /// Changes the size of the grid at once. The program learns it by `resize_program`, which the caller delays until the
    /// size has settled.
    pub fn resize_grid(&self, size: TerminalSize) {
        self.shared.lock().resize(size);
    }

    /// Tells the program the size of the grid.
    pub fn resize_program(&self) {
        let size = self.shared.lock().size();
        self.process.resize(size);
    }

    /// Returns the end of the program; `None` while it runs.
    pub fn exit(&self) -> Option<ExitReport> {
        self.shared.exit.get().copied()
    }

    /// Returns the ids of the living processes, to ask before a terminal is closed.
    pub fn members(&self) -> Vec<u32> {
        self.process.members()
    }

    /// Ends the program as a terminal that closes does: see `SpawnedProcess::hang_up`. Blocks at most a little longer than
    /// `grace`.
    pub fn hang_up(&self, grace: Duration) {
        self.process.hang_up(grace);
    }

    /// Stops the program and all its descendants. Blocks at most a little longer than `grace`.
    pub fn stop(&self, grace: Duration) {
        self.process.stop(grace);
    }
}

impl Drop for TerminalSession {
    fn drop(&mut self) {
        self.shared.updates.close();
        self.process.stop(Duration::ZERO);
    }
}

impl SharedSession {
    fn lock(&self) -> MutexGuard<'_, Emulator> {
        self.emulator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes output on the reader's thread; the program waits meanwhile.
    fn feed(&self, bytes: &[u8]) {
        if let Some(output) = &self.output {
            output.notify(bytes);
        }
        for piece in bytes.chunks(PIECE) {
            let is_updating = {
                let mut emulator = self.lock();
                emulator.feed(piece, self.clock.elapsed());
                emulator.is_updating()
            };
            self.updates.set(is_updating);
            self.write_replies();
        }
        self.wake();
    }

    /// Writes answers to the program's queries. They wait until the process is known.
    fn write_replies(&self) {
        if let Some(process) = self.process.get().and_then(Weak::upgrade) {
            let replies = self.lock().take_replies();
            if !replies.is_empty() {
                // A program that does not read its input gets no answers.
                process.write(replies);
            }
        }
    }

    fn wake(&self) {
        if !self.is_woken.swap(true, Ordering::SeqCst) {
            (self.wake)();
        }
    }

    /// Starts a thread that notes the end of the process.
    fn watch_exit(self: &Arc<Self>, process: &SpawnedProcess) {
        let ended = process.exit_receiver();
        let shared = Arc::clone(self);
        thread::spawn(move || {
            if let Ok(report) = ended.recv_blocking()
                && shared.exit.set(report).is_err()
            {
                base::never!("the process ended twice");
            }
            shared.updates.close();
            shared.wake();
        });
    }

    /// Starts a thread that ends synchronized updates.
    fn watch_updates(self: &Arc<Self>) {
        let shared = Arc::clone(self);
        thread::spawn(move || {
            while shared.updates.wait_for_overdue() {
                shared.lock().end_update(shared.clock.elapsed());
                shared.write_replies();
                shared.wake();
            }
        });
    }
}

#[cfg(test)]
mod tests;
