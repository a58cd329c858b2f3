//! The thread that follows one server: start, restarts after crashes, events, end.
//!
//! Invariant: the process is gone when the state says that it does not run.
//! Start at `spawn`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use base::AbsPath;
use host::Clock;
use lsp::{
    ClientInfo, EditRequest, EndReason, LanguageServer, MessageKind, RequestError, ServerEvent,
    ServerEvents, ServerInfo, ServerOptions,
};

use super::changes::{OutdatedAnswers, ServerMessage};
use super::state::{ConnectedServer, ServedRoot, ServerNumber, ServerState, State, WantedState};
use super::{Shared, pulls, workspace_pulls};
use crate::life::{MAX_CRASHES, RestartDecision, RestartPolicy};
use crate::process::{ServerPipes, ServerProcess};
use crate::selection::ServerChoice;
use crate::server_log::{LogSource, ServerLog};
use crate::watchdog::{self, Watchdog};

/// Pause before the first restart of a crashed server; tests do not wait.
const FIRST_PAUSE: Duration = if cfg!(test) {
    Duration::from_millis(1)
} else {
    Duration::from_secs(1)
};
/// Time for the answer to `initialize`.
const INITIALIZE_TIME: Duration = Duration::from_secs(60);
/// Time without a document after which a server ends.
const IDLE_TIME: Duration = Duration::from_secs(600);

/// Starts the supervisor thread of a server, unless it has one. If the thread cannot start, the state becomes `Failed`.
pub(super) fn spawn(shared: &Arc<Shared>, server: ServerNumber) {
    let mut state = shared.state();
    let State {
        servers, folders, ..
    } = &mut *state;
    let Some(entry) = servers.get_mut(&server) else {
        return;
    };
    let root = entry.roots.first().cloned();
    let folder = root.as_ref().and_then(|root| folders.get(&root.folder));
    let (Some(root), Some(folder)) = (root, folder) else {
        base::never!("a server has no root");
        return;
    };
    if entry.wake.is_some() {
        return;
    }
    let (wake, woken) = mpsc::channel();
    entry.wake = Some(wake);
    entry.wanted = WantedState::Running;
    entry.state = ServerState::Starting;
    let id = root.choice.definition.id;
    let (clock, logs) = (folder.clock.clone(), folder.logs.clone());
    let log = ServerLog::open(root.servers.shared_files(), clock.clone(), logs, &id);
    let supervisor = Supervisor {
        shared: shared.clone(),
        server,
        clock,
        log,
        id,
    };
    let thread = thread::Builder::new().name(format!("lsp-{}", supervisor.id));
    if let Err(error) = thread.spawn(move || supervisor.run(&woken)) {
        entry.wake = None;
        entry.state = ServerState::Failed(error.to_string());
    }
    drop(state);
    shared.note_servers();
}

struct Supervisor {
    shared: Arc<Shared>,
    server: ServerNumber,
    /// Id of the server.
    id: String,
    clock: Arc<dyn Clock>,
    log: ServerLog,
}

/// The end of one process.
enum ProcessEnd {
    /// The process was shut down on purpose.
    Wanted(WantedState),
    /// Unexpectedly, for this reason.
    Crashed(String),
    /// Another process would fail as well.
    Failed(String),
}

impl Supervisor {
    fn run(self, woken: &Receiver<()>) {
        self.run_processes(woken);
        let mut state = self.shared.state();
        state.ending.retain(|(server, _)| *server != self.server);
    }

    /// Starts processes, one after the other, until none is wanted.
    fn run_processes(&self, woken: &Receiver<()>) {
        let mut policy = RestartPolicy::new(FIRST_PAUSE);
        loop {
            let (state, pause) = match self.run_process() {
                ProcessEnd::Wanted(WantedState::Restarted | WantedState::Running) => {
                    (ServerState::Starting, Some(Duration::ZERO))
                }
                ProcessEnd::Wanted(WantedState::Idle) => (ServerState::Idle, None),
                ProcessEnd::Wanted(WantedState::Stopped) => (ServerState::Stopped, None),
                ProcessEnd::Failed(reason) => (ServerState::Failed(reason), None),
                ProcessEnd::Crashed(reason) => self.after_crash(reason, &mut policy),
            };
            if let ServerState::Failed(reason) = &state {
                self.log.add(LogSource::Process, reason);
            }
            if !self.enter(state, pause.is_some()) {
                return;
            }
            // Woken early means that something else is wanted.
            if let Some(pause) = pause {
                woken.recv_timeout(pause).ok();
            }
            if self.is_stopped() {
                self.enter(ServerState::Stopped, false);
                return;
            }
        }
    }

