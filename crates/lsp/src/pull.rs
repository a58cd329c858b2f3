//! Diagnostics that the client asks for.

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use gen_lsp_types::{DocumentDiagnosticParams, DocumentDiagnosticRequest};

use crate::capabilities::PULL_DIAGNOSTICS;
use crate::connection::{Connection, PendingRequest};
use crate::diagnostics::wire::{self, WireReport};
use crate::error::RequestError;
use crate::message::Payload;
use crate::pending::{ResponseResult, request_result};
use crate::retry::{RETRY_DELAY, is_retriable};
use crate::session::{PullIdentity, PulledReport, ServerSession};
use crate::uri::uri_path;
use crate::violations::{Violation, Violations};

/// A request for the diagnostics of a document. Dropping it cancels the request.
pub struct PullRequest {
    connection: Arc<Connection>,
    /// One for each provider.
    pulls: Vec<(PullIdentity, PendingRequest)>,
}

impl PullRequest {
    /// Asks every provider of a server for the diagnostics of a document; `None` if the document is
    /// not open or the server does not offer it.
    pub(crate) fn send(connection: &Arc<Connection>, path: &AbsPath) -> Option<Self> {
        let pulls: Vec<_> = connection.with(|session| {
            let pulls = session.pulls(path).into_iter();
            pulls.map(|pull| queue(connection, session, pull)).collect()
        });
        (!pulls.is_empty()).then(|| Self {
            connection: connection.clone(),
            pulls,
        })
    }

    /// Waits for the reports, which `LanguageServer::diagnostics` then returns. `timeout` bounds the
    /// time for each answer. A provider that is not ready is asked again once, after 250 ms.
    ///
    /// # Errors
    /// The first failure; the reports of other providers are stored all the same.
    pub fn wait(self, timeout: Duration) -> Result<(), RequestError> {
        let mut results = Self::wait_all(vec![self], timeout);
        results.pop().unwrap_or(Ok(()))
    }

    /// Waits for several requests to one server, as `wait` does for each, but with one pause before
    /// the repetitions. Returns the results in the order of the requests.
    pub fn wait_all(requests: Vec<Self>, timeout: Duration) -> Vec<Result<(), RequestError>> {
        let mut results = Vec::with_capacity(requests.len());
        let mut retries = Vec::new();
        for (ix, request) in requests.into_iter().enumerate() {
            let mut result = Ok(());
            for (identity, pending) in request.pulls {
                let answer = pending.wait_raw(timeout);
                if is_retriable(answer.as_ref()) {
                    retries.push((ix, request.connection.clone(), identity));
                } else {
                    result = result.and(store(&request.connection, &identity, answer));
                }
            }
            results.push(result);
        }
        if let Some((_, connection, _)) = retries.first() {
            connection.pause(RETRY_DELAY);
        }
        let sent: Vec<_> = retries
            .into_iter()
            .filter_map(|(ix, connection, identity)| {
                // A document that was closed meanwhile needs no report.
                let pull = repeat(&connection, identity)?;
                Some((ix, connection, pull))
            })
            .collect();
        for (ix, connection, (identity, pending)) in sent {
            let answer = pending.wait_raw(timeout);
            let result = std::mem::replace(&mut results[ix], Ok(()));
            results[ix] = result.and(store(&connection, &identity, answer));
        }
        results
    }
}

/// Asks a provider again; `None` if the document is not open any more.
fn repeat(
    connection: &Arc<Connection>,
    identity: PullIdentity,
) -> Option<(PullIdentity, PendingRequest)> {
    connection.with(|session| {
        let pull = session.pull(&identity.path, identity.source)?;
        Some(queue(connection, session, pull))
    })
}

fn queue(
    connection: &Arc<Connection>,
    session: &mut ServerSession,
    (identity, params): (PullIdentity, DocumentDiagnosticParams),
) -> (PullIdentity, PendingRequest) {
    let pending = connection.queue_request::<DocumentDiagnosticRequest>(session, &params);
    (identity, pending)
}

/// Reads an answer on the text that it is about, and stores its reports.
fn store(
    connection: &Connection,
    identity: &PullIdentity,
    answer: Option<ResponseResult>,
) -> Result<(), RequestError> {
    let payload = request_result(PULL_DIAGNOSTICS, answer)?;
    let mut violations = Violations::default();
    let result = store_payload(connection, identity, &payload, &mut violations);
    connection.with(|session| session.violations.add(&violations));
    result.map_err(|error| RequestError::Malformed {
        method: PULL_DIAGNOSTICS,
        detail: error.to_string(),
    })
}

fn store_payload(
    connection: &Connection,
    identity: &PullIdentity,
    payload: &Payload,
    violations: &mut Violations,
) -> serde_json::Result<()> {
    let report = match payload.json() {
        // Some servers answer so if there is nothing to report.
        "null" => WireReport::default(),
        json => WireReport::parse(json)?,
    };
    for (uri, related) in report.related_documents.iter() {
        let path = uri_path(uri);
        let Some(path) = path.filter(|path| *path != identity.path) else {
            continue;
        };
        let Some(basis) = connection.with(|session| session.latest_basis(&path)) else {
            continue;
        };
        let related_identity = PullIdentity {
            path,
            basis,
            ..identity.clone()
        };
        match WireReport::parse(related.get()) {
            Ok(report) => store_report(connection, &related_identity, &report, violations),
            Err(_) => violations.count(Violation::MalformedPayload, 1),
        }
    }
    store_report(connection, identity, &report, violations);
    Ok(())
}

fn store_report(
    connection: &Connection,
    identity: &PullIdentity,
    report: &WireReport<'_>,
    violations: &mut Violations,
) {
    let PullIdentity {
        path,
        source,
        basis,
        encoding,
    } = identity;
    let result_id = report.result_id();
    let pulled = match report.kind.as_str() {
        "unchanged" => PulledReport::Unchanged { result_id },
        _ => PulledReport::Full {
            result_id,
            items: wire::read_items(&report.items, &basis.text, *encoding, violations),
        },
    };
    connection.with(|session| session.report(path, source, basis.version, pulled));
}
