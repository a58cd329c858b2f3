//! Process 1 of a sandbox: puts it up and keeps it.
//!
//! Invariant: every step that fails is told, by number and with what the kernel said, and ends it all.
//! Invariant: nothing here allocates; strings are read where the plan was mapped.
//! Invariant: when the socket to the program ends, this ends, and the kernel kills the rest.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::blob::{self, View};
use super::kernel::{self, Errno, Forked};
use super::wire::{self, stage};
use super::{seat, steps};

/// Where something failed, and what the kernel said.
pub(super) type Failure = (u32, Errno);

/// Says where something failed.
pub(super) fn at<T>(stage: u32, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| (stage, errno))
}

/// Tells of a failure and ends.
pub(super) fn fail(socket: RawFd, (stage, errno): Failure) -> ! {
    // Nobody is left to be told when this fails too.
    wire::say(socket, [wire::FAILED, stage, errno as u32], &[]).unwrap_or_default();
    kernel::exit(1)
}

/// Lives as process 1. `files`: the socket, where to be counted.
pub(super) fn main(files: &[RawFd]) -> ! {
    kernel::set_name(c"burin-sandbox");
    let socket = files[0];
    let view = match at(stage::ORDER, plan(socket)) {
        Ok(view) => view,
        Err(failure) => fail(socket, failure),
    };
    if let Err(failure) = build(&view, files) {
        fail(socket, failure);
    }
    if view.head.has(blob::ROOM) {
        keep_room(&view, socket)
    }
    seat::serve(&view, socket)
}

/// Waits for the plan, which the program makes while the kernel makes the namespaces.
fn plan(socket: RawFd) -> Result<View<'static>, Errno> {
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    let (length, count) = kernel::receive(socket, &mut bytes, &mut files)?;
    if length == 0 {
        // The policy was refused, or the program has ended.
        kernel::exit(0);
    }
    if wire::number(&bytes, 0) != wire::PLAN || count != 1 {
        return Err(libc::EBADMSG);
    }
    let view = kernel::map(files[0], wire::number(&bytes, 1) as usize).map(View::new);
    kernel::close(files[0]);
    view
}

fn build(view: &View<'_>, files: &[RawFd]) -> Result<(), Failure> {
    if let [_, counted @ ..] = files {
        for file in counted {
            at(stage::COUNTING, kernel::write(*file, b"0"))?;
            kernel::close(*file);
        }
    }
    let head = view.head;
    if head.has(blob::NAMESPACES) {
        map_users(head.user as u32, head.group as u32)?;
    }
    if head.highest != 0 {
        at(stage::COUNTING, limit_numbers(head.highest as u32))?;
    }
    if head.has(blob::NETWORK) {
        at(stage::LOOPBACK, kernel::raise_loopback())?;
    }
    // The program's memory, which this is a copy of, is nobody's business inside.
    at(
        stage::PROCESSES,
        kernel::control(libc::PR_SET_DUMPABLE, 0, 0),
    )?;
    steps::run(view)?;
    if head.has(blob::MOUNTS) && !head.has(blob::ROOM) {
        mount_processes()?;
    }
    if head.has(blob::PROXY) {
        let listener = at(stage::LOOPBACK, kernel::listen(crate::net::Proxy::PORT))?;
        let ready = [wire::READY, wire::WITH_PROXY, 0];
        at(stage::LOOPBACK, wire::say(files[0], ready, &[listener]))?;
        kernel::close(listener);
        for (port, is_six) in head.ports() {
            let listener = match is_six {
                false => at(stage::LOOPBACK, kernel::listen_on_four(port))?,
                true => match kernel::listen_on_six(port) {
                    Ok(listener) => listener,
                    // The kernel knows no such addresses, so no client calls one.
                    Err(_) => continue,
                },
            };
            let ready = [wire::READY, wire::WITH_PORT, 0];
            at(stage::LOOPBACK, wire::say(files[0], ready, &[listener]))?;
            kernel::close(listener);
        }
    }
    if head.has(blob::NETWORK) && head.has(blob::SECCOMP) {
        // Without it no socket of the workspace is connected to.
        if let Ok(sockets) = kernel::socket_list() {
            let ready = [wire::READY, wire::WITH_SOCKETS, 0];
            at(stage::LOOPBACK, wire::say(files[0], ready, &[sockets]))?;
            kernel::close(sockets);
        }
    }
    Ok(())
}

/// The processes of this namespace, at their usual place, unchangeable: a file there that belongs to the
/// administrator could otherwise be written by whoever has that number.
pub(super) fn mount_processes() -> Result<(), Failure> {
    let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    let mounted = kernel::mount(c"proc", c"/proc", flags, c"");
    at(stage::PROCESSES, mounted)
}

/// The caller is who it was, and nobody else exists.
fn map_users(user: u32, group: u32) -> Result<(), Failure> {
    // The kernel's files about a process that is not dumpable belong to the administrator.
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

/// Every process and thread of a namespace has a number in it, so the highest of them limits how many there are.
fn limit_numbers(highest: u32) -> Result<(), Errno> {
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

/// `number number 1`.
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

/// Makes a seat whenever the program asks for one.
fn keep_room(view: &View<'_>, socket: RawFd) -> ! {
    kernel::forget_children();
    if let Err(failure) = present(socket) {
        fail(socket, failure);
    }
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    loop {
        if let Err(failure) = make_seat(view, socket) {
            fail(socket, failure);
        }
        let Ok((1.., 0)) = kernel::receive(socket, &mut bytes, &mut files) else {
            kernel::exit(0);
        };
    }
}

fn present(socket: RawFd) -> Result<(), Failure> {
    let process = at(stage::PROCESSES, kernel::myself())?;
    let told = wire::say(socket, [wire::READY, wire::WITH_PROCESS, 0], &[process]);
    kernel::close(process);
    at(stage::ORDER, told)
}

/// A seat has processes of its own, so that all of them end with it, and therefore a view of its own
/// of what is mounted: the list of processes is another one.
fn make_seat(view: &View<'_>, socket: RawFd) -> Result<(), Failure> {
    let [theirs, seats] = at(stage::PROCESSES, kernel::socket_pair())?;
    let mut flags = 0;
    if view.head.has(blob::NAMESPACES) {
        flags |= libc::CLONE_NEWPID;
    }
    if view.head.has(blob::MOUNTS) {
        flags |= libc::CLONE_NEWNS;
    }
    match at(stage::PROCESSES, kernel::fork(flags))? {
        Forked::Child => {
            kernel::close(socket);
            kernel::close(theirs);
            kernel::set_name(c"burin-seat");
            if view.head.has(blob::MOUNTS)
                && let Err(failure) = mount_processes()
            {
                fail(seats, failure);
            }
            seat::serve(view, seats)
        }
        Forked::Parent(process) => {
            let told = wire::say(socket, [wire::SEAT, 0, 0], &[theirs, process]);
            for file in [theirs, seats, process] {
                kernel::close(file);
            }
            at(stage::ORDER, told)
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
