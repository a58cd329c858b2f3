//! The network as `fetch` sees it: names are resolved once, and a connection goes to an address
//! that was checked.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use router::http::{NetworkTransport, Transport};

/// Resolves names and connects to addresses.
pub trait WebNetwork: Send + Sync {
    /// Returns the addresses of a name.
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;

    /// Returns a transport that reaches `host` at these addresses and no others. With no addresses,
    /// only a proxy can reach it.
    fn transport(&self, host: &str, addresses: &[IpAddr]) -> Arc<dyn Transport>;
}

/// The network of this machine. Proxies come from the environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNetwork;

impl WebNetwork for SystemNetwork {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|socket| socket.ip()).collect())
        }
        .boxed()
    }

    fn transport(&self, host: &str, addresses: &[IpAddr]) -> Arc<dyn Transport> {
        Arc::new(NetworkTransport::pinned(host, addresses))
    }
}
