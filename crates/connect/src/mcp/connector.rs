//! Connects to a server: a process or a URL, with either lifecycle.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use host::environment::{Recipient, is_allowed};
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig,
};
use rmcp::transport::{
    AuthClient, AuthorizationManager, IntoTransport, StreamableHttpClientTransport,
};
use rmcp::{ClientLifecycleMode, serve_client_with_lifecycle};

use super::client_handler::McpClientHandler;
use super::config::ServerTransport;
use super::error::causes;
use super::event::McpEvent;
use super::sign_in;
use super::stdio::Stdio;
use super::tls::install_tls;
use super::user::TokenStore;
use crate::child::{ChildCommand, ChildProcess};
use crate::error::Error;
use crate::framing::NoiseCallback;
use crate::variables::Variables;

/// Time a server has to initialize. A launcher may have to download it first.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection after a successful handshake.
pub(super) struct ServerConnection {
    pub(super) service: RunningService<RoleClient, Arc<McpClientHandler>>,
    pub(super) child: Option<Arc<ChildProcess>>,
}

/// The reason a connection failed.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    /// It requires a sign-in.
    NeedsSignIn {
        /// The server's challenge, if it sent one.
        challenge: Option<String>,
        /// The reason an earlier sign-in does not count, as a sentence.
        why: Option<String>,
    },
    /// A retry is pointless until the configuration changes.
    Permanent(String),
    /// A retry may succeed.
    Transient(String),
}

/// Connects to one server, repeatedly.
pub(super) trait Connector: Send + Sync {
    /// Connects and completes the handshake. `handler` answers the server's requests from then on.
    fn connect(
        &self,
        handler: Arc<McpClientHandler>,
    ) -> BoxFuture<'_, Result<ServerConnection, ConnectFailure>>;
}

/// Connects to a server as configured.
pub(super) struct ConfiguredConnector {
    pub(super) reach: ServerTransport,
    pub(super) environment: Variables,
    pub(super) tokens: Arc<dyn TokenStore>,
    /// Time the server has for the handshake.
    pub(super) handshake_timeout: Duration,
    /// Whether the server rejected the discovery request: it only supports `initialize`.
    pub(super) is_legacy: AtomicBool,
}

impl Connector for ConfiguredConnector {
    fn connect(
        &self,
        handler: Arc<McpClientHandler>,
    ) -> BoxFuture<'_, Result<ServerConnection, ConnectFailure>> {
        Box::pin(async move {
            match &self.reach {
                ServerTransport::Process {
                    command,
                    arguments,
                    environment,
                    folder,
                } => {
                    let mut all = self.environment.clone();
                    all.retain(|name, value| is_allowed(name, value, Recipient::Foreign));
                    all.extend(environment.clone());
                    let command = ChildCommand {
                        program: command.clone(),
                        arguments: arguments.clone(),
                        folder: folder.clone(),
                        environment: all,
                    };
                    self.process(&command, handler).await
                }
                ServerTransport::Http { url, headers, .. } => {
                    self.http(url, headers, handler).await
                }
            }
        })
    }
}

impl ConfiguredConnector {
    /// Starts a server as a process and shakes hands with it, a second time in a new process if it
    /// only supports `initialize`.
    async fn process(
        &self,
        command: &ChildCommand,
        handler: Arc<McpClientHandler>,
    ) -> Result<ServerConnection, ConnectFailure> {
        self.either(|lifecycle| {
            start(
                command,
                handler.clone(),
                (lifecycle, self.handshake_timeout),
            )
        })
        .await
    }

    /// Shakes hands with a server at a URL. Uses the tokens of an earlier sign-in, unless `headers`
    /// contain `Authorization`. Fails permanently if a header is invalid.
    async fn http(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        handler: Arc<McpClientHandler>,
    ) -> Result<ServerConnection, ConnectFailure> {
        install_tls();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        for (name, value) in headers {
            let invalid = |part| {
                ConnectFailure::Permanent(format!("the {part} of its header {name} is invalid"))
            };
            let key = name.parse().map_err(|_| invalid("name"))?;
            let value = value.parse().map_err(|_| invalid("value"))?;
            config.custom_headers.insert(key, value);
        }
        let has_own = headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("authorization"));
        self.either(|lifecycle| {
            let (config, handler) = (config.clone(), handler.clone());
            let handshake = (lifecycle, self.handshake_timeout);
            async move {
                let signed_in = if has_own {
                    Ok(None)
                } else {
                    sign_in::signed_in(url, &self.tokens).await
                };
                let make = StreamableHttpClientTransport::from_config;
                match signed_in {
                    Ok(Some(manager)) => {
                        initialize(authorized(make, manager, config), handler, None, handshake)
                            .await
                    }
                    Ok(None) => initialize(make(config), handler, None, handshake).await,
                    Err(unusable) => {
                        // The server decides whether it needs a sign-in at all.
                        let reached = initialize(make(config), handler, None, handshake).await;
                        reached.map_err(|error| error.because(&unusable))
                    }
                }
            }
        })
        .await
    }

    /// Connects to a server of unknown lifecycle: legacy servers exit, or respond with an error, when
    /// asked for their versions.
    async fn either<F>(
        &self,
        reach: impl Fn(ClientLifecycleMode) -> F,
    ) -> Result<ServerConnection, ConnectFailure>
    where
        F: Future<Output = Result<ServerConnection, HandshakeError>>,
    {
        if !self.is_legacy.load(Ordering::Relaxed) {
            match reach(lifecycle_mode()).await {
                Err(HandshakeError::MaybeLegacy(_)) => {}
                other => return other.map_err(HandshakeError::failure),
            }
        }
        let connection = reach(ClientLifecycleMode::Initialize)
            .await
            .map_err(HandshakeError::failure)?;
        self.is_legacy.store(true, Ordering::Relaxed);
        Ok(connection)
    }
}

