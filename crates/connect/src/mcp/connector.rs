//! Connects to a server: a process or a URL, with either lifecycle.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
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

use super::call::causes;
use super::client_handler::McpClientHandler;
use super::config::ServerTransport;
use super::server::McpEvent;
use super::sign_in;
use super::stdio::{Noise, Stdio};
use super::user::TokenStore;
use crate::child::{ChildCommand, ChildProcess};
use crate::variables::Variables;

/// Time a server has to initialize. A launcher may have to download it first.
pub(super) const HELLO: Duration = Duration::from_secs(60);

/// A connection after a successful handshake.
pub(super) struct ServerConnection {
    pub(super) service: RunningService<RoleClient, Arc<McpClientHandler>>,
    pub(super) child: Option<Arc<ChildProcess>>,
}

/// The reason a connection failed.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    /// It requires a sign-in, with its challenge.
    NeedsSignIn(Option<String>),
    /// A retry is pointless until the configuration changes.
    Lasting(String),
    /// A retry may succeed.
    Passing(String),
}

/// Connects to one server, repeatedly.
pub(super) trait Connector: Send + Sync {
    fn connect(
        &self,
        guest: Arc<McpClientHandler>,
    ) -> BoxFuture<'_, Result<ServerConnection, ConnectFailure>>;
}

/// Connects to a server as configured.
pub(super) struct ConfiguredConnector {
    pub(super) reach: ServerTransport,
    pub(super) environment: Variables,
    pub(super) tokens: Arc<dyn TokenStore>,
    /// Time the server has for the handshake.
    pub(super) hello: Duration,
    /// Whether the server rejected the discovery request: it only supports `initialize`.
    pub(super) is_old: AtomicBool,
}

impl Connector for ConfiguredConnector {
    fn connect(
        &self,
        guest: Arc<McpClientHandler>,
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
                    self.process(&command, guest).await
                }
                ServerTransport::Http { url, headers, .. } => self.http(url, headers, guest).await,
            }
        })
    }
}

impl ConfiguredConnector {
    async fn process(
        &self,
        command: &ChildCommand,
        guest: Arc<McpClientHandler>,
    ) -> Result<ServerConnection, ConnectFailure> {
        self.either(|lifecycle| start(command, guest.clone(), (lifecycle, self.hello)))
            .await
    }

    async fn http(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        guest: Arc<McpClientHandler>,
    ) -> Result<ServerConnection, ConnectFailure> {
        install_tls();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        for (name, value) in headers {
            let wrong = |what| ConnectFailure::Lasting(format!("its header {name} is not {what}"));
            let key = name.parse().map_err(|_| wrong("a name that HTTP knows"))?;
            let value = value
                .parse()
                .map_err(|_| wrong("a value that HTTP takes"))?;
            config.custom_headers.insert(key, value);
        }
        let has_own = headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("authorization"));
        self.either(|lifecycle| {
            let (config, guest) = (config.clone(), guest.clone());
            let terms = (lifecycle, self.hello);
            async move {
                let manager = if has_own {
                    None
                } else {
                    sign_in::signed_in(url, &self.tokens).await
                };
                let make = StreamableHttpClientTransport::from_config;
                match manager {
                    Some(manager) => {
                        hello(authorized(make, manager, config), guest, None, terms).await
                    }
                    None => hello(make(config), guest, None, terms).await,
                }
            }
        })
        .await
    }

    /// Connects to a server of unknown lifecycle: old servers exit, or respond with an error, when
    /// asked for their versions.
    async fn either<F>(
        &self,
        reach: impl Fn(ClientLifecycleMode) -> F,
    ) -> Result<ServerConnection, ConnectFailure>
    where
        F: Future<Output = Result<ServerConnection, HandshakeError>>,
    {
        if !self.is_old.load(Ordering::Relaxed) {
            match reach(lifecycle_mode()).await {
                Err(HandshakeError::Puzzled(_)) => {}
                other => return other.map_err(HandshakeError::failure),
            }
        }
        let live = reach(ClientLifecycleMode::Initialize)
            .await
            .map_err(HandshakeError::failure)?;
        self.is_old.store(true, Ordering::Relaxed);
        Ok(live)
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
    /// It exited or sent something unexpected: it may be old.
    Puzzled(ConnectFailure),
    Other(ConnectFailure),
}

impl HandshakeError {
    fn failure(self) -> ConnectFailure {
        match self {
            HandshakeError::Puzzled(failure) | HandshakeError::Other(failure) => failure,
        }
    }
}

async fn start(
    command: &ChildCommand,
    guest: Arc<McpClientHandler>,
    terms: (ClientLifecycleMode, Duration),
) -> Result<ServerConnection, HandshakeError> {
    let started = ChildProcess::start(command);
    let (child, pipes) =
        started.map_err(|why| HandshakeError::Other(ConnectFailure::Lasting(why)))?;
    let transport = Stdio::new(pipes.output, pipes.input, noise(&guest));
    hello(transport, guest, Some(Arc::new(child)), terms).await
}

async fn hello<T, E, A>(
    transport: T,
    guest: Arc<McpClientHandler>,
    child: Option<Arc<ChildProcess>>,
    (lifecycle, patience): (ClientLifecycleMode, Duration),
) -> Result<ServerConnection, HandshakeError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let greeting = serve_client_with_lifecycle(guest, transport, lifecycle);
    let error = match tokio::time::timeout(patience, greeting).await {
        Ok(Ok(service)) => return Ok(ServerConnection { service, child }),
        Ok(Err(error)) => error,
        Err(_) => return Err(HandshakeError::Other(silent(patience))),
    };
    if error.is_authorization_required() {
        let challenge = error.auth_challenge().map(str::to_owned);
        return Err(HandshakeError::Other(ConnectFailure::NeedsSignIn(
            challenge,
        )));
    }
    let has_left = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
    );
    let why = match &child {
        Some(child) if has_left => child.exit_summary("it").await,
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
    Err(HandshakeError::Puzzled(ConnectFailure::Passing(why)))
}

fn silent(patience: Duration) -> ConnectFailure {
    ConnectFailure::Passing(format!("it did not respond for {} s", patience.as_secs()))
}

/// Asks for the server's versions, and falls back to `initialize` if it does not know the request.
pub(super) fn lifecycle_mode() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// Returns a callback that publishes lines that are not messages as events.
pub(super) fn noise(guest: &McpClientHandler) -> Noise {
    let (server, events) = (guest.server.clone(), guest.events.clone());
    Arc::new(move |text| {
        let said = McpEvent::Said {
            server: server.clone(),
            is_complaint: true,
            text,
        };
        // There may be no receivers.
        events.send(said).ok();
    })
}

/// Installs the program's TLS provider, unless one is installed.
pub(super) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let provider = rustls::crypto::ring::default_provider();
        if provider.install_default().is_err() {
            log::debug!("TLS has its provider already");
        }
    });
}
