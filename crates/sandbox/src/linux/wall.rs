//! Landlock: the kernel's second opinion on what can be written, and on whom signals reach.
//!
//! Reading is not its matter: a rule cannot take away what a rule above it gives, and the whole disk
//! is given. TCP isn't either: the network is the sandbox's own, and servers on its loopback are usual.

use super::kernel::{self, Errno};

/// The oldest that is good enough: older ones do not notice a file being cut.
pub(super) const OLDEST: i32 = 3;

const WRITE_FILE: u64 = 1 << 1;
const FOLDERS: u64 = 0b11_1111_1111 << 4; // removing, making of every kind, and linking across folders
const TRUNCATE: u64 = 1 << 14;
const DEVICE: u64 = 1 << 15;

const ABSTRACT_SOCKETS_AND_SIGNALS: u64 = 0b11;

/// What the rules are about, by the version of the kernel's Landlock.
pub(super) fn handled(version: i32) -> [u64; 3] {
    let device = if version >= 5 { DEVICE } else { 0 };
    let scopes = if version >= 6 {
        ABSTRACT_SOCKETS_AND_SIGNALS
    } else {
        0
    };
    [WRITE_FILE | FOLDERS | TRUNCATE | device, 0, scopes]
}

/// The rights to write in a folder.
pub(super) fn folder(version: i32) -> u64 {
    handled(version)[0] & !DEVICE
}

/// The rights to write a file that is no folder.
pub(super) fn file(version: i32) -> u64 {
    handled(version)[0] & (WRITE_FILE | TRUNCATE | DEVICE)
}

/// The rights in a folder of devices.
pub(super) fn devices(version: i32) -> u64 {
    handled(version)[0]
}

/// The version of the kernel's Landlock.
pub(super) fn version() -> Result<i32, Errno> {
    kernel::landlock_create(None)
}
