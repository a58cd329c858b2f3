//! HTTP access to providers: transports, timeouts, configurations and addresses.
//!
//! Invariant: nothing here retries, follows a redirect, or sends a key anywhere but to its
//! provider.
//! Invariant: dropping an answer's stream closes its socket at once, since the stream itself owns
//! it.
//! Start at `HttpClient`.

mod client;
mod discover;
mod exchange;
mod provider;
mod socket;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use model::Failure;

use crate::keys::Secret;

pub use client::{HttpClient, ProfileSource};
pub use discover::{DiscoveredModel, DiscoveredServer, discover};
pub use exchange::exchange;
pub use provider::{DiscoveryProbe, ProviderConfig, Providers, ServerProbe};
pub use socket::NetworkTransport;

/// An HTTP request with its key.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// Method of the request.
    pub method: Method,
    /// Full address of the request.
    pub url: String,
    /// Headers except for the key; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Header with the key.
    pub key: Option<KeyHeader>,
    /// Request body; empty for `Get`.
    pub body: Bytes,
}

/// HTTP method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads, without a request body.
    Get,
    /// Sends a request body.
    Post,
}

/// A header that contains a key.
#[derive(Clone, Debug)]
pub struct KeyHeader {
    /// Name of the header, in lower case.
    pub name: String,
    /// Text before the key, such as `Bearer `.
    pub before: &'static str,
    /// The key in clear text.
    pub secret: Secret,
}

/// Timeouts of a request. The total is unlimited: a good answer may take an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpTimeouts {
    /// Timeout for establishing the connection.
    pub connect: Duration,
    /// Timeout until the first byte of the response.
    pub first_byte: Duration,
    /// Timeout between two chunks of the response.
    pub idle: Duration,
}

/// An HTTP response whose body is still arriving.
pub struct HttpResponse {
    /// Status code of the response.
    pub status: u16,
    /// Response headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body stream. Dropping it closes the connection.
    pub body: BoxStream<'static, Result<Bytes, ConnectionBroken>>,
}

/// A broken connection, with the cause in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionBroken(pub String);

/// Sends requests over the network, or answers them from recordings; `Recorder` wraps another one.
pub trait Transport: Send + Sync {
    /// Sends a request; completes with the response headers. `connect` limits the connection phase
    /// only.
    fn call(
        &self,
        call: HttpRequest,
        connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>>;
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// Returns the host of an address, with its port if present, but without user names and paths. Text
/// without a scheme is read as if it began with the host.
pub(crate) fn host(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    let authority = &after[..end];
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

/// Returns whether a host, as `host` returns it, is this machine, on any port. Recognizes
/// `localhost`, its subdomains and loopback addresses. Does not resolve other names.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let by_name = name.eq_ignore_ascii_case("localhost") || name.ends_with(".localhost");
    let address = name.parse::<std::net::IpAddr>();
    by_name || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
