//! The only network access of a sandbox: a proxy that reaches the hosts of a list and no others.
//!
//! Knows: names, addresses, HTTP/1.1, SOCKS 5 and TLS's ClientHello. Must not know: how a command
//! is confined.
//! Invariant: an empty list reaches nothing.
//! Invariant: a connection goes to the address that was checked. The proxy resolves a name once per
//! connection, outside; the command never resolves anything.
//! Invariant: input that is not fully understood is refused, never passed on for another program to
//! interpret.
//! Invariant: every refusal is recorded.
//!
//! On Linux the command has a network namespace with only a loopback. The process that creates it
//! listens there and passes the listening socket out, and the proxy accepts on it: a socket stays in
//! the namespace in which it was created. So no process has to run inside, and no path has to be
//! shared. On macOS the proxy listens on a free port of the machine's own loopback. `environment`
//! returns the variables that the command needs.
//!
//! Limitations: hosts of the same provider share addresses, and inside TLS a command may request
//! another host than it named; only the name in the ClientHello is compared. Datagrams do not pass,
//! so HTTP/3 and DNS do not work.
//! Start at `Proxy::start`; names are in `host`, the list in `rule`, addresses in `address`.

mod address;
mod body;
mod client_hello;
mod host;
mod request;
mod resolve;
mod rule;
mod serve;
mod socks;
mod tunnel;

use std::ffi::OsString;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};

pub use address::is_open_address;
pub use rule::BadRule;

use resolve::{Resolver, SystemResolver};
use rule::ParsedRule;
use serve::ProxyState;

use crate::{DenialLog, HostRule, Network};

/// The proxy of one sandbox. Dropping it ends it and all its connections.
pub(crate) struct Proxy {
    shared: Arc<ProxyState>,
    /// Closing it wakes the accepting threads and tells them to stop.
    stopper: Option<UnixStream>,
    stopped: UnixStream,
    accepting: Vec<JoinHandle<()>>,
}

/// The handler of a connection.
type Serve = fn(TcpStream, &Arc<ProxyState>);

impl Proxy {
    /// Serves connections to `listener`: hosts of the rules are reached, others are recorded in
    /// `denials`.
    ///
    /// # Errors
    /// If a rule is invalid, or the system cannot start a thread.
    pub(crate) fn start(
        listener: TcpListener,
        rules: &[HostRule],
        denials: DenialLog,
    ) -> io::Result<Self> {
        Self::start_with(listener, rules, denials, Arc::new(SystemResolver))
    }

    /// Like `start`, with a resolver of names.
    fn start_with(
        listener: TcpListener,
        rules: &[HostRule],
        denials: DenialLog,
        resolve: Arc<dyn Resolver>,
    ) -> io::Result<Self> {
        let rules: Result<Vec<ParsedRule>, BadRule> = rules.iter().map(ParsedRule::of).collect();
        let rules = rules.map_err(|bad| io::Error::new(io::ErrorKind::InvalidInput, bad))?;
        let (stopper, stopped) = UnixStream::pair()?;
        let mut proxy = Self {
            shared: Arc::new(ProxyState::new(rules, denials, resolve)),
            stopper: Some(stopper),
            stopped,
            accepting: Vec::new(),
        };
        proxy.accept(listener, serve::serve_in_thread)?;
        Ok(proxy)
    }

    /// Forwards connections to `listener` to the same address and port of the machine, if the rules
    /// grant it. This serves clients that do not use a proxy for localhost.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    #[allow(dead_code, reason = "only Linux gives a command a loopback of its own")]
    pub(crate) fn forward(&mut self, listener: TcpListener) -> io::Result<()> {
        self.accept(listener, serve::forward_in_thread)
    }

    /// Starts a thread that passes the connections of a listener to `serve` until the proxy is
    /// dropped.
    fn accept(&mut self, listener: TcpListener, serve: Serve) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let stopped = self.stopped.try_clone()?;
        let shared = Arc::clone(&self.shared);
        let accepting = thread::Builder::new()
            .name("sandbox proxy".to_owned())
            .spawn(move || accept(&listener, &stopped, &shared, serve))?;
        self.accepting.push(accepting);
        Ok(())
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").finish_non_exhaustive()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stopper.take());
        for accepting in self.accepting.drain(..) {
            if accepting.join().is_err() {
                log::error!("a proxy thread of a sandbox panicked");
            }
        }
        self.shared.cut_all();
    }
}

/// Returns the hosts that a network access grants; `None` if there are none.
pub(crate) fn reaches_hosts(network: &Network) -> Option<&[HostRule]> {
    match network {
        Network::Hosts(hosts) if !hosts.is_empty() => Some(hosts),
        Network::Hosts(_) | Network::None => None,
    }
}

/// Returns the variables that make a command use the proxy at `port` of its loopback. The proxy
/// resolves names for HTTP and SOCKS. `direct` lists the hosts that are reached without it.
pub(crate) fn environment(port: u16, direct: &str) -> Vec<(OsString, OsString)> {
    let web = format!("http://127.0.0.1:{port}");
    let socks = format!("socks5h://127.0.0.1:{port}");
    let own = direct.to_owned();
    let both = |upper: &str, value: &String| {
        [upper.to_owned(), upper.to_lowercase()]
            .map(|name| (OsString::from(name), OsString::from(value)))
    };
    [
        both("HTTP_PROXY", &web),
        both("HTTPS_PROXY", &web),
        both("ALL_PROXY", &socks),
        both("NO_PROXY", &own),
    ]
    .concat()
}

/// Returns the ports of the machine's own loopback that a list grants: for IPv4 and for IPv6, both
/// sorted and without duplicates.
pub(crate) fn own_ports(hosts: &[HostRule]) -> [Vec<u16>; 2] {
    let rules: Vec<ParsedRule> = hosts
        .iter()
        .filter_map(|host| ParsedRule::of(host).ok())
        .collect();
    [false, true].map(|is_six| {
        let ports = rules.iter().flat_map(|rule| rule.own_ports(is_six));
        let mut ports: Vec<u16> = ports.copied().collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    })
}

/// Accepts connections until the other end of `stopped` is closed.
fn accept(listener: &TcpListener, stopped: &UnixStream, shared: &Arc<ProxyState>, serve: Serve) {
    loop {
        let mut waiting = [
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN),
        ];
        match poll(&mut waiting, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return log::error!("the proxy of a sandbox cannot wait: {error}"),
            Ok(_) => {}
        }
        if !waiting[1].revents().is_empty() {
            return;
        }
        match listener.accept() {
            Ok((stream, _)) => serve(stream, shared),
            // The client has disconnected, or there are too many descriptors; later connections may
            // succeed.
            Err(error) if is_passing(&error) => {}
            Err(error) => return log::error!("the proxy of a sandbox cannot accept: {error}"),
        }
    }
}

/// Returns whether a later connection may be accepted in spite of this error.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | Interrupted | WouldBlock)
        || error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}

#[cfg(test)]
mod tests;
