//! The task of one server: connects, keeps the connection, and reconnects until it is closed.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::FusedFuture;
use rmcp::model::{ServerCapabilities, SubscriptionFilter};
use rmcp::service::RunningServiceCancellationToken;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{Instant, sleep};

use super::call::Connection;
use super::client_handler::{ListChange, McpClientHandler};
use super::config::{ServerEntry, ServerOrigin, ServerTransport};
use super::connector::{ConnectFailure, Connector, ServerConnection};
use super::error::McpError;
use super::event::{McpEvent, ServerStatus};
use super::sign_in::sign_in;
use super::tool::McpTool;
use super::user::{Approval, Approvals, McpUser, TokenStore};

/// Time to wait for further notices before a list is requested again.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// The pause before the first reconnection; each further one doubles it.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// Maximum number of automatic reconnections.
const MAX_ATTEMPTS: u32 = 6;

/// Uptime after which a server counts as recovered.
const RECOVERY_TIME: Duration = Duration::from_secs(60);

/// A command to a server's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerCommand {
    /// Check again whether it may run, and reconnect.
    Start,
    /// Start the sign-in of the user.
    SignIn,
    /// Close the connection and end.
    Close,
}

/// The current state of a server.
#[derive(Clone)]
pub(super) struct ServerSnapshot {
    pub(super) status: ServerStatus,
    pub(super) connection: Option<Arc<Connection>>,
    pub(super) tools: Arc<[McpTool]>,
    /// The reasons listed tools are not offered, in sentences that name them.
    pub(super) left_out: Vec<String>,
    pub(super) instructions: Option<String>,
}

/// The usable tools of a server, and the reasons others are omitted, as sentences.
type Listed = (Arc<[McpTool]>, Vec<String>);

/// The task of a server.
pub(super) struct ServerTask {
    pub(super) entry: ServerEntry,
    pub(super) connector: Arc<dyn Connector>,
    pub(super) handler: Arc<McpClientHandler>,
    pub(super) changed: mpsc::Receiver<ListChange>,
    pub(super) commands: mpsc::Receiver<ServerCommand>,
    pub(super) snapshot: watch::Sender<ServerSnapshot>,
    pub(super) events: broadcast::Sender<McpEvent>,
    pub(super) approvals: Arc<dyn Approvals>,
    pub(super) user: Arc<dyn McpUser>,
    pub(super) tokens: Arc<dyn TokenStore>,
}

impl ServerSnapshot {
    /// Returns the state before the first connection.
    pub(super) fn new() -> Self {
        Self {
            status: ServerStatus::Starting,
            connection: None,
            tools: Arc::new([]),
            left_out: Vec::new(),
            instructions: None,
        }
    }
}

impl ServerTask {
    /// Runs until the server is closed: connects, serves commands, and reconnects after a lost
    /// connection.
    pub(super) async fn run(mut self) {
        loop {
            let next = match self.refusal() {
                Some(status) => {
                    self.set_status(status);
                    self.command().await
                }
                None => self.keep_connected().await,
            };
            if next == ServerCommand::Close {
                self.set_status(ServerStatus::Closed);
                return;
            }
        }
    }

    /// Returns the status that keeps it from running, if any.
    fn refusal(&self) -> Option<ServerStatus> {
        if self.entry.is_disabled {
            return Some(ServerStatus::Disabled);
        }
        if self.entry.origin == ServerOrigin::User {
            return None;
        }
        match self.approvals.approval(&self.entry) {
            Approval::Allowed => None,
            Approval::Refused => Some(ServerStatus::Refused),
            Approval::Unasked => Some(ServerStatus::Unapproved),
        }
    }

