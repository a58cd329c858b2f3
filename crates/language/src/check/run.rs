//! The processes of one server during a check: start, restarts, diagnostics, end.
//!
//! Invariant: every process that `attempt` starts is gone when it returns.
//! Start at `ServerRun::run`.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use base::AbsPath;
use host::Clock;
use host::environment::Variable;
use lsp::{ClientInfo, LanguageServer, RequestError, ServerEvent, ServerEvents, ServerOptions};

use super::deadline::CheckDeadline;
use super::positions::file_diagnostics;
use super::readiness::{PROBE_TIME, ServerActivity};
use super::{CheckFailure, CheckReport, FileDiagnostic, ServerGroup};
use crate::life::{MAX_CRASHES, RestartDecision, RestartPolicy};
use crate::process::{ServerPipes, ServerProcess};
use crate::server_log::{LogSource, ServerLog};

/// Pause before the first restart of a crashed server; tests do not wait.
const FIRST_PAUSE: Duration = if cfg!(test) {
    Duration::from_millis(1)
} else {
    Duration::from_secs(1)
};
/// Time for the answer to `shutdown`.
const SHUTDOWN_TIME: Duration = Duration::from_secs(2);

/// A server that checks its documents.
pub(super) struct ServerRun<'a> {
    group: ServerGroup,
    variables: &'a [Variable],
    log: ServerLog,
    clock: Arc<dyn Clock>,
    deadline: CheckDeadline,
    diagnostics: Vec<FileDiagnostic>,
}

/// The reason why an attempt is not complete.
enum AttemptError {
    /// The process ended unexpectedly, for this reason.
    Crashed(String),
    /// Another attempt would fail as well.
    Failed(String),
}

impl<'a> ServerRun<'a> {
    /// Creates a run that ends `timeout` after the start, or after the last answer about a document.
    pub(super) fn new(
        group: ServerGroup,
        variables: &'a [Variable],
        log: ServerLog,
        clock: Arc<dyn Clock>,
        timeout: Duration,
    ) -> Self {
        Self {
            group,
            variables,
            log,
            deadline: CheckDeadline::new(clock.elapsed(), timeout),
            clock,
            diagnostics: Vec::new(),
        }
    }

    /// Asks the server, and starts it again if it crashes. Blocks until the diagnostics are complete or the
    /// server is given up.
    pub(super) fn run(mut self) -> CheckReport {
        let mut policy = RestartPolicy::new(FIRST_PAUSE);
        let failure = loop {
            self.diagnostics.clear();
            match self.attempt() {
                Ok(()) => break None,
                Err(AttemptError::Failed(reason)) => break Some(reason),
                Err(AttemptError::Crashed(reason)) => {
                    self.log.add(LogSource::Process, &reason);
                    match policy.crashed(self.clock.elapsed()) {
                        RestartDecision::GiveUp => {
                            break Some(format!("{reason}; it crashed {MAX_CRASHES} times"));
                        }
                        RestartDecision::RestartAt(time) if time >= self.deadline.until() => {
                            break Some(reason);
                        }
                        RestartDecision::RestartAt(time) => self.wait_until(time),
                    }
                }
            }
        };
        let id = &self.group.choice.definition.id;
        let failures = failure.map(|reason| CheckFailure {
            server: Some(id.clone()),
            reason,
        });
        CheckReport {
            diagnostics: self.diagnostics,
            failures: failures.into_iter().collect(),
            ..CheckReport::default()
        }
    }

