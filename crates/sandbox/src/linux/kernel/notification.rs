//! Seccomp notifications, and access to the memory and the sockets of the notifying process.
#![expect(unsafe_code, reason = "notifications are kernel structures")]

use std::os::fd::RawFd;

use libc::{c_long, c_ulong};

use super::{Errno, check, checked, close, number};

/// A seccomp notification: a system call that waits for a reply.
#[derive(Clone, Copy, Debug)]
pub(in crate::linux) struct SyscallNotification {
    pub(in crate::linux) id: u64,
    /// The calling thread, in this process's PID namespace.
    pub(in crate::linux) thread: u32,
    pub(in crate::linux) call: c_long,
    pub(in crate::linux) arguments: [u64; 6],
}

/// The reply to a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linux) enum NotificationReply {
    /// The kernel performs the call with the memory contents of that moment.
    Continue,
    /// The call was performed on the caller's behalf.
    Done,
    /// The call fails with this error.
    Error(Errno),
}

const RECEIVE: c_ulong = 0xc050_2100;
const SEND: c_ulong = 0xc018_2101;
const IS_VALID: c_ulong = 0x4008_2102;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawNotification {
    id: u64,
    thread: u32,
    flags: u32,
    call: i32,
    architecture: u32,
    at: u64,
    arguments: [u64; 6],
}

/// Receives the next notification; blocks if there is none.
pub(in crate::linux) fn next_notification(listener: RawFd) -> Result<SyscallNotification, Errno> {
    let mut raw = RawNotification::default();
    // SAFETY: the structure has the kernel's layout and is all zeroes, as required.
    check(c_long::from(unsafe {
        libc::ioctl(listener, RECEIVE as _, &raw mut raw)
    }))?;
    Ok(SyscallNotification {
        id: raw.id,
        thread: raw.thread,
        call: c_long::from(raw.call),
        arguments: raw.arguments,
    })
}

/// Sends a reply. The calling process may have been killed meanwhile.
pub(in crate::linux) fn reply(
    listener: RawFd,
    id: u64,
    answer: NotificationReply,
) -> Result<(), Errno> {
    let (error, flags) = match answer {
        NotificationReply::Continue => (0, 1),
        NotificationReply::Done => (0, 0),
        NotificationReply::Error(errno) => (-errno, 0),
    };
    let response: [u64; 3] = [
        id,
        0,
        u64::from(error as u32) | u64::from(flags as u32) << 32,
    ];
    // SAFETY: id, value, error and flags have the kernel's layout.
    check(c_long::from(unsafe {
        libc::ioctl(listener, SEND as _, response.as_ptr())
    }))
}

/// Returns whether the notification is still pending, so that memory read before belongs to the
/// calling process.
pub(in crate::linux) fn is_pending(listener: RawFd, id: u64) -> bool {
    // SAFETY: the id outlives the call.
    unsafe { libc::ioctl(listener, IS_VALID as _, &raw const id) == 0 }
}

/// Reads memory of another process, as much as is mapped; parts after an unmapped page are omitted.
pub(in crate::linux) fn read_memory(
    process: u32,
    address: u64,
    buffer: &mut [u8],
) -> Result<usize, Errno> {
    const PAGE: usize = 4096;
    let to_end_of_page = PAGE - (address as usize % PAGE);
    let first = to_end_of_page.min(buffer.len());
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let remote = [
        libc::iovec {
            iov_base: address as *mut _,
            iov_len: first,
        },
        libc::iovec {
            iov_base: (address + first as u64) as *mut _,
            iov_len: buffer.len() - first,
        },
    ];
    // SAFETY: the buffer is writable; the other addresses belong to the other process.
    let read = unsafe {
        libc::process_vm_readv(process as i32, &raw const local, 1, remote.as_ptr(), 2, 0)
    };
    checked(read as c_long).map(|count| count as usize)
}

/// Duplicates the socket behind a descriptor of another thread.
pub(in crate::linux) fn socket_of(thread: u32, descriptor: RawFd) -> Result<RawFd, Errno> {
    const THREAD: i32 = libc::O_EXCL;
    // SAFETY: takes integers only.
    let opened =
        |flags: i32| unsafe { number(libc::syscall(libc::SYS_pidfd_open, thread as i32, flags)) };
    // Kernels before 6.9 accept only the first thread of a process.
    let process = opened(THREAD).or_else(|_| opened(0))?;
    // SAFETY: takes integers only.
    let socket = unsafe { number(libc::syscall(libc::SYS_pidfd_getfd, process, descriptor, 0)) };
    close(process);
    socket
}

/// Calls `connect` with an address given as bytes.
pub(in crate::linux) fn connect(socket: RawFd, address: &[u8]) -> Result<(), Errno> {
    // SAFETY: the address has the given length.
    check(c_long::from(unsafe {
        libc::connect(socket, address.as_ptr().cast(), address.len() as u32)
    }))
}

/// Runs `run` while the socket is nonblocking; also returns whether its owner had it blocking.
pub(in crate::linux) fn while_nonblocking<T>(
    socket: RawFd,
    run: impl FnOnce() -> T,
) -> Result<(T, bool), Errno> {
    // SAFETY: takes integers only.
    let flags = number(c_long::from(unsafe { libc::fcntl(socket, libc::F_GETFL) }))?;
    let is_blocking = flags & libc::O_NONBLOCK == 0;
    let set = |flags: i32| {
        // SAFETY: takes integers only.
        number(c_long::from(unsafe {
            libc::fcntl(socket, libc::F_SETFL, flags)
        }))
    };
    if is_blocking {
        set(flags | libc::O_NONBLOCK)?;
    }
    let result = run();
    if is_blocking {
        set(flags)?;
    }
    Ok((result, is_blocking))
}
