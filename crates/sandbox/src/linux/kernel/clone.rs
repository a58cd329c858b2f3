//! Process creation: fork, spawn, exec.
#![expect(unsafe_code, reason = "a fork returns twice")]

use std::ffi::{c_char, c_void};
use std::os::fd::RawFd;

use libc::{c_int, c_long};

use super::{Errno, number};

/// The side of a fork that the caller is on.
pub(in crate::linux) enum ForkSide {
    /// In the new process.
    Child,
    /// In the calling process, with a pidfd of the child.
    Parent(RawFd),
}

/// Forks, into new namespaces if `flags` say so. The child may call only functions of `kernel` and
/// must not allocate: other threads may have held locks.
pub(in crate::linux) fn fork(flags: c_int) -> Result<ForkSide, Errno> {
    let mut descriptor: c_int = -1;
    let flags = flags | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: without a stack of its own the child continues on a copy of this one, as after
    // `fork`.
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
        0 => ForkSide::Child,
        _ => ForkSide::Parent(descriptor),
    })
}

struct SpawnTask<'a> {
    run: &'a dyn Fn() -> Errno,
    failed: Errno,
}

extern "C" fn enter(task: *mut c_void) -> c_int {
    // SAFETY: `spawn` passes its own task, which lives until this process has exited or executed a
    // program.
    let task = unsafe { &mut *task.cast::<SpawnTask<'_>>() };
    task.failed = (task.run)();
    127
}

/// Runs `run` in a new process that shares this one's memory until it executes a program; this
/// process waits for that. Returns the process id, or the reason that `run` returned.
pub(in crate::linux) fn spawn(stack: &mut [u8], run: &dyn Fn() -> Errno) -> Result<i32, Errno> {
    let mut task = SpawnTask { run, failed: 0 };
    let top = (stack.as_mut_ptr_range().end as usize & !15) as *mut c_void;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is used by no other code, and this process is suspended until the child has
    // executed or exited, so the two never touch the same memory concurrently.
    let process = unsafe { libc::clone(enter, top, flags, (&raw mut task).cast()) };
    let process = number(c_long::from(process))?;
    match task.failed {
        0 => Ok(process),
        errno => Err(errno),
    }
}

/// Executes a program; returns only on failure.
pub(in crate::linux) fn execute(
    program: *const c_char,
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Errno {
    // SAFETY: both lists end in null, and every string in them ends in NUL.
    unsafe {
        libc::execve(program, arguments.as_ptr(), environment.as_ptr());
        *libc::__errno_location()
    }
}
