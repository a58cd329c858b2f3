//! Sockets are connected here, in the name of whoever asked, with our copy of the address.
//!
//! A socket of the machine lies on the read-only part of the disk and could be called all the same:
//! neither mounts nor Landlock keep anybody from that. So only sockets on what the sandbox may write
//! are connected to, and of those only the ones that the sandbox made: a socket that a program of the
//! machine made in the workspace belongs to another network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::FileType;

use super::Watched;
use super::own_sockets;
use super::place::{self, Place};
use crate::linux::kernel::{self, Answer, Errno, Question};
use crate::linux::{blob, launch};
use crate::{Access, Denied};

/// The longest address there is.
const LONGEST: usize = 128;

/// How often, and how far apart in milliseconds, a listener that is busy is asked again.
const TRIES: usize = 400;
const APART: i32 = 5;

/// Connects, or not, and answers.
pub(super) fn connect(watched: &Arc<Watched>, question: Question) {
    match prepare(watched, &question) {
        Err(errno) => watched.reply(&question, Answer::Error(errno)),
        Ok((socket, address)) => attempt(watched, question, socket, &address),
    }
}

/// The socket, and an address that leads nowhere else than to what was looked at.
fn prepare(watched: &Watched, question: &Question) -> Result<(OwnedFd, Address), Errno> {
    let [descriptor, at, length, ..] = question.arguments;
    let length = length as u32 as usize;
    if length > LONGEST {
        return Err(libc::EINVAL);
    }
    let mut bytes = vec![0; length];
    let read = kernel::read_memory(question.thread, at, &mut bytes)?;
    if read != length {
        return Err(libc::EFAULT);
    }
    let socket = kernel::socket_of(question.thread, descriptor as i32)?;
    let socket = launch::owned(socket);
    if !watched.is_asked(question) {
        return Err(libc::EINTR);
    }
    let family = bytes
        .get(..2)
        .map(|two| u16::from_ne_bytes([two[0], two[1]]));
    if family != Some(libc::AF_UNIX as u16) {
        return Ok((socket, Address { bytes, file: None }));
    }
    let Some(path) = place::socket_path(&bytes) else {
        // Names without a path belong to a network, and the network is the sandbox's own.
        return match watched.has_network() {
            true => Ok((socket, Address { bytes, file: None })),
            false => Err(libc::EPERM),
        };
    };
    let path = place::absolute_path(question, None, &path).ok_or(libc::ENOENT)?;
    let place = place::find(watched, question, &path, true);
    let file = reachable(watched, question, place)?;
    Ok((socket, Address::of(file)))
}

impl Watched {
    fn has_network(&self) -> bool {
        blob::View::new(&self.plan.bytes).head.has(blob::NETWORK)
    }
}

/// An address, and what keeps it valid.
struct Address {
    bytes: Vec<u8>,
    file: Option<OwnedFd>,
}

impl Address {
    /// The address of an open socket, whatever becomes of its path.
    fn of(file: OwnedFd) -> Self {
        let mut bytes = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
        bytes.extend(format!("/proc/self/fd/{}\0", file.as_raw_fd()).bytes());
        Self {
            bytes,
            file: Some(file),
        }
    }
}

fn reachable(watched: &Watched, question: &Question, place: Place) -> Result<OwnedFd, Errno> {
    let Some(file) = place.target.as_ref() else {
        return Err(libc::ENOENT);
    };
    let facts = rustix::fs::fstat(file).map_err(|error| error.raw_os_error())?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::Socket {
        return Err(libc::ECONNREFUSED);
    }
    let is_own = || match &watched.sockets {
        Some(sockets) => own_sockets::has(sockets, question.thread, file),
        // Without a network of its own nobody can tell.
        None => !watched.has_network(),
    };
    if place::is_read_only(file) || !is_own() {
        watched.tell(&place, Access::Connect);
        return Err(libc::EACCES);
    }
    place.target.ok_or(libc::ENOENT)
}

fn attempt(watched: &Arc<Watched>, question: Question, socket: OwnedFd, address: &Address) {
    let number = socket.as_raw_fd();
    let tried = kernel::nothing_blocks(number, || kernel::connect(number, &address.bytes));
    let (result, waits) = match tried {
        Ok((result, is_blocking)) => (result, is_blocking),
        Err(errno) => (Err(errno), false),
    };
    match result {
        Ok(()) => watched.reply(&question, Answer::Done),
        Err(libc::EINPROGRESS | libc::EAGAIN) if waits => {
            let bytes = address.bytes.clone();
            let file = address.file.as_ref().map(OwnedFd::try_clone);
            wait_elsewhere(watched.clone(), question, socket, bytes, file);
        }
        Err(errno) => {
            if matches!(errno, libc::ENETUNREACH | libc::EHOSTUNREACH) {
                tell_host(watched, &address.bytes);
            }
            watched.reply(&question, Answer::Error(errno));
        }
    }
}

/// Asks again from a thread of its own until the listener has time.
fn wait_elsewhere(
    watched: Arc<Watched>,
    question: Question,
    socket: OwnedFd,
    bytes: Vec<u8>,
    file: Option<std::io::Result<OwnedFd>>,
) {
    let bytes = match file {
        Some(Ok(file)) => Address::of(file),
        Some(Err(_)) => Address {
            bytes: Vec::new(),
            file: None,
        },
        None => Address { bytes, file: None },
    };
    let again = watched.clone();
    let run = move || {
        let number = socket.as_raw_fd();
        let mut result = Err(libc::ETIMEDOUT);
        for _ in 0..TRIES {
            // Nothing is ever read from here: this only lets time pass.
            kernel::pass_time(APART);
            let tried = kernel::nothing_blocks(number, || kernel::connect(number, &bytes.bytes));
            result = tried.and_then(|(result, _)| result);
            let is_busy = matches!(
                result,
                Err(libc::EINPROGRESS | libc::EAGAIN | libc::EALREADY)
            );
            if !is_busy || !watched.is_asked(&question) {
                break;
            }
        }
        let answer = match result {
            Ok(()) | Err(libc::EISCONN) => Answer::Done,
            Err(errno) => Answer::Error(errno),
        };
        watched.reply(&question, answer);
    };
    let thread = std::thread::Builder::new().name("sandbox-connect".to_owned());
    if thread.spawn(run).is_err() {
        again.reply(&question, Answer::Error(libc::EAGAIN));
    }
}

fn tell_host(watched: &Watched, address: &[u8]) {
    let family = address.first().copied().map(i32::from);
    let port = address
        .get(2..4)
        .map(|two| u16::from_be_bytes([two[0], two[1]]));
    let host: Option<IpAddr> = match family {
        Some(libc::AF_INET) => address
            .get(4..8)
            .and_then(|bytes| <[u8; 4]>::try_from(bytes).ok())
            .map(|bytes| Ipv4Addr::from(bytes).into()),
        Some(libc::AF_INET6) => address
            .get(8..24)
            .and_then(|bytes| <[u8; 16]>::try_from(bytes).ok())
            .map(|bytes| Ipv6Addr::from(bytes).into()),
        _ => None,
    };
    if let (Some(host), Some(port)) = (host, port) {
        let host = host.to_string();
        watched.denials.add(Denied::Host { host, port });
    }
}
