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
use std::net::TcpListener;
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
    /// Closing it wakes the one who accepts, and tells them to stop.
    stopper: Option<UnixStream>,
    accepting: Option<JoinHandle<()>>,
}

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
        listener.set_nonblocking(true)?;
        let (stopper, stopped) = UnixStream::pair()?;
        let shared = Arc::new(Shared::new(rules, denials, resolve));
        let theirs = Arc::clone(&shared);
        let accepting = thread::Builder::new()
            .name("sandbox proxy".to_owned())
            .spawn(move || accept(&listener, &stopped, &theirs))?;
        Ok(Self {
            shared,
            stopper: Some(stopper),
            accepting: Some(accepting),
        })
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
        if let Some(accepting) = self.accepting.take()
            && accepting.join().is_err()
        {
            log::error!("the proxy of a sandbox ended badly");
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

/// Accepts until the other end of `stopped` is closed.
fn accept(listener: &TcpListener, stopped: &UnixStream, shared: &Arc<Shared>) {
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
            Ok((stream, _)) => serve::begin(stream, shared),
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
