//! What program, launcher and sandboxes say to each other: three numbers, and descriptors.

use std::os::fd::RawFd;

use super::kernel::{self, Errno};

/// To the launcher: open a sandbox with these new namespaces, the flags of `clone`. Descriptors: the
/// sandbox's end of its socket, and where it counts itself, if anywhere.
pub(super) const OPEN: u32 = 1;
/// To a seat: an order follows, see `super::order`.
pub(super) const ORDER: u32 = 2;
/// To a room: make another seat.
pub(super) const MORE: u32 = 3;
/// To a seat: pass a signal on.
pub(super) const SIGNAL: u32 = 4;
/// To a sandbox that was opened: its plan of this many bytes, which comes along as a file.
pub(super) const PLAN: u32 = 5;
/// From all: a step, and what the system said.
pub(super) const FAILED: u32 = 6;
/// From a sandbox or a seat: it is up. Says which descriptors come along, in this order.
pub(super) const READY: u32 = 7;
/// From a room: a seat. Descriptors: its socket and its process.
pub(super) const SEAT: u32 = 8;
/// From a seat: the program was executed.
pub(super) const STARTED: u32 = 9;
/// From a seat: the program ended, with this status; 1 when nothing is left that it began.
pub(super) const ENDED: u32 = 10;

/// What `READY` brings along.
pub(super) const WITH_PROXY: u32 = 1;
pub(super) const WITH_QUESTIONS: u32 = 2;
pub(super) const WITH_PROCESS: u32 = 4;
/// A listener on a port that leads to the machine.
pub(super) const WITH_PORT: u32 = 8;
/// A socket that tells about the sockets of the sandbox.
pub(super) const WITH_SOCKETS: u32 = 16;

/// What failed, where it is no step of a plan.
pub(super) mod stage {
    pub(in crate::linux) const CLONE: u32 = 0x1000;
    pub(in crate::linux) const USERS: u32 = 0x1001;
    pub(in crate::linux) const LOOPBACK: u32 = 0x1002;
    pub(in crate::linux) const LANDLOCK: u32 = 0x1003;
    pub(in crate::linux) const SECCOMP: u32 = 0x1004;
    pub(in crate::linux) const CAPABILITIES: u32 = 0x1005;
    pub(in crate::linux) const NO_NEW_PRIVS: u32 = 0x1006;
    pub(in crate::linux) const PROCESSES: u32 = 0x1007;
    pub(in crate::linux) const ORDER: u32 = 0x1008;
    pub(in crate::linux) const TERMINAL: u32 = 0x1009;
    pub(in crate::linux) const FOLDER: u32 = 0x100a;
    pub(in crate::linux) const PROGRAM: u32 = 0x100b;
    pub(in crate::linux) const COUNTING: u32 = 0x100c;
}

/// Three numbers as bytes.
pub(super) fn bytes(message: [u32; 3]) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (place, number) in bytes.chunks_exact_mut(4).zip(message) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    bytes
}

/// The number at a place of a message; 0 where there is none.
pub(super) fn number(bytes: &[u8], ix: usize) -> u32 {
    let mut number = [0; 4];
    if let Some(found) = bytes.get(4 * ix..4 * ix + 4) {
        number.copy_from_slice(found);
    }
    u32::from_ne_bytes(number)
}

/// Says three numbers. Allocates nothing.
pub(super) fn say(socket: RawFd, message: [u32; 3], files: &[RawFd]) -> Result<(), Errno> {
    kernel::send(socket, &bytes(message), files)
}
