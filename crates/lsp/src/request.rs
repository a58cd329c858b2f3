//! Client requests with typed results.
//!
//! Invariant: an answer is read on the thread that waits for it, never on the reader thread.
//! Invariant: the positions of an answer refer to the text at the time of the request, so a request
//! about a document is repeated only while the server has no other text of it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use base::AbsPath;
use serde_json::{Value, json};

use crate::answer::AnswerError;
use crate::connection::{Connection, PendingRequest};
use crate::error::{EndReason, RequestError};
use crate::pending::{ResponseResult, ResponseSlot, request_result};
use crate::position::PositionEncoding;
use crate::request_document::RequestDocument;
use crate::retry::{REPEATABLE, RETRY_DELAY, is_retriable};
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::uri::file_uri;
use crate::violations::{Violation, Violations};

/// A request under way. Dropping it before the answer cancels it at the server.
///
/// As a future it needs no runtime: the reader thread wakes the task. The answer is parsed by the
/// thread that polls or waits. A request whose method is in `REPEATABLE` is repeated once, after 250 ms,
/// if the server is not ready; none of these changes a text.
pub struct Request<T> {
    connection: Arc<Connection>,
    method: &'static str,
    stage: Stage,
    /// `None` once the request was repeated, or if it may not be.
    repetition: Option<Repetition>,
    read: Box<AnswerReader<T>>,
}

/// Reads the JSON text of an answer.
type AnswerReader<T> = dyn Fn(&str, &mut Violations) -> Result<T, AnswerError> + Send + Sync;

enum Stage {
    /// The request was sent.
    Sent(PendingRequest),
    /// The server was not ready; the slot is filled at the end of the pause before the repetition.
    Pausing(Arc<ResponseSlot>, ResponseResult),
}

/// A request that may be sent once more.
struct Repetition {
    params: Value,
    /// The document and the version of its text that the request is about.
    document: Option<(AbsPath, i32)>,
}

impl<T> Request<T> {
    /// Waits for the answer. `timeout` bounds the time for each of the two answers if the request is
    /// repeated.
    ///
    /// # Errors
    /// The connection ended, the server refused or did not answer in time, or the answer is
    /// malformed.
    pub fn wait(mut self, timeout: Duration) -> Result<T, RequestError> {
        loop {
            let answer = match &self.stage {
                Stage::Sent(pending) => pending.wait_raw(timeout),
                // The request was polled before.
                Stage::Pausing(slot, refusal) => {
                    slot.wait(RETRY_DELAY);
                    Some(refusal.clone())
                }
            };
            if self.may_repeat(answer.as_ref()) {
                if matches!(self.stage, Stage::Sent(_)) {
                    self.connection.pause(RETRY_DELAY);
                }
                if self.repeat() {
                    continue;
                }
            }
            return self.finish(answer);
        }
    }

    /// Returns whether the server asks for a repetition that was not made yet.
    fn may_repeat(&self, answer: Option<&ResponseResult>) -> bool {
        self.repetition.is_some() && is_retriable(answer)
    }

    /// Sends the request again; returns false if the server has another text by now.
    fn repeat(&mut self) -> bool {
        let Some(Repetition { params, document }) = self.repetition.take() else {
            return false;
        };
        let method = self.method;
        let connection = &self.connection;
        let pending = connection.with(|session| {
            let is_current = document
                .as_ref()
                .is_none_or(|(path, version)| session.is_current(path, *version));
            is_current.then(|| connection.queue_call(session, method, &params))
        });
        let is_sent = pending.is_some();
        if let Some(pending) = pending {
            self.stage = Stage::Sent(pending);
        }
        is_sent
    }

    /// Reads the answer.
    fn finish(&self, answer: Option<ResponseResult>) -> Result<T, RequestError> {
        let payload = request_result(self.method, answer)?;
        let mut violations = Violations::default();
        let result = (self.read)(payload.json(), &mut violations);
        if result.is_err() {
            violations.count(Violation::MalformedPayload, 1);
        }
        self.connection
            .with(|session| session.violations.add(&violations));
        result.map_err(|error| RequestError::Malformed {
            method: self.method,
            detail: error.to_string(),
        })
    }
}

