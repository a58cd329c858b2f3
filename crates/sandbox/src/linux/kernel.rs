//! System calls, each with its reason for being sound. Nothing here allocates, so that all of it can be
//! called between a fork and an exec.
//!
//! Invariant: descriptors are plain numbers here; who owns them is settled by the callers, because a
//! forked child has copies of them all.
#![expect(
    unsafe_code,
    reason = "the kernel is spoken to by numbers and addresses"
)]

use std::ffi::CStr;
use std::os::fd::RawFd;

use libc::{c_int, c_long, c_ulong, c_void};

mod clone;
mod message;
mod question;

pub(super) use clone::{Forked, execute, fork, spawn};
pub(super) use message::{receive, send};
pub(super) use question::{
    Answer, Question, answer, connect, is_asked, nothing_blocks, question, read_memory, socket_of,
};

/// What the kernel said, as `errno`.
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

fn done(result: c_long) -> Result<(), Errno> {
    checked(result).map(|_| ())
}

/// `openat2` of a path, without following any link.
pub(super) fn open_path(folder: RawFd, path: &CStr, flags: c_int) -> Result<RawFd, Errno> {
    open_how(
        folder,
        path,
        flags,
        libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_MAGICLINKS,
    )
}

/// `openat2` with a way to resolve.
pub(super) fn open_how(
    folder: RawFd,
    path: &CStr,
    flags: c_int,
    resolve: u64,
) -> Result<RawFd, Errno> {
    let how: [u64; 3] = [(flags | libc::O_CLOEXEC) as u64, 0, resolve];
    let mut opened = Err(libc::EAGAIN);
    // Whoever renames or mounts anything meanwhile makes the kernel unsure about `..`.
    for _ in 0..1000 {
        // SAFETY: the path ends in NUL and `how` has the size that is told.
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

/// `openat` that follows links; for paths that only the kernel or we make.
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
    // SAFETY: closing a number that is not open changes nothing.
    unsafe { libc::close(file) };
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: RawFd) -> Result<(), Errno> {
    // SAFETY: takes numbers only; the caller holds no owned descriptor from there on.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) })
}

/// Puts a copy of `file` at `target`, without close-on-exec.
pub(super) fn duplicate(file: RawFd, target: RawFd) -> Result<(), Errno> {
    // SAFETY: takes numbers only.
    number(c_long::from(unsafe { libc::dup2(file, target) })).map(|_| ())
}

/// A copy of `file` whose number is at least `least`, closed on exec.
pub(super) fn duplicate_above(file: RawFd, least: RawFd) -> Result<RawFd, Errno> {
    // SAFETY: takes numbers only.
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
    done(c_long::from(unsafe { libc::mkdir(path.as_ptr(), mode) }))
}

pub(super) fn change_mode(path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path ends in NUL.
    done(c_long::from(unsafe { libc::chmod(path.as_ptr(), mode) }))
}

pub(super) fn make_link(target: &CStr, path: &CStr) -> Result<(), Errno> {
    // SAFETY: both paths end in NUL.
    done(c_long::from(unsafe {
        libc::symlink(target.as_ptr(), path.as_ptr())
    }))
}

pub(super) fn change_folder(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path ends in NUL.
    done(c_long::from(unsafe { libc::chdir(path.as_ptr()) }))
}

/// Device and inode of an open file.
pub(super) fn identity(file: RawFd) -> Result<(u64, u64), Errno> {
    // SAFETY: all zeroes is a valid `stat`.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` can be written.
    done(c_long::from(unsafe { libc::fstat(file, &raw mut stat) }))?;
    Ok((stat.st_dev, stat.st_ino))
}

pub(super) fn mount(kind: &CStr, path: &CStr, flags: c_ulong, options: &CStr) -> Result<(), Errno> {
    // SAFETY: all strings end in NUL.
    done(c_long::from(unsafe {
        libc::mount(
            kind.as_ptr(),
            path.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    }))
}

/// A detached copy of the mount at an open path.
pub(super) fn copy_tree(file: RawFd, is_recursive: bool) -> Result<RawFd, Errno> {
    const CLONE: c_int = 1;
    let recursive = if is_recursive { libc::AT_RECURSIVE } else { 0 };
    let flags = CLONE | libc::O_CLOEXEC | libc::AT_EMPTY_PATH | recursive;
    // SAFETY: the path is a string that ends in NUL.
    number(unsafe { libc::syscall(libc::SYS_open_tree, file, c"".as_ptr(), flags) })
}

/// Puts a detached mount onto an open path.
pub(super) fn place_tree(tree: RawFd, target: RawFd) -> Result<(), Errno> {
    const BOTH_BY_DESCRIPTOR: c_int = 0x04 | 0x40;
    // SAFETY: both paths are strings that end in NUL.
    done(unsafe {
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

/// What `mount_setattr` is to change.
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
    // SAFETY: the path ends in NUL and `told` has the size that is told.
    done(unsafe {
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

/// `prctl` with plain numbers.
pub(super) fn control(option: c_int, a: u64, b: u64) -> Result<(), Errno> {
    // SAFETY: only options are used that take numbers, or the address of a static string.
    done(c_long::from(unsafe { libc::prctl(option, a, b, 0, 0) }))
}

/// Names this thread, as `ps` shows it.
pub(super) fn set_name(name: &'static CStr) {
    // A name is for people only; without it nothing is lost.
    control(libc::PR_SET_NAME, name.as_ptr() as u64, 0).unwrap_or_default();
}

/// Gives up every capability, for this process and whatever it executes. Who has none, and cannot have
/// any after `no_new_privs`, has nothing to give up.
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
    // No root, no fix-up when the user changes, no keeping, no ambient ones, each of them locked.
    const SECURE_BITS: u64 = 0xef;
    control(libc::PR_SET_SECUREBITS, SECURE_BITS, 0)?;
    let header: [u32; 2] = [0x2008_0522, 0];
    let none = [0_u32; 6];
    // SAFETY: header and sets have the sizes of version 3.
    done(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) })
}

pub(super) fn set_limit(resource: u32, value: u64) -> Result<(), Errno> {
    let limit = libc::rlimit64 {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the limit can be read; the old one is not asked for.
    done(unsafe {
        libc::syscall(
            libc::SYS_prlimit64,
            0,
            resource,
            &raw const limit,
            std::ptr::null_mut::<c_void>(),
        )
    })
}

/// Switches the loopback of this network on.
pub(super) fn raise_loopback() -> Result<(), Errno> {
    // SAFETY: takes numbers only.
    let socket = number(c_long::from(unsafe {
        libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)
    }))?;
    // SAFETY: all zeroes is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request outlives the call.
    let raised = done(c_long::from(unsafe {
        libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request)
    }));
    close(socket);
    raised
}

/// A socket that listens on a port of every address of IPv4.
pub(super) fn listen_on_four(port: u16) -> Result<RawFd, Errno> {
    // SAFETY: all zeroes is a valid address, and means every one.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_port = port.to_be();
    let size = size_of_val(&address);
    listen_at(libc::AF_INET, (&raw const address).cast(), size)
}

/// A socket that listens on a port of every address of IPv6 and of no other.
pub(super) fn listen_on_six(port: u16) -> Result<RawFd, Errno> {
    // SAFETY: all zeroes is a valid address, and means every one.
    let mut address: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
    address.sin6_family = libc::AF_INET6 as u16;
    address.sin6_port = port.to_be();
    let size = size_of_val(&address);
    listen_at(libc::AF_INET6, (&raw const address).cast(), size)
}

/// `address` points to an address of this family and size.
fn listen_at(family: c_int, address: *const libc::sockaddr, size: usize) -> Result<RawFd, Errno> {
    // SAFETY: takes numbers only.
    let socket = number(c_long::from(unsafe {
        libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)
    }))?;
    let yes: c_int = 1;
    if family == libc::AF_INET6 {
        // SAFETY: the value has the size that is told.
        done(c_long::from(unsafe {
            libc::setsockopt(
                socket,
                libc::IPPROTO_IPV6,
                libc::IPV6_V6ONLY,
                (&raw const yes).cast(),
                size_of_val(&yes) as u32,
            )
        }))?;
    }
    // SAFETY: the address has the size that is told, as the caller sees to.
    let bound = done(c_long::from(unsafe {
        libc::bind(socket, address, size as u32)
    }));
    // SAFETY: takes numbers only.
    let listens = bound.and_then(|()| done(c_long::from(unsafe { libc::listen(socket, 128) })));
    match listens {
        Ok(()) => Ok(socket),
        Err(errno) => {
            close(socket);
            Err(errno)
        }
    }
}

/// A socket that tells about the sockets of the network it was made in.
pub(super) fn socket_list() -> Result<RawFd, Errno> {
    const ABOUT_SOCKETS: c_int = 4;
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes numbers only.
    number(c_long::from(unsafe {
        libc::socket(libc::AF_NETLINK, kind, ABOUT_SOCKETS)
    }))
}

/// A socket that listens on a port of the loopback.
pub(super) fn listen(port: u16) -> Result<RawFd, Errno> {
    // SAFETY: takes numbers only.
    let socket = number(c_long::from(unsafe {
        libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)
    }))?;
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_port = port.to_be();
    address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
    let size = size_of_val(&address) as u32;
    // SAFETY: the address has the size that is told.
    done(c_long::from(unsafe {
        libc::bind(socket, (&raw const address).cast(), size)
    }))?;
    // SAFETY: takes numbers only.
    done(c_long::from(unsafe { libc::listen(socket, 128) }))?;
    Ok(socket)
}

/// Two ends that carry whole messages.
pub(super) fn socket_pair() -> Result<[RawFd; 2], Errno> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: there is room for two numbers.
    done(c_long::from(unsafe {
        libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr())
    }))?;
    Ok(ends)
}

