//! System calls, each with its safety reason. Nothing here allocates, so that everything can be
//! called between fork and exec.
//!
//! Invariant: descriptors are plain numbers here; the callers decide who owns them, since a forked
//! child has copies of them all.
#![expect(unsafe_code, reason = "system calls take raw numbers and addresses")]

use std::ffi::CStr;
use std::os::fd::RawFd;

use libc::{c_int, c_long, c_void};

mod clone;
mod confine;
mod memory;
mod message;
mod mount;
mod notification;
mod socket;

pub(super) use clone::{ForkSide, execute, fork, spawn};
pub(super) use confine::{drop_capabilities_if_any, install_filter, set_limit};
pub(crate) use confine::{landlock_allow, landlock_create, landlock_restrict};
pub(super) use memory::{map, memory, pointers, wipe};
pub(super) use message::{receive, send};
pub(super) use mount::{Attributes, copy_tree, mount, place_tree, set_attributes};
pub(super) use notification::{
    NotificationReply, SyscallNotification, connect, is_pending, next_notification, read_memory,
    reply, socket_of, while_nonblocking,
};
pub(super) use socket::{
    listen, listen_on_four, listen_on_six, raise_loopback, socket_list, socket_pair,
};

/// A kernel error code (`errno`).
pub(crate) type Errno = i32;

/// Returns the result of a system call, or this thread's errno if it is negative.
fn checked(result: c_long) -> Result<i64, Errno> {
    if result >= 0 {
        return Ok(result);
    }
    // SAFETY: the address of the calling thread's own errno is always valid.
    Err(unsafe { *libc::__errno_location() })
}

/// Like `checked`, for a result that fits 32 bits, such as a descriptor.
fn number(result: c_long) -> Result<i32, Errno> {
    checked(result).map(|value| value as i32)
}

/// Like `checked`, for a call whose result does not matter.
fn check(result: c_long) -> Result<(), Errno> {
    checked(result).map(|_| ())
}

/// Opens a path with `openat2` without following any link.
pub(crate) fn open_path(folder: RawFd, path: &CStr, flags: c_int) -> Result<RawFd, Errno> {
    open_how(
        folder,
        path,
        flags,
        libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_MAGICLINKS,
    )
}

/// Opens a path with `openat2` and a resolve mode.
pub(super) fn open_how(
    folder: RawFd,
    path: &CStr,
    flags: c_int,
    resolve: u64,
) -> Result<RawFd, Errno> {
    let how: [u64; 3] = [(flags | libc::O_CLOEXEC) as u64, 0, resolve];
    let mut opened = Err(libc::EAGAIN);
    // A concurrent rename or mount makes the kernel uncertain about `..` (`EAGAIN`).
    for _ in 0..1000 {
        // SAFETY: the path ends in NUL and `how` has the given size.
        opened = number(unsafe {
            libc::syscall(
                libc::SYS_openat2,
                folder,
                path.as_ptr(),
                how.as_ptr(),
                size_of_val(&how),
            )
        });
        if opened != Err(libc::EAGAIN) {
            break;
        }
    }
    opened
}

/// Opens a path with `openat`, following links; only for paths that the kernel or this crate
/// creates.
pub(super) fn open(path: &CStr, flags: c_int) -> Result<RawFd, Errno> {
    // SAFETY: the path ends in NUL.
    let file = unsafe {
        libc::openat(
            libc::AT_FDCWD,
            path.as_ptr(),
            flags | libc::O_CLOEXEC,
            0o600,
        )
    };
    number(c_long::from(file))
}

pub(crate) fn close(file: RawFd) {
    // SAFETY: closing a descriptor that is not open has no effect.
    unsafe { libc::close(file) };
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: RawFd) -> Result<(), Errno> {
    // SAFETY: takes integers only; the caller owns no descriptor from there on.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) })
}

/// Duplicates `file` to `target`, without close-on-exec.
pub(crate) fn duplicate(file: RawFd, target: RawFd) -> Result<(), Errno> {
    // SAFETY: takes integers only.
    number(c_long::from(unsafe { libc::dup2(file, target) })).map(|_| ())
}

/// Duplicates `file` to a number of at least `least`, closed on exec.
pub(super) fn duplicate_above(file: RawFd, least: RawFd) -> Result<RawFd, Errno> {
    // SAFETY: takes integers only.
    number(c_long::from(unsafe {
        libc::fcntl(file, libc::F_DUPFD_CLOEXEC, least)
    }))
}

/// Writes to a descriptor and returns the number of bytes written, which may be fewer than given.
pub(super) fn write(file: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the slice is valid for its length.
    checked(unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) } as c_long)
        .map(|count| count as usize)
}

/// Creates a folder with `mode`, restricted by the umask. Fails with `EEXIST` if the path exists.
pub(super) fn make_folder(path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path ends in NUL.
    check(c_long::from(unsafe { libc::mkdir(path.as_ptr(), mode) }))
}

/// Sets the mode of a file or folder, following links.
pub(super) fn change_mode(path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path ends in NUL.
    check(c_long::from(unsafe { libc::chmod(path.as_ptr(), mode) }))
}

