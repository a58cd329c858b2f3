//! System calls, each with its safety reason. Nothing here allocates, so that everything can be
//! called between fork and exec.
//!
//! Invariant: descriptors are plain numbers here; the callers decide who owns them, since a forked
//! child has copies of them all.
#![expect(unsafe_code, reason = "system calls take raw numbers and addresses")]

use std::ffi::CStr;
use std::os::fd::RawFd;

use libc::{c_int, c_long, c_ulong, c_void};

mod clone;
mod message;
mod notification;

pub(super) use clone::{ForkSide, execute, fork, spawn};
pub(super) use message::{receive, send};
pub(super) use notification::{
    NotificationReply, SyscallNotification, connect, is_pending, next_notification, read_memory,
    reply, socket_of, while_nonblocking,
};

/// A kernel error code (`errno`).
pub(super) type Errno = i32;

fn checked(result: c_long) -> Result<i64, Errno> {
    if result >= 0 {
        return Ok(result);
    }
    // SAFETY: the address of the calling thread's own errno is always valid.
    Err(unsafe { *libc::__errno_location() })
}

fn number(result: c_long) -> Result<i32, Errno> {
    checked(result).map(|value| value as i32)
}

fn check(result: c_long) -> Result<(), Errno> {
    checked(result).map(|_| ())
}

/// Opens a path with `openat2` without following any link.
pub(super) fn open_path(folder: RawFd, path: &CStr, flags: c_int) -> Result<RawFd, Errno> {
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

pub(super) fn close(file: RawFd) {
    // SAFETY: closing a descriptor that is not open has no effect.
    unsafe { libc::close(file) };
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: RawFd) -> Result<(), Errno> {
    // SAFETY: takes integers only; the caller owns no descriptor from there on.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) })
}

/// Duplicates `file` to `target`, without close-on-exec.
pub(super) fn duplicate(file: RawFd, target: RawFd) -> Result<(), Errno> {
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

pub(super) fn write(file: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the slice is valid for its length.
    checked(unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) } as c_long)
        .map(|count| count as usize)
}

pub(super) fn make_folder(path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path ends in NUL.
    check(c_long::from(unsafe { libc::mkdir(path.as_ptr(), mode) }))
}

pub(super) fn change_mode(path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path ends in NUL.
    check(c_long::from(unsafe { libc::chmod(path.as_ptr(), mode) }))
}

pub(super) fn make_link(target: &CStr, path: &CStr) -> Result<(), Errno> {
    // SAFETY: both paths end in NUL.
    check(c_long::from(unsafe {
        libc::symlink(target.as_ptr(), path.as_ptr())
    }))
}

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

pub(super) fn mount(kind: &CStr, path: &CStr, flags: c_ulong, options: &CStr) -> Result<(), Errno> {
    // SAFETY: all strings end in NUL.
    check(c_long::from(unsafe {
        libc::mount(
            kind.as_ptr(),
            path.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    }))
}

/// Returns a detached copy of the mount at an open path.
pub(super) fn copy_tree(file: RawFd, is_recursive: bool) -> Result<RawFd, Errno> {
    const CLONE: c_int = 1;
    let recursive = if is_recursive { libc::AT_RECURSIVE } else { 0 };
    let flags = CLONE | libc::O_CLOEXEC | libc::AT_EMPTY_PATH | recursive;
    // SAFETY: the path is a string that ends in NUL.
    number(unsafe { libc::syscall(libc::SYS_open_tree, file, c"".as_ptr(), flags) })
}

/// Attaches a detached mount to an open path.
pub(super) fn place_tree(tree: RawFd, target: RawFd) -> Result<(), Errno> {
    const BOTH_BY_DESCRIPTOR: c_int = 0x04 | 0x40;
    // SAFETY: both paths are strings that end in NUL.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree,
            c"".as_ptr(),
            target,
            c"".as_ptr(),
            BOTH_BY_DESCRIPTOR,
        )
    })
}

/// The arguments of `mount_setattr`.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    pub(super) set: u64,
    pub(super) clear: u64,
    pub(super) propagation: u64,
    pub(super) is_recursive: bool,
}

pub(super) fn set_attributes(file: RawFd, attributes: Attributes) -> Result<(), Errno> {
    let told: [u64; 4] = [attributes.set, attributes.clear, attributes.propagation, 0];
    let recursive = if attributes.is_recursive {
        libc::AT_RECURSIVE
    } else {
        0
    };
    // SAFETY: the path ends in NUL and the structure has the given size.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            file,
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            told.as_ptr(),
            size_of_val(&told),
        )
    })
}

/// Calls `prctl` with integer arguments.
pub(super) fn control(option: c_int, a: u64, b: u64) -> Result<(), Errno> {
    // SAFETY: callers pass only options that take integers, or the address of a static string.
    check(c_long::from(unsafe { libc::prctl(option, a, b, 0, 0) }))
}

/// Names this thread, as shown by `ps`.
pub(super) fn set_name(name: &'static CStr) {
    // The name is only informative; a failure is harmless.
    control(libc::PR_SET_NAME, name.as_ptr() as u64, 0).unwrap_or_default();
}

/// Drops every capability, for this process and for the programs it executes. A process that has
/// none, and cannot gain any because of `no_new_privs`, has nothing to drop.
pub(super) fn drop_capabilities_if_any() -> Result<(), Errno> {
    match drop_capabilities() {
        Err(libc::EPERM) if user_and_group().0 != 0 => Ok(()),
        result => result,
    }
}

