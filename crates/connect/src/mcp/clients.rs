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
use super::catalog::{McpPrompt, McpResource, McpResourceTemplate, PromptMessage};
use super::client_handler::McpClientHandler;
use super::config::ServerEntry;
use super::connector::{
    ConfiguredConnector, ConnectFailure, Connector, HANDSHAKE_TIMEOUT, ServerConnection,
};
use super::error::{McpError, McpErrorKind};
use super::event::{McpEvent, ServerStatus};
use super::server::{ServerCommand, ServerSnapshot, ServerTask};
use super::tool::{McpTool, make_unique};
use super::user::{Approvals, McpUser, TokenStore};
use crate::variables::Variables;

/// Time a call waits for a server that is starting.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// Time all servers together have to shut down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

/// Capacity of the event channel; slow receivers miss the oldest events.
const EVENT_CAPACITY: usize = 256;

/// Capacity of a server's command channel: users do not click faster.
const COMMAND_CAPACITY: usize = 8;

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
    pub user: Arc<dyn McpUser>,
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
    /// The end of the error output of its process, while it is connected: untrusted text.
    pub error_output: String,
}

struct ServerHandle {
    entry: ServerEntry,
    snapshot: watch::Receiver<ServerSnapshot>,
    commands: mpsc::Sender<ServerCommand>,
    task: JoinHandle<()>,
}

impl McpClients {
    /// Starts all servers that may run. Must be called on a tokio runtime; returns immediately.
    pub fn start(start: McpSetup) -> Self {
        let environment = start.environment.clone();
        let tokens = start.tokens.clone();
        Self::start_with(start, move |entry| connector(entry, &environment, &tokens))
    }

