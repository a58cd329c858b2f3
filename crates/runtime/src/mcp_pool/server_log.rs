//! The latest messages of MCP servers, kept while they run.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use connect::mcp::McpEvent;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::describe_status;

/// The maximum number of messages kept for a server.
const MAX_LINES: usize = 50;

/// The latest messages by server. Clones share them.
#[derive(Clone, Default)]
pub(super) struct ServerLog(Arc<Mutex<HashMap<String, VecDeque<String>>>>);

impl ServerLog {
    /// Starts a task that keeps the messages among these events, until the servers are gone.
    pub(super) fn follow(events: Receiver<McpEvent>) -> Self {
        let log = Self::default();
        tokio::spawn(keep(log.clone(), events));
        log
    }

    /// Returns the latest messages of a server, the oldest first.
    pub(super) fn lines(&self, server: &str) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lines.get(server).into_iter().flatten();
        lines.cloned().collect()
    }

    fn add(&self, server: String, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lines.entry(server).or_default();
        lines.push_back(line);
        let surplus = lines.len().saturating_sub(MAX_LINES);
        lines.drain(..surplus);
    }
}

async fn keep(log: ServerLog, mut events: Receiver<McpEvent>) {
    loop {
        match events.recv().await {
            Ok(McpEvent::Message { server, text, .. }) => log.add(server, text),
            Ok(McpEvent::Status { server, status }) => {
                let line = format!("the server {}", describe_status(&status));
                log.add(server, line);
            }
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}
