//! Resolves names to addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};

/// A source of addresses for names.
pub(super) trait Resolver: Send + Sync {
    /// Returns the addresses of a name, best first.
    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
pub(super) struct SystemResolver;

impl Resolver for SystemResolver {
    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = (name, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    }
}