impl<T> Future for Request<T> {
    type Output = Result<T, RequestError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            match &self.stage {
                Stage::Pausing(slot, refusal) => {
                    if slot.poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    let refusal = refusal.clone();
                    if !self.repeat() {
                        return Poll::Ready(self.finish(Some(refusal)));
                    }
                }
                Stage::Sent(pending) => {
                    let Poll::Ready(answer) = pending.poll_raw(cx) else {
                        return Poll::Pending;
                    };
                    if !self.may_repeat(Some(&answer)) {
                        return Poll::Ready(self.finish(Some(answer)));
                    }
                    self.stage = Stage::Pausing(pause(&self.connection), answer);
                }
            }
        }
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// Starts the pause before a repetition; the slot is filled at its end. A thread measures the time,
/// since a future has no clock.
fn pause(connection: &Arc<Connection>) -> Arc<ResponseSlot> {
    let slot = Arc::new(ResponseSlot::default());
    let (connection, filled) = (connection.clone(), slot.clone());
    let measure = move || {
        connection.pause(RETRY_DELAY);
        filled.fill(Err(EndReason::ShutDown));
    };
    let started = thread::Builder::new()
        .name("lsp-retry".to_owned())
        .spawn(measure);
    if started.is_err() {
        // Without a thread the repetition is made at once.
        slot.fill(Err(EndReason::ShutDown));
    }
    slot
}

impl LanguageServer {
    /// Sends a request about an open document; `None` if the document is not open, the server does
    /// not offer the method for it, or `params` refuses the provider. The member `textDocument` is
    /// added.
    pub(crate) fn ask_document<T>(
        &self,
        method: &'static str,
        path: &AbsPath,
        params: impl FnOnce(&RequestDocument) -> Option<Value>,
        read: impl Fn(&str, &RequestDocument, &mut Violations) -> Result<T, AnswerError>
        + Send
        + Sync
        + 'static,
    ) -> Option<Request<T>> {
        self.ask_provider((method, method), path, params, read)
    }

    /// Sends a request as `ask_document` does; of the two methods, the server offers the first, and
    /// the second is sent.
    pub(crate) fn ask_provider<T>(
        &self,
        (offered, method): (&'static str, &'static str),
        path: &AbsPath,
        params: impl FnOnce(&RequestDocument) -> Option<Value>,
        read: impl Fn(&str, &RequestDocument, &mut Violations) -> Result<T, AnswerError>
        + Send
        + Sync
        + 'static,
    ) -> Option<Request<T>> {
        let connection = self.connection();
        let (document, params, pending) = connection.with(|session| {
            let document = session.question(offered, path)?;
            let mut params = params(&document)?;
            params["textDocument"] = json!({ "uri": file_uri(path) });
            let pending = connection.queue_call(session, method, &params);
            Some((document, params, pending))
        })?;
        let version = (path.clone(), document.version);
        Some(Request {
            connection: connection.clone(),
            method,
            stage: Stage::Sent(pending),
            repetition: repetition(method, params, Some(version)),
            read: Box::new(move |json, violations| read(json, &document, violations)),
        })
    }

    /// Sends a request that concerns no open document; `None` if the server does not offer it.
    pub(crate) fn ask_workspace<T>(
        &self,
        method: &'static str,
        params: Value,
        is_offered: impl FnOnce(&ServerSession) -> bool,
        read: impl Fn(&str, PositionEncoding, &mut Violations) -> Result<T, AnswerError>
        + Send
        + Sync
        + 'static,
    ) -> Option<Request<T>> {
        let connection = self.connection();
        let (encoding, pending) = connection.with(|session| {
            is_offered(session).then(|| {
                let pending = connection.queue_call(session, method, &params);
                (session.encoding(), pending)
            })
        })?;
        Some(Request {
            connection: connection.clone(),
            method,
            stage: Stage::Sent(pending),
            repetition: repetition(method, params, None),
            read: Box::new(move |json, violations| read(json, encoding, violations)),
        })
    }
}

/// Returns the repetition of a request, if it may be repeated.
fn repetition(method: &str, params: Value, document: Option<(AbsPath, i32)>) -> Option<Repetition> {
    REPEATABLE
        .contains(&method)
        .then_some(Repetition { params, document })
}
