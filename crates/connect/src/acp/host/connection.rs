//! The connection to a hosted agent: the protocol's crate on one side, a queue of the agent's
//! messages on the other.

use agent_client_protocol as acp;
use agent_client_protocol::Client;
use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};

use crate::acp::wire::{self, InvalidLines};
use crate::framing::NoiseCallback;

/// Capacity of the message queue. When it is full, the agent's pipe fills.
const QUEUE_CAPACITY: usize = 64;

/// A message that the agent sends unprompted.
pub(super) enum AgentMessage {
    /// A request that needs a response.
    Request {
        method: String,
        params: Value,
        responder: Box<Responder>,
    },
    /// A notification without a response.
    Notification { method: String, params: Value },
}

/// An open connection. Dropping it closes the connection.
pub(super) struct AgentConnection {
    pub(super) agent: ConnectionTo<acp::Agent>,
    /// Messages in the order in which they were sent; those sent before a response are queued
    /// before the response arrives.
    pub(super) messages: mpsc::Receiver<AgentMessage>,
    _close: oneshot::Sender<()>,
}

/// Opens a connection over two pipes; `None` if the protocol's crate refuses.
pub(super) async fn open(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
    noise: NoiseCallback,
) -> Option<AgentConnection> {
    let incoming = wire::incoming(from, InvalidLines::Reported(noise));
    let (outgoing, _) = wire::outgoing(to);
    let transport = acp::Lines::new(outgoing, incoming);
    let (sender, messages) = mpsc::channel(QUEUE_CAPACITY);
    let (opened, opening) = oneshot::channel();
    let (close, closed) = oneshot::channel();
    tokio::spawn(async move {
        let receive = async move |dispatch: Dispatch, _: ConnectionTo<acp::Agent>| {
            let message = match dispatch {
                Dispatch::Request(message, responder) => {
                    let (method, params) = message.into_parts();
                    AgentMessage::Request {
                        method,
                        params,
                        responder: Box::new(responder),
                    }
                }
                Dispatch::Notification(message) => {
                    let (method, params) = message.into_parts();
                    AgentMessage::Notification { method, params }
                }
                Dispatch::Response(result, router) => return router.route_with_result(result),
            };
            // The receiver is gone while the connection closes.
            sender.send(message).await.ok();
            Ok(())
        };
        let ended = Client
            .v1()
            .name("burin")
            .on_receive_dispatch(receive, acp::on_receive_dispatch!())
            .connect_with(transport, async move |agent: ConnectionTo<acp::Agent>| {
                // The host may have dropped the receiver already.
                opened.send(agent).ok();
                closed.await.ok();
                Ok(())
            })
            .await;
        if let Err(error) = ended {
            log::debug!("the connection to an agent ended: {}", error.message);
        }
    });
    Some(AgentConnection {
        agent: opening.await.ok()?,
        messages,
        _close: close,
    })
}

/// Formats a protocol error as a sentence.
pub(super) fn sentence(error: &acp::Error) -> String {
    let detail = match &error.data {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Object(map)) => ["details", "message", "error", "reason"]
            .iter()
            .find_map(|key| map.get(*key)?.as_str().map(str::to_owned)),
        _ => None,
    };
    match detail {
        Some(detail) if detail != error.message => format!("{}: {detail}", error.message),
        _ => error.message.clone(),
    }
}
