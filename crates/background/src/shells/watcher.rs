//! A window that is attached to a shell: the kept output first, then what comes.

use std::sync::Arc;

use host::process::{BacklogReader, OutputPart, ProcessExit, TerminalSize};
use tokio::sync::watch;

use super::running::RunningShell;
use super::{ShellEvent, ShellInput};

/// A window that is attached to a shell. Dropping it detaches the window; the shell goes on.
pub(crate) struct ShellWatch {
    shell: Arc<RunningShell>,
    watcher: u64,
    changes: watch::Receiver<()>,
    reader: BacklogReader,
    /// Number of bytes of output that the window has.
    offset: u64,
    is_announced: bool,
    /// The size of the output that was sent last.
    size: Option<TerminalSize>,
    /// Whether the window has the earlier output.
    is_caught_up: bool,
    /// Whether output is missing since the window was last caught up.
    is_cut: bool,
    processes: usize,
    is_over: bool,
}

impl ShellWatch {
    /// Attaches a window that has the first `from` bytes of the output.
    pub(super) fn new(shell: Arc<RunningShell>, from: u64) -> Self {
        let changes = shell.feed.subscribe();
        let watcher = shell.attach();
        let state = shell.feed.lock();
        let reader = BacklogReader::new(&state.backlog, from);
        let offset = from.min(state.backlog.end());
        drop(state);
        Self {
            shell,
            watcher,
            changes,
            reader,
            offset,
            is_announced: false,
            size: None,
            is_caught_up: false,
            is_cut: false,
            processes: 1,
            is_over: false,
        }
    }

    /// Returns the next event, once there is one. Returns `None` after the end of the shell. The future may be dropped at
    /// any time.
    pub(crate) async fn next(&mut self) -> Option<ShellEvent> {
        while !self.is_over {
            self.changes.mark_unchanged();
            if let Some(event) = self.ready() {
                return Some(event);
            }
            // The feed has the sender.
            self.changes.changed().await.ok()?;
        }
        None
    }

    /// Returns the function that carries out the inputs of this window. It never waits.
    pub(crate) fn sender(&self) -> impl Fn(ShellInput) + Send + Sync + use<> {
        let (shell, watcher) = (Arc::clone(&self.shell), self.watcher);
        move |input| shell.input(watcher, input)
    }

    fn ready(&mut self) -> Option<ShellEvent> {
        let state = self.shell.feed.lock();
        if !std::mem::replace(&mut self.is_announced, true) {
            let has_all = self.offset == 0 && state.backlog.start() == 0;
            return Some(ShellEvent::Attached {
                has_ended: state.exit.is_some(),
                restored: self.shell.restored.clone().filter(|_| has_all),
                nonce: self.shell.nonce.clone(),
            });
        }
        let next = self.reader.offset(&state.backlog);
        if next > self.offset {
            self.offset = next;
            self.is_cut = true;
            self.is_caught_up = false;
        }
        if !self.is_caught_up {
            if self.reader.is_live() {
                drop(state);
                return Some(self.catch_up());
            }
            let (size, _) = state.size_at(next);
            if self.size.replace(size) != Some(size) {
                return Some(ShellEvent::Size(size.rows, size.columns));
            }
        }
        let until = if self.is_caught_up {
            u64::MAX
        } else {
            state.size_at(next).1
        };
        if let Some(part) = self.reader.read(&state.backlog, until) {
            let OutputPart {
                offset,
                bytes,
                is_backlog,
            } = part;
            self.offset = offset + bytes.len() as u64;
            return Some(ShellEvent::Output {
                offset,
                bytes,
                is_backlog,
            });
        }
        let processes = state.processes;
        if std::mem::replace(&mut self.processes, processes) != processes {
            return Some(ShellEvent::Processes(processes));
        }
        let exit = state.exit?;
        self.is_over = true;
        Some(ShellEvent::Ended(match exit {
            ProcessExit::Exited(code) => Some(code),
            ProcessExit::Signalled(_) | ProcessExit::TimedOut => None,
        }))
    }

    fn catch_up(&mut self) -> ShellEvent {
        self.is_caught_up = true;
        let is_cut = std::mem::take(&mut self.is_cut);
        let modes = is_cut.then(|| self.shell.mode_sequences());
        ShellEvent::CaughtUp {
            modes: modes.unwrap_or_default(),
        }
    }
}

impl Drop for ShellWatch {
    fn drop(&mut self) {
        self.shell.detach(self.watcher);
    }
}
