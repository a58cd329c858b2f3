//! The readiness of the servers of a document: whether they answer, and whether they have reported.

use base::AbsPath;

use super::RunningServers;
use super::state::{ConnectedServer, ServerEntry, ServerNumber, ServerState, State};
use crate::table::ServerRole;

/// The readiness of the servers of an open document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentReadiness {
    /// A server is being found or started.
    Starting,
    /// No server answers, for this reason, a clause.
    Unserved(String),
    /// The servers answer requests.
    Ready {
        /// Whether they have reported the diagnostics of the current text, and do no work that may change them.
        has_reported: bool,
    },
}

impl RunningServers {
    /// Returns the readiness of the servers of a document.
    pub fn readiness(&self, path: &AbsPath) -> DocumentReadiness {
        let state = self.shared.state();
        let unserved = |reason: &str| DocumentReadiness::Unserved(reason.to_owned());
        let folder = state.folders.get(&self.folder);
        if let Some(refusal) = folder.and_then(|folder| folder.refusal.as_ref()) {
            return unserved(&refusal.to_string());
        }
        let Some(document) = state.documents.get(path) else {
            return unserved("it is not open");
        };
        match &document.assigned {
            None => DocumentReadiness::Starting,
            Some(assigned) if !assigned.servers.is_empty() => {
                state.readiness(path, &assigned.servers)
            }
            Some(assigned) => match assigned.missing.first() {
                Some(server) => unserved(&format!("{} is not installed", server.id)),
                None => unserved("no language server serves it"),
            },
        }
    }
}

impl State {
    /// Returns the readiness of a document with these servers.
    fn readiness(&self, path: &AbsPath, numbers: &[ServerNumber]) -> DocumentReadiness {
        let entries = || numbers.iter().filter_map(|number| self.servers.get(number));
        let is_running = |entry: &ServerEntry| matches!(entry.state, ServerState::Running { .. });
        let may_start = |entry: &ServerEntry| {
            matches!(
                entry.state,
                ServerState::Starting | ServerState::Restarting(_) | ServerState::Idle
            )
        };
        if entries().any(may_start) {
            return DocumentReadiness::Starting;
        }
        if !entries().any(is_running) {
            let reason = entries().find_map(|entry| match &entry.state {
                ServerState::Failed(reason) => Some(format!("its server failed: {reason}")),
                _ => None,
            });
            let reason = reason.unwrap_or_else(|| "its server was stopped".to_owned());
            return DocumentReadiness::Unserved(reason);
        }
        let running = entries().filter(|entry| is_running(entry));
        let has_reported = running.into_iter().all(|entry| entry.has_reported(path));
        DocumentReadiness::Ready { has_reported }
    }
}

impl ServerEntry {
    /// Returns whether the server has reported the diagnostics of a document, as far as its role is to do so.
    fn has_reported(&self, path: &AbsPath) -> bool {
        let (Some(root), Some(ConnectedServer { connection, .. })) =
            (self.roots.first(), &self.connected)
        else {
            return false;
        };
        let server = &root.choice.definition;
        let report = connection.diagnostics(path);
        // Such servers may never report. One of the user's own has this role whatever it does.
        let may_be_silent = match server.role {
            ServerRole::Formatter => true,
            ServerRole::Extra => !server.is_configured && !connection.offers_pull_diagnostics(path),
            ServerRole::Primary | ServerRole::Linter => false,
        };
        if may_be_silent && report.is_none() {
            return true;
        }
        let is_idle = connection.progress().is_empty();
        // Such a server answers at once, before it has loaded the project.
        let has_loaded = !server.reports_progress || connection.has_progressed();
        let is_current = report.is_some_and(|it| it.is_current);
        is_idle && has_loaded && is_current
    }
}
