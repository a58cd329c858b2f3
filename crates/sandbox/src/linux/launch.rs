//! The launcher: a small process, forked early, that forks the sandboxes.
//!
//! Invariant: it keeps nothing but a socket to the program; when that ends, it ends. What the program
//! learns after the launcher was made is not in the launcher's memory, nor in any sandbox's.
//! Invariant: in a forked process only what is in `kernel` is called, and nothing is allocated.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use super::kernel::{self, Errno, Forked};
use super::{init, wire};

/// The program's end of the socket to its launcher, once there is one.
static LAUNCHER: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// Makes a launcher if there is none. A failure is seen, and told, by the first start.
pub(crate) fn prepare() {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if launcher.is_none() {
        *launcher = make().ok();
    }
}

/// Has the launcher open a sandbox. `files` as told at `wire::OPEN`.
pub(super) fn open(flags: u32, files: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    let files: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
    let message = [wire::OPEN, flags, 0];
    if let Some(socket) = &*launcher
        && wire::say(socket.as_raw_fd(), message, &files).is_ok()
    {
        return Ok(());
    }
    // There was none, or somebody killed it.
    let made = make()?;
    let said = wire::say(made.as_raw_fd(), message, &files);
    *launcher = Some(made);
    said
}

#[expect(
    unsafe_code,
    reason = "numbers become owned where the kernel hands them out"
)]
pub(super) fn owned(file: RawFd) -> OwnedFd {
    // SAFETY: the number comes straight from the kernel and is kept by nobody else.
    unsafe { OwnedFd::from_raw_fd(file) }
}

fn make() -> Result<OwnedFd, Errno> {
    let environment = environment();
    let [ours, theirs] = kernel::socket_pair()?.map(owned);
    match kernel::fork(0)? {
        Forked::Child => live(theirs.as_raw_fd(), environment),
        Forked::Parent(process) => {
            kernel::close(process);
            Ok(ours)
        }
    }
}

/// Where the kernel finds this process's environment, to show it in `/proc`.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel's own words about this process are no file of anybody's"
)]
fn environment() -> Range<usize> {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program is in parentheses and may hold spaces; the 50th and 51st value follow it.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let mut values = after_name.split_whitespace().skip(47);
    let mut next = || values.next().and_then(|value| value.parse().ok());
    match (next(), next()) {
        (Some(start), Some(end)) if start < end => start..end,
        _ => 0..0,
    }
}

const SOCKET: RawFd = 3;

fn live(socket: RawFd, environment: Range<usize>) -> ! {
    if settle(socket, environment).is_err() {
        kernel::exit(1);
    }
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    loop {
        let Ok((1.., count)) = kernel::receive(SOCKET, &mut bytes, &mut files) else {
            kernel::exit(0);
        };
        if wire::number(&bytes, 0) == wire::OPEN && count >= 1 {
            open_one(&bytes, &files[..count]);
        }
        for file in &files[..count] {
            kernel::close(*file);
        }
    }
}

/// Lets go of everything that was the program's.
fn settle(socket: RawFd, environment: Range<usize>) -> Result<(), Errno> {
    kernel::wipe(environment);
    kernel::set_name(c"burin-launcher");
    kernel::new_session()?;
    kernel::reset_signals();
    kernel::forget_children();
    kernel::unblock_signals();
    kernel::change_folder(c"/")?;
    let socket = kernel::duplicate_above(socket, SOCKET + 1)?;
    kernel::duplicate(socket, SOCKET)?;
    kernel::close_from(SOCKET + 1)?;
    let nothing = kernel::open(c"/dev/null", libc::O_RDWR)?;
    for stream in 0..SOCKET {
        kernel::duplicate(nothing, stream)?;
    }
    kernel::close(nothing);
    kernel::control(libc::PR_SET_DUMPABLE, 0, 0)
}

fn open_one(message: &[u8], files: &[RawFd]) {
    let flags = wire::number(message, 1);
    let told = match kernel::fork(flags as i32) {
        Ok(Forked::Child) => {
            kernel::close(SOCKET);
            init::main(files)
        }
        Ok(Forked::Parent(process)) => {
            kernel::close(process);
            Ok(())
        }
        Err(errno) => {
            let failed = [wire::FAILED, wire::stage::CLONE, errno as u32];
            wire::say(files[0], failed, &[])
        }
    };
    // The program has gone away meanwhile; the next message from it will not come either.
    told.unwrap_or_default();
}
