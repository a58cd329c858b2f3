//! The attributes of a child process that have to be set between `fork` and `exec`.

#![expect(unsafe_code, reason = "std has no other way to set these attributes")]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid};

use crate::ResourceLimits;

/// The descriptor at which a child finds its own standard error.
pub(super) const ERRORS: i32 = 3;

/// The greatest number of open files that macOS accepts as a limit.
const MAX_OPEN_FILES: u64 = 10_240;

/// Descriptors that must stay open until the child was started.
#[derive(Debug)]
pub(super) struct HeldDescriptors {
    _errors: OwnedFd,
    /// Keeps `ERRORS` from being used by the pipe through which std learns that `exec` failed.
    _reserved: OwnedFd,
}

/// Makes the child lead a session of its own under these limits, with `errors` at `ERRORS` and, if
/// `has_terminal`, with its standard input as the controlling terminal. A limit above the hard limit
/// of this process becomes that one.
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
    // Above the number that it gets, so that copying it never closes the original.
    let errors = rustix::io::fcntl_dupfd_cloexec(&errors, ERRORS + 1)?;
    let number = errors.as_raw_fd();
    let limits = limits.map(limits_of).unwrap_or_default();
    // SAFETY: the closure makes system calls only and allocates nothing; `number` stays open in the
    // parent until the child was started.
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

/// Returns the limits of one process. The number of processes is not among them: macOS would count
/// all of the user.
fn limits_of(limits: &ResourceLimits) -> [Option<(Resource, u64)>; 4] {
    let open_files = limits.open_files.map(|count| count.min(MAX_OPEN_FILES));
    [
        Some((Resource::Core, 0)),
        open_files.map(|count| (Resource::Nofile, count)),
        limits.file_bytes.map(|bytes| (Resource::Fsize, bytes)),
        limits.cpu_seconds.map(|seconds| (Resource::Cpu, seconds)),
    ]
}
