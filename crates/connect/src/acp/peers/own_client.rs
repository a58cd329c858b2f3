//! The protocol's own client: opens a session, sends one prompt and grants every permission.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PermissionOptionKind, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionNotification, StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Lines};
use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use crate::error::Error;

/// The messages that the client received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedRun {
    /// Every update of the session, in protocol form.
    pub updates: Vec<Value>,
    /// The number of permission requests.
    pub asked: usize,
    /// The stop reason of the turn, as the protocol spells it.
    pub reason: String,
}

/// Runs a whole conversation with the agent behind two pipes: initialization, a new session in a
/// folder, one prompt. Closes the pipes afterwards.
///
/// # Errors
///
/// `Error::Disconnected` if the agent answers with an error, breaks the protocol or ends.
pub async fn prompt(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
    folder: PathBuf,
    text: &str,
) -> Result<ObservedRun, Error> {
    let incoming = futures::stream::unfold(BufReader::new(from).lines(), |mut lines| async move {
        let line = lines.next_line().await.transpose();
        line.map(|line| (line, lines))
    });
    let outgoing = futures::sink::unfold(to, |mut to, line: String| async move {
        to.write_all(format!("{line}\n").as_bytes()).await?;
        to.flush().await?;
        Ok::<_, std::io::Error>(to)
    });
    let transport = Lines::new(outgoing.sink_map_err(|error| error), incoming.boxed());
    let run = Arc::new(Mutex::new(ObservedRun::default()));
    let (updated, asked) = (run.clone(), run.clone());
    let reason = Client
        .v1()
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                let update = serde_json::to_value(update.update).unwrap_or_default();
                updated
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .updates
                    .push(update);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest,
                        responder: Responder<RequestPermissionResponse>,
                        _| {
                asked.lock().unwrap_or_else(PoisonError::into_inner).asked += 1;
                responder.respond(RequestPermissionResponse::new(allowed(&request)))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async |agent: ConnectionTo<Agent>| {
            let hello = InitializeRequest::new(ProtocolVersion::V1);
            agent.send_request(hello).block_task().await?;
            let request = NewSessionRequest::new(folder);
            let session = agent.send_request(request).block_task().await?;
            let prompt = vec![ContentBlock::from(text)];
            let prompt = PromptRequest::new(session.session_id, prompt);
            Ok(agent.send_request(prompt).block_task().await?.stop_reason)
        })
        .await
        .map_err(|error| Error::Disconnected(error.message))?;
    let mut run = run.lock().unwrap_or_else(PoisonError::into_inner).clone();
    run.reason = stop_reason_name(reason);
    Ok(run)
}

/// Selects the first option that grants the permission.
fn allowed(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    let kinds = [
        PermissionOptionKind::AllowOnce,
        PermissionOptionKind::AllowAlways,
    ];
    let option = request.options.iter().find(|it| kinds.contains(&it.kind));
    match option {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => RequestPermissionOutcome::Cancelled,
    }
}

fn stop_reason_name(reason: StopReason) -> String {
    let value = serde_json::to_value(reason).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
