//! The two threads of a connection around its state.
//!
//! Invariant: messages go out in the order in which the session made them, since they are queued under
//! its lock.
//! Lock order: session, then pending requests, then the queues of messages and events.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use gen_lsp_types::Request;
use serde::Serialize;

use crate::diagnostics::ReportSource;
use crate::diagnostics::wire::{self, WirePublish};
use crate::edit_request::EditRequest;
use crate::error::{EndReason, RequestError};
use crate::events::{EventQueue, ServerEvent};
use crate::framing::FrameReader;
use crate::life::{OutgoingKind, Phase};
use crate::log::{MessageDirection, MessageLog};
use crate::message::{self, Message, Payload, RawId, ResponseError};
use crate::outbound::Outbound;
use crate::pending::{
    NewRequest, Patience, PendingRequests, ResponseResult, ResponseSlot, request_result,
};
use crate::session::{PulledReport, RequestAnswer, ServerSession};
use crate::uri::uri_path;
use crate::violations::{Violation, Violations};

/// A connection to a server.
pub(crate) struct Connection {
    session: Mutex<ServerSession>,
    pending: PendingRequests,
    outbound: Arc<Outbound>,
    events: Arc<EventQueue>,
    /// Number of messages that arrived.
    received: AtomicU64,
    end: OnceLock<EndReason>,
}

/// The activity of a connection, for a watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionActivity {
    /// Number of messages that arrived from the server.
    pub received: u64,
    /// Whether a request awaits its answer.
    pub is_waiting: bool,
}

/// The identity of a connection: that of a restarted server differs.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(Default))]
pub struct ConnectionId(Weak<Connection>);

impl ConnectionId {
    /// Returns the identity of a connection.
    pub(crate) fn of(connection: &Arc<Connection>) -> Self {
        Self(Arc::downgrade(connection))
    }
}

impl PartialEq for ConnectionId {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for ConnectionId {}

/// A client request in flight. Dropping it cancels the request.
pub(crate) struct PendingRequest {
    connection: Arc<Connection>,
    id: u64,
    slot: Arc<ResponseSlot>,
    method: &'static str,
}

impl Connection {
    /// Starts the threads. `input` is the server's input, `output` its output.
    pub(crate) fn start(
        session: ServerSession,
        log: Option<Arc<dyn MessageLog>>,
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
    ) -> io::Result<(Arc<Self>, Arc<EventQueue>)> {
        let events = Arc::new(EventQueue::default());
        let connection = Arc::new(Self {
            session: Mutex::new(session),
            pending: PendingRequests::default(),
            outbound: Arc::new(Outbound::start(input, log.clone())?),
            events: events.clone(),
            received: AtomicU64::new(0),
            end: OnceLock::new(),
        });
        let reader = connection.clone();
        thread::Builder::new()
            .name("lsp-read".to_owned())
            .spawn(move || reader.read_all(output, log))?;
        Ok((connection, events))
    }

    /// Calls `action` on the session, then queues the messages and events that it made.
    pub(crate) fn with<R>(&self, action: impl FnOnce(&mut ServerSession) -> R) -> R {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let result = action(&mut session);
        for message in session.take_outgoing() {
            self.outbound.send(message);
        }
        for event in session.take_events() {
            self.events.push(event);
        }
        drop(session);
        if let Some(failure) = self.outbound.failure() {
            self.finish(failure.clone());
        }
        result
    }

    /// Sends a request if the phase allows it.
    pub(crate) fn request<R: Request>(
        self: &Arc<Self>,
        kind: OutgoingKind,
        params: &R::Params,
    ) -> Result<PendingRequest, RequestError> {
        let method = const { R::METHOD.as_str() };
        let request = self.with(|session| {
            let is_allowed = session.begin(kind);
            is_allowed.then(|| self.queue_request::<R>(session, params))
        });
        request.ok_or_else(|| match self.end.get() {
            Some(end) => RequestError::Ended(end.clone()),
            None => RequestError::OutOfOrder { method },
        })
    }

    /// Adds a request to the messages of a session; the caller has checked the phase.
    pub(crate) fn queue_request<R: Request>(
        self: &Arc<Self>,
        session: &mut ServerSession,
        params: &R::Params,
    ) -> PendingRequest {
        self.queue_call(session, const { R::METHOD.as_str() }, params)
    }

    /// Adds a request for the method of that name to the messages of a session, as `queue_request`
    /// does.
    pub(crate) fn queue_call(
        self: &Arc<Self>,
        session: &mut ServerSession,
        method: &'static str,
        params: &impl Serialize,
    ) -> PendingRequest {
        self.queue_with_patience(session, method, params, Patience::Impatient)
    }

    /// Adds a request as `queue_call` does, whose answer may come late on purpose: while it waits, the
    /// connection does not count as one that waits.
    pub(crate) fn queue_patient_call(
        self: &Arc<Self>,
        session: &mut ServerSession,
        method: &'static str,
        params: &impl Serialize,
    ) -> PendingRequest {
        self.queue_with_patience(session, method, params, Patience::Patient)
    }

    fn queue_with_patience(
        self: &Arc<Self>,
        session: &mut ServerSession,
        method: &'static str,
        params: &impl Serialize,
        patience: Patience,
    ) -> PendingRequest {
        let request = self.pending.insert(patience);
        let NewRequest { id, slot, .. } = request;
        session.push(message::request(id, method, params));
        session.last_request = Some(method);
        if request.begins_wait {
            session.note_request();
        }
        PendingRequest {
            connection: self.clone(),
            id,
            slot,
            method,
        }
    }

