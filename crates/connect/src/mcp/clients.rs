//! Clients of all MCP servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::AbsPath;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinHandle;

use super::answer::{McpContent, McpToolResult};
use super::call::{Connection, McpToolCall};
use super::catalog::{McpPrompt, McpResource, PromptMessage};
use super::client_handler::McpClientHandler;
use super::config::ServerEntry;
use super::connector::{ConfiguredConnector, ConnectFailure, Connector, HELLO, ServerConnection};
use super::error::{McpError, McpErrorKind};
use super::server::{McpEvent, ServerCommand, ServerSnapshot, ServerStatus, ServerTask};
use super::tool::{McpTool, make_unique};
use super::user::{Approvals, McpUser, TokenStore};
use crate::variables::Variables;

/// Time a call waits for a server that is starting.
const GETS_READY: Duration = Duration::from_secs(30);

/// Time servers have to shut down.
const LEAVES: Duration = Duration::from_secs(8);

/// Capacity of the event channel; slow receivers miss the oldest events.
const EVENTS: usize = 256;

/// Capacity of a server's command channel: users do not click faster.
const COMMANDS: usize = 8;

/// The configuration of all servers.
pub struct McpSetup {
    /// The servers to start.
    pub servers: Vec<ServerEntry>,
    /// The root folders reported to servers.
    pub roots: Vec<AbsPath>,
    /// Our environment; a process receives only its harmless part.
    pub environment: Variables,
    /// The store of the user's approvals.
    pub approvals: Arc<dyn Approvals>,
    /// The user, for forms and pages.
    pub person: Arc<dyn McpUser>,
    /// The store of OAuth tokens.
    pub tokens: Arc<dyn TokenStore>,
}

/// All servers. Dropping it kills them; `close` shuts them down gracefully.
pub struct McpClients {
    servers: BTreeMap<String, ServerHandle>,
    events: broadcast::Sender<McpEvent>,
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerState {
    /// The configuration of the server.
    pub entry: ServerEntry,
    /// The status of the server.
    pub status: ServerStatus,
    /// The number of its tools.
    pub tools: usize,
    /// The reasons listed tools are not offered, in sentences that name them: untrusted text.
    pub left_out: Vec<String>,
    /// The server's instructions for models: untrusted text.
    pub instructions: Option<String>,
}

struct ServerHandle {
    entry: ServerEntry,
    known: watch::Receiver<ServerSnapshot>,
    commands: mpsc::Sender<ServerCommand>,
    task: JoinHandle<()>,
}

impl McpClients {
    /// Starts all servers that may run. Must be called on a tokio runtime; returns immediately.
    pub fn start(start: McpSetup) -> Self {
        let environment = start.environment.clone();
        let tokens = start.tokens.clone();
        Self::start_with(start, move |entry| dial(entry, &environment, &tokens))
    }

    /// Starts servers with a custom connector.
    pub(super) fn start_with(
        start: McpSetup,
        dial: impl Fn(&ServerEntry) -> Arc<dyn Connector>,
    ) -> Self {
        let (events, _) = broadcast::channel(EVENTS);
        let servers = start.servers.iter().map(|entry| {
            let handle = ServerHandle::start(entry, &start, dial(entry), &events);
            (entry.name.clone(), handle)
        });
        Self {
            servers: servers.collect(),
            events: events.clone(),
        }
    }

    /// Subscribes to events. Bounded: a slow receiver misses the oldest ones and has to query the
    /// states.
    pub fn events(&self) -> broadcast::Receiver<McpEvent> {
        self.events.subscribe()
    }

    /// Returns the state of each server, by name.
    pub fn servers(&self) -> Vec<ServerState> {
        let state = |handle: &ServerHandle| {
            let known = handle.known.borrow();
            ServerState {
                entry: handle.entry.clone(),
                status: known.status.clone(),
                tools: known.tools.len(),
                left_out: known.left_out.clone(),
                instructions: known.instructions.clone(),
            }
        };
        self.servers.values().map(state).collect()
    }

    /// Returns the tools of all ready servers, by server, in each server's order.
    pub fn tools(&self) -> Vec<McpTool> {
        let of = |handle: &ServerHandle| handle.known.borrow().tools.to_vec();
        let mut tools: Vec<_> = self.servers.values().flat_map(of).collect();
        make_unique(&mut tools);
        tools
    }

    /// Waits until no server is starting, or until the timeout.
    pub async fn wait_until_started(&self, patience: Duration) {
        let all = self.servers.values().map(|handle| {
            let mut known = handle.known.clone();
            async move {
                // The state of a task that has ended does not change any more.
                known
                    .wait_for(|known| known.status != ServerStatus::Starting)
                    .await
                    .ok();
            }
        });
        tokio::time::timeout(patience, futures::future::join_all(all))
            .await
            .ok();
    }

    /// Calls a tool of a server.
    pub async fn call(&self, call: McpToolCall) -> Result<McpToolResult, McpError> {
        self.connection(&call.server).await?.call(call).await
    }

