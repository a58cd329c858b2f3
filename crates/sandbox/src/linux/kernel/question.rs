//! What the filter asks, and the means to answer: the asking process's memory and its sockets.
#![expect(unsafe_code, reason = "questions are structures of the kernel")]

use std::os::fd::RawFd;

use libc::{c_long, c_ulong};

use super::{Errno, checked, close, done, number};

/// A system call that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(in crate::linux) struct Question {
    pub(in crate::linux) id: u64,
    /// The thread, as this process counts.
    pub(in crate::linux) thread: u32,
    pub(in crate::linux) call: c_long,
    pub(in crate::linux) arguments: [u64; 6],
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linux) enum Answer {
    /// The kernel does it, with what is in memory then.
    Continue,
    /// It was done for the caller.
    Done,
    /// It fails.
    Error(Errno),
}

const RECEIVE: c_ulong = 0xc050_2100;
const SEND: c_ulong = 0xc018_2101;
const IS_VALID: c_ulong = 0x4008_2102;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawQuestion {
    id: u64,
    thread: u32,
    flags: u32,
    call: i32,
    architecture: u32,
    at: u64,
    arguments: [u64; 6],
}

/// Takes the next question; blocks when there is none.
pub(in crate::linux) fn question(listener: RawFd) -> Result<Question, Errno> {
    let mut raw = RawQuestion::default();
    // SAFETY: the structure is laid out as the kernel's and all zeroes, as it wants it.
    done(c_long::from(unsafe {
        libc::ioctl(listener, RECEIVE as _, &raw mut raw)
    }))?;
    Ok(Question {
        id: raw.id,
        thread: raw.thread,
        call: c_long::from(raw.call),
        arguments: raw.arguments,
    })
}

/// Answers. Whoever asked may have been killed meanwhile.
pub(in crate::linux) fn answer(listener: RawFd, id: u64, answer: Answer) -> Result<(), Errno> {
    let (error, flags) = match answer {
        Answer::Continue => (0, 1),
        Answer::Done => (0, 0),
        Answer::Error(errno) => (-errno, 0),
    };
    let told: [u64; 3] = [
        id,
        0,
        u64::from(error as u32) | u64::from(flags as u32) << 32,
    ];
    // SAFETY: id, value, error and flags lie as the kernel wants them.
    done(c_long::from(unsafe {
        libc::ioctl(listener, SEND as _, told.as_ptr())
    }))
}

/// Whether the question still waits: what was read of its process belongs to that process.
pub(in crate::linux) fn is_asked(listener: RawFd, id: u64) -> bool {
    // SAFETY: the number outlives the call.
    unsafe { libc::ioctl(listener, IS_VALID as _, &raw const id) == 0 }
}

/// Reads memory of another process, as much as there is of it; parts beyond a page that is not there
/// are left out.
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
    // SAFETY: the buffer can be written; the other addresses are the other process's.
    let read = unsafe {
        libc::process_vm_readv(process as i32, &raw const local, 1, remote.as_ptr(), 2, 0)
    };
    checked(read as c_long).map(|count| count as usize)
}

/// The socket behind a descriptor of another thread.
pub(in crate::linux) fn socket_of(thread: u32, descriptor: RawFd) -> Result<RawFd, Errno> {
    const THREAD: i32 = libc::O_EXCL;
    // SAFETY: takes numbers only.
    let opened =
        |flags: i32| unsafe { number(libc::syscall(libc::SYS_pidfd_open, thread as i32, flags)) };
    // Kernels before 6.9 know only the first thread of a process.
    let process = opened(THREAD).or_else(|_| opened(0))?;
    // SAFETY: takes numbers only.
    let socket = unsafe { number(libc::syscall(libc::SYS_pidfd_getfd, process, descriptor, 0)) };
    close(process);
    socket
}

/// `connect`, to an address as bytes.
pub(in crate::linux) fn connect(socket: RawFd, address: &[u8]) -> Result<(), Errno> {
    // SAFETY: the address has the length that is told.
    done(c_long::from(unsafe {
        libc::connect(socket, address.as_ptr().cast(), address.len() as u32)
    }))
}

/// Runs `run` while nothing on the socket blocks; says too whether the owner wants it to.
pub(in crate::linux) fn nothing_blocks<T>(
    socket: RawFd,
    run: impl FnOnce() -> T,
) -> Result<(T, bool), Errno> {
    // SAFETY: takes numbers only.
    let flags = number(c_long::from(unsafe { libc::fcntl(socket, libc::F_GETFL) }))?;
    let is_blocking = flags & libc::O_NONBLOCK == 0;
    let set = |flags: i32| {
        // SAFETY: takes numbers only.
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
