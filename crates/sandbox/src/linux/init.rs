//! Process 1 of a sandbox: sets it up and keeps it running.
//!
//! Invariant: a failed step is reported with its number and errno, and ends the sandbox.
//! Invariant: nothing here allocates; strings are read from the mapped plan.
//! Invariant: when the socket to the program closes, this process exits, and the kernel kills the
//! rest.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::kernel::{self, Errno, ForkSide};
use super::plan_encoding::{self, PlanView};
use super::protocol::{self, stage};
use super::{steps, supervisor};

/// The failed stage and its errno.
pub(super) type Failure = (u32, Errno);

/// Attaches the stage to an errno.
pub(super) fn at<T>(stage: u32, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| (stage, errno))
}

/// Reports a failure and exits.
pub(super) fn fail(socket: RawFd, (stage, errno): Failure) -> ! {
    // If this fails too, no receiver is left.
    protocol::send(socket, [protocol::FAILED, stage, errno as u32], &[]).unwrap_or_default();
    kernel::exit(1)
}

/// Runs as process 1. `files`: the socket, and the control group files.
pub(super) fn main(files: &[RawFd]) -> ! {
    kernel::set_name(c"burin-sandbox");
    let socket = files[0];
    let view = match at(stage::REQUEST, plan(socket)) {
        Ok(view) => view,
        Err(failure) => fail(socket, failure),
    };
    if let Err(failure) = build(&view, files) {
        fail(socket, failure);
    }
    if view.head.has(plan_encoding::WARM) {
        serve_requests(&view, socket)
    }
    supervisor::serve(&view, socket)
}

/// Waits for the plan, which the program prepares while the kernel creates the namespaces.
fn plan(socket: RawFd) -> Result<PlanView<'static>, Errno> {
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    let (length, count) = kernel::receive(socket, &mut bytes, &mut files)?;
    if length == 0 {
        // The policy was refused, or the program has ended.
        kernel::exit(0);
    }
    if protocol::number(&bytes, 0) != protocol::PLAN || count != 1 {
        return Err(libc::EBADMSG);
    }
    let view = kernel::map(files[0], protocol::number(&bytes, 1) as usize).map(PlanView::new);
    kernel::close(files[0]);
    view
}

/// Sets up the sandbox as planned and sends the program the descriptors that it needs. `files` are
/// those of `main`. Fails with the first stage or step that failed.
fn build(view: &PlanView<'_>, files: &[RawFd]) -> Result<(), Failure> {
    if let [_, counted @ ..] = files {
        for file in counted {
            at(stage::COUNTING, kernel::write(*file, b"0"))?;
            kernel::close(*file);
        }
    }
    let head = view.head;
    if head.has(plan_encoding::NAMESPACES) {
        map_users(head.user as u32, head.group as u32)?;
    }
    if head.pid_max != 0 {
        at(stage::COUNTING, limit_pids(head.pid_max as u32))?;
    }
    if head.has(plan_encoding::NETWORK) {
        at(stage::LOOPBACK, kernel::raise_loopback())?;
    }
    // The program's memory, of which this process has a copy, must not be readable from inside.
    at(
        stage::PROCESSES,
        kernel::control(libc::PR_SET_DUMPABLE, 0, 0),
    )?;
    steps::run(view)?;
    if head.has(plan_encoding::MOUNTS) && !head.has(plan_encoding::WARM) {
        mount_processes()?;
    }
    if head.has(plan_encoding::PROXY) {
        let listener = at(stage::LOOPBACK, kernel::listen(super::PROXY_PORT))?;
        let ready = [protocol::READY, protocol::WITH_PROXY, 0];
        at(
            stage::LOOPBACK,
            protocol::send(files[0], ready, &[listener]),
        )?;
        kernel::close(listener);
        for (port, is_six) in head.ports() {
            let listener = if is_six {
                match kernel::listen_on_six(port) {
                    Ok(listener) => listener,
                    // The kernel lacks this address family, so no client uses it.
                    Err(_) => continue,
                }
            } else {
                at(stage::LOOPBACK, kernel::listen_on_four(port))?
            };
            let ready = [protocol::READY, protocol::WITH_PORT, 0];
            at(
                stage::LOOPBACK,
                protocol::send(files[0], ready, &[listener]),
            )?;
            kernel::close(listener);
        }
    }
    if head.has(plan_encoding::NETWORK) && head.has(plan_encoding::SECCOMP) {
        // Without it no socket of the workspace can be connected to.
        if let Ok(sockets) = kernel::socket_list() {
            let ready = [protocol::READY, protocol::WITH_SOCKETS, 0];
            at(stage::LOOPBACK, protocol::send(files[0], ready, &[sockets]))?;
            kernel::close(sockets);
        }
    }
    Ok(())
}