/// Waits until one of two descriptors can be read or has ended; says which.
pub(super) fn wait_for(files: [RawFd; 2]) -> [bool; 2] {
    let mut polled = files.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: there are two entries. An interrupted call reports nothing, and the caller asks again.
    unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
    polled.map(|entry| entry.revents != 0)
}

/// Waits until a descriptor can be read, at most for a time in milliseconds (-1: for ever).
pub(super) fn wait_readable(file: RawFd, milliseconds: c_int) -> bool {
    let mut entry = libc::pollfd {
        fd: file,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: there is one entry.
    unsafe { libc::poll(&raw mut entry, 1, milliseconds) > 0 }
}

/// Lets milliseconds pass.
pub(super) fn pass_time(milliseconds: c_int) {
    // SAFETY: there is no entry to look at.
    unsafe { libc::poll(std::ptr::null_mut(), 0, milliseconds) };
}

/// A descriptor that can be read when a child has ended; the signal itself is held back.
pub(super) fn child_signals() -> Result<RawFd, Errno> {
    // SAFETY: all zeroes is a valid set, and the set outlives the calls.
    unsafe {
        // An ignored signal is never seen, and would stay ignored in what is executed.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        number(c_long::from(libc::signalfd(-1, &raw const set, flags)))
    }
}

/// Holds back no signal.
pub(super) fn unblock_signals() {
    // SAFETY: all zeroes is the empty set.
    unsafe {
        let set: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// Sets what every signal does to what it does by default.
pub(super) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: only the default is set; what cannot be set is left.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Children that end leave nothing to be waited for.
pub(super) fn forget_children() {
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Empties a descriptor that must not block.
pub(super) fn drain(file: RawFd) {
    let mut bytes = [0_u8; 512];
    // SAFETY: the buffer is valid for its length.
    while unsafe { libc::read(file, bytes.as_mut_ptr().cast(), bytes.len()) } > 0 {}
}

/// What `reap` found.
pub(super) enum Child {
    /// One has ended, with this status.
    Ended(i32, i32),
    /// All that there are run.
    Running,
    /// There is none.
    None,
}

/// Takes leave of a child that has ended, if there is one.
pub(super) fn reap() -> Child {
    let mut status = 0;
    // SAFETY: the status can be written.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        0 => Child::Running,
        child if child > 0 => Child::Ended(child, status),
        _ => Child::None,
    }
}

pub(super) fn kill(process: i32, signal: i32) {
    // SAFETY: takes numbers only.
    unsafe { libc::kill(process, signal) };
}

/// Sends a signal to a process by its descriptor.
pub(super) fn kill_by_descriptor(process: RawFd, signal: i32) {
    // SAFETY: no further information is passed.
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

/// A descriptor of this process itself.
pub(super) fn myself() -> Result<RawFd, Errno> {
    // SAFETY: takes numbers only.
    number(unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) })
}

pub(super) fn new_session() -> Result<(), Errno> {
    // SAFETY: takes nothing.
    number(c_long::from(unsafe { libc::setsid() })).map(|_| ())
}

/// Makes a stream the controlling terminal of this session.
pub(super) fn take_terminal(stream: RawFd) -> Result<(), Errno> {
    // SAFETY: the argument is a number.
    done(c_long::from(unsafe {
        libc::ioctl(stream, libc::TIOCSCTTY as _, 0)
    }))
}

/// Ends this process at once.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(code) }
}

/// Users and groups of this process.
pub(super) fn user_and_group() -> (u32, u32) {
    // SAFETY: both take nothing and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// A Landlock ruleset; without attributes, the version of the kernel's Landlock.
pub(super) fn landlock_create(attributes: Option<&[u64; 3]>) -> Result<RawFd, Errno> {
    // SAFETY: the attributes have the size that is told.
    number(unsafe {
        match attributes {
            None => libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<c_void>(),
                0,
                1,
            ),
            Some(told) => {
                // Kernels before the scopes know the first two numbers, those before TCP the first.
                let known = 8 * (3 - told.iter().rev().take_while(|bits| **bits == 0).count());
                libc::syscall(libc::SYS_landlock_create_ruleset, told.as_ptr(), known, 0)
            }
        }
    })
}

/// Gives rights beneath an open path.
pub(super) fn landlock_allow(ruleset: RawFd, rights: u64, beneath: RawFd) -> Result<(), Errno> {
    let mut told = [0_u8; 12];
    told[..8].copy_from_slice(&rights.to_ne_bytes());
    told[8..].copy_from_slice(&beneath.to_ne_bytes());
    const BENEATH: c_int = 1;
    // SAFETY: the rule is packed as the kernel wants it, twelve bytes.
    done(unsafe {
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
    // SAFETY: takes numbers only.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) })
}

/// Installs a filter of system calls; the answer is the descriptor on which it asks.
pub(super) fn install_filter(program: &[u8]) -> Result<RawFd, Errno> {
    const SET_FILTER: c_int = 1;
    const NEW_LISTENER: c_int = 1 << 3;
    const WAIT_KILLABLE: c_int = 1 << 5;
    let told = libc::sock_fprog {
        len: (program.len() / 8) as u16,
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the program is made of instructions of eight bytes; the kernel copies and checks it.
    number(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SET_FILTER,
            NEW_LISTENER | WAIT_KILLABLE,
            &raw const told,
        )
    })
}

/// A mapped file, read-only, for the life of the process.
pub(super) fn map(file: RawFd, length: usize) -> Result<&'static [u8], Errno> {
    let address = map_at(length, libc::PROT_READ, libc::MAP_PRIVATE, file)?;
    // SAFETY: the kernel gave `length` bytes that are never given back.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) })
}

/// Memory of its own, for the life of the process.
pub(super) fn memory(length: usize) -> Result<&'static mut [u8], Errno> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let address = map_at(length, libc::PROT_READ | libc::PROT_WRITE, flags, -1)?;
    // SAFETY: the kernel gave `length` bytes to nobody else, never given back.
    Ok(unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), length) })
}

fn map_at(length: usize, access: c_int, flags: c_int, file: RawFd) -> Result<*mut c_void, Errno> {
    // SAFETY: the kernel picks the place, so nothing that is in use is replaced.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, file, 0) };
    if address == libc::MAP_FAILED {
        // SAFETY: the address of the calling thread's own errno is always valid.
        return Err(unsafe { *libc::__errno_location() });
    }
    Ok(address)
}

/// Room for a list of strings that ends in null, for the life of the process.
pub(super) fn pointers(count: usize) -> Result<&'static mut [*const libc::c_char], Errno> {
    let bytes = memory(8 * count.max(1))?;
    // SAFETY: the memory is as long, starts at a page, and all zeroes are null pointers.
    Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), count) })
}

/// Overwrites a range of this process's memory: its environment as the kernel shows it.
pub(super) fn wipe(range: std::ops::Range<usize>) {
    // SAFETY: the caller took the range from the kernel's description of this process's own stack,
    // and the process that calls never reads its environment again.
    unsafe { std::ptr::write_bytes(range.start as *mut u8, 0, range.len()) };
}
