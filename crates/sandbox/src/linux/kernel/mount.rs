//! Mounts: attaching, copying and changing them.
#![expect(unsafe_code, reason = "system calls take raw numbers and addresses")]

use std::ffi::CStr;
use std::os::fd::RawFd;

use libc::{c_int, c_long, c_ulong};

use super::{Errno, check, number};

pub(in crate::linux) fn mount(
    kind: &CStr,
    path: &CStr,
    flags: c_ulong,
    options: &CStr,
) -> Result<(), Errno> {
    // SAFETY: all strings end in NUL.
    check(c_long::from(unsafe {
        libc::mount(
            kind.as_ptr(),
            path.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    }))
}

/// Returns a detached copy of the mount at an open path.
pub(in crate::linux) fn copy_tree(file: RawFd, is_recursive: bool) -> Result<RawFd, Errno> {
    const CLONE: c_int = 1;
    let recursive = if is_recursive { libc::AT_RECURSIVE } else { 0 };
    let flags = CLONE | libc::O_CLOEXEC | libc::AT_EMPTY_PATH | recursive;
    // SAFETY: the path is a string that ends in NUL.
    number(unsafe { libc::syscall(libc::SYS_open_tree, file, c"".as_ptr(), flags) })
}

/// Attaches a detached mount to an open path.
pub(in crate::linux) fn place_tree(tree: RawFd, target: RawFd) -> Result<(), Errno> {
    const BOTH_BY_DESCRIPTOR: c_int = 0x04 | 0x40;
    // SAFETY: both paths are strings that end in NUL.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree,
            c"".as_ptr(),
            target,
            c"".as_ptr(),
            BOTH_BY_DESCRIPTOR,
        )
    })
}

/// The arguments of `mount_setattr`.
#[derive(Clone, Copy)]
pub(in crate::linux) struct Attributes {
    pub(in crate::linux) set: u64,
    pub(in crate::linux) clear: u64,
    pub(in crate::linux) propagation: u64,
    pub(in crate::linux) is_recursive: bool,
}

pub(in crate::linux) fn set_attributes(file: RawFd, attributes: Attributes) -> Result<(), Errno> {
    let mount_attr: [u64; 4] = [attributes.set, attributes.clear, attributes.propagation, 0];
    let recursive = if attributes.is_recursive {
        libc::AT_RECURSIVE
    } else {
        0
    };
    // SAFETY: the path ends in NUL and the structure has the given size.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            file,
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            mount_attr.as_ptr(),
            size_of_val(&mount_attr),
        )
    })
}
