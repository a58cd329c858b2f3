//! Messages between program, launcher and sandboxes: three numbers, and descriptors.

use std::os::fd::RawFd;

use super::kernel::{self, Errno};

/// To the launcher: open a sandbox with these namespace flags of `clone`. Descriptors: the
/// sandbox's end of its socket, and its control group files, if any.
pub(super) const OPEN: u32 = 1;
/// To a supervisor: a request follows, see `super::packed_request`.
pub(super) const REQUEST: u32 = 2;
/// To a warm sandbox: fork another supervisor.
pub(super) const NEW_SUPERVISOR: u32 = 3;
/// To a supervisor: forward a signal.
pub(super) const SIGNAL: u32 = 4;
/// To a new sandbox: its plan of this many bytes, attached as a file.
pub(super) const PLAN: u32 = 5;
/// From all: a failed step and its errno.
pub(super) const FAILED: u32 = 6;
/// From a sandbox or supervisor: it is ready. Lists the attached descriptors in this order.
pub(super) const READY: u32 = 7;
/// From a warm sandbox: a new supervisor. Descriptors: its socket and its pidfd.
pub(super) const SUPERVISOR: u32 = 8;
/// From a supervisor: the program was executed.
pub(super) const STARTED: u32 = 9;
/// From a supervisor: the program ended with this status; 1 if no process is left.
pub(super) const ENDED: u32 = 10;

/// The descriptors attached to `READY`.
pub(super) const WITH_PROXY: u32 = 1;
pub(super) const WITH_NOTIFICATIONS: u32 = 2;
pub(super) const WITH_PROCESS: u32 = 4;
/// A listener on a forwarded port.
pub(super) const WITH_PORT: u32 = 8;
/// A socket that lists the sockets of the sandbox.
pub(super) const WITH_SOCKETS: u32 = 16;

/// Stages that can fail besides the steps of a plan.
pub(super) mod stage {
    pub(in crate::linux) const CLONE: u32 = 0x1000;
    pub(in crate::linux) const USERS: u32 = 0x1001;
    pub(in crate::linux) const LOOPBACK: u32 = 0x1002;
    pub(in crate::linux) const LANDLOCK: u32 = 0x1003;
    pub(in crate::linux) const SECCOMP: u32 = 0x1004;
    pub(in crate::linux) const CAPABILITIES: u32 = 0x1005;
    pub(in crate::linux) const NO_NEW_PRIVS: u32 = 0x1006;
    pub(in crate::linux) const PROCESSES: u32 = 0x1007;
    pub(in crate::linux) const REQUEST: u32 = 0x1008;
    pub(in crate::linux) const TERMINAL: u32 = 0x1009;
    pub(in crate::linux) const FOLDER: u32 = 0x100a;
    pub(in crate::linux) const PROGRAM: u32 = 0x100b;
    pub(in crate::linux) const COUNTING: u32 = 0x100c;
}

/// Encodes three numbers as bytes.
pub(super) fn bytes(message: [u32; 3]) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (place, number) in bytes.chunks_exact_mut(4).zip(message) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    bytes
}

/// Returns the number at an index of a message; 0 if missing.
pub(super) fn number(bytes: &[u8], ix: usize) -> u32 {
    let mut number = [0; 4];
    if let Some(found) = bytes.get(4 * ix..4 * ix + 4) {
        number.copy_from_slice(found);
    }
    u32::from_ne_bytes(number)
}

/// Sends three numbers and descriptors. Allocates nothing.
pub(super) fn send(socket: RawFd, message: [u32; 3], files: &[RawFd]) -> Result<(), Errno> {
    kernel::send(socket, &bytes(message), files)
}