fn drop_capabilities() -> Result<(), Errno> {
    const LAST: u64 = 63;
    for capability in 0..=LAST {
        match control(libc::PR_CAPBSET_DROP, capability, 0) {
            Ok(()) => {}
            Err(libc::EINVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    // NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off and NO_CAP_AMBIENT_RAISE, each with its lock bit.
    const SECURE_BITS: u64 = 0xef;
    control(libc::PR_SET_SECUREBITS, SECURE_BITS, 0)?;
    let header: [u32; 2] = [0x2008_0522, 0];
    let none = [0_u32; 6];
    // SAFETY: header and sets have the sizes of version 3.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) })
}

pub(super) fn set_limit(resource: u32, value: u64) -> Result<(), Errno> {
    let limit = libc::rlimit64 {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the limit is readable; the old one is not requested.
    check(unsafe {
        libc::syscall(
            libc::SYS_prlimit64,
            0,
            resource,
            &raw const limit,
            std::ptr::null_mut::<c_void>(),
        )
    })
}

/// Brings up the loopback interface of this network namespace.
pub(super) fn raise_loopback() -> Result<(), Errno> {
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
pub(super) fn listen_on_four(port: u16) -> Result<RawFd, Errno> {
    // SAFETY: an all-zero address is valid, and means any address.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_port = port.to_be();
    let size = size_of_val(&address);
    listen_at(libc::AF_INET, (&raw const address).cast(), size)
}

/// Listens on a port of every IPv6 address, and of no IPv4 address.
pub(super) fn listen_on_six(port: u16) -> Result<RawFd, Errno> {
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
pub(super) fn socket_list() -> Result<RawFd, Errno> {
    const ABOUT_SOCKETS: c_int = 4;
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes integers only.
    number(c_long::from(unsafe {
        libc::socket(libc::AF_NETLINK, kind, ABOUT_SOCKETS)
    }))
}

/// Listens on a port of the loopback.
pub(super) fn listen(port: u16) -> Result<RawFd, Errno> {
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
pub(super) fn socket_pair() -> Result<[RawFd; 2], Errno> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for two descriptors.
    check(c_long::from(unsafe {
        libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr())
    }))?;
    Ok(ends)
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

/// Creates a Landlock ruleset; without attributes, returns the version of the kernel's Landlock
/// ABI.
pub(super) fn landlock_create(attributes: Option<&[u64; 3]>) -> Result<RawFd, Errno> {
    // SAFETY: the attributes have the given size.
    number(unsafe {
        match attributes {
            None => libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<c_void>(),
                0,
                1,
            ),
            Some(told) => {
                // Kernels without scopes know the first two fields, those without network rules
                // only the first.
                let known = 8 * (3 - told.iter().rev().take_while(|bits| **bits == 0).count());
                libc::syscall(libc::SYS_landlock_create_ruleset, told.as_ptr(), known, 0)
            }
        }
    })
}

/// Adds a rule that allows rights beneath an open path.
pub(super) fn landlock_allow(ruleset: RawFd, rights: u64, beneath: RawFd) -> Result<(), Errno> {
    let mut told = [0_u8; 12];
    told[..8].copy_from_slice(&rights.to_ne_bytes());
    told[8..].copy_from_slice(&beneath.to_ne_bytes());
    const BENEATH: c_int = 1;
    // SAFETY: the rule is packed as the kernel expects it, twelve bytes.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset,
            BENEATH,
            told.as_ptr(),
            0,
        )
    })
}

pub(super) fn landlock_restrict(ruleset: RawFd) -> Result<(), Errno> {
    // SAFETY: takes integers only.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) })
}

/// Installs a seccomp filter and returns the descriptor of its notifications.
pub(super) fn install_filter(program: &[u8]) -> Result<RawFd, Errno> {
    const SET_FILTER: c_int = 1;
    const NEW_LISTENER: c_int = 1 << 3;
    const WAIT_KILLABLE: c_int = 1 << 5;
    let told = libc::sock_fprog {
        len: (program.len() / 8) as u16,
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the program consists of instructions of eight bytes; the kernel copies and checks it.
    number(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SET_FILTER,
            NEW_LISTENER | WAIT_KILLABLE,
            &raw const told,
        )
    })
}

/// Maps a file read-only for the life of the process.
pub(super) fn map(file: RawFd, length: usize) -> Result<&'static [u8], Errno> {
    let address = map_at(length, libc::PROT_READ, libc::MAP_PRIVATE, file)?;
    // SAFETY: the kernel mapped `length` bytes that are never unmapped.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) })
}

/// Allocates zeroed memory for the life of the process.
pub(super) fn memory(length: usize) -> Result<&'static mut [u8], Errno> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let address = map_at(length, libc::PROT_READ | libc::PROT_WRITE, flags, -1)?;
    // SAFETY: the kernel mapped `length` bytes, exclusively and without unmapping them.
    Ok(unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), length) })
}

fn map_at(length: usize, access: c_int, flags: c_int, file: RawFd) -> Result<*mut c_void, Errno> {
    // SAFETY: the kernel picks the address, so no memory in use is replaced.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, file, 0) };
    if address == libc::MAP_FAILED {
        // SAFETY: the address of the calling thread's own errno is always valid.
        return Err(unsafe { *libc::__errno_location() });
    }
    Ok(address)
}

/// Allocates an array of null pointers for the life of the process.
pub(super) fn pointers(count: usize) -> Result<&'static mut [*const libc::c_char], Errno> {
    let bytes = memory(8 * count.max(1))?;
    // SAFETY: the memory is long enough and page-aligned, and all zeroes are null pointers.
    Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), count) })
}

/// Overwrites a range of this process's memory: its environment as `/proc` shows it.
pub(super) fn wipe(range: std::ops::Range<usize>) {
    // SAFETY: the range comes from the kernel's description of this process's own stack, and the
    // calling process never reads its environment again.
    unsafe { std::ptr::write_bytes(range.start as *mut u8, 0, range.len()) };
}
