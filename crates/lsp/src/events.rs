//! Events of a server for its owner, in a bounded queue that coalesces them.
//!
//! Invariant: adding an event never blocks, so the reader thread answers the server even while the
//! owner is busy. Of texts, the oldest are dropped; events about state name the state once.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::AbsPath;

use crate::edit_request::EditRequest;
use crate::error::EndReason;

/// Maximum number of texts and edits that wait in the queue.
const MAX_WAITING: usize = 256;

/// An event of a server.
#[derive(Debug)]
pub enum ServerEvent {
    /// The diagnostics of an open document may have changed: see `LanguageServer::diagnostics`.
    DiagnosticsChanged(AbsPath),
    /// The diagnostics of documents that are not open changed: see `LanguageServer::take_unopened_changes`.
    UnopenedDiagnosticsChanged,
    /// The server asks that the diagnostics of all documents be pulled again.
    DiagnosticsRefresh,
    /// The server asks that the inlay hints of all documents be requested again.
    InlayHintsRefresh,
    /// The server asks that the semantic tokens of all documents be requested again.
    SemanticTokensRefresh,
    /// The server asks that the code lenses of all documents be requested again.
    CodeLensRefresh,
    /// The server registered or unregistered a capability.
    CapabilitiesChanged,
    /// Work began, advanced or ended: see `LanguageServer::progress`.
    ProgressChanged,
    /// The server has a text for the user or for the log.
    Message {
        /// The purpose of the text.
        kind: MessageKind,
        /// The severity that the server gave it.
        severity: MessageSeverity,
        /// The text as the server wrote it, cut after 8 KiB.
        text: String,
    },
    /// The server asks for an edit of files.
    EditRequested(EditRequest),
    /// A request was sent while no other awaited its answer: see `LanguageServer::activity`.
    RequestSent,
    /// No message arrives any more; the last event.
    Ended(EndReason),
}

/// The purpose of a server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// For the user (`window/showMessage`).
    Shown,
    /// For the log (`window/logMessage`).
    Logged,
}

/// The severity of a server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSeverity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// An information, and any severity that the protocol does not know.
    Info,
    /// A detail for the log.
    Debug,
}

/// The receiver of a server's events.
pub struct ServerEvents {
    queue: Arc<EventQueue>,
}

impl ServerEvents {
    /// Creates the receiver of a queue.
    pub(crate) fn of(queue: Arc<EventQueue>) -> Self {
        Self { queue }
    }

    /// Waits for the next event; `None` if none comes in time. `ServerEvent::Ended` is the last.
    pub fn next(&self, timeout: Duration) -> Option<ServerEvent> {
        let state = self.queue.state();
        let waited = self
            .queue
            .arrived
            .wait_timeout_while(state, timeout, |state| {
                state.events.is_empty() && !state.is_ended
            });
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.events.pop_front()
    }
}

/// The queue between the reader thread and the owner.
#[derive(Default)]
pub(crate) struct EventQueue {
    state: Mutex<EventState>,
    arrived: Condvar,
}

#[derive(Default)]
struct EventState {
    events: VecDeque<ServerEvent>,
    /// Set by the last event.
    is_ended: bool,
}

impl EventQueue {
    /// Adds an event unless an equal one waits or the queue has ended.
    pub(crate) fn push(&self, event: ServerEvent) {
        let mut state = self.state();
        if state.is_ended || state.events.iter().any(|waiting| is_same(waiting, &event)) {
            return;
        }
        state.is_ended = matches!(event, ServerEvent::Ended(_));
        state.events.push_back(event);
        let dropped = state.drop_oldest();
        drop(state);
        self.arrived.notify_all();
        // A dropped edit answers the server, which must not happen under the lock.
        drop(dropped);
    }

    fn state(&self) -> MutexGuard<'_, EventState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventState {
    /// Removes the oldest text or edit if too many wait.
    fn drop_oldest(&mut self) -> Option<ServerEvent> {
        let is_bounded = |event: &&ServerEvent| {
            matches!(
                event,
                ServerEvent::Message { .. } | ServerEvent::EditRequested(_)
            )
        };
        if self.events.iter().filter(is_bounded).count() <= MAX_WAITING {
            return None;
        }
        let oldest = self.events.iter().position(|event| is_bounded(&event))?;
        self.events.remove(oldest)
    }
}

/// Returns whether two events say the same about the state of the server.
fn is_same(a: &ServerEvent, b: &ServerEvent) -> bool {
    match (a, b) {
        (ServerEvent::DiagnosticsChanged(a), ServerEvent::DiagnosticsChanged(b)) => a == b,
        (ServerEvent::DiagnosticsRefresh, ServerEvent::DiagnosticsRefresh)
        | (ServerEvent::UnopenedDiagnosticsChanged, ServerEvent::UnopenedDiagnosticsChanged)
        | (ServerEvent::InlayHintsRefresh, ServerEvent::InlayHintsRefresh)
        | (ServerEvent::SemanticTokensRefresh, ServerEvent::SemanticTokensRefresh)
        | (ServerEvent::CodeLensRefresh, ServerEvent::CodeLensRefresh)
        | (ServerEvent::CapabilitiesChanged, ServerEvent::CapabilitiesChanged)
        | (ServerEvent::ProgressChanged, ServerEvent::ProgressChanged)
        | (ServerEvent::RequestSent, ServerEvent::RequestSent) => true,
        _ => false,
    }
}
