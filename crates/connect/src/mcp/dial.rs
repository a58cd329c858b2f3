//! Reaching a server: a process or an address, with whichever lifecycle it speaks.

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
use super::config::Reach;
use super::guest::Guest;
use super::people::Tokens;
use super::server::Event;
use super::sign_in;
use super::stdio::{Noise, Stdio};
use crate::child::{Child, Command};
use crate::variables::Variables;

/// How long a server may take until it has said hello. A launcher may have to fetch it first.
pub(super) const HELLO: Duration = Duration::from_secs(60);

/// A server that said hello.
pub(super) struct Live {
    pub(super) service: RunningService<RoleClient, Arc<Guest>>,
    pub(super) child: Option<Arc<Child>>,
}

/// Why a server could not be reached.
#[derive(Debug)]
pub(super) enum Failure {
    /// It wants the person to sign in; what it said about that.
    NeedsSignIn(Option<String>),
    /// Trying again is of no use until something is changed.
    Lasting(String),
    /// It may go well another time.
    Passing(String),
}

/// Reaches one server, again and again.
pub(super) trait Dial: Send + Sync {
    fn dial(&self, guest: Arc<Guest>) -> BoxFuture<'_, Result<Live, Failure>>;
}

/// Reaches a server as it is configured.
pub(super) struct Configured {
    pub(super) reach: Reach,
    pub(super) environment: Variables,
    pub(super) tokens: Arc<dyn Tokens>,
    /// How long it may take until it has said hello.
    pub(super) hello: Duration,
    /// The server left when it was asked what it speaks: it is old, and only `initialize` will do.
    pub(super) is_old: AtomicBool,
}

impl Dial for Configured {
    fn dial(&self, guest: Arc<Guest>) -> BoxFuture<'_, Result<Live, Failure>> {
        Box::pin(async move {
            match &self.reach {
                Reach::Process {
                    command,
                    arguments,
                    environment,
                    folder,
                } => {
                    let mut all = self.environment.clone();
                    all.retain(|name, value| is_allowed(name, value, Recipient::Foreign));
                    all.extend(environment.clone());
                    let command = Command {
                        program: command.clone(),
                        arguments: arguments.clone(),
                        folder: folder.clone(),
                        environment: all,
                    };
                    self.process(&command, guest).await
                }
                Reach::Http { url, headers, .. } => self.http(url, headers, guest).await,
            }
        })
    }
}

impl Configured {
    async fn process(&self, command: &Command, guest: Arc<Guest>) -> Result<Live, Failure> {
        self.either(|lifecycle| start(command, guest.clone(), (lifecycle, self.hello)))
            .await
    }

    async fn http(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        guest: Arc<Guest>,
    ) -> Result<Live, Failure> {
        install_tls();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        for (name, value) in headers {
            let wrong = |what| Failure::Lasting(format!("its header {name} is not {what}"));
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
                let manager = match has_own {
                    true => None,
                    false => sign_in::signed_in(url, &self.tokens).await,
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

    /// Reaches a server that may be old: those leave, or answer nonsense, when they are asked what they speak.
    async fn either<F>(&self, reach: impl Fn(ClientLifecycleMode) -> F) -> Result<Live, Failure>
    where
        F: Future<Output = Result<Live, NotHello>>,
    {
        if !self.is_old.load(Ordering::Relaxed) {
            match reach(asked()).await {
                Err(NotHello::Puzzled(_)) => {}
                other => return other.map_err(NotHello::failure),
            }
        }
        let live = reach(ClientLifecycleMode::Initialize)
            .await
            .map_err(NotHello::failure)?;
        self.is_old.store(true, Ordering::Relaxed);
        Ok(live)
    }
}

/// The transport of a server that the person signed in to. `plain` only says which HTTP client to use.
fn authorized<C: StreamableHttpClient + Default + Sync>(
    _plain: fn(StreamableHttpClientTransportConfig) -> StreamableHttpClientTransport<C>,
    manager: AuthorizationManager,
    config: StreamableHttpClientTransportConfig,
) -> StreamableHttpClientTransport<AuthClient<C>> {
    StreamableHttpClientTransport::with_client(AuthClient::new(C::default(), manager), config)
}

/// Why a server did not say hello.
enum NotHello {
    /// It left, or said something else: it may be old.
    Puzzled(Failure),
    Other(Failure),
}

impl NotHello {
    fn failure(self) -> Failure {
        match self {
            NotHello::Puzzled(failure) | NotHello::Other(failure) => failure,
        }
    }
}

async fn start(
    command: &Command,
    guest: Arc<Guest>,
    terms: (ClientLifecycleMode, Duration),
) -> Result<Live, NotHello> {
    let started = Child::start(command);
    let (child, pipes) = started.map_err(|why| NotHello::Other(Failure::Lasting(why)))?;
    let transport = Stdio::new(pipes.output, pipes.input, noise(&guest));
    hello(transport, guest, Some(Arc::new(child)), terms).await
}

async fn hello<T, E, A>(
    transport: T,
    guest: Arc<Guest>,
    child: Option<Arc<Child>>,
    (lifecycle, patience): (ClientLifecycleMode, Duration),
) -> Result<Live, NotHello>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let greeting = serve_client_with_lifecycle(guest, transport, lifecycle);
    let error = match tokio::time::timeout(patience, greeting).await {
        Ok(Ok(service)) => return Ok(Live { service, child }),
        Ok(Err(error)) => error,
        Err(_) => return Err(NotHello::Other(silent(patience))),
    };
    if error.is_authorization_required() {
        let challenge = error.auth_challenge().map(str::to_owned);
        return Err(NotHello::Other(Failure::NeedsSignIn(challenge)));
    }
    let has_left = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
    );
    let why = match &child {
        Some(child) if has_left => child.obituary("it").await,
        Some(child) => match child.tail() {
            tail if tail.is_empty() => {
                format!("it does not speak MCP as we do: {}", causes(&error))
            }
            tail => format!(
                "it does not speak MCP as we do: {}; it last said: {tail}",
                causes(&error)
            ),
        },
        None => format!("it cannot be reached: {}", causes(&error)),
    };
    Err(NotHello::Puzzled(Failure::Passing(why)))
}

fn silent(patience: Duration) -> Failure {
    Failure::Passing(format!("it said nothing for {} s", patience.as_secs()))
}

/// Asks what the server speaks, and begins with `initialize` where it does not know the question.
pub(super) fn asked() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// Passes what is no message on to whoever looks.
pub(super) fn noise(guest: &Guest) -> Noise {
    let (server, events) = (guest.server.clone(), guest.events.clone());
    Arc::new(move |text| {
        let said = Event::Said {
            server: server.clone(),
            is_complaint: true,
            text,
        };
        // Nobody may be listening.
        events.send(said).ok();
    })
}

/// The same TLS as the rest of the program, where nobody chose it yet.
pub(super) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let provider = rustls::crypto::ring::default_provider();
        if provider.install_default().is_err() {
            log::debug!("TLS has its provider already");
        }
    });
}
