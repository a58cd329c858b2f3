//! The attributes of a child process that have to be set between `fork` and `exec`.

#![expect(unsafe_code, reason = "std has no other way to set these attributes")]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid};

use crate::ResourceLimits;

/// The descriptor number under which the launcher's shell finds the standard error of the command.
pub(super) const ERRORS: i32 = 3;

/// The greatest number of open files that macOS accepts as a limit.
const MAX_OPEN_FILES: u64 = 10_240;

/// Descriptors that must stay open until the child has started.
#[derive(Debug)]
pub(super) struct HeldDescriptors {
    _errors: OwnedFd,
    /// Reserves the number `ERRORS`; otherwise std's pipe that reports a failed `exec` could take
    /// it.
    _reserved: OwnedFd,
}

/// Makes the child the leader of a new session under these limits and puts `errors` at descriptor
/// `ERRORS`. If `has_terminal`, its standard input becomes the controlling terminal. A limit above
/// the hard limit of this process is lowered to it.
///
/// # Errors
/// If there are too many open descriptors.
pub(super) fn prepare(
    command: &mut Command,
    errors: OwnedFd,
    has_terminal: bool,
    limits: Option<&ResourceLimits>,
) -> io::Result<HeldDescriptors> {
    let reserved = rustix::io::fcntl_dupfd_cloexec(&errors, ERRORS)?;
    // The original gets a number above `ERRORS`, so that `dup2` never closes it.
    let errors = rustix::io::fcntl_dupfd_cloexec(&errors, ERRORS + 1)?;
    let number = errors.as_raw_fd();
    let limits = limits.map(limits_of).unwrap_or_default();
    // SAFETY: the closure makes system calls only and does not allocate; `HeldDescriptors` keeps
    // `number` open in the parent until the child has started.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            if has_terminal {
                rustix::process::ioctl_tiocsctty(BorrowedFd::borrow_raw(0))?;
            }
            for (resource, value) in limits.into_iter().flatten() {
                let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
                let value = Some(value.min(most));
                let (current, maximum) = (value, value);
                setrlimit(resource, Rlimit { current, maximum })?;
            }
            match libc::dup2(number, ERRORS) {
                ERRORS => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
    Ok(HeldDescriptors {
        _errors: errors,
        _reserved: reserved,
    })
}

/// Returns the limits of one process. The number of processes is not limited here, because macOS
/// would count all processes of the user.
fn limits_of(limits: &ResourceLimits) -> [Option<(Resource, u64)>; 4] {
    let open_files = limits.open_files.map(|count| count.min(MAX_OPEN_FILES));
    [
        Some((Resource::Core, 0)),
        open_files.map(|count| (Resource::Nofile, count)),
        limits.file_bytes.map(|bytes| (Resource::Fsize, bytes)),
        limits.cpu_seconds.map(|seconds| (Resource::Cpu, seconds)),
    ]
}
