//! Sockets: the loopback interface, listeners, pairs.
#![expect(unsafe_code, reason = "system calls take raw numbers and addresses")]

use std::os::fd::RawFd;

use libc::{c_int, c_long};

use super::{Errno, check, close, number};

/// Brings up the loopback interface of this network namespace.
pub(in crate::linux) fn raise_loopback() -> Result<(), Errno> {
    // SAFETY: takes integers only.
    let socket = number(c_long::from(unsafe {
        libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)
    }))?;
    // SAFETY: an all-zero `ifreq` is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request outlives the call.
    let raised = check(c_long::from(unsafe {
        libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request)
    }));
    close(socket);
    raised
}

/// Listens on a port of every IPv4 address.
pub(in crate::linux) fn listen_on_four(port: u16) -> Result<RawFd, Errno> {
    // SAFETY: an all-zero address is valid, and means any address.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_port = port.to_be();
    let size = size_of_val(&address);
    listen_at(libc::AF_INET, (&raw const address).cast(), size)
}

/// Listens on a port of every IPv6 address, and of no IPv4 address.
pub(in crate::linux) fn listen_on_six(port: u16) -> Result<RawFd, Errno> {
    // SAFETY: an all-zero address is valid, and means any address.
    let mut address: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
    address.sin6_family = libc::AF_INET6 as u16;
    address.sin6_port = port.to_be();
    let size = size_of_val(&address);
    listen_at(libc::AF_INET6, (&raw const address).cast(), size)
}

/// Binds and listens; `address` must point to an address of this family and size.
fn listen_at(family: c_int, address: *const libc::sockaddr, size: usize) -> Result<RawFd, Errno> {
    // SAFETY: takes integers only.
    let socket = number(c_long::from(unsafe {
        libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)
    }))?;
    let yes: c_int = 1;
    if family == libc::AF_INET6 {
        // SAFETY: the value has the given size.
        check(c_long::from(unsafe {
            libc::setsockopt(
                socket,
                libc::IPPROTO_IPV6,
                libc::IPV6_V6ONLY,
                (&raw const yes).cast(),
                size_of_val(&yes) as u32,
            )
        }))?;
    }
    // SAFETY: the caller guarantees that the address has the given size.
    let bound = check(c_long::from(unsafe {
        libc::bind(socket, address, size as u32)
    }));
    // SAFETY: takes integers only.
    let listens = bound.and_then(|()| check(c_long::from(unsafe { libc::listen(socket, 128) })));
    match listens {
        Ok(()) => Ok(socket),
        Err(errno) => {
            close(socket);
            Err(errno)
        }
    }
}

/// Opens a socket that lists the sockets of the current network namespace.
pub(in crate::linux) fn socket_list() -> Result<RawFd, Errno> {
    const ABOUT_SOCKETS: c_int = 4;
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes integers only.
    number(c_long::from(unsafe {
        libc::socket(libc::AF_NETLINK, kind, ABOUT_SOCKETS)
    }))
}

/// Listens on a port of the loopback.
pub(in crate::linux) fn listen(port: u16) -> Result<RawFd, Errno> {
    // SAFETY: takes integers only.
    let socket = number(c_long::from(unsafe {
        libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)
    }))?;
    // SAFETY: an all-zero address is valid.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_port = port.to_be();
    address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
    let size = size_of_val(&address) as u32;
    // SAFETY: the address has the given size.
    check(c_long::from(unsafe {
        libc::bind(socket, (&raw const address).cast(), size)
    }))?;
    // SAFETY: takes integers only.
    check(c_long::from(unsafe { libc::listen(socket, 128) }))?;
    Ok(socket)
}

/// Creates a socket pair that preserves message boundaries.
pub(in crate::linux) fn socket_pair() -> Result<[RawFd; 2], Errno> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for two descriptors.
    check(c_long::from(unsafe {
        libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr())
    }))?;
    Ok(ends)
}
