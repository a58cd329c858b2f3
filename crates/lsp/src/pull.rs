//! Diagnostics that the client asks for.
//!
//! Invariant: a bounded number of documents of a queue is under way, so that a slow answer delays only itself.
//! Start at `PullQueue::next_answer`.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
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

/// Maximum number of documents of a queue about which a server is asked at once.
pub(crate) const MAX_UNDER_WAY: usize = 32;

/// A request for the diagnostics of a document. Dropping it cancels the request.
pub struct PullRequest(PullQueue);

/// Requests for the diagnostics of many documents of one server, of which 32 are under way at once: the next one is sent
/// when one is answered. Dropping it cancels those under way.
pub struct PullQueue {
    connection: Arc<Connection>,
    waiting: VecDeque<AbsPath>,
    under_way: Vec<DocumentPull>,
    /// Documents with providers that were not ready, to be asked again.
    refused: Vec<DocumentPull>,
    answered: VecDeque<(AbsPath, Result<(), RequestError>)>,
    signal: Arc<AnswerSignal>,
}

/// The requests about one document.
struct DocumentPull {
    path: AbsPath,
    /// One for each provider that has not answered.
    pulls: Vec<(PullIdentity, PendingRequest)>,
    /// The providers that were not ready.
    refused: Vec<PullIdentity>,
    /// Whether these are repetitions, which are not repeated again.
    is_repetition: bool,
    /// The first failure.
    result: Result<(), RequestError>,
}

/// Wakes the thread that waits for any of several answers.
#[derive(Default)]
struct AnswerSignal {
    has_come: Mutex<bool>,
    came: Condvar,
}

impl PullRequest {
    /// Asks every provider of a server for the diagnostics of a document; `None` if the document is
    /// not open or the server does not offer it.
    pub(crate) fn send(connection: &Arc<Connection>, path: &AbsPath) -> Option<Self> {
        let queue = PullQueue::send(connection, [path.clone()]);
        (!queue.under_way.is_empty()).then_some(Self(queue))
    }

    /// Waits for the reports, which `LanguageServer::diagnostics` then returns. `timeout` bounds the
    /// time for each answer. A provider that is not ready is asked again once, after 250 ms.
    ///
    /// # Errors
    /// The first failure; the reports of other providers are stored all the same.
    pub fn wait(mut self, timeout: Duration) -> Result<(), RequestError> {
        let answer = self.0.next_answer(timeout);
        answer.map_or(Ok(()), |(_, result)| result)
    }
}

impl PullQueue {
    /// Asks every provider of a server for the diagnostics of documents; those that are not open, or for which the server
    /// does not offer it, are left out.
    pub(crate) fn send(
        connection: &Arc<Connection>,
        paths: impl IntoIterator<Item = AbsPath>,
    ) -> Self {
        let mut queue = Self {
            connection: connection.clone(),
            waiting: paths.into_iter().collect(),
            under_way: Vec::new(),
            refused: Vec::new(),
            answered: VecDeque::new(),
            signal: Arc::default(),
        };
        queue.send_next();
        queue
    }

    /// Waits for the reports about any of the documents, which `LanguageServer::diagnostics` then returns. Returns the
    /// document, and the first failure if there is one; the reports of other providers are stored all the same. If no
    /// server answers for `timeout`, the oldest document has failed. A provider that is not ready is asked again once,
    /// after all others have answered. `None` if no document is left.
    pub fn next_answer(
        &mut self,
        timeout: Duration,
    ) -> Option<(AbsPath, Result<(), RequestError>)> {
        loop {
            self.signal.reset();
            self.take_answers();
            self.send_next();
            if let Some(answer) = self.answered.pop_front() {
                return Some(answer);
            }
            if self.under_way.is_empty() {
                if self.refused.is_empty() {
                    return None;
                }
                self.connection.pause(RETRY_DELAY);
                self.repeat_refused();
                continue;
            }
            if !self.signal.wait(timeout) {
                let late = self.under_way.remove(0);
                let method = PULL_DIAGNOSTICS;
                return Some((late.path, Err(RequestError::TimedOut { method })));
            }
        }
    }

    /// Sends requests until the maximum number is under way.
    fn send_next(&mut self) {
        while self.under_way.len() < MAX_UNDER_WAY
            && let Some(path) = self.waiting.pop_front()
        {
            let connection = &self.connection;
            let pulls: Vec<_> = connection.with(|session| {
                let pulls = session.pulls(&path).into_iter();
                pulls.map(|pull| queue(connection, session, pull)).collect()
            });
            if !pulls.is_empty() {
                self.under_way.push(DocumentPull {
                    path,
                    pulls,
                    refused: Vec::new(),
                    is_repetition: false,
                    result: Ok(()),
                });
            }
        }
    }

    /// Reads the answers that have arrived.
    fn take_answers(&mut self) {
        let waker = Waker::from(self.signal.clone());
        let cx = Context::from_waker(&waker);
        for mut document in std::mem::take(&mut self.under_way) {
            document.take_answers(&self.connection, &cx);
            if !document.pulls.is_empty() {
                self.under_way.push(document);
            } else if !document.refused.is_empty() {
                self.refused.push(document);
            } else {
                self.answered.push_back((document.path, document.result));
            }
        }
    }

    /// Asks the providers again that were not ready, about as many documents as may be under way.
    fn repeat_refused(&mut self) {
        let count = self.refused.len().min(MAX_UNDER_WAY);
        for mut document in self.refused.drain(..count) {
            let refused = std::mem::take(&mut document.refused).into_iter();
            // A document that was closed meanwhile needs no report.
            let pulls = refused.filter_map(|identity| repeat(&self.connection, identity));
            document.pulls = pulls.collect();
            document.is_repetition = true;
            self.under_way.push(document);
        }
    }
}

impl DocumentPull {
    /// Reads the answers that have arrived; `cx` is woken by the others.
    fn take_answers(&mut self, connection: &Connection, cx: &Context<'_>) {
        for (identity, pending) in std::mem::take(&mut self.pulls) {
            let Poll::Ready(answer) = pending.poll_raw(cx) else {
                self.pulls.push((identity, pending));
                continue;
            };
            let answer = Some(answer);
            if is_retriable(answer.as_ref()) && !self.is_repetition {
                self.refused.push(identity);
                continue;
            }
            let stored = store(connection, &identity, answer);
            if self.result.is_ok() {
                self.result = stored;
            }
        }
    }
}

impl AnswerSignal {
    fn reset(&self) {
        *self.has_come() = false;
    }

    /// Waits for an answer since the last reset; false if none comes in time.
    fn wait(&self, timeout: Duration) -> bool {
        let is_missing = |has_come: &mut bool| !*has_come;
        let waited = self
            .came
            .wait_timeout_while(self.has_come(), timeout, is_missing);
        let (has_come, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *has_come
    }

    fn has_come(&self) -> MutexGuard<'_, bool> {
        self.has_come.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for AnswerSignal {
    fn wake(self: Arc<Self>) {
        *self.has_come() = true;
        self.came.notify_all();
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