/// Creates a symlink at `path`. Fails with `EEXIST` if the path exists.
pub(super) fn make_link(target: &CStr, path: &CStr) -> Result<(), Errno> {
    // SAFETY: both paths end in NUL.
    check(c_long::from(unsafe {
        libc::symlink(target.as_ptr(), path.as_ptr())
    }))
}

/// Makes a path the current folder of this process.
pub(super) fn change_folder(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path ends in NUL.
    check(c_long::from(unsafe { libc::chdir(path.as_ptr()) }))
}

/// Returns the device and inode of an open file.
pub(super) fn identity(file: RawFd) -> Result<(u64, u64), Errno> {
    // SAFETY: an all-zero `stat` is valid.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is writable.
    check(c_long::from(unsafe { libc::fstat(file, &raw mut stat) }))?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Calls `prctl` with integer arguments.
pub(crate) fn control(option: c_int, a: u64, b: u64) -> Result<(), Errno> {
    // SAFETY: callers pass only options that take integers, or the address of a static string.
    check(c_long::from(unsafe { libc::prctl(option, a, b, 0, 0) }))
}

/// Names this thread, as shown by `ps`.
pub(super) fn set_name(name: &'static CStr) {
    // The name is only informative; a failure is harmless.
    control(libc::PR_SET_NAME, name.as_ptr() as u64, 0).unwrap_or_default();
}

/// Waits until one of two descriptors is readable or closed; returns which.
pub(super) fn wait_for(files: [RawFd; 2]) -> [bool; 2] {
    let mut polled = files.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: there are two entries. An interrupted call reports nothing, and the caller retries.
    unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
    polled.map(|entry| entry.revents != 0)
}

/// Waits until a descriptor is readable, at most for this many milliseconds (-1: without limit).
pub(super) fn wait_readable(file: RawFd, milliseconds: c_int) -> bool {
    let mut entry = libc::pollfd {
        fd: file,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: there is one entry.
    unsafe { libc::poll(&raw mut entry, 1, milliseconds) > 0 }
}

/// Sleeps for this many milliseconds.
pub(super) fn sleep(milliseconds: c_int) {
    // SAFETY: there are no entries.
    unsafe { libc::poll(std::ptr::null_mut(), 0, milliseconds) };
}

/// Returns a descriptor that is readable when a child has ended; the signal itself is blocked.
pub(super) fn child_signals() -> Result<RawFd, Errno> {
    // SAFETY: an all-zero set is valid, and the set outlives the calls.
    unsafe {
        // An ignored signal is never delivered, and stays ignored across exec.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        number(c_long::from(libc::signalfd(-1, &raw const set, flags)))
    }
}

/// Unblocks all signals of this thread.
pub(super) fn unblock_signals() {
    // SAFETY: an all-zero set is the empty set.
    unsafe {
        let set: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// Resets every signal to its default action.
pub(super) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: only the default action is set; signals that cannot be set are left alone.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Makes the kernel reap ended children automatically.
pub(super) fn forget_children() {
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Reads a nonblocking descriptor until it is empty.
pub(super) fn drain(file: RawFd) {
    let mut bytes = [0_u8; 512];
    // SAFETY: the buffer is valid for its length.
    while unsafe { libc::read(file, bytes.as_mut_ptr().cast(), bytes.len()) } > 0 {}
}

/// The result of `reap`.
pub(super) enum ReapResult {
    /// A child ended: its id and status.
    Ended(i32, i32),
    /// All children are running.
    Running,
    /// There is no child.
    None,
}

/// Reaps a child that has ended, if there is one.
pub(super) fn reap() -> ReapResult {
    let mut status = 0;
    // SAFETY: the status is writable.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        0 => ReapResult::Running,
        child if child > 0 => ReapResult::Ended(child, status),
        _ => ReapResult::None,
    }
}

pub(super) fn kill(process: i32, signal: i32) {
    // SAFETY: takes integers only.
    unsafe { libc::kill(process, signal) };
}

/// Sends a signal to a process through its pidfd.
pub(super) fn kill_pidfd(process: RawFd, signal: i32) {
    // SAFETY: no siginfo is passed.
    unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process,
            signal,
            std::ptr::null::<c_void>(),
            0,
        )
    };
}

/// Opens a pidfd of this process.
pub(super) fn own_pidfd() -> Result<RawFd, Errno> {
    // SAFETY: takes integers only.
    number(unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) })
}

/// Makes this process the leader of a new session without a terminal. Fails with `EPERM` if it
/// leads a process group.
pub(super) fn new_session() -> Result<(), Errno> {
    // SAFETY: takes no arguments.
    number(c_long::from(unsafe { libc::setsid() })).map(|_| ())
}

/// Makes a stream the controlling terminal of this session.
pub(super) fn take_terminal(stream: RawFd) -> Result<(), Errno> {
    // SAFETY: the argument is an integer.
    check(c_long::from(unsafe {
        libc::ioctl(stream, libc::TIOCSCTTY as _, 0)
    }))
}

/// Exits this process at once.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: exits without running destructors or handlers.
    unsafe { libc::_exit(code) }
}

/// Returns the effective user and group of this process.
pub(super) fn user_and_group() -> (u32, u32) {
    // SAFETY: both take no arguments and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}
