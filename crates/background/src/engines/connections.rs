//! Connections of views to sessions: the past of a session, then its events.

use std::sync::Arc;

use agent::AgentEvent;
use agent_service::SessionConnection;
use composer::service::SessionView;
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use runtime::live_sessions::Attachment;

/// Returns a session for the panel: its past, then its live events.
pub(super) fn live(
    id: String,
    attachment: Attachment,
    past: Vec<AgentEvent>,
    notices: Vec<String>,
) -> SessionConnection {
    let Attachment {
        root,
        handle,
        pending,
        mut events,
    } = attachment;
    let events = stream::poll_fn(move |cx| events.poll_recv(cx));
    SessionConnection {
        id,
        root,
        send: Arc::new(move |command| handle.send(command)),
        past: latest(&past),
        events: from_past(past, pending, events),
        notices,
    }
}

/// The panel's connection to the session of a job.
pub(super) fn view_connection(view: SessionView) -> SessionConnection {
    SessionConnection {
        id: view.session,
        root: view.root,
        send: view.send,
        past: latest(&view.past),
        events: from_past(view.past, Vec::new(), view.events),
        notices: Vec::new(),
    }
}

/// Returns past events, pending ones, and live ones without records that the past contains.
fn from_past(
    past: Vec<AgentEvent>,
    pending: Vec<AgentEvent>,
    events: impl Stream<Item = AgentEvent> + Send + 'static,
) -> BoxStream<'static, AgentEvent> {
    let known = latest(&past);
    let is_new = move |event: &AgentEvent| {
        let number = number(event);
        std::future::ready(number.is_none() || number > known)
    };
    stream::iter(past.into_iter().chain(pending))
        .chain(events.filter(is_new))
        .boxed()
}

/// Returns the number of the latest record among events.
fn latest(past: &[AgentEvent]) -> Option<u64> {
    past.iter().filter_map(number).max()
}

/// Returns the record number of an event; `None` if it is not a record.
fn number(event: &AgentEvent) -> Option<u64> {
    match event {
        AgentEvent::Recorded(stored) => Some(stored.seq),
        _ => None,
    }
}
