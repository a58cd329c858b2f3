//! Names to addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};

/// Somebody who knows the addresses of a name.
pub(super) trait Resolve: Send + Sync {
    /// The addresses of a name, best first.
    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's own resolver.
pub(super) struct System;

impl Resolve for System {
    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = (name, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    }
}