    /// Connects and reconnects until a command arrives.
    async fn keep_connected(&mut self) -> ServerCommand {
        let mut failures = 0;
        loop {
            self.set_status(ServerStatus::Starting);
            let connector = self.connector.clone();
            let handler = self.handler.clone();
            let reached = tokio::select! {
                reached = connector.connect(handler) => reached,
                command = self.command() => return command,
            };
            let why = match reached {
                Ok(connection) => {
                    let since = Instant::now();
                    match self.serve(connection).await {
                        Ok(command) => return command,
                        Err(ConnectFailure::NeedsSignIn { challenge, why }) => {
                            match self.wait_for_user(challenge, why).await {
                                Some(command) => return command,
                                None => continue,
                            }
                        }
                        Err(ConnectFailure::Transient(why) | ConnectFailure::Permanent(why)) => {
                            failures = if since.elapsed() > RECOVERY_TIME {
                                0
                            } else {
                                failures
                            };
                            why
                        }
                    }
                }
                Err(ConnectFailure::NeedsSignIn { challenge, why }) => {
                    match self.wait_for_user(challenge, why).await {
                        Some(command) => return command,
                        None => continue,
                    }
                }
                Err(ConnectFailure::Permanent(why)) => {
                    self.set_status(ServerStatus::Broken { why, again: None });
                    return self.command().await;
                }
                Err(ConnectFailure::Transient(why)) => why,
            };
            let again = (failures < MAX_ATTEMPTS).then(|| FIRST_DELAY * 2u32.pow(failures));
            failures += 1;
            self.set_status(ServerStatus::Broken { why, again });
            let pause = async {
                match again {
                    Some(pause) => sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = pause => {}
                command = self.command() => return command,
            }
        }
    }

    /// Waits until the user has signed in, and returns `None` then; returns a command that arrives
    /// before. `why` is the reason an earlier sign-in does not count.
    async fn wait_for_user(
        &mut self,
        challenge: Option<String>,
        mut why: Option<String>,
    ) -> Option<ServerCommand> {
        loop {
            self.set_status(ServerStatus::NeedsSignIn { why: why.take() });
            let command = self.command().await;
            let (ServerCommand::SignIn, Ok(ServerTransport::Http { url, client, .. })) =
                (command, self.entry.reach.clone())
            else {
                return Some(command);
            };
            let (user, tokens) = (self.user.clone(), self.tokens.clone());
            let name = self.entry.name.clone();
            let signed_in = sign_in(&name, &url, &client, challenge.as_deref(), &*user, &tokens);
            tokio::select! {
                result = signed_in => match result {
                    Ok(()) => return None,
                    Err(error) => why = Some(error.to_string()),
                },
                command = self.commands.recv() => match command {
                    Some(ServerCommand::SignIn) => {}
                    other => return Some(other.unwrap_or(ServerCommand::Close)),
                },
            }
        }
    }

    /// Serves calls until the connection ends, the server requires a sign-in, or a command arrives.
    async fn serve(
        &mut self,
        connection: ServerConnection,
    ) -> Result<ServerCommand, ConnectFailure> {
        let ServerConnection { service, child } = connection;
        let (challenges, mut challenged) = mpsc::channel(1);
        let connection = Arc::new(Connection {
            peer: service.peer().clone(),
            handler: self.handler.clone(),
            child: child.clone(),
            challenges,
        });
        let info = service.peer().peer_info();
        let capabilities = info
            .as_ref()
            .map(|info| info.capabilities.clone())
            .unwrap_or_default();
        let token = service.cancellation_token();
        // Fused, since it may be polled again after the server ended.
        let mut ended = Box::pin(service.waiting().fuse());
        let (tools, left_out) = match capabilities.tools {
            Some(_) => match self.tools(&connection).await {
                Ok(listed) => listed,
                Err(error) => {
                    return Err(match challenged.try_recv() {
                        Ok(challenge) => challenged_by(challenge),
                        Err(_) => ConnectFailure::Transient(error.message),
                    });
                }
            },
            None => Listed::default(),
        };
        let status = ServerStatus::Ready {
            protocol: info
                .as_ref()
                .map_or(String::new(), |info| info.protocol_version.to_string()),
            program: info
                .as_ref()
                .and_then(|info| Some(info.server_info.as_ref()?.name.clone())),
        };
        self.snapshot.send_modify(|snapshot| {
            snapshot.connection = Some(connection.clone());
            snapshot.tools = tools;
            snapshot.left_out = left_out;
            snapshot.instructions = info.as_ref().and_then(|info| info.instructions.clone());
        });
        self.set_status(status);
        let listening = listen(&connection, &capabilities);
        tokio::pin!(listening);
        let mut is_listening = true;
        let result = loop {
            tokio::select! {
                biased;
                // Checked before the end, since a server that requires a sign-in may close the
                // connection as well.
                Some(challenge) = challenged.recv() => {
                    break Err(challenged_by(challenge));
                }
                _ = &mut ended => {
                    break Err(ConnectFailure::Transient(match &child {
                        Some(child) => child.exit_summary("it").await,
                        None => "it closed the connection".to_owned(),
                    }));
                }
                Some(changed) = self.changed.recv() => self.refresh(&connection, changed).await,
                () = &mut listening, if is_listening => is_listening = false,
                command = self.commands.recv() => {
                    // Once the clients are dropped, the server is no longer needed.
                    let command = command.unwrap_or(ServerCommand::Close);
                    if command != ServerCommand::SignIn {
                        break Ok(command);
                    }
                }
            }
        };
        self.snapshot.send_modify(|snapshot| {
            snapshot.connection = None;
            snapshot.tools = Arc::new([]);
        });
        disconnect(token, ended, child).await;
        result
    }

    /// Requests the changed lists, after waiting for further notices.
    async fn refresh(&mut self, connection: &Connection, first: ListChange) {
        sleep(DEBOUNCE).await;
        let mut all = vec![first];
        while let Ok(changed) = self.changed.try_recv() {
            if !all.contains(&changed) {
                all.push(changed);
            }
        }
        let server = self.entry.name.clone();
        for changed in all {
            let event = match changed {
                ListChange::Tools => match self.tools(connection).await {
                    Ok((tools, left_out)) => {
                        self.snapshot.send_modify(|snapshot| {
                            snapshot.tools = tools;
                            snapshot.left_out = left_out;
                        });
                        McpEvent::Tools {
                            server: server.clone(),
                        }
                    }
                    Err(error) => McpEvent::Message {
                        server: server.clone(),
                        is_error_message: true,
                        text: error.message,
                    },
                },
                ListChange::Resources => McpEvent::Resources {
                    server: server.clone(),
                },
                ListChange::Prompts => McpEvent::Prompts {
                    server: server.clone(),
                },
            };
            // There may be no receivers.
            self.events.send(event).ok();
        }
    }

    /// Requests the server's tools. A tool that cannot be read is omitted, with the reason; only a
    /// failed request is an error.
    async fn tools(&self, connection: &Connection) -> Result<Listed, McpError> {
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        for written in connection.tools().await? {
            match McpTool::read(&self.entry.name, &written) {
                Ok(tool) => tools.push(tool),
                Err(error) => left_out.push(error.to_string()),
            }
        }
        Ok((tools.into(), left_out))
    }

    async fn command(&mut self) -> ServerCommand {
        // Once the clients are dropped, the server is no longer needed.
        self.commands.recv().await.unwrap_or(ServerCommand::Close)
    }

    fn set_status(&self, status: ServerStatus) {
        self.snapshot
            .send_modify(|snapshot| snapshot.status = status.clone());
        let server = self.entry.name.clone();
        // There may be no receivers.
        self.events.send(McpEvent::Status { server, status }).ok();
    }
}

/// Returns the failure of a connection whose server sent this challenge.
fn challenged_by(challenge: String) -> ConnectFailure {
    ConnectFailure::NeedsSignIn {
        challenge: Some(challenge),
        why: None,
    }
}

/// Subscribes to the notifications of a stateless server. Ends if there are none.
async fn listen(connection: &Connection, capabilities: &ServerCapabilities) {
    let is_stateless = connection
        .peer
        .peer_info()
        .is_some_and(|info| !info.protocol_version.has_initialize());
    if !is_stateless {
        return;
    }
    let mut filter = SubscriptionFilter::new();
    let wants = |declared: Option<bool>| (declared == Some(true)).then_some(true);
    filter.tools_list_changed = capabilities
        .tools
        .as_ref()
        .and_then(|it| wants(it.list_changed));
    filter.prompts_list_changed = capabilities
        .prompts
        .as_ref()
        .and_then(|it| wants(it.list_changed));
    filter.resources_list_changed = capabilities
        .resources
        .as_ref()
        .and_then(|it| wants(it.list_changed));
    if filter == SubscriptionFilter::new() {
        return;
    }
    let mut pause = FIRST_DELAY;
    for _ in 0..MAX_ATTEMPTS {
        if let Ok(mut subscription) = connection.peer.listen(filter.clone()).await {
            while let Ok(Some(notice)) = subscription.next().await {
                connection.handler.notified(&notice);
            }
        }
        sleep(pause).await;
        pause *= 2;
    }
}

/// Closes a connection gracefully: closes the input, and gives a process a moment to exit.
async fn disconnect<T>(
    token: RunningServiceCancellationToken,
    ended: impl FusedFuture<Output = T>,
    child: Option<Arc<crate::child::ChildProcess>>,
) {
    token.cancel();
    tokio::time::timeout(Duration::from_secs(2), ended)
        .await
        .ok();
    if let Some(child) = child {
        child.shut_down().await;
    }
}