    fn after_crash(
        &self,
        reason: String,
        policy: &mut RestartPolicy,
    ) -> (ServerState, Option<Duration>) {
        self.log.add(LogSource::Process, &reason);
        let now = self.clock.elapsed();
        match policy.crashed(now) {
            RestartDecision::GiveUp => {
                let reason = format!("{reason}; it crashed {MAX_CRASHES} times");
                (ServerState::Failed(reason), None)
            }
            RestartDecision::RestartAt(time) => {
                let pause = time.saturating_sub(now);
                (ServerState::Restarting(reason), Some(pause))
            }
        }
    }

    /// Enters a state. `continues` is whether this thread starts another process. A requested restart, and a document that
    /// was opened while the server became idle, also make it continue. Returns whether it continues.
    fn enter(&self, mut state: ServerState, mut continues: bool) -> bool {
        let mut shared = self.shared.state();
        let has_documents = shared.documents_of(self.server).next().is_some();
        let entry = shared.servers.get_mut(&self.server);
        continues &= entry.is_some();
        if let Some(entry) = entry {
            let is_wanted = match state {
                ServerState::Idle => has_documents,
                _ => entry.wanted == WantedState::Restarted,
            };
            if is_wanted {
                (state, continues) = (ServerState::Starting, true);
            }
            entry.state = state;
            if !continues {
                entry.wake = None;
            } else if entry.wanted != WantedState::Stopped {
                entry.wanted = WantedState::Running;
            }
        }
        drop(shared);
        self.shared.note_servers();
        continues
    }

    fn is_stopped(&self) -> bool {
        let state = self.shared.state();
        let entry = state.servers.get(&self.server);
        entry.is_none_or(|entry| entry.wanted == WantedState::Stopped)
    }

    /// Starts one server process and waits for its end. Its descendants have ended, too, when this returns.
    fn run_process(&self) -> ProcessEnd {
        let root = self
            .shared
            .state()
            .servers
            .get(&self.server)
            .and_then(|it| it.roots.first().cloned());
        let Some(ServedRoot {
            choice, servers, ..
        }) = root
        else {
            return ProcessEnd::Wanted(WantedState::Stopped);
        };
        let started = ServerProcess::start(&choice, servers.variables(), &self.log);
        let (process, ServerPipes { input, output }) = match started {
            Ok(started) => started,
            Err(error) => return ProcessEnd::Failed(error.to_string()),
        };
        let connected = LanguageServer::connect(self.options(&choice), input, output);
        let result = connected.map_err(|error| ProcessEnd::Failed(error.to_string()));
        let mut end = match result {
            Ok((server, events)) => {
                let end = self.follow(&process, &server, &events);
                self.disconnect();
                for violation in server.violations() {
                    self.log.add(LogSource::Process, &violation);
                }
                end
            }
            Err(end) => end,
        };
        if let ProcessEnd::Crashed(reason) = &mut end {
            *reason = process.crash_reason(reason);
        }
        process.end();
        end
    }

    /// Initializes a server and passes its events on until the connection ends.
    fn follow(
        &self,
        process: &ServerProcess,
        server: &LanguageServer,
        events: &ServerEvents,
    ) -> ProcessEnd {
        if let Err(end) = self.connect(process, server) {
            return end;
        }
        match server.initialize(INITIALIZE_TIME) {
            Ok(info) => self.initialized(info),
            Err(RequestError::Ended(reason)) => return self.ended(&reason),
            Err(error) => return ProcessEnd::Failed(error.to_string()),
        }
        self.pull_all();
        let mut idle_since = None;
        let mut watchdog = Watchdog::default();
        loop {
            let activity = server.activity();
            let hangs = watchdog.observe(self.clock.elapsed(), activity);
            self.set_responding(!hangs);
            let time = if activity.is_waiting {
                watchdog::INTERVAL
            } else {
                IDLE_TIME / 2
            };
            match events.next(time) {
                Some(ServerEvent::Ended(reason)) => return self.ended(&reason),
                Some(event) => self.pass_on(event),
                None => {
                    let now = self.clock.elapsed();
                    let has_documents = self
                        .shared
                        .state()
                        .documents_of(self.server)
                        .next()
                        .is_some();
                    let since = *idle_since.get_or_insert(now);
                    if has_documents {
                        idle_since = None;
                    } else if now.saturating_sub(since) >= IDLE_TIME / 2 {
                        self.want(WantedState::Idle);
                        super::shut_down(server);
                    }
                }
            }
        }
    }

