//! The protocol's own client.

use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionNotification,
    SessionUpdate, StopReason,
};
use agent_client_protocol::{Agent, Client, Lines};
use connect::acp::agent::serve;
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, split};
use tokio::sync::mpsc;

use crate::echo::Echo;

#[tokio::test]
async fn the_protocols_own_client_completes_a_turn() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = split(theirs);
    tokio::spawn(serve(Arc::new(Echo::default()), input, output));
    let (from, to) = split(ours);
    let incoming = futures::stream::unfold(BufReader::new(from).lines(), |mut lines| async move {
        lines
            .next_line()
            .await
            .transpose()
            .map(|line| (line, lines))
    });
    let outgoing = futures::sink::unfold(to, |mut to, line: String| async move {
        to.write_all(format!("{line}\n").as_bytes()).await?;
        Ok::<_, std::io::Error>(to)
    });
    let transport = Lines::new(outgoing.sink_map_err(|error| error), incoming.boxed());
    let (heard, mut said) = mpsc::unbounded_channel();
    let reason = Client
        .v1()
        .on_receive_notification(
            async move |told: SessionNotification, _| {
                if let SessionUpdate::AgentMessageChunk(chunk) = told.update
                    && let ContentBlock::Text(text) = chunk.content
                {
                    heard.send(text.text).expect("somebody listens");
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(transport, async |agent: ConnectionTo<Agent>| {
            let hello = InitializeRequest::new(ProtocolVersion::V1);
            agent.send_request(hello).block_task().await?;
            let session = agent
                .send_request(NewSessionRequest::new("/work"))
                .block_task()
                .await?;
            let prompt = vec![ContentBlock::from("say hello")];
            let prompt = PromptRequest::new(session.session_id, prompt);
            Ok(agent.send_request(prompt).block_task().await?.stop_reason)
        })
        .await
        .expect("a turn");
    assert_eq!(reason, StopReason::EndTurn);
    assert_eq!(said.recv().await.as_deref(), Some("hello"));
}