    /// Lists the resources of a server.
    pub async fn resources(&self, server: &str) -> Result<Vec<McpResource>, McpError> {
        self.connection(server).await?.resources().await
    }

    /// Reads a resource of a server.
    pub async fn read(&self, server: &str, uri: &str) -> Result<Vec<McpContent>, McpError> {
        self.connection(server).await?.read(uri).await
    }

    /// Lists the prompts of a server.
    pub async fn prompts(&self, server: &str) -> Result<Vec<McpPrompt>, McpError> {
        self.connection(server).await?.prompts().await
    }

    /// Expands a prompt of a server.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, McpError> {
        self.connection(server)
            .await?
            .spell_out(name, arguments)
            .await
    }

    /// Checks again whether a server may run, and reconnects: after an approval, or on request.
    pub async fn restart(&self, server: &str) -> Result<(), McpError> {
        self.command(server, ServerCommand::Start).await
    }

    /// Starts the sign-in to a server.
    pub async fn sign_in(&self, server: &str) -> Result<(), McpError> {
        self.command(server, ServerCommand::SignIn).await
    }

    /// Shuts down all servers gracefully, within some seconds. Later calls fail because they are
    /// closed.
    pub async fn close(&self) {
        let all = self.servers.values().map(|handle| async {
            // A task that has ended needs no command.
            handle.commands.send(ServerCommand::Close).await.ok();
            let mut known = handle.known.clone();
            // A task that has ended has closed its server.
            known
                .wait_for(|known| known.status == ServerStatus::Closed)
                .await
                .ok();
        });
        tokio::time::timeout(LEAVES, futures::future::join_all(all))
            .await
            .ok();
    }

    async fn command(&self, server: &str, command: ServerCommand) -> Result<(), McpError> {
        let handle = self.handle(server)?;
        let gone = |_| ServerStatus::Closed.refusal(server);
        handle.commands.send(command).await.map_err(gone)
    }

    async fn connection(&self, server: &str) -> Result<Arc<Connection>, McpError> {
        let mut known = self.handle(server)?.known.clone();
        let settled = known.wait_for(|known| known.status != ServerStatus::Starting);
        // In either case the state determines the result.
        tokio::time::timeout(GETS_READY, settled).await.ok();
        let known = self.handle(server)?.known.borrow().clone();
        known.connection.ok_or_else(|| known.status.refusal(server))
    }

    fn handle(&self, server: &str) -> Result<&ServerHandle, McpError> {
        self.servers.get(server).ok_or_else(|| {
            let names: Vec<_> = self.servers.keys().map(String::as_str).collect();
            let text = format!(
                "There is no server \"{server}\"; there are: {}",
                names.join(", ")
            );
            McpError::new(McpErrorKind::NotThere, text)
        })
    }
}

impl ServerHandle {
    fn start(
        entry: &ServerEntry,
        start: &McpSetup,
        dial: Arc<dyn Connector>,
        events: &broadcast::Sender<McpEvent>,
    ) -> Self {
        // Capacity for one notice of each kind: further ones are redundant.
        let (changes, changed) = mpsc::channel(3);
        let (sender, commands) = mpsc::channel(COMMANDS);
        let (known, seen) = watch::channel(ServerSnapshot::new());
        let guest = McpClientHandler {
            server: entry.name.clone(),
            roots: start.roots.clone(),
            person: start.person.clone(),
            events: events.clone(),
            changed: changes,
            followed: Default::default(),
        };
        let server = ServerTask {
            entry: entry.clone(),
            dial,
            guest: Arc::new(guest),
            changed,
            commands,
            known,
            events: events.clone(),
            approvals: start.approvals.clone(),
            person: start.person.clone(),
            tokens: start.tokens.clone(),
        };
        Self {
            entry: entry.clone(),
            known: seen,
            commands: sender,
            task: tokio::spawn(server.run()),
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns the connector of an entry.
fn dial(
    entry: &ServerEntry,
    environment: &Variables,
    tokens: &Arc<dyn TokenStore>,
) -> Arc<dyn Connector> {
    match &entry.reach {
        Ok(reach) => Arc::new(ConfiguredConnector {
            reach: reach.clone(),
            environment: environment.clone(),
            tokens: tokens.clone(),
            hello: HELLO.max(entry.startup.unwrap_or_default()),
            is_old: AtomicBool::new(false),
        }),
        Err(why) => Arc::new(UnreachableConnector(why.clone())),
    }
}

/// The connector of an invalid entry, with its error.
struct UnreachableConnector(String);

impl Connector for UnreachableConnector {
    fn connect(
        &self,
        _: Arc<McpClientHandler>,
    ) -> futures::future::BoxFuture<'_, Result<ServerConnection, ConnectFailure>> {
        Box::pin(std::future::ready(Err(ConnectFailure::Lasting(
            self.0.clone(),
        ))))
    }
}

#[cfg(test)]
mod tests;