    /// Stores the connection and opens the documents; the server receives them when it is initialized.
    fn connect(&self, process: &ServerProcess, server: &LanguageServer) -> Result<(), ProcessEnd> {
        let pulls = pulls::start(&self.shared, self.server, server.clone(), self.log.clone());
        let pulls = pulls.map_err(|error| ProcessEnd::Failed(error.to_string()))?;
        let workspace_pulls = workspace_pulls::start(server.clone(), self.log.clone());
        let workspace_pulls =
            workspace_pulls.map_err(|error| ProcessEnd::Failed(error.to_string()))?;
        let mut state = self.shared.state();
        for (path, document) in state.documents_of(self.server) {
            if let Some(assigned) = &document.assigned {
                server.open_document(path, &assigned.language.id, &document.text);
            }
        }
        let Some(entry) = state.servers.get_mut(&self.server) else {
            return Err(ProcessEnd::Wanted(WantedState::Stopped));
        };
        let role = entry.roots.first().map(|root| root.choice.definition.role);
        let Some(role) = role.filter(|_| entry.wanted != WantedState::Stopped) else {
            return Err(ProcessEnd::Wanted(WantedState::Stopped));
        };
        entry.removed = 0;
        for root in &entry.roots {
            server.add_folder(&root.choice.root);
        }
        entry.connected = Some(ConnectedServer {
            id: self.id.clone(),
            role,
            connection: server.clone(),
            name: None,
            is_responding: true,
            memory_probe: process.memory_probe(),
            memory: None,
            pulls,
            workspace_pulls,
            reported: BTreeSet::new(),
        });
        Ok(())
    }

    /// Forgets the connection; its diagnostics are gone.
    fn disconnect(&self) {
        let mut state = self.shared.state();
        let entry = state.servers.get_mut(&self.server);
        let connected = entry.and_then(|entry| entry.connected.take());
        let documents = state.documents_of(self.server);
        let mut paths: BTreeSet<_> = documents.map(|(path, _)| path.clone()).collect();
        if let Some(connected) = &connected {
            paths.extend(connected.reported.iter().cloned());
        }
        let changes = state.changes_of(self.server);
        drop(state);
        drop(connected);
        for changes in changes {
            changes.note_diagnostics(paths.iter().cloned());
        }
    }

    /// Returns the end of a process whose connection has ended.
    fn ended(&self, reason: &EndReason) -> ProcessEnd {
        let state = self.shared.state();
        let wanted = state.servers.get(&self.server).map(|entry| entry.wanted);
        match wanted.unwrap_or(WantedState::Stopped) {
            WantedState::Running => {
                ProcessEnd::Crashed(RequestError::Ended(reason.clone()).to_string())
            }
            wanted => ProcessEnd::Wanted(wanted),
        }
    }

    fn pass_on(&self, event: ServerEvent) {
        match event {
            ServerEvent::DiagnosticsChanged(path) => self.note_diagnostics(path),
            ServerEvent::UnopenedDiagnosticsChanged => self.note_unopened(),
            ServerEvent::DiagnosticsRefresh => self.pull_all(),
            ServerEvent::InlayHintsRefresh => self.note_outdated(OutdatedAnswers {
                inlay_hints: true,
                ..Default::default()
            }),
            ServerEvent::SemanticTokensRefresh => self.note_outdated(OutdatedAnswers {
                semantic_tokens: true,
                ..Default::default()
            }),
            ServerEvent::CodeLensRefresh => self.note_outdated(OutdatedAnswers {
                code_lenses: true,
                ..Default::default()
            }),
            ServerEvent::CapabilitiesChanged => {
                self.pull_all();
                self.note_outdated(OutdatedAnswers::ALL);
            }
            ServerEvent::ProgressChanged => self.shared.note_servers(),
            ServerEvent::Message {
                kind: MessageKind::Shown,
                severity,
                text,
            } => {
                let message = ServerMessage {
                    server: self.id.clone(),
                    severity,
                    text,
                };
                for changes in self.shared.state().changes_of(self.server) {
                    changes.add_message(message.clone());
                }
            }
            ServerEvent::EditRequested(edit) => self.request_edit(edit),
            // The log has every message.
            ServerEvent::Message { .. } | ServerEvent::RequestSent | ServerEvent::Ended(_) => {}
        }
    }