    /// Runs one process until its diagnostics are complete.
    fn attempt(&mut self) -> Result<(), AttemptError> {
        let failed = |error: &dyn std::fmt::Display| AttemptError::Failed(error.to_string());
        let started = ServerProcess::start(&self.group.choice, self.variables, &self.log);
        let (process, pipes) = started.map_err(|error| failed(&error))?;
        let ServerPipes { input, output } = pipes;
        let connected = LanguageServer::connect(self.options(), input, output);
        let (server, events) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                process.end();
                return Err(failed(&error));
            }
        };
        let mut result = self.ask(&server, &events);
        if let Err(AttemptError::Crashed(reason)) = &mut result {
            *reason = process.crash_reason(reason);
        } else if let Err(error) = server.shutdown(SHUTDOWN_TIME) {
            self.log.add(LogSource::Process, &error.to_string());
        }
        for violation in server.violations() {
            self.log.add(LogSource::Process, &violation);
        }
        process.end();
        result
    }

    fn options(&self) -> ServerOptions {
        let server = &self.group.choice.definition;
        ServerOptions {
            client: ClientInfo {
                name: "Burin".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            process_id: self.group.choice.visible_process(),
            folders: self.group.roots.clone(),
            initialization_options: server.initialization_options.clone(),
            configuration: server.settings.clone(),
            log: Some(Arc::new(self.log.clone())),
        }
    }

    /// Initializes the server, opens the documents and waits for their diagnostics.
    fn ask(&mut self, server: &LanguageServer, events: &ServerEvents) -> Result<(), AttemptError> {
        server.initialize(self.left())?;
        for document in &self.group.documents {
            server.open_document(&document.path, &document.language.id, &document.text);
        }
        let result = self.collect(server, events);
        let documents = self.group.documents.iter();
        let found = documents.filter_map(|it| Some((&it.path, server.diagnostics(&it.path)?)));
        let id = &self.group.choice.definition.id;
        self.diagnostics = found
            .flat_map(|(path, found)| file_diagnostics(path, id, &found))
            .collect();
        result
    }

    /// Waits until the diagnostics of all documents are complete.
    fn collect(
        &mut self,
        server: &LanguageServer,
        events: &ServerEvents,
    ) -> Result<(), AttemptError> {
        let mut answered = BTreeSet::new();
        let mut needs_pull = true;
        let mut activity = self.first_activity();
        loop {
            if needs_pull && self.pull(server, &mut answered)? {
                needs_pull = false;
                activity.last_change = self.clock.elapsed();
            }
            let documents = &self.group.documents;
            let has_diagnostics = |path: &AbsPath| server.diagnostics(path).is_some();
            activity.has_all = documents.iter().all(|it| has_diagnostics(&it.path));
            activity.has_answers = documents.iter().all(|it| answered.contains(&it.path));
            activity.is_busy = !server.progress().is_empty();
            let complete_at = activity.complete_at();
            let (now, until) = (self.clock.elapsed(), self.deadline.until());
            let is_complete = complete_at.is_some_and(|time| time <= now);
            if now >= until && !is_complete {
                return Err(self.incomplete(server));
            }
            if is_complete && activity.needs_probe() && !self.answers_at_once(server) {
                activity.last_change = self.clock.elapsed();
                continue;
            }
            let next = complete_at.unwrap_or(until).min(until);
            match next_event(events, next.saturating_sub(now)) {
                Some(ServerEvent::Ended(reason)) => return Err(RequestError::Ended(reason).into()),
                Some(ServerEvent::ProgressChanged) => {
                    activity.has_progressed = true;
                    self.deadline.note_progress(self.clock.elapsed());
                    // The answers of a busy server are those of unfinished work.
                    needs_pull |= server.progress().is_empty();
                }
                Some(ServerEvent::CapabilitiesChanged | ServerEvent::DiagnosticsRefresh) => {
                    needs_pull = true;
                }
                Some(ServerEvent::DiagnosticsChanged(_)) => {}
                None if is_complete => return Ok(()),
                // Dropping a request of the server refuses it: a check changes no file.
                Some(
                    ServerEvent::EditRequested(_)
                    | ServerEvent::Message { .. }
                    | ServerEvent::UnopenedDiagnosticsChanged
                    | ServerEvent::InlayHintsRefresh
                    | ServerEvent::SemanticTokensRefresh
                    | ServerEvent::CodeLensRefresh
                    | ServerEvent::RequestSent,
                )
                | None => continue,
            }
            activity.last_change = self.clock.elapsed();
        }
    }

    fn first_activity(&self) -> ServerActivity {
        let server = &self.group.choice.definition;
        ServerActivity {
            last_change: self.clock.elapsed(),
            has_all: false,
            has_answers: false,
            omits_empty: server.omits_empty,
            is_busy: false,
            has_progressed: false,
            reports_progress: server.reports_progress,
        }
    }

    /// Probes the server, and waits for its answer. Returns whether it came at once; true if the server
    /// cannot be probed.
    fn answers_at_once(&self, server: &LanguageServer) -> bool {
        // A server that analyses one document after the other does so in the order in which they were opened.
        let last = self.group.documents.last();
        let Some(probe) = last.and_then(|document| server.probe(&document.path)) else {
            return true;
        };
        let start = self.clock.elapsed();
        probe.wait(self.left());
        self.clock.elapsed().saturating_sub(start) <= PROBE_TIME
    }

    /// Requests the diagnostics of all documents for which the server offers that, and adds the answered
    /// ones to `answered`; each defers the end. Returns whether there were requests.
    fn pull(
        &mut self,
        server: &LanguageServer,
        answered: &mut BTreeSet<AbsPath>,
    ) -> Result<bool, AttemptError> {
        self.deadline.begin_round();
        let reports_progress = self.group.choice.definition.reports_progress;
        let documents = self.group.documents.iter();
        let mut pulls = server.pull_all(documents.map(|it| it.path.clone()));
        let (mut has_requests, mut failure) = (false, None);
        while let Some((path, result)) = pulls.next_answer(self.left()) {
            has_requests = true;
            match result {
                Ok(()) => {
                    answered.insert(path);
                    self.deadline.note_answer(self.clock.elapsed());
                }
                // A server that is still loading refuses; it is asked again when its progress ends.
                Err(RequestError::Refused { .. }) if reports_progress => {}
                Err(error @ RequestError::TimedOut { .. }) => {
                    let is_busy = !server.progress().is_empty();
                    if is_busy && self.deadline.note_progress(self.clock.elapsed()) {
                        // It is asked again when its progress ends.
                        return Ok(true);
                    }
                    // The others would have to wait as long.
                    return Err(error.into());
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(has_requests), |error| Err(error.into()))
    }

    /// Returns the error for diagnostics that did not come in time.
    fn incomplete(&self, server: &LanguageServer) -> AttemptError {
        let documents = &self.group.documents;
        let mut missing = documents.iter().map(|it| &it.path);
        let missing = missing.find(|path| server.diagnostics(path).is_none());
        AttemptError::Failed(match missing {
            Some(path) => format!("the server gave no diagnostics of {path} in time"),
            None => "the server did not finish its work in time".to_owned(),
        })
    }

    fn left(&self) -> Duration {
        let until = self.deadline.until();
        until.saturating_sub(self.clock.elapsed())
    }

    fn wait_until(&self, time: Duration) {
        let (_sender, nothing) = mpsc::channel::<()>();
        // Nothing is ever sent: the wait ends at its time.
        nothing
            .recv_timeout(time.saturating_sub(self.clock.elapsed()))
            .ok();
    }
}

/// Waits for the next event that does not come from a request of this check.
fn next_event(events: &ServerEvents, time: Duration) -> Option<ServerEvent> {
    loop {
        match events.next(time) {
            Some(ServerEvent::RequestSent) => {}
            event => return event,
        }
    }
}

impl From<RequestError> for AttemptError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Ended(reason) => Self::Crashed(reason.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}