/// Returns the transport of a server the user signed in to. `plain` only selects the HTTP client.
fn authorized<C: StreamableHttpClient + Default + Sync>(
    _plain: fn(StreamableHttpClientTransportConfig) -> StreamableHttpClientTransport<C>,
    manager: AuthorizationManager,
    config: StreamableHttpClientTransportConfig,
) -> StreamableHttpClientTransport<AuthClient<C>> {
    StreamableHttpClientTransport::with_client(AuthClient::new(C::default(), manager), config)
}

/// The reason a handshake failed.
enum HandshakeError {
    /// It exited or sent something unexpected: it may support `initialize` only.
    MaybeLegacy(ConnectFailure),
    Other(ConnectFailure),
}

impl HandshakeError {
    fn failure(self) -> ConnectFailure {
        match self {
            HandshakeError::MaybeLegacy(failure) | HandshakeError::Other(failure) => failure,
        }
    }

    /// Adds the reason an earlier sign-in does not count, if a sign-in is required.
    fn because(mut self, reason: &Error) -> Self {
        if let HandshakeError::Other(ConnectFailure::NeedsSignIn { why, .. }) = &mut self {
            *why = Some(reason.to_string());
        }
        self
    }
}

/// Starts a process and shakes hands with it. Fails permanently if it cannot be started.
async fn start(
    command: &ChildCommand,
    handler: Arc<McpClientHandler>,
    handshake: (ClientLifecycleMode, Duration),
) -> Result<ServerConnection, HandshakeError> {
    let started = ChildProcess::start(command);
    let (child, pipes) =
        started.map_err(|why| HandshakeError::Other(ConnectFailure::Permanent(why.to_string())))?;
    let transport = Stdio::new(pipes.output, pipes.input, noise(&handler));
    initialize(transport, handler, Some(Arc::new(child)), handshake).await
}

/// Shakes hands with a server. Fails after `timeout`, if a sign-in is required, or with
/// `MaybeLegacy` if the server ends or sends anything unexpected. `child` is its process, if it is
/// one.
async fn initialize<T, E, A>(
    transport: T,
    handler: Arc<McpClientHandler>,
    child: Option<Arc<ChildProcess>>,
    (lifecycle, timeout): (ClientLifecycleMode, Duration),
) -> Result<ServerConnection, HandshakeError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let initialized = serve_client_with_lifecycle(handler, transport, lifecycle);
    let error = match tokio::time::timeout(timeout, initialized).await {
        Ok(Ok(service)) => return Ok(ServerConnection { service, child }),
        Ok(Err(error)) => error,
        Err(_) => return Err(HandshakeError::Other(silent(timeout))),
    };
    if error.is_authorization_required() {
        let challenge = error.auth_challenge().map(str::to_owned);
        let why = None;
        return Err(HandshakeError::Other(ConnectFailure::NeedsSignIn {
            challenge,
            why,
        }));
    }
    let is_disconnected = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
    );
    let why = match &child {
        Some(child) if is_disconnected => child.exit_summary("it").await,
        Some(child) => match child.tail() {
            tail if tail.is_empty() => {
                format!(
                    "it does not speak a supported version of MCP: {}",
                    causes(&error)
                )
            }
            tail => format!(
                "it does not speak a supported version of MCP: {}; it last said: {tail}",
                causes(&error)
            ),
        },
        None => format!("it cannot be reached: {}", causes(&error)),
    };
    Err(HandshakeError::MaybeLegacy(ConnectFailure::Transient(why)))
}

/// The failure of a server that does not respond to the handshake.
fn silent(timeout: Duration) -> ConnectFailure {
    ConnectFailure::Transient(format!("it did not respond for {} s", timeout.as_secs()))
}

/// Asks for the server's versions, and falls back to `initialize` if it does not know the request.
pub(super) fn lifecycle_mode() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// Returns a callback that publishes lines that are not messages as events.
pub(super) fn noise(handler: &McpClientHandler) -> NoiseCallback {
    let (server, events) = (handler.server.clone(), handler.events.clone());
    Arc::new(move |text| {
        let event = McpEvent::Message {
            server: server.clone(),
            is_error_message: true,
            text,
        };
        // There may be no receivers.
        events.send(event).ok();
    })
}