/// Mounts the process list of this namespace read-only at `/proc`: files there that belong to root
/// outside could otherwise be written by a process with the same user id.
pub(super) fn mount_processes() -> Result<(), Failure> {
    let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    let mounted = kernel::mount(c"proc", c"/proc", flags, c"");
    at(stage::PROCESSES, mounted)
}

/// Maps the caller's user and group to themselves, and no others.
fn map_users(user: u32, group: u32) -> Result<(), Failure> {
    // The kernel gives root the files about a process that is not dumpable.
    at(stage::USERS, kernel::control(libc::PR_SET_DUMPABLE, 1, 0))?;
    let write = |path: &CStr, text: &[u8]| -> Result<(), Failure> {
        let file = at(stage::USERS, kernel::open(path, libc::O_WRONLY))?;
        let written = kernel::write(file, text);
        kernel::close(file);
        at(stage::USERS, written).map(|_| ())
    };
    let mut line = [0; 32];
    write(c"/proc/self/setgroups", b"deny")?;
    write(c"/proc/self/uid_map", map_line(&mut line, user))?;
    write(c"/proc/self/gid_map", map_line(&mut line, group))
}

/// Limits the number of processes and threads, each of which has an id in the namespace, through
/// its highest id.
fn limit_pids(highest: u32) -> Result<(), Errno> {
    let file = kernel::open(c"/proc/sys/kernel/pid_max", libc::O_WRONLY)?;
    let mut digits = [0; 10];
    let written = kernel::write(file, decimal(&mut digits, highest));
    kernel::close(file);
    written.map(|_| ())
}

fn decimal(digits: &mut [u8; 10], number: u32) -> &[u8] {
    let mut first = digits.len();
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    &digits[first..]
}

/// Formats `number number 1`.
fn map_line(line: &mut [u8; 32], number: u32) -> &[u8] {
    let mut digits = [0; 10];
    let digits = decimal(&mut digits, number);
    let mut length = 0;
    for part in [digits, b" ", digits, b" 1"] {
        line[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
    &line[..length]
}

/// Forks a supervisor whenever the program requests one.
fn serve_requests(view: &PlanView<'_>, socket: RawFd) -> ! {
    kernel::forget_children();
    if let Err(failure) = announce(socket) {
        fail(socket, failure);
    }
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    loop {
        if let Err(failure) = fork_supervisor(view, socket) {
            fail(socket, failure);
        }
        let Ok((1.., 0)) = kernel::receive(socket, &mut bytes, &mut files) else {
            kernel::exit(0);
        };
    }
}

/// Sends the program a pidfd of this process. Fails with the stage and its errno.
fn announce(socket: RawFd) -> Result<(), Failure> {
    let process = at(stage::PROCESSES, kernel::own_pidfd())?;
    let sent = protocol::send(
        socket,
        [protocol::READY, protocol::WITH_PROCESS, 0],
        &[process],
    );
    kernel::close(process);
    at(stage::REQUEST, sent)
}

/// Forks a supervisor. It has its own PID namespace, so that all its processes end with it, and
/// therefore its own mount namespace with another `/proc`.
fn fork_supervisor(view: &PlanView<'_>, socket: RawFd) -> Result<(), Failure> {
    let [theirs, own] = at(stage::PROCESSES, kernel::socket_pair())?;
    let mut flags = 0;
    if view.head.has(plan_encoding::NAMESPACES) {
        flags |= libc::CLONE_NEWPID;
    }
    if view.head.has(plan_encoding::MOUNTS) {
        flags |= libc::CLONE_NEWNS;
    }
    match at(stage::PROCESSES, kernel::fork(flags))? {
        ForkSide::Child => {
            kernel::close(socket);
            kernel::close(theirs);
            kernel::set_name(c"burin-supervise");
            if view.head.has(plan_encoding::MOUNTS)
                && let Err(failure) = mount_processes()
            {
                fail(own, failure);
            }
            supervisor::serve(view, own)
        }
        ForkSide::Parent(process) => {
            let sent = protocol::send(socket, [protocol::SUPERVISOR, 0, 0], &[theirs, process]);
            for file in [theirs, own, process] {
                kernel::close(file);
            }
            at(stage::REQUEST, sent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::map_line;

    #[test]
    fn a_user_is_mapped_to_itself() {
        let mut line = [0; 32];
        assert_eq!(map_line(&mut line, 0), b"0 0 1");
        assert_eq!(map_line(&mut line, u32::MAX), b"4294967295 4294967295 1");
    }
}
