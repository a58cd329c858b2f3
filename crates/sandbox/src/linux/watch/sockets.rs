//! Connects sockets on the caller's behalf, with our own copy of the address.
//!
//! A socket of the machine lies on the read-only part of the disk and could still be connected to:
//! neither mounts nor Landlock prevent that. Therefore only sockets in writable folders are
//! connected to, and of those only the ones created inside: a socket in the workspace that a
//! program of the machine created belongs to another network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::FileType;

use super::WatchedFilter;
use super::own_sockets;
use super::path_target::{self, ResolvedTarget};
use crate::linux::kernel::{self, Errno, NotificationReply, SyscallNotification};
use crate::linux::{launch, plan_encoding};
use crate::{DeniedAccess, PathAccess};

/// Maximum length of a socket address in bytes.
const MAX_ADDRESS_BYTES: usize = 128;

/// Number of retries when a listener is busy, and their interval in milliseconds.
const MAX_RETRIES: usize = 400;
const RETRY_INTERVAL_MS: i32 = 5;

/// Connects or refuses, and replies.
pub(super) fn connect(watched: &Arc<WatchedFilter>, question: SyscallNotification) {
    match prepare(watched, &question) {
        Err(errno) => watched.reply(&question, NotificationReply::Error(errno)),
        Ok((socket, address)) => attempt(watched, question, socket, &address),
    }
}

/// Returns the socket, and an address that can only lead to the file that was checked.
fn prepare(
    watched: &WatchedFilter,
    question: &SyscallNotification,
) -> Result<(OwnedFd, SocketAddress), Errno> {
    let [descriptor, at, length, ..] = question.arguments;
    let length = length as u32 as usize;
    if length > MAX_ADDRESS_BYTES {
        return Err(libc::EINVAL);
    }
    let mut bytes = vec![0; length];
    let read = kernel::read_memory(question.thread, at, &mut bytes)?;
    if read != length {
        return Err(libc::EFAULT);
    }
    let socket = kernel::socket_of(question.thread, descriptor as i32)?;
    let socket = launch::owned(socket);
    if !watched.is_pending(question) {
        return Err(libc::EINTR);
    }
    let family = bytes
        .get(..2)
        .map(|two| u16::from_ne_bytes([two[0], two[1]]));
    if family != Some(libc::AF_UNIX as u16) {
        return Ok((socket, SocketAddress { bytes, file: None }));
    }
    let Some(path) = path_target::socket_path(&bytes) else {
        // Abstract names belong to a network namespace, and the sandbox has its own.
        return if watched.has_network() {
            Ok((socket, SocketAddress { bytes, file: None }))
        } else {
            Err(libc::EPERM)
        };
    };
    let path = path_target::absolute_path(question, None, &path).ok_or(libc::ENOENT)?;
    let place = path_target::find(watched, question, &path, true);
    let file = reachable(watched, question, place)?;
    Ok((socket, SocketAddress::of(file)))
}

impl WatchedFilter {
    /// Returns whether the sandbox has a network namespace of its own.
    fn has_network(&self) -> bool {
        plan_encoding::PlanView::new(&self.plan.bytes)
            .head
            .has(plan_encoding::NETWORK)
    }
}

/// An address, and the open file that keeps it valid.
struct SocketAddress {
    bytes: Vec<u8>,
    file: Option<OwnedFd>,
}

impl SocketAddress {
    /// Returns the address of an open socket, independent of its path.
    fn of(file: OwnedFd) -> Self {
        let mut bytes = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
        bytes.extend(format!("/proc/self/fd/{}\0", file.as_raw_fd()).bytes());
        Self {
            bytes,
            file: Some(file),
        }
    }
}

/// Returns the socket file if it may be connected to. Fails with `ENOENT` if it is missing, with
/// `ECONNREFUSED` if it is not a socket, and with `EACCES`, which is recorded, if it is on a
/// read-only mount or was created outside.
fn reachable(
    watched: &WatchedFilter,
    question: &SyscallNotification,
    place: ResolvedTarget,
) -> Result<OwnedFd, Errno> {
    let Some(file) = place.target.as_ref() else {
        return Err(libc::ENOENT);
    };
    let facts = rustix::fs::fstat(file).map_err(|error| error.raw_os_error())?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::Socket {
        return Err(libc::ECONNREFUSED);
    }
    let is_own = || match &watched.sockets {
        Some(sockets) => own_sockets::has(sockets, question.thread, file),
        // Without a separate network this cannot be decided.
        None => !watched.has_network(),
    };
    if path_target::is_read_only(file) || !is_own() {
        watched.record_denial(&place, PathAccess::Connect);
        return Err(libc::EACCES);
    }
    place.target.ok_or(libc::ENOENT)
}

fn attempt(
    watched: &Arc<WatchedFilter>,
    question: SyscallNotification,
    socket: OwnedFd,
    address: &SocketAddress,
) {
    let number = socket.as_raw_fd();
    let tried = kernel::while_nonblocking(number, || kernel::connect(number, &address.bytes));
    let (result, waits) = match tried {
        Ok((result, is_blocking)) => (result, is_blocking),
        Err(errno) => (Err(errno), false),
    };
    match result {
        Ok(()) => watched.reply(&question, NotificationReply::Done),
        Err(libc::EINPROGRESS | libc::EAGAIN) if waits => {
            let bytes = address.bytes.clone();
            let file = address.file.as_ref().map(OwnedFd::try_clone);
            retry_in_thread(watched.clone(), question, socket, bytes, file);
        }
        Err(errno) => {
            if matches!(errno, libc::ENETUNREACH | libc::EHOSTUNREACH) {
                record_host_denial(watched, &address.bytes);
            }
            watched.reply(&question, NotificationReply::Error(errno));
        }
    }
}

/// Retries on a separate thread until the listener accepts.
fn retry_in_thread(
    watched: Arc<WatchedFilter>,
    question: SyscallNotification,
    socket: OwnedFd,
    bytes: Vec<u8>,
    file: Option<std::io::Result<OwnedFd>>,
) {
    let bytes = match file {
        Some(Ok(file)) => SocketAddress::of(file),
        Some(Err(_)) => SocketAddress {
            bytes: Vec::new(),
            file: None,
        },
        None => SocketAddress { bytes, file: None },
    };
    let again = watched.clone();
    let run = move || {
        let number = socket.as_raw_fd();
        let mut result = Err(libc::ETIMEDOUT);
        for _ in 0..MAX_RETRIES {
            // Nothing is ever readable here: this only lets time pass.
            kernel::sleep(RETRY_INTERVAL_MS);
            let tried = kernel::while_nonblocking(number, || kernel::connect(number, &bytes.bytes));
            result = tried.and_then(|(result, _)| result);
            let is_busy = matches!(
                result,
                Err(libc::EINPROGRESS | libc::EAGAIN | libc::EALREADY)
            );
            if !is_busy || !watched.is_pending(&question) {
                break;
            }
        }
        let answer = match result {
            Ok(()) | Err(libc::EISCONN) => NotificationReply::Done,
            Err(errno) => NotificationReply::Error(errno),
        };
        watched.reply(&question, answer);
    };
    let thread = std::thread::Builder::new().name("sandbox-connect".to_owned());
    if thread.spawn(run).is_err() {
        again.reply(&question, NotificationReply::Error(libc::EAGAIN));
    }
}

fn record_host_denial(watched: &WatchedFilter, address: &[u8]) {
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
        watched.denials.add(DeniedAccess::Host { host, port });
    }
}
