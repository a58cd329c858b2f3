//! Commands that external agents run in terminals of ours, with feeds like those of our own agents.
//!
//! Must not know: the protocol of external agents, how a sandbox is made.
//! Invariant: the agent gets the output as text, and learns what the user typed; watchers get the output as it is.
//! Start at `HostedCommand::start`.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base::AbsPath;
use host::process::{ExitReport, LaunchRequest, OutputSink, SandboxSpawner, SpawnedProcess, spawn};
use reduce::terminal_text::Cleaner;
use tokio::sync::{mpsc, watch};

use super::exec::{SCREEN, variables};
use super::terminal::{FeedOfCommand, LOST};
use crate::command_feed::{CommandFeeds, ControlChange, NewCommand};

/// A command of an external agent that is about to start.
pub struct HostedCommandRequest {
    /// The session of the agent.
    pub session: String,
    /// Id of the terminal, in place of a call.
    pub terminal: String,
    /// The command as the user reads it.
    pub line: String,
    /// The program: a name looked up in `PATH`, or a path.
    pub program: OsString,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
    /// The folder in which it starts.
    pub folder: AbsPath,
    /// The variables for code from third parties.
    pub variables: Vec<(OsString, OsString)>,
    /// Variables that the agent sets; they replace others.
    pub own_variables: Vec<(OsString, OsString)>,
    /// The sandbox of the command; without one it has the rights of the user.
    pub sandbox: Option<Arc<dyn SandboxSpawner>>,
    /// Receives the changes of its control.
    pub changes: mpsc::UnboundedSender<ControlChange>,
}

/// A running command of an external agent. Dropping it ends the command.
pub struct HostedCommand {
    spawned: Arc<SpawnedProcess>,
    ended: watch::Receiver<Option<ExitReport>>,
}

/// The output as the agent gets it.
struct AgentOutput {
    cleaner: Cleaner,
    sink: OutputSink,
}

impl HostedCommand {
    /// Starts a command in a terminal. Watchers see it among `feeds`, unless too many run; `output` receives its output
    /// as text. Must be called on a tokio runtime.
    ///
    /// # Errors
    /// The program cannot be started, or not in its sandbox.
    pub fn start(
        request: HostedCommandRequest,
        feeds: &Arc<CommandFeeds>,
        output: OutputSink,
    ) -> Result<Self, host::Error> {
        let (sender, changes) = mpsc::unbounded_channel();
        let feed = feeds.open(NewCommand {
            session: &request.session,
            call: &request.terminal,
            command: &request.line,
            folder: &request.folder,
            sandbox: sandbox_label(request.sandbox.is_some()).to_owned(),
            has_terminal: true,
            size: SCREEN,
            changes: sender,
        });
        let feed = feed.map(|feed| (Arc::clone(feeds), feed));
        let output = Arc::new(Mutex::new(AgentOutput {
            cleaner: Cleaner::default(),
            sink: output,
        }));
        let to = request.changes.clone();
        let sink = output_sink(&output, feed.as_ref());
        let spawned = match spawn(&launch(request), sink) {
            Ok(spawned) => Arc::new(spawned),
            Err(error) => {
                if let Some((feeds, feed)) = &feed {
                    feeds.remove(feed);
                }
                return Err(error);
            }
        };
        if let Some((_, feed)) = &feed {
            feed.set_process(&spawned);
        }
        let ended = watch_exit(&spawned, feed, Arc::clone(&output));
        tokio::spawn(pass_changes(changes, to, output));
        Ok(Self { spawned, ended })
    }

    /// Returns the exit, which comes once the command has ended and its output was delivered.
    pub fn exit(&self) -> watch::Receiver<Option<ExitReport>> {
        self.ended.clone()
    }

    /// Kills the command and its descendants, without waiting for that.
    pub fn kill(&self) {
        let spawned = Arc::clone(&self.spawned);
        thread::spawn(move || spawned.stop(Duration::ZERO));
    }
}

/// Returns the confinement in a few words, as for commands of our own agents.
fn sandbox_label(is_confined: bool) -> &'static str {
    if is_confined {
        "sandbox"
    } else {
        "outside the sandbox"
    }
}

fn launch(request: HostedCommandRequest) -> LaunchRequest {
    let mut all = variables::for_commands(&request.variables, true);
    all.retain(|(name, _)| request.own_variables.iter().all(|(own, _)| own != name));
    all.extend(request.own_variables);
    LaunchRequest {
        program: request.program,
        arguments: request.arguments,
        folder: request.folder,
        variables: all,
        terminal: Some(SCREEN),
        sandbox: request.sandbox,
    }
}

/// Returns the sink of the process, for the feed and the agent.
fn output_sink(output: &Arc<Mutex<AgentOutput>>, feed: Option<&FeedOfCommand>) -> OutputSink {
    let (output, feed) = (Arc::clone(output), feed.map(|(_, feed)| Arc::clone(feed)));
    Box::new(move |bytes: &[u8]| {
        if let Some(feed) = &feed {
            feed.push(bytes);
        }
        lock(&output).push(bytes);
    })
}

/// Returns the exit of a process, once the agent and the watchers have its output.
fn watch_exit(
    process: &SpawnedProcess,
    feed: Option<FeedOfCommand>,
    output: Arc<Mutex<AgentOutput>>,
) -> watch::Receiver<Option<ExitReport>> {
    let exit = process.exit_receiver();
    let (sender, ended) = watch::channel(None);
    thread::spawn(move || {
        let report = exit.recv_blocking().unwrap_or(LOST);
        lock(&output).flush();
        if let Some((feeds, feed)) = feed {
            feeds.end(&feed, report.exit);
        }
        sender.send_replace(Some(report));
    });
    ended
}

/// Tells the agent what the user typed, and passes the changes on. Ends with the feed of the command.
async fn pass_changes(
    mut changes: mpsc::UnboundedReceiver<ControlChange>,
    to: mpsc::UnboundedSender<ControlChange>,
    output: Arc<Mutex<AgentOutput>>,
) {
    while let Some(change) = changes.recv().await {
        if let Some(note) = change.note() {
            lock(&output).add_note(&note);
        }
        // A session that has ended records nothing any more.
        to.send(change).ok();
    }
}

impl AgentOutput {
    fn push(&mut self, bytes: &[u8]) {
        let mut clean = Vec::with_capacity(bytes.len());
        self.cleaner.feed(bytes, &mut clean);
        (self.sink)(&clean);
    }

    /// Passes on the last line, although it may be incomplete.
    fn flush(&mut self) {
        let mut clean = Vec::new();
        self.cleaner.flush(&mut clean);
        (self.sink)(&clean);
    }

    fn add_note(&mut self, note: &str) {
        self.flush();
        (self.sink)(format!("\n[{note}]\n").as_bytes());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
