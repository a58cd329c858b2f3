//! Diagnostics of all documents of the workspace that the client asks for.
//!
//! Partial results are not asked for: an answer is read as a whole, without the lock on the session.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::bounded::{RawItems, bounded_id};
use crate::connection::{Connection, PendingRequest};
use crate::error::RequestError;
use crate::message::Payload;
use crate::pending::{ResponseResult, request_result};
use crate::retry::{RETRY_DELAY, is_retriable};
use crate::server::LanguageServer;
use crate::session::{MAX_REPORTS, WorkspaceQuestion, WorkspaceReport};
use crate::uri::uri_path;
use crate::violations::{Violation, Violations};

/// Name of the request.
const WORKSPACE_DIAGNOSTIC: &str = "workspace/diagnostic";

/// A request for the diagnostics of all documents of the workspace. Dropping it cancels the request.
pub struct WorkspacePullRequest {
    connection: Arc<Connection>,
    /// One for each provider.
    pulls: Vec<WorkspacePull>,
}

/// A request to one provider.
struct WorkspacePull {
    provider: Option<String>,
    pending: PendingRequest,
}

/// An answer, whose elements are reports about one document each.
#[derive(Default, Deserialize)]
struct WireAnswer<'a> {
    #[serde(borrow, default)]
    items: RawItems<'a, MAX_REPORTS>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireReport<'a> {
    uri: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    result_id: Option<String>,
    #[serde(borrow, default)]
    items: Option<&'a RawValue>,
}

impl LanguageServer {
    /// Asks for the diagnostics of all documents; `None` if the server does not offer it. Those of
    /// documents that are not open are then in `take_unopened_changes`. A server may answer only when
    /// it has something new, so the request does not make it count as hung.
    pub fn pull_workspace_diagnostics(&self) -> Option<WorkspacePullRequest> {
        let connection = self.connection();
        let questions = connection.with(|session| session.workspace_questions());
        let questions = questions.into_iter();
        let pulls: Vec<_> = questions.filter_map(|it| queue(connection, it)).collect();
        (!pulls.is_empty()).then(|| WorkspacePullRequest {
            connection: connection.clone(),
            pulls,
        })
    }
}

impl WorkspacePullRequest {
    /// Waits for the answers. `timeout` bounds the time for each. A provider that is not ready is
    /// asked again once, after 250 ms.
    ///
    /// # Errors
    /// The first failure; the reports of other providers are stored all the same.
    pub fn wait(self, timeout: Duration) -> Result<(), RequestError> {
        let connection = &self.connection;
        let mut result = Ok(());
        for pull in self.pulls {
            let mut answer = pull.pending.wait_raw(timeout);
            if is_retriable(answer.as_ref()) {
                connection.pause(RETRY_DELAY);
                if let Some(pull) = repeat(connection, pull.provider.as_deref()) {
                    answer = pull.pending.wait_raw(timeout);
                }
            }
            let stored = store(connection, pull.provider.as_deref(), answer);
            result = result.and(stored);
        }
        result
    }
}

/// Asks a provider again; `None` if it is gone.
fn repeat(connection: &Arc<Connection>, provider: Option<&str>) -> Option<WorkspacePull> {
    let questions = connection.with(|session| session.workspace_questions());
    let mut questions = questions.into_iter();
    let question = questions.find(|it| it.provider.as_deref() == provider)?;
    queue(connection, question)
}

/// Asks a provider; `None` if it is gone.
fn queue(connection: &Arc<Connection>, question: WorkspaceQuestion) -> Option<WorkspacePull> {
    let params = question.params()?;
    let provider = question.provider;
    let pending = connection.with(|session| {
        let is_offered = session.diagnoses_workspace(&provider);
        is_offered.then(|| connection.queue_patient_call(session, WORKSPACE_DIAGNOSTIC, &params))
    })?;
    Some(WorkspacePull { provider, pending })
}

/// Reads an answer and stores its reports.
fn store(
    connection: &Connection,
    provider: Option<&str>,
    answer: Option<ResponseResult>,
) -> Result<(), RequestError> {
    let payload = request_result(WORKSPACE_DIAGNOSTIC, answer)?;
    let mut violations = Violations::default();
    let answer = match payload.json() {
        // Some servers answer so if there is nothing to report.
        "null" => Ok(WireAnswer::default()),
        json => serde_json::from_str(json),
    };
    let result = answer.map(|answer: WireAnswer<'_>| {
        violations.count(Violation::DiagnosticBeyondBound, answer.items.dropped());
        for item in answer.items.iter() {
            store_report(connection, provider, item.get(), &mut violations);
        }
    });
    if result.is_err() {
        violations.count(Violation::MalformedPayload, 1);
    }
    connection.with(|session| session.violations.add(&violations));
    result.map_err(|error| RequestError::Malformed {
        method: WORKSPACE_DIAGNOSTIC,
        detail: error.to_string(),
    })
}

/// Stores the report about one document.
fn store_report(
    connection: &Connection,
    provider: Option<&str>,
    json: &str,
    violations: &mut Violations,
) {
    let Ok(report) = serde_json::from_str::<WireReport<'_>>(json) else {
        violations.count(Violation::MalformedPayload, 1);
        return;
    };
    let Some(path) = uri_path(&report.uri) else {
        return;
    };
    let result_id = bounded_id(report.result_id);
    if report.kind == "unchanged" {
        connection.with(|session| session.confirm_workspace_report(&path, provider, result_id));
        return;
    }
    let items = report.items.map_or("[]", RawValue::get);
    let is_empty = serde_json::from_str::<RawItems<'_, 1>>(items).is_ok_and(|it| it.is_empty());
    let report = WorkspaceReport {
        provider: provider.map(str::to_owned),
        result_id,
        pushed: (!is_empty).then(|| {
            let uri = Value::from(report.uri.as_str());
            Payload::of(&format!(r#"{{"uri":{uri},"diagnostics":{items}}}"#))
        }),
    };
    connection.with(|session| session.store_workspace_report(&path, report));
}
