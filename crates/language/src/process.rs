//! The process of a server: its start, its standard error, and its end.
//!
//! Invariant: when `end` returns, the process and its descendants are gone; the same holds soon after a
//! `ServerProcess` is dropped.

mod tree;

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use base::LogErr as _;
use host::environment::{self, Variable};
use host::process::{ProcessEnvironment, ProcessExit, StartRequest};

use crate::Error;
use crate::selection::ServerChoice;
use crate::server_log::{LogSource, ServerLog};
use tree::{ServerTree, StartedServer};

/// Lines of standard error that are kept.
const LAST_LINES: usize = 20;
/// The longest line of standard error that is read at once, in bytes.
const MAX_LINE: u64 = 1 << 14;
/// Time for a process to exit after its input was closed.
const EXIT_GRACE: Duration = Duration::from_secs(1);

/// A running process of a server.
pub(crate) struct ServerProcess {
    tree: ServerTree,
    /// The end of the process, set when it and its descendants are gone.
    exit: Arc<OnceLock<ProcessExit>>,
    /// Closed after `exit` was set.
    ended: mpsc::Receiver<()>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// Closed once standard error was read to its end.
    errors_ended: mpsc::Receiver<()>,
}

/// Returns the memory of a process and its descendants in bytes; `None` if they have ended. Blocks while it reads the
/// process table.
pub(crate) type MemoryProbe = Arc<dyn Fn() -> Option<u64> + Send + Sync>;

/// The pipes of a server's process.
pub(crate) struct ServerPipes {
    pub(crate) input: Box<dyn Write + Send>,
    pub(crate) output: Box<dyn Read + Send>,
}

impl ServerProcess {
    /// Starts a server in the root of its project.
    pub(crate) fn start(
        choice: &ServerChoice,
        variables: &[Variable],
        log: &ServerLog,
    ) -> Result<(Self, ServerPipes), Error> {
        let server = &choice.definition;
        let mut variables = variables.to_vec();
        for (name, value) in environment::named_variables(&server.environment) {
            variables.retain(|(known, _)| *known != name);
            variables.push((name, value));
        }
        let request = StartRequest {
            program: choice.program.path.as_path().into(),
            arguments: server.arguments.iter().map(Into::into).collect(),
            folder: choice.root.clone(),
            environment: ProcessEnvironment::Only(variables),
        };
        let StartedServer {
            input,
            output,
            errors,
            tree,
        } = tree::start(request, &choice.sandbox)?;
        let text = format!("started {} in {}", choice.program.path, choice.root);
        log.add(LogSource::Process, &text);
        let last_lines = Arc::<Mutex<VecDeque<String>>>::default();
        let errors_ended = read_errors(errors, log.clone(), last_lines.clone());
        let exit = Arc::<OnceLock<ProcessExit>>::default();
        let (open, ended) = mpsc::channel();
        let (waited, result) = (tree.clone(), exit.clone());
        thread::spawn(move || {
            // Nothing else sets it.
            result.set(waited.wait()).ok();
            drop(open);
        });
        let process = Self {
            tree,
            exit,
            ended,
            last_lines,
            errors_ended,
        };
        Ok((process, ServerPipes { input, output }))
    }

    /// Returns a function that measures the memory.
    pub(crate) fn memory_probe(&self) -> MemoryProbe {
        self.tree.memory_probe()
    }

    /// Returns how the process ended; waits for that at most this long.
    pub(crate) fn wait(&self, time: Duration) -> Option<ProcessExit> {
        // Nothing is ever sent: the channel closes.
        self.ended.recv_timeout(time).ok();
        self.exit.get().copied()
    }

    /// Waits a moment until the process exits by itself, then kills it and its descendants. Returns once
    /// they are gone. Call it after the input was closed.
    pub(crate) fn end(self) {
        if self.wait(EXIT_GRACE).is_none() {
            self.tree.kill();
            self.ended.recv().ok();
        }
    }

    /// Returns a sentence about an unexpected end, with its cause as far as the process gives one. `reason` is used
    /// if the process lives. Waits a moment for its end.
    pub(crate) fn crash_reason(&self, reason: &str) -> String {
        let end = self.wait(EXIT_GRACE).map_or_else(
            || reason.to_owned(),
            |exit| format!("the server {}", exit_text(exit)),
        );
        match self.last_error_line() {
            Some(line) => format!("{end}: {line}"),
            None => end,
        }
    }

    /// Returns the last line of standard error that is not blank. Call it after the process ended; waits a
    /// moment for the end of standard error.
    fn last_error_line(&self) -> Option<String> {
        // Nothing is ever sent: the channel closes.
        self.errors_ended.recv_timeout(EXIT_GRACE).ok();
        let lines = self.last_lines.lock();
        let lines = lines.unwrap_or_else(PoisonError::into_inner);
        lines.back().cloned()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The waiting thread shares the tree.
        if self.exit.get().is_none() {
            self.tree.kill();
        }
    }
}

/// Starts a thread that reads standard error to its end, into the log and the last lines. Returns a channel
/// that it closes then.
fn read_errors(
    errors: Box<dyn Read + Send>,
    log: ServerLog,
    last_lines: Arc<Mutex<VecDeque<String>>>,
) -> mpsc::Receiver<()> {
    let mut errors = BufReader::new(errors);
    let (open, ended) = mpsc::channel();
    thread::spawn(move || {
        let _open = open;
        let mut bytes = Vec::new();
        while errors
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut bytes)
            .log_err()
            .is_some_and(|count| count > 0)
        {
            let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            bytes.clear();
            if line.is_empty() {
                continue;
            }
            log.add(LogSource::ErrorOutput, &line);
            let mut last = last_lines.lock().unwrap_or_else(PoisonError::into_inner);
            if last.len() == LAST_LINES {
                last.pop_front();
            }
            last.push_back(line);
        }
    });
    ended
}

/// Returns the words for the end of a process.
pub(crate) fn exit_text(exit: ProcessExit) -> String {
    match exit {
        ProcessExit::Exited(code) => format!("exited with code {code}"),
        ProcessExit::Signalled(signal) => format!("was killed by signal {signal}"),
        ProcessExit::TimedOut => "was stopped".to_owned(),
    }
}
