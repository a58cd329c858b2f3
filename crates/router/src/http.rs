//! Requests over the network: sockets, limits, providers and their addresses.
//!
//! Invariant: nothing here retries, follows a redirect, or sends a key anywhere but to its provider.
//! Invariant: dropping an answer's stream closes its socket at once, since the stream itself holds it.
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
pub use discover::{FoundModel, FoundServer, discover};
pub use exchange::exchange;
pub use provider::{Probe, ProviderConfig, Providers, ServerProbe};
pub use socket::Socket;

/// One HTTP request.
#[derive(Clone, Debug)]
pub struct Call {
    /// How.
    pub method: Method,
    /// Where.
    pub url: String,
    /// What it says beside the key; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The key.
    pub key: Option<KeyHeader>,
    /// What is posted; empty for `Get`.
    pub body: Bytes,
}

/// How a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// To ask.
    Get,
    /// To send.
    Post,
}

/// A header that holds a key.
#[derive(Clone, Debug)]
pub struct KeyHeader {
    /// Its name, in lower case.
    pub name: String,
    /// What stands before the key, such as `Bearer `.
    pub before: &'static str,
    /// The key.
    pub secret: Secret,
}

/// How long silence is borne. There is no limit on the whole: a good answer may take an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until the first byte of the answer.
    pub first_byte: Duration,
    /// Between two pieces of it.
    pub idle: Duration,
}

/// An HTTP response whose body is still coming.
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body. Dropping it closes the connection.
    pub body: BoxStream<'static, Result<Bytes, Broken>>,
}

/// A connection broke; the cause in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

/// What carries requests: a socket, a recorder around one, a recording.
pub trait Transport: Send + Sync {
    /// Sends a request; the reply comes as soon as its headers do. `connect` limits the connection alone.
    fn call(&self, call: Call, connect: Duration) -> BoxFuture<'static, Result<Reply, Failure>>;
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// The host of an address, with its port if it has one; nothing of user names or paths.
pub(crate) fn host(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    let authority = &after[..end];
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

/// Whether a host is this machine, whatever the port.
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
