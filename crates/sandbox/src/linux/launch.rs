//! The launcher: a small process, forked early, that forks the sandboxes.
//!
//! Invariant: it keeps only a socket to the program; when that closes, it exits. Secrets that the
//! program learns after the launcher was forked are neither in its memory nor in that of any
//! sandbox.
//! Invariant: a forked process calls only functions of `kernel` and never allocates.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use super::kernel::{self, Errno, ForkSide};
use super::{init, protocol};

/// The program's end of the launcher's socket, once there is one.
static LAUNCHER: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// Forks a launcher if there is none. The first start reports a failure.
pub(crate) fn prepare() {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if launcher.is_none() {
        *launcher = make().ok();
    }
}

/// Makes the launcher open a sandbox. `files` are described at `protocol::OPEN`.
pub(super) fn open(flags: u32, files: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    let files: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
    let message = [protocol::OPEN, flags, 0];
    if let Some(socket) = &*launcher
        && protocol::send(socket.as_raw_fd(), message, &files).is_ok()
    {
        return Ok(());
    }
    // There was no launcher, or it was killed.
    let made = make()?;
    let said = protocol::send(made.as_raw_fd(), message, &files);
    *launcher = Some(made);
    said
}

#[expect(
    unsafe_code,
    reason = "raw descriptors become owned where the kernel returns them"
)]
pub(super) fn owned(file: RawFd) -> OwnedFd {
    // SAFETY: the descriptor comes directly from the kernel and has no other owner.
    unsafe { OwnedFd::from_raw_fd(file) }
}

/// Forks a launcher and returns the program's end of its socket.
fn make() -> Result<OwnedFd, Errno> {
    let environment = environment();
    let [ours, theirs] = kernel::socket_pair()?.map(owned);
    match kernel::fork(0)? {
        ForkSide::Child => run_launcher(theirs.as_raw_fd(), environment),
        ForkSide::Parent(process) => {
            kernel::close(process);
            Ok(ours)
        }
    }
}

/// Returns the address range of this process's environment, which `/proc` shows; empty if it is
/// unknown.
#[expect(
    clippy::disallowed_methods,
    reason = "/proc describes this process; it is not a user's file"
)]
fn environment() -> Range<usize> {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name is in parentheses and may contain spaces; fields 50 and 51 follow it.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let mut values = after_name.split_whitespace().skip(47);
    let mut next = || values.next().and_then(|value| value.parse().ok());
    match (next(), next()) {
        (Some(start), Some(end)) if start < end => start..end,
        _ => 0..0,
    }
}

const SOCKET: RawFd = 3;

fn run_launcher(socket: RawFd, environment: Range<usize>) -> ! {
    if reset_process(socket, environment).is_err() {
        kernel::exit(1);
    }
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    loop {
        let Ok((1.., count)) = kernel::receive(SOCKET, &mut bytes, &mut files) else {
            kernel::exit(0);
        };
        if protocol::number(&bytes, 0) == protocol::OPEN && count >= 1 {
            open_sandbox(&bytes, &files[..count]);
        }
        for file in &files[..count] {
            kernel::close(*file);
        }
    }
}

/// Discards everything inherited from the program.
fn reset_process(socket: RawFd, environment: Range<usize>) -> Result<(), Errno> {
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

fn open_sandbox(message: &[u8], files: &[RawFd]) {
    let flags = protocol::number(message, 1);
    let sent = match kernel::fork(flags as i32) {
        Ok(ForkSide::Child) => {
            kernel::close(SOCKET);
            init::main(files)
        }
        Ok(ForkSide::Parent(process)) => {
            kernel::close(process);
            Ok(())
        }
        Err(errno) => {
            let failed = [protocol::FAILED, protocol::stage::CLONE, errno as u32];
            protocol::send(files[0], failed, &[])
        }
    };
    // The program has ended meanwhile; its next message will not arrive either.
    sent.unwrap_or_default();
}
