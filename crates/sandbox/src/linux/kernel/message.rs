//! Messages with descriptors, over sockets that keep them whole.
#![expect(unsafe_code, reason = "control messages are laid out by hand")]

use std::os::fd::RawFd;

use libc::c_int;

use super::Errno;

/// A buffer for the header and eight descriptors.
#[repr(C, align(8))]
struct Attached([u8; 64]);

const HEADER: usize = size_of::<libc::cmsghdr>();

/// Maximum number of descriptors in one message.
pub(in crate::linux) const MAX_DESCRIPTORS: usize = 8;

/// Sends bytes together with copies of descriptors.
pub(in crate::linux) fn send(socket: RawFd, bytes: &[u8], files: &[RawFd]) -> Result<(), Errno> {
    let files = &files[..files.len().min(MAX_DESCRIPTORS)];
    let mut attached = Attached([0; 64]);
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: an all-zero header is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if !files.is_empty() {
        let length = HEADER + size_of_val(files);
        attached.0[..8].copy_from_slice(&(length as u64).to_ne_bytes());
        attached.0[8..12].copy_from_slice(&libc::SOL_SOCKET.to_ne_bytes());
        attached.0[12..16].copy_from_slice(&libc::SCM_RIGHTS.to_ne_bytes());
        for (place, file) in attached.0[HEADER..].chunks_exact_mut(4).zip(files) {
            place.copy_from_slice(&file.to_ne_bytes());
        }
        message.msg_control = attached.0.as_mut_ptr().cast();
        message.msg_controllen = length as _;
    }
    loop {
        // SAFETY: bytes and control data outlive the call and have the given lengths.
        let sent = unsafe { libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL) };
        match super::checked(sent as libc::c_long) {
            Ok(_) => return Ok(()),
            Err(libc::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Receives one message: returns the number of bytes and of descriptors (closed on exec). Zero
/// bytes mean that the other end is closed.
pub(in crate::linux) fn receive(
    socket: RawFd,
    bytes: &mut [u8],
    files: &mut [RawFd; MAX_DESCRIPTORS],
) -> Result<(usize, usize), Errno> {
    let mut attached = Attached([0; 64]);
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: an all-zero header is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = attached.0.as_mut_ptr().cast();
    message.msg_controllen = attached.0.len() as _;
    let flags: c_int = libc::MSG_CMSG_CLOEXEC;
    let count = loop {
        // SAFETY: both buffers are writable and have the given lengths.
        let received = unsafe { libc::recvmsg(socket, &raw mut message, flags) };
        match super::checked(received as libc::c_long) {
            Ok(count) => break count as usize,
            // The other end closed with data of ours unread; its earlier messages are still
            // available.
            Err(libc::EINTR | libc::ECONNRESET) => {}
            Err(errno) => return Err(errno),
        }
    };
    // The length in the header counts the descriptors; the total is rounded up.
    let mut length = [0; 8];
    length.copy_from_slice(&attached.0[..8]);
    let length = u64::from_ne_bytes(length) as usize;
    let mut taken = 0;
    if message.msg_controllen as usize > HEADER && length > HEADER {
        for (place, file) in attached.0[HEADER..length.min(64)]
            .chunks_exact(4)
            .zip(files.iter_mut())
        {
            *file = RawFd::from_ne_bytes([place[0], place[1], place[2], place[3]]);
            taken += 1;
        }
    }
    Ok((count, taken))
}