    /// Passes an edit on to the folder that has its first file, or to any folder of the server.
    fn request_edit(&self, edit: EditRequest) {
        let state = self.shared.state();
        let own = state.changes_of(self.server);
        let first = edit.paths().first();
        let about = first.map_or_else(Vec::new, |path| state.changes_about(path));
        drop(state);
        // Without a folder, dropping the edit refuses it.
        if let Some(changes) = about.first().or(own.first()) {
            changes.add_edit(edit);
        }
    }

    fn note_outdated(&self, answers: OutdatedAnswers) {
        for changes in self.shared.state().changes_of(self.server) {
            changes.note_outdated(answers);
        }
    }

    /// Notes that the diagnostics of documents that are not open changed.
    fn note_unopened(&self) {
        let mut state = self.shared.state();
        let entry = state.servers.get_mut(&self.server);
        let Some(connected) = entry.and_then(|entry| entry.connected.as_mut()) else {
            return;
        };
        let changed = connected.connection.take_unopened_changes();
        for (path, is_diagnosed) in &changed {
            if *is_diagnosed {
                connected.reported.insert(path.clone());
            } else {
                connected.reported.remove(path);
            }
        }
        for (path, _) in changed {
            for changes in state.changes_about(&path) {
                changes.note_diagnostics([path.clone()]);
            }
        }
    }

    /// Notes that the diagnostics of a document may have changed, in the folder of the document.
    fn note_diagnostics(&self, path: AbsPath) {
        let state = self.shared.state();
        let document = state.documents.get(&path);
        let folder = document.and_then(|document| state.folders.get(&document.folder));
        let changes = folder.map(|folder| folder.changes.clone());
        drop(state);
        if let Some(changes) = changes {
            changes.note_diagnostics([path]);
        }
    }

    /// Schedules a pull of the diagnostics of all documents and files.
    fn pull_all(&self) {
        let state = self.shared.state();
        let entry = state.servers.get(&self.server);
        if let Some(connected) = entry.and_then(|entry| entry.connected.as_ref()) {
            for (path, _) in state.documents_of(self.server) {
                connected.pull(path);
            }
            connected.pull_workspace();
        }
    }

    /// Enters the running state with the name and version that the server gave.
    fn initialized(&self, info: ServerInfo) {
        if let Some(entry) = self.shared.state().servers.get_mut(&self.server) {
            entry.state = ServerState::Running {
                version: info.version,
            };
            if let Some(connected) = &mut entry.connected {
                connected.name = info.name;
            }
        }
        self.shared.note_servers();
    }

    fn set_responding(&self, is_responding: bool) {
        let mut state = self.shared.state();
        let entry = state.servers.get_mut(&self.server);
        let connected = entry.and_then(|entry| entry.connected.as_mut());
        let Some(connected) = connected.filter(|it| it.is_responding != is_responding) else {
            return;
        };
        connected.is_responding = is_responding;
        drop(state);
        self.shared.note_servers();
    }

    fn want(&self, wanted: WantedState) {
        if let Some(entry) = self.shared.state().servers.get_mut(&self.server) {
            entry.wanted = wanted;
        }
    }

    /// Returns the options of a connection. Further roots are added to it.
    fn options(&self, choice: &ServerChoice) -> ServerOptions {
        let server = &choice.definition;
        ServerOptions {
            client: ClientInfo {
                name: "Burin".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            process_id: choice.visible_process(),
            folders: vec![choice.root.clone()],
            initialization_options: server.initialization_options.clone(),
            configuration: server.settings.clone(),
            log: Some(Arc::new(self.log.clone())),
        }
    }
}
