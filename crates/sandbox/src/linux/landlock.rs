//! Landlock: a second check of write access, and of the reach of signals.
//!
//! Read access is not restricted here: a rule cannot take away what a rule above it grants, and the
//! whole disk is readable. TCP isn't either: the sandbox has its own network, and servers on its
//! loopback are common.

use super::kernel::{self, Errno};

/// The oldest supported ABI version: older ones do not check truncation.
pub(super) const OLDEST: i32 = 3;

const WRITE_FILE: u64 = 1 << 1;
const FOLDERS: u64 = 0b11_1111_1111 << 4; // removing, making of every kind, and linking across folders
const TRUNCATE: u64 = 1 << 14;
const DEVICE: u64 = 1 << 15;

const ABSTRACT_SOCKETS_AND_SIGNALS: u64 = 0b11;

/// Returns the access rights that the rules handle, by ABI version.
pub(crate) fn handled(version: i32) -> [u64; 3] {
    let device = if version >= 5 { DEVICE } else { 0 };
    let scopes = if version >= 6 {
        ABSTRACT_SOCKETS_AND_SIGNALS
    } else {
        0
    };
    [WRITE_FILE | FOLDERS | TRUNCATE | device, 0, scopes]
}

/// Returns the rights to write in a folder.
pub(crate) fn folder(version: i32) -> u64 {
    handled(version)[0] & !DEVICE
}

/// Returns the rights to write a file.
pub(crate) fn file(version: i32) -> u64 {
    handled(version)[0] & (WRITE_FILE | TRUNCATE | DEVICE)
}

/// Returns the rights in a folder of devices.
pub(crate) fn devices(version: i32) -> u64 {
    handled(version)[0]
}

/// Returns the ABI version of the kernel's Landlock.
pub(crate) fn version() -> Result<i32, Errno> {
    kernel::landlock_create(None)
}
