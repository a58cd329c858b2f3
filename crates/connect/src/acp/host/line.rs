//! The line to a hosted agent: the protocol's crate on one side, a queue of what the agent wants on the other.

use agent_client_protocol as acp;
use agent_client_protocol::Client;
use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};

use crate::acp::wire::{self, Noise, Strange};

/// How many messages of the agent may wait. While it is full, its pipe fills.
const WAITING: usize = 64;

/// Something that the agent says without being asked.
pub(super) enum Heard {
    /// It wants an answer.
    Asked {
        method: String,
        params: Value,
        responder: Box<Responder>,
    },
    /// It only tells.
    Told { method: String, params: Value },
}

/// A line that is up. Dropping it hangs up.
pub(super) struct Line {
    pub(super) agent: ConnectionTo<acp::Agent>,
    /// In the order in which the agent said it; what it said before an answer is here before the answer is.
    pub(super) heard: mpsc::Receiver<Heard>,
    _hang_up: oneshot::Sender<()>,
}

/// Opens a line over two pipes; `None` where the protocol's crate will not.
pub(super) async fn open(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
    noise: Noise,
) -> Option<Line> {
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
                    Heard::Asked {
                        method,
                        params,
                        responder: Box::new(responder),
                    }
                }
                Dispatch::Notification(message) => {
                    let (method, params) = message.into_parts();
                    Heard::Told { method, params }
                }
                Dispatch::Response(result, router) => return router.route_with_result(result),
            };
            // Nobody listens when the line is being hung up.
            sender.send(heard).await.ok();
            Ok(())
        };
        let ended = Client
            .v1()
            .name("burin")
            .on_receive_dispatch(hear, acp::on_receive_dispatch!())
            .connect_with(transport, async move |agent: ConnectionTo<acp::Agent>| {
                // Nobody waits when the host is gone already.
                opened.send(agent).ok();
                hung_up.await.ok();
                Ok(())
            })
            .await;
        if let Err(error) = ended {
            log::debug!("the line to an agent ended: {}", error.message);
        }
    });
    Some(Line {
        agent: opening.await.ok()?,
        heard,
        _hang_up: hang_up,
    })
}

/// An error of the other side as a sentence.
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
