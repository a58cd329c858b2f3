//! A hand-written client.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use connect::acp::agent::serve;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split,
};
use tokio::task::JoinHandle;

use super::echo::EchoAgent;
use super::schema::check_message;

/// A client of our agent.
pub(super) struct Peer {
    to: WriteHalf<DuplexStream>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    asked: HashMap<u64, String>,
    served: JoinHandle<Result<(), connect::Error>>,
}

impl Peer {
    pub(super) fn new() -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = split(theirs);
        let served = tokio::spawn(serve(Arc::new(EchoAgent::default()), input, output));
        let (from, to) = split(ours);
        Self {
            to,
            from: BufReader::new(from).lines(),
            asked: HashMap::new(),
            served,
        }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) {
        self.to.write_all(bytes).await.expect("it listens");
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// Sends a request and returns its id.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.asked.len() as u64;
        self.asked.insert(id, method.to_owned());
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// Returns the next message, validated against the schema of its method.
    pub(super) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.from.next_line()).await;
        let line = line.expect("in time").expect("a pipe").expect("a line");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        let fits = check_message(&message, &|id| self.asked.get(&id.as_u64()?).cloned());
        assert_eq!(fits, Ok(()));
        message
    }

    /// Sends a request and returns its response, with the notifications in between.
    pub(super) async fn answer(&mut self, method: &str, params: Value) -> (Value, Vec<Value>) {
        let id = self.ask(method, params).await;
        let mut messages = Vec::new();
        loop {
            let message = self.receive().await;
            if message.get("method").is_none() && message["id"] == id {
                return (message, messages);
            }
            messages.push(message);
        }
    }

    /// Initializes, opens a session and returns its id.
    pub(super) async fn session(&mut self, able: Value) -> String {
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": able });
        self.answer("initialize", hello).await;
        let wanted = json!({ "cwd": "/project", "mcpServers": [
            { "name": "a", "command": "/bin/a", "args": ["x"], "env": [{ "name": "K", "value": "v" }] },
            { "type": "http", "name": "b", "url": "http://b", "headers": [] }
        ] });
        let (answer, _) = self.answer("session/new", wanted).await;
        answer["result"]["sessionId"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    /// Runs a whole turn and returns its response and updates.
    pub(super) async fn turn(&mut self, session: &str, text: &str) -> (Value, Vec<Value>) {
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        self.answer("session/prompt", prompt).await
    }

    /// Closes the connection and returns the result of `serve`.
    pub(super) async fn disconnect(mut self) -> Result<(), connect::Error> {
        self.to.shutdown().await.expect("a pipe");
        let served = tokio::time::timeout(Duration::from_secs(20), self.served).await;
        served.expect("in time").expect("no panic")
    }
}

/// Joins the agent's text chunks of all updates.
pub(super) fn agent_text(messages: &[Value]) -> String {
    let updates = messages.iter().map(|message| &message["params"]["update"]);
    let chunks = updates.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks
        .filter_map(|update| update["content"]["text"].as_str())
        .collect()
}
