//! The connection to a hosted agent: the protocol's crate on one side, a queue of the agent's
//! messages on the other.

use agent_client_protocol as acp;
use agent_client_protocol::Client;
use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};

use crate::acp::wire::{self, Noise, Strange};

/// Capacity of the message queue. When it is full, the agent's pipe fills.
const WAITING: usize = 64;

/// A message that the agent sends unprompted.
pub(super) enum AgentMessage {
    /// A request that needs a response.
    Asked {
        method: String,
        params: Value,
        responder: Box<Responder>,
    },
    /// A notification without a response.
    Told { method: String, params: Value },
}

/// An open connection. Dropping it closes the connection.
pub(super) struct AgentConnection {
    pub(super) agent: ConnectionTo<acp::Agent>,
    /// Messages in the order in which they were sent; those sent before a response are queued
    /// before the response arrives.
    pub(super) messages: mpsc::Receiver<AgentMessage>,
    _hang_up: oneshot::Sender<()>,
}

/// Opens a connection over two pipes; `None` if the protocol's crate refuses.
pub(super) async fn open(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
    noise: Noise,
) -> Option<AgentConnection> {
    let incoming = wire::incoming(from, Strange::Told(noise));
    let (outgoing, _) = wire::outgoing(to);
    let transport = acp::Lines::new(outgoing, incoming);
    let (sender, heard) = mpsc::channel(WAITING);
    let (opened, opening) = oneshot::channel();
    let (hang_up, hung_up) = oneshot::channel();
    tokio::spawn(async move {
        let hear = async move |dispatch: Dispatch, _: ConnectionTo<acp::Agent>| {
            let heard = match dispatch {
                Dispatch::Request(message, responder) => {
                    let (method, params) = message.into_parts();
                    AgentMessage::Asked {
                        method,
                        params,
                        responder: Box::new(responder),
                    }
                }
                Dispatch::Notification(message) => {
                    let (method, params) = message.into_parts();
                    AgentMessage::Told { method, params }
                }
                Dispatch::Response(result, router) => return router.route_with_result(result),
            };
            // The receiver is gone while the connection closes.
            sender.send(heard).await.ok();
            Ok(())
        };
        let ended = Client
            .v1()
            .name("burin")
            .on_receive_dispatch(hear, acp::on_receive_dispatch!())
            .connect_with(transport, async move |agent: ConnectionTo<acp::Agent>| {
                // The host may have dropped the receiver already.
                opened.send(agent).ok();
                hung_up.await.ok();
                Ok(())
            })
            .await;
        if let Err(error) = ended {
            log::debug!("the line to an agent ended: {}", error.message);
        }
    });
    Some(AgentConnection {
        agent: opening.await.ok()?,
        messages: heard,
        _hang_up: hang_up,
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