    /// Starts servers with a custom connector.
    pub(super) fn start_with(
        start: McpSetup,
        connector: impl Fn(&ServerEntry) -> Arc<dyn Connector>,
    ) -> Self {
        let (events, _) = broadcast::channel(EVENT_CAPACITY);
        let servers = start.servers.iter().map(|entry| {
            let handle = ServerHandle::start(entry, &start, connector(entry), &events);
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

    /// Returns the state of each server, sorted by name, including those that do not run.
    pub fn servers(&self) -> Vec<ServerState> {
        let state = |handle: &ServerHandle| {
            let snapshot = handle.snapshot.borrow();
            ServerState {
                entry: handle.entry.clone(),
                status: snapshot.status.clone(),
                tools: snapshot.tools.len(),
                left_out: snapshot.left_out.clone(),
                instructions: snapshot.instructions.clone(),
                error_output: snapshot
                    .connection
                    .as_ref()
                    .and_then(|connection| connection.child.as_ref())
                    .map(|child| child.tail())
                    .unwrap_or_default(),
            }
        };
        self.servers.values().map(state).collect()
    }

    /// Returns the tools of all ready servers, by server, in each server's order.
    pub fn tools(&self) -> Vec<McpTool> {
        let of = |handle: &ServerHandle| handle.snapshot.borrow().tools.to_vec();
        let mut tools: Vec<_> = self.servers.values().flat_map(of).collect();
        make_unique(&mut tools);
        tools
    }

    /// Waits until no server is starting, or until the timeout. Servers that failed or wait for the
    /// user do not count as starting.
    pub async fn wait_until_started(&self, timeout: Duration) {
        let all = self.servers.values().map(|handle| {
            let mut snapshot = handle.snapshot.clone();
            async move {
                // The state of a task that has ended does not change any more.
                snapshot
                    .wait_for(|snapshot| snapshot.status != ServerStatus::Starting)
                    .await
                    .ok();
            }
        });
        tokio::time::timeout(timeout, futures::future::join_all(all))
            .await
            .ok();
    }

    /// Calls a tool of a server and waits for its result. If the server is starting, waits a while
    /// until the server is ready. Fails if the server is not ready by then.
    pub async fn call(&self, call: McpToolCall) -> Result<McpToolResult, McpError> {
        self.connection(&call.server).await?.call(call).await
    }

    /// Lists all resources of a server, from every page of the list. Fails if the server is not
    /// ready.
    pub async fn resources(&self, server: &str) -> Result<Vec<McpResource>, McpError> {
        self.connection(server).await?.resources().await
    }

    /// Lists all resource templates of a server, from every page of the list. Fails if the server is
    /// not ready.
    pub async fn resource_templates(
        &self,
        server: &str,
    ) -> Result<Vec<McpResourceTemplate>, McpError> {
        self.connection(server).await?.resource_templates().await
    }

    /// Reads a resource of a server, which may have several parts. Fails if the server is not ready
    /// or has no such resource.
    pub async fn read(&self, server: &str, uri: &str) -> Result<Vec<McpContent>, McpError> {
        self.connection(server).await?.read(uri).await
    }

    /// Lists all prompts of a server, from every page of the list. Fails if the server is not
    /// ready.
    pub async fn prompts(&self, server: &str) -> Result<Vec<McpPrompt>, McpError> {
        self.connection(server).await?.prompts().await
    }

    /// Expands a prompt of a server, with these arguments, to messages. Fails if the server is not
    /// ready or has no such prompt.
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
    /// Returns once the command is queued. Fails for an unknown or closed server.
    pub async fn restart(&self, server: &str) -> Result<(), McpError> {
        self.command(server, ServerCommand::Start).await
    }

    /// Starts the sign-in to a server that requires one; otherwise nothing happens. Returns once the
    /// command is queued.
    pub async fn sign_in(&self, server: &str) -> Result<(), McpError> {
        self.command(server, ServerCommand::SignIn).await
    }

    /// Tells all servers to shut down gracefully and waits until they have, for at most eight
    /// seconds in all. A server that takes longer is not waited for. Calls to a closed server fail.
    pub async fn close(&self) {
        let all = self.servers.values().map(|handle| async {
            // A task that has ended needs no command.
            handle.commands.send(ServerCommand::Close).await.ok();
            let mut snapshot = handle.snapshot.clone();
            // A task that has ended has closed its server.
            snapshot
                .wait_for(|snapshot| snapshot.status == ServerStatus::Closed)
                .await
                .ok();
        });
        tokio::time::timeout(SHUTDOWN_TIMEOUT, futures::future::join_all(all))
            .await
            .ok();
    }

    /// Queues a command to a server; waits while its queue is full. Fails for an unknown or closed
    /// server.
    async fn command(&self, server: &str, command: ServerCommand) -> Result<(), McpError> {
        let handle = self.handle(server)?;
        let gone = |_| ServerStatus::Closed.refusal(server);
        handle.commands.send(command).await.map_err(gone)
    }

    /// Returns the connection to a server; waits at most `READY_TIMEOUT` while the server is
    /// starting. Fails, with its status as the reason, if it is not connected then.
    async fn connection(&self, server: &str) -> Result<Arc<Connection>, McpError> {
        let mut snapshot = self.handle(server)?.snapshot.clone();
        let settled = snapshot.wait_for(|snapshot| snapshot.status != ServerStatus::Starting);
        // In either case the state determines the result.
        tokio::time::timeout(READY_TIMEOUT, settled).await.ok();
        let snapshot = self.handle(server)?.snapshot.borrow().clone();
        snapshot
            .connection
            .ok_or_else(|| snapshot.status.refusal(server))
    }

    /// Returns a server by its name; fails with `NotFound` if there is none.
    fn handle(&self, server: &str) -> Result<&ServerHandle, McpError> {
        self.servers.get(server).ok_or_else(|| {
            let names: Vec<_> = self.servers.keys().map(String::as_str).collect();
            let text = format!(
                "There is no server \"{server}\"; there are: {}",
                names.join(", ")
            );
            McpError::new(McpErrorKind::NotFound, text)
        })
    }
}

impl ServerHandle {
    fn start(
        entry: &ServerEntry,
        start: &McpSetup,
        connector: Arc<dyn Connector>,
        events: &broadcast::Sender<McpEvent>,
    ) -> Self {
        // Capacity for one notice of each kind: further ones are redundant.
        let (changes, changed) = mpsc::channel(3);
        let (sender, commands) = mpsc::channel(COMMAND_CAPACITY);
        let (snapshot, snapshots) = watch::channel(ServerSnapshot::new());
        let handler = McpClientHandler {
            server: entry.name.clone(),
            roots: start.roots.clone(),
            user: start.user.clone(),
            events: events.clone(),
            changed: changes,
            followed: Default::default(),
        };
        let server = ServerTask {
            entry: entry.clone(),
            connector,
            handler: Arc::new(handler),
            changed,
            commands,
            snapshot,
            events: events.clone(),
            approvals: start.approvals.clone(),
            user: start.user.clone(),
            tokens: start.tokens.clone(),
        };
        Self {
            entry: entry.clone(),
            snapshot: snapshots,
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
fn connector(
    entry: &ServerEntry,
    environment: &Variables,
    tokens: &Arc<dyn TokenStore>,
) -> Arc<dyn Connector> {
    match &entry.reach {
        Ok(reach) => Arc::new(ConfiguredConnector {
            reach: reach.clone(),
            environment: environment.clone(),
            tokens: tokens.clone(),
            handshake_timeout: HANDSHAKE_TIMEOUT.max(entry.startup.unwrap_or_default()),
            is_legacy: AtomicBool::new(false),
        }),
        Err(error) => Arc::new(UnreachableConnector(error.to_string())),
    }
}

/// The connector of an invalid entry, with its error.
struct UnreachableConnector(String);

impl Connector for UnreachableConnector {
    fn connect(
        &self,
        _: Arc<McpClientHandler>,
    ) -> futures::future::BoxFuture<'_, Result<ServerConnection, ConnectFailure>> {
        Box::pin(std::future::ready(Err(ConnectFailure::Permanent(
            self.0.clone(),
        ))))
    }
}

#[cfg(test)]
mod tests;
