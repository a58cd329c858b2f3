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
use super::error::{McpError, McpErrorKind};
use super::sign_in::sign_in;
use super::tool::McpTool;
use super::user::{Approval, Approvals, McpUser, TokenStore};

/// Time to wait for further notices before a list is requested again.
const SETTLES: Duration = Duration::from_millis(150);

/// The pause before the first reconnection; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of automatic reconnections.
const ATTEMPTS: u32 = 6;

/// Uptime after which a server counts as recovered.
const WELL: Duration = Duration::from_secs(60);

/// The status of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    /// The user disabled it.
    Disabled,
    /// The project configures it, and it awaits approval.
    Unapproved,
    /// The user refused it.
    Refused,
    /// The connection is being opened.
    Starting,
    /// The connection is open and accepts calls.
    Ready {
        /// The version of the protocol in use.
        protocol: String,
        /// The server's own name.
        program: Option<String>,
    },
    /// It requires the user to sign in.
    NeedsSignIn {
        /// The reason the last sign-in failed, as a sentence.
        why: Option<String>,
    },
    /// The connection failed or broke.
    Broken {
        /// The reason, as a sentence.
        why: String,
        /// The time until the next automatic reconnection.
        again: Option<Duration>,
    },
    /// It was closed and stays closed.
    Closed,
}

/// A notification about a server. Lasting state can be queried from `Hub` at any time; a slow
/// receiver misses the oldest events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpEvent {
    /// A server's status changed.
    Status {
        /// The name of the server.
        server: String,
        /// The new status of the server.
        status: ServerStatus,
    },
    /// A server's tools changed.
    Tools {
        /// The name of the server.
        server: String,
    },
    /// A server's resources changed.
    Resources {
        /// The name of the server.
        server: String,
    },
    /// A server's prompts changed.
    Prompts {
        /// The name of the server.
        server: String,
    },
    /// It sent a message for the user.
    Said {
        /// The name of the server.
        server: String,
        /// Whether it is an error message.
        is_complaint: bool,
        /// The text of the message.
        text: String,
    },
}

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
    pub(super) dial: Arc<dyn Connector>,
    pub(super) guest: Arc<McpClientHandler>,
    pub(super) changed: mpsc::Receiver<ListChange>,
    pub(super) commands: mpsc::Receiver<ServerCommand>,
    pub(super) known: watch::Sender<ServerSnapshot>,
    pub(super) events: broadcast::Sender<McpEvent>,
    pub(super) approvals: Arc<dyn Approvals>,
    pub(super) person: Arc<dyn McpUser>,
    pub(super) tokens: Arc<dyn TokenStore>,
}