    /// Waits until the connection has ended, at most for `time`.
    pub(crate) fn pause(&self, time: Duration) {
        // No request waits for the server meanwhile.
        let pause = self.pending.insert(Patience::Patient);
        pause.slot.wait(time);
        self.pending.remove(pause.id);
    }

    /// Returns why no message arrives any more.
    pub(crate) fn end_reason(&self) -> Option<EndReason> {
        self.end.get().cloned()
    }

    /// Returns what a watchdog compares.
    pub(crate) fn activity(&self) -> ConnectionActivity {
        ConnectionActivity {
            received: self.received.load(Ordering::Relaxed),
            is_waiting: self.pending.has_impatient(),
        }
    }

    /// Closes the server's input after the messages that are queued.
    pub(crate) fn close_input(&self) {
        self.outbound.close();
    }

    /// Ends everything that waits, unless the connection has ended before.
    pub(crate) fn finish(&self, reason: EndReason) {
        let mut is_first = false;
        let reason = self.end.get_or_init(|| {
            is_first = true;
            reason
        });
        if !is_first {
            return;
        }
        self.outbound.close();
        self.pending.end(reason);
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .end();
        self.events.push(ServerEvent::Ended(reason.clone()));
    }

    /// Reads messages until the output of the server ends.
    fn read_all(self: Arc<Self>, output: impl Read, log: Option<Arc<dyn MessageLog>>) {
        let mut reader = FrameReader::new(output);
        let reason = loop {
            match reader.read() {
                Ok(Some(body)) => {
                    if let Some(log) = &log {
                        log.message(MessageDirection::FromServer, &body);
                    }
                    self.received.fetch_add(1, Ordering::Relaxed);
                    self.receive(body);
                }
                Ok(None) => break EndReason::OutputClosed,
                Err(error) => break EndReason::Framing(error),
            }
            if self.end.get().is_some() {
                return;
            }
        };
        let phase = self.with(|session| session.phase);
        let is_expected = matches!(phase, Phase::ShuttingDown | Phase::Exited);
        self.finish(match reason {
            EndReason::OutputClosed if is_expected => EndReason::ShutDown,
            reason => reason,
        });
    }

    fn receive(&self, body: Vec<u8>) {
        match Message::parse(body) {
            Ok(Message::Request { id, method, params }) => self.answer(id, &method, &params),
            Ok(Message::Notification { method, params }) => {
                if method == "textDocument/publishDiagnostics" {
                    self.published(&params);
                } else {
                    self.with(|session| session.notified(&method, &params));
                }
            }
            Ok(Message::Response { id, result }) => self.answered(id, result),
            Err(_) => self.count(Violation::MalformedMessage),
        }
    }

    fn answered(&self, id: u64, result: Result<Payload, ResponseError>) {
        // The answer to a cancelled request is no violation.
        if !self.pending.answer(id, result) && !self.pending.was_sent(id) {
            self.count(Violation::UnknownAnswer);
        }
    }

    fn answer(&self, id: RawId, method: &str, params: &Payload) {
        self.with(|session| {
            let answer = session.answer(method, params);
            if !session.begin(OutgoingKind::Response) {
                return;
            }
            match answer {
                RequestAnswer::Now(result) => session.push(Ok(message::response(&id, &result))),
                RequestAnswer::Edit(edit) => {
                    let outbound = self.outbound.clone();
                    session.ask_owner(EditRequest::new(id, edit, outbound));
                }
            }
        });
    }

    /// Reads pushed diagnostics, without the lock while they are converted.
    fn published(&self, params: &Payload) {
        let Ok(publish) = serde_json::from_str::<WirePublish<'_>>(params.json()) else {
            self.count(Violation::MalformedPayload);
            return;
        };
        let Some(path) = uri_path(&publish.uri) else {
            return;
        };
        let basis = self.with(|session| session.publish_basis(&path, &publish, params));
        let Some((basis, encoding)) = basis else {
            return;
        };
        let mut violations = Violations::default();
        let items = wire::read_items(&publish.diagnostics, &basis.text, encoding, &mut violations);
        self.with(|session| {
            session.violations.add(&violations);
            let report = PulledReport::Full {
                result_id: None,
                items,
            };
            session.report(&path, &ReportSource::Push, basis.version, report);
        });
    }

    fn count(&self, violation: Violation) {
        self.with(|session| session.violations.count(violation, 1));
    }
}

impl PendingRequest {
    /// Waits for the answer.
    ///
    /// # Errors
    /// The connection ended, the server refused, or the time is over; the request is then cancelled.
    pub(crate) fn wait(self, timeout: Duration) -> Result<Payload, RequestError> {
        request_result(self.method, self.wait_raw(timeout))
    }

    /// Waits for the answer; `None` if it does not come in time.
    pub(crate) fn wait_raw(&self, timeout: Duration) -> Option<ResponseResult> {
        self.slot.wait(timeout)
    }

    /// Takes the answer, or arranges that the task is woken when it arrives.
    pub(crate) fn poll_raw(&self, cx: &Context<'_>) -> Poll<ResponseResult> {
        self.slot.poll(cx)
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.connection.pending.remove(self.id) {
            self.connection.with(|session| session.cancel(self.id));
        }
    }
}
