//! New processes.
#![expect(unsafe_code, reason = "a fork returns twice")]

use std::ffi::{c_char, c_void};
use std::os::fd::RawFd;

use libc::{c_int, c_long};

use super::{Errno, number};

/// Where one finds oneself after a fork.
pub(in crate::linux) enum Forked {
    /// In the new process.
    Child,
    /// In the old one, with a descriptor of the new.
    Parent(RawFd),
}

/// Forks, into new namespaces where `flags` say so. The child may call only what is in `kernel` and
/// what allocates nothing: other threads may have held locks.
pub(in crate::linux) fn fork(flags: c_int) -> Result<Forked, Errno> {
    let mut descriptor: c_int = -1;
    let flags = flags | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: without a stack of its own the child goes on with a copy of this one, as after `fork`.
    let process = number(unsafe {
        libc::syscall(
            libc::SYS_clone,
            c_long::from(flags),
            0_usize,
            &raw mut descriptor,
            0_usize,
            0_usize,
        )
    })?;
    Ok(match process {
        0 => Forked::Child,
        _ => Forked::Parent(descriptor),
    })
}

struct Task<'a> {
    run: &'a dyn Fn() -> Errno,
    failed: Errno,
}

extern "C" fn enter(task: *mut c_void) -> c_int {
    // SAFETY: `spawn` passes its own task, which lives until this process has ended or executed.
    let task = unsafe { &mut *task.cast::<Task<'_>>() };
    task.failed = (task.run)();
    127
}

/// Runs `run` in a new process that shares this one's memory until it executes a program; this one
/// waits for that. The answer is the process, or why `run` came back.
pub(in crate::linux) fn spawn(stack: &mut [u8], run: &dyn Fn() -> Errno) -> Result<i32, Errno> {
    let mut task = Task { run, failed: 0 };
    let top = (stack.as_mut_ptr_range().end as usize & !15) as *mut c_void;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is used by nobody else, and this process stands still until the child has
    // executed or ended, so that nothing is touched by both at a time.
    let process = unsafe { libc::clone(enter, top, flags, (&raw mut task).cast()) };
    let process = number(c_long::from(process))?;
    match task.failed {
        0 => Ok(process),
        errno => Err(errno),
    }
}

/// Executes a program; comes back only when that fails.
pub(in crate::linux) fn execute(
    program: *const c_char,
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Errno {
    // SAFETY: both lists end in null, and every string in them in NUL.
    unsafe {
        libc::execve(program, arguments.as_ptr(), environment.as_ptr());
        *libc::__errno_location()
    }
}
