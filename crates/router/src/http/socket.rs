//! The network transport: one connection pool per provider, HTTP/2 where the server supports it.

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use model::{Failure, FailureClass};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::{ConnectionBroken, HttpRequest, HttpResponse, Method, Transport, host, is_loopback};

/// Time after which an idle connection is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// Interval and timeout of keep-alive pings on a busy HTTP/2 connection.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// Transport over the network. Proxies come from the environment, but local servers bypass them.
/// Requires tokio's runtime.
#[derive(Debug, Default)]
pub struct NetworkTransport {
    /// Created by the first request, whose connect timeout it uses.
    remote: OnceLock<reqwest::Client>,
    local: OnceLock<reqwest::Client>,
    building: Mutex<()>,
    /// The only host whose addresses are given, and these addresses.
    pinned: Option<(String, Vec<SocketAddr>)>,
}

impl Transport for NetworkTransport {
    fn call(
        &self,
        call: HttpRequest,
        connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        let client = self.client(&call.url, connect);
        async move {
            let client = client?;
            let host_name = host(&call.url).to_owned();
            let request = request(&client, call)?;
            let response = client.execute(request).await;
            let response = response.map_err(|error| offline(&host_name, &error))?;
            let status = response.status().as_u16();
            let headers = headers(response.headers());
            let body = response.bytes_stream();
            let body = body.map(|chunk| chunk.map_err(|error| ConnectionBroken(cause(&error))));
            Ok(HttpResponse {
                status,
                headers,
                body: body.boxed(),
            })
        }
        .boxed()
    }
}

impl NetworkTransport {
    /// Creates a transport that connects to `host` at these addresses without resolving it again.
    /// With no addresses, only a proxy of the environment can reach the host.
    pub fn pinned(host: &str, addresses: &[IpAddr]) -> Self {
        // The port of the URL counts, not the one given here.
        let addresses = addresses.iter().map(|ip| SocketAddr::new(*ip, 0));
        Self {
            pinned: Some((host.to_owned(), addresses.collect())),
            ..Self::default()
        }
    }

    /// Returns the client for local or for remote servers, whichever `url` needs, and creates it if
    /// this is its first request. `connect`, the connect timeout, only counts then. Fails with
    /// `Offline` if the client cannot be created.
    fn client(&self, url: &str, connect: Duration) -> Result<reqwest::Client, Failure> {
        let is_local = is_loopback(host(url));
        let pool = if is_local { &self.local } else { &self.remote };
        // Serialized, so that only one pool is created. A panic inside leaves no partial state.
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = pool.get() {
            return Ok(client.clone());
        }
        let client = self.build(is_local, connect).map_err(|error| {
            let message = format!("Cannot set up connections: {}.", cause(&error));
            Failure::new(FailureClass::Offline, message)
        })?;
        Ok(pool.get_or_init(|| client).clone())
    }

    /// Creates a client that follows no redirects and never retries; one for local servers bypasses
    /// proxies. Installs the process's TLS crypto provider if there is none.
    fn build(&self, is_local: bool, connect: Duration) -> reqwest::Result<reqwest::Client> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            let provider = rustls::crypto::ring::default_provider();
            if provider.install_default().is_err() {
                log::debug!("a TLS crypto provider is already installed");
            }
        });
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("burin/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(connect)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .http2_keep_alive_interval(PING_INTERVAL)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .tcp_nodelay(true);
        if let Some((host, addresses)) = &self.pinned {
            builder = builder.resolve_to_addrs(host, addresses);
        }
        if is_local {
            builder.no_proxy().build()
        } else {
            builder.build()
        }
    }
}

/// Converts `call` to a request of the client, without sending it. Fails with `InvalidRequest` if a
/// header or the address is invalid, and with `Authentication` if the key contains characters that
/// a header cannot hold.
fn request(client: &reqwest::Client, call: HttpRequest) -> Result<reqwest::Request, Failure> {
    let mut all = HeaderMap::new();
    for (name, value) in &call.headers {
        let header = HeaderName::try_from(name.as_str()).ok();
        let value = HeaderValue::try_from(value.as_str()).ok();
        let (Some(header), Some(value)) = (header, value) else {
            let message = format!("The header \"{name}\" contains invalid characters.");
            return Err(Failure::new(FailureClass::InvalidRequest, message));
        };
        all.insert(header, value);
    }
    if let Some(key) = &call.key {
        let header = HeaderName::try_from(key.name.as_str()).ok();
        let value = format!("{}{}", key.before, key.secret.expose());
        let value = HeaderValue::try_from(value).ok();
        let (Some(header), Some(mut value)) = (header, value) else {
            let message = format!(
                "The key for {} contains invalid characters; enter it again.",
                host(&call.url)
            );
            return Err(Failure::new(FailureClass::Authentication, message));
        };
        value.set_sensitive(true);
        all.insert(header, value);
    }
    let request = match call.method {
        Method::Get => client.get(&call.url),
        Method::Post => client.post(&call.url).body(call.body),
    };
    request.headers(all).build().map_err(|_| {
        let message = format!(
            "\"{}\" is not a valid address; correct the provider's base address.",
            host(&call.url)
        );
        Failure::new(FailureClass::InvalidRequest, message)
    })
}

/// Returns the headers as pairs of lower-case name and value; invalid UTF-8 in values is replaced.
fn headers(map: &HeaderMap) -> Vec<(String, String)> {
    let pairs = map.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    pairs.collect()
}

fn offline(host: &str, error: &reqwest::Error) -> Failure {
    let advice = if is_loopback(host) {
        "Is the server running?"
    } else {
        "Check the network, a proxy if there is one, and the base address."
    };
    let message = format!("No connection to {host}: {}. {advice}", cause(error));
    Failure::new(FailureClass::Offline, message)
}

/// Returns the innermost cause: outer ones repeat the address, which may contain a password.
fn cause(error: &reqwest::Error) -> String {
    if error.is_timeout() && error.is_connect() {
        return "it timed out".to_owned();
    }
    let mut cause: &dyn std::error::Error = match error.source() {
        Some(source) => source,
        None => return "the request could not be sent".to_owned(),
    };
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests;