impl ServerSnapshot {
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

impl ServerStatus {
    /// Returns the error for a call that the status does not permit.
    pub(super) fn refusal(&self, server: &str) -> McpError {
        use McpErrorKind::{Gone, NeedsPerson, NotThere, Timeout};
        let (class, why) = match self {
            ServerStatus::Disabled => (NotThere, "is switched off".to_owned()),
            ServerStatus::Unapproved => (NeedsPerson, "waits for its approval".to_owned()),
            ServerStatus::Refused => (NotThere, "was refused by the user".to_owned()),
            ServerStatus::Starting | ServerStatus::Ready { .. } => {
                (Timeout, "is not ready yet".to_owned())
            }
            ServerStatus::NeedsSignIn { .. } => {
                (NeedsPerson, "requires the user to sign in".to_owned())
            }
            ServerStatus::Broken { why, .. } => (Gone, format!("does not work: {why}")),
            ServerStatus::Closed => (Gone, "was closed".to_owned()),
        };
        McpError::new(class, format!("The server \"{server}\" {why}"))
    }
}

impl ServerTask {
    /// Runs until it is closed.
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
        if self.entry.origin == ServerOrigin::Person {
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
            let dial = self.dial.clone();
            let guest = self.guest.clone();
            let reached = tokio::select! {
                reached = dial.connect(guest) => reached,
                command = self.command() => return command,
            };
            let why = match reached {
                Ok(live) => {
                    let since = Instant::now();
                    match self.serve(live).await {
                        Ok(command) => return command,
                        Err(ConnectFailure::NeedsSignIn(challenge)) => {
                            match self.wait_for_person(challenge).await {
                                Some(command) => return command,
                                None => continue,
                            }
                        }
                        Err(ConnectFailure::Passing(why) | ConnectFailure::Lasting(why)) => {
                            failures = if since.elapsed() > WELL { 0 } else { failures };
                            why
                        }
                    }
                }
                Err(ConnectFailure::NeedsSignIn(challenge)) => {
                    match self.wait_for_person(challenge).await {
                        Some(command) => return command,
                        None => continue,
                    }
                }
                Err(ConnectFailure::Lasting(why)) => {
                    self.set_status(ServerStatus::Broken { why, again: None });
                    return self.command().await;
                }
                Err(ConnectFailure::Passing(why)) => why,
            };
            let again = (failures < ATTEMPTS).then(|| FIRST_PAUSE * 2u32.pow(failures));
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

    /// Waits until the user has signed in; returns `None` then, and otherwise the command that
    /// interrupted.
    async fn wait_for_person(&mut self, challenge: Option<String>) -> Option<ServerCommand> {
        let mut why = None;
        loop {
            self.set_status(ServerStatus::NeedsSignIn { why: why.take() });
            let command = self.command().await;
            let (ServerCommand::SignIn, Ok(ServerTransport::Http { url, client, .. })) =
                (command, self.entry.reach.clone())
            else {
                return Some(command);
            };
            let (person, tokens) = (self.person.clone(), self.tokens.clone());
            let name = self.entry.name.clone();
            let signing = sign_in(
                &name,
                &url,
                &client,
                challenge.as_deref(),
                &*person,
                &tokens,
            );
            tokio::select! {
                signed = signing => match signed {
                    Ok(()) => return None,
                    Err(failed) => why = Some(failed),
                },
                command = self.commands.recv() => match command {
                    Some(ServerCommand::SignIn) => {}
                    other => return Some(other.unwrap_or(ServerCommand::Close)),
                },
            }
        }
    }

    /// Serves calls until the connection ends, the server requires a sign-in, or a command arrives.
    async fn serve(&mut self, live: ServerConnection) -> Result<ServerCommand, ConnectFailure> {
        let ServerConnection { service, child } = live;
        let (challenges, mut challenged) = mpsc::channel(1);
        let connection = Arc::new(Connection {
            peer: service.peer().clone(),
            guest: self.guest.clone(),
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
                        Ok(challenge) => ConnectFailure::NeedsSignIn(Some(challenge)),
                        Err(_) => ConnectFailure::Passing(error.message),
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
        self.known.send_modify(|known| {
            known.connection = Some(connection.clone());
            known.tools = tools;
            known.left_out = left_out;
            known.instructions = info.as_ref().and_then(|info| info.instructions.clone());
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
                    break Err(ConnectFailure::NeedsSignIn(Some(challenge)));
                }
                _ = &mut ended => {
                    break Err(ConnectFailure::Passing(match &child {
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
        self.known.send_modify(|known| {
            known.connection = None;
            known.tools = Arc::new([]);
        });
        disconnect(token, ended, child).await;
        result
    }

    /// Requests the changed lists, after waiting for further notices.
    async fn refresh(&mut self, connection: &Connection, first: ListChange) {
        sleep(SETTLES).await;
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
                        self.known.send_modify(|known| {
                            known.tools = tools;
                            known.left_out = left_out;
                        });
                        McpEvent::Tools {
                            server: server.clone(),
                        }
                    }
                    Err(error) => McpEvent::Said {
                        server: server.clone(),
                        is_complaint: true,
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

    async fn tools(&self, connection: &Connection) -> Result<Listed, McpError> {
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        for written in connection.tools().await? {
            match McpTool::read(&self.entry.name, &written) {
                Ok(tool) => tools.push(tool),
                Err(why) => left_out.push(why),
            }
        }
        Ok((tools.into(), left_out))
    }

    async fn command(&mut self) -> ServerCommand {
        // Once the clients are dropped, the server is no longer needed.
        self.commands.recv().await.unwrap_or(ServerCommand::Close)
    }

    fn set_status(&self, status: ServerStatus) {
        self.known
            .send_modify(|known| known.status = status.clone());
        let server = self.entry.name.clone();
        // There may be no receivers.
        self.events.send(McpEvent::Status { server, status }).ok();
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
    let wants = |told: Option<bool>| (told == Some(true)).then_some(true);
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
    let mut pause = FIRST_PAUSE;
    for _ in 0..ATTEMPTS {
        if let Ok(mut subscription) = connection.peer.listen(filter.clone()).await {
            while let Ok(Some(notice)) = subscription.next().await {
                connection.guest.notified(&notice);
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
