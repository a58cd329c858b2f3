//! The one way out of a sandbox: a proxy that reaches the hosts of a list and no other.
//!
//! Knows: names, addresses, HTTP/1.1, SOCKS 5 and the first message of TLS. Must not know: how a command is held.
//! Invariant: an empty list reaches nothing.
//! Invariant: what is connected to is the address that was judged. A name is resolved once for each connection, by us,
//! outside; the command never resolves anything.
//! Invariant: whatever is not understood to the last byte is refused, never passed on for somebody else to understand.
//! Invariant: every refusal is recorded.
//!
//! The command has a network of its own with nothing in it but loopback. Whoever sets it up listens there and hands the
//! listening socket out, and the proxy accepts on it: a socket stays in the network it was made in. So nothing has to
//! run inside, and no path has to be shared. `environment` says what the command must find in its environment.
//!
//! Limitations: hosts of the same provider share addresses, and inside TLS a command may ask for another one than it
//! named; only the name it says in the open is compared. Datagrams do not pass, so HTTP/3 and name servers do not.
//! Start at `Proxy::start`; names are in `host`, the list in `rule`, addresses in `address`.

mod address;
mod body;
mod hello;
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

pub use rule::BadRule;

use resolve::{Resolve, System};
use rule::Rule;
use serve::Shared;

use crate::{Denials, HostRule};

/// The proxy of one sandbox. Dropping it ends it, with every connection.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    /// Closing it wakes those who accept, and tells them to stop.
    stopper: Option<UnixStream>,
    stopped: UnixStream,
    accepting: Vec<JoinHandle<()>>,
}

/// How a connection is served.
type Serve = fn(TcpStream, &Arc<Shared>);

impl Proxy {
    /// The port at which a command finds its proxy, on its own loopback.
    pub(crate) const PORT: u16 = 3128;

    /// Serves what knocks at `listener`: hosts of the rules are reached, others are told to `denials`.
    ///
    /// # Errors
    /// When a rule means nothing, or the system gives no thread.
    pub(crate) fn start(
        listener: TcpListener,
        rules: &[HostRule],
        denials: Denials,
    ) -> io::Result<Self> {
        Self::start_with(listener, rules, denials, Arc::new(System))
    }

    fn start_with(
        listener: TcpListener,
        rules: &[HostRule],
        denials: Denials,
        resolve: Arc<dyn Resolve>,
    ) -> io::Result<Self> {
        let rules: Result<Vec<Rule>, BadRule> = rules.iter().map(Rule::of).collect();
        let rules = rules.map_err(|bad| io::Error::new(io::ErrorKind::InvalidInput, bad))?;
        let (stopper, stopped) = UnixStream::pair()?;
        let mut proxy = Self {
            shared: Arc::new(Shared::new(rules, denials, resolve)),
            stopper: Some(stopper),
            stopped,
            accepting: Vec::new(),
        };
        proxy.accept(listener, serve::begin)?;
        Ok(proxy)
    }

    /// Leads what knocks at `listener` on to the same address and port of the machine, where the rules give it. That
    /// is for clients which do not use a proxy for their own machine.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn lead_on(&mut self, listener: TcpListener) -> io::Result<()> {
        self.accept(listener, serve::begin_leading_on)
    }

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
                log::error!("the proxy of a sandbox ended badly");
            }
        }
        self.shared.cut_all();
    }
}

/// What a command must find in its environment to use the proxy. Names are resolved by the proxy, also for SOCKS; what
/// the command itself runs on its loopback is reached without it.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    let port = Proxy::PORT;
    let web = format!("http://127.0.0.1:{port}");
    let socks = format!("socks5h://127.0.0.1:{port}");
    let own = "localhost,127.0.0.1,::1".to_owned();
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

/// The ports of the machine's own loopback that a list gives: those of IPv4, and those of IPv6.
pub(crate) fn own_ports(hosts: &[HostRule]) -> [Vec<u16>; 2] {
    let rules: Vec<Rule> = hosts
        .iter()
        .filter_map(|host| Rule::of(host).ok())
        .collect();
    [false, true].map(|is_six| {
        let ports = rules.iter().flat_map(|rule| rule.own_ports(is_six));
        let mut ports: Vec<u16> = ports.copied().collect();
        ports.sort_unstable();
        ports.dedup();
        // There the proxy itself listens.
        ports.retain(|port| *port != Proxy::PORT);
        ports
    })
}

/// Accepts until the other end of `stopped` is closed.
fn accept(listener: &TcpListener, stopped: &UnixStream, shared: &Arc<Shared>, serve: Serve) {
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
            // Whoever knocked is gone already, or there are too many descriptors: the next one may have more luck.
            Err(error) if is_passing(&error) => {}
            Err(error) => return log::error!("the proxy of a sandbox cannot accept: {error}"),
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | Interrupted | WouldBlock)
        || error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}

#[cfg(test)]
mod tests;
