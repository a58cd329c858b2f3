//! Restrictions of the calling process: capabilities, limits, Landlock, seccomp.
#![expect(unsafe_code, reason = "system calls take raw numbers and addresses")]

use std::os::fd::RawFd;

use libc::{c_int, c_void};

use super::{Errno, check, control, number, user_and_group};

/// Drops every capability, for this process and for the programs it executes. A process that has
/// none, and cannot gain any because of `no_new_privs`, has nothing to drop.
pub(in crate::linux) fn drop_capabilities_if_any() -> Result<(), Errno> {
    match drop_capabilities() {
        Err(libc::EPERM) if user_and_group().0 != 0 => Ok(()),
        result => result,
    }
}

/// Drops every capability and locks the ways to regain one. Fails with `EPERM` without the right to
/// do so.
fn drop_capabilities() -> Result<(), Errno> {
    const LAST: u64 = 63;
    for capability in 0..=LAST {
        match control(libc::PR_CAPBSET_DROP, capability, 0) {
            Ok(()) => {}
            Err(libc::EINVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    // NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off and NO_CAP_AMBIENT_RAISE, each with its lock bit.
    const SECURE_BITS: u64 = 0xef;
    control(libc::PR_SET_SECUREBITS, SECURE_BITS, 0)?;
    let header: [u32; 2] = [0x2008_0522, 0];
    let none = [0_u32; 6];
    // SAFETY: header and sets have the sizes of version 3.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) })
}

pub(in crate::linux) fn set_limit(resource: u32, value: u64) -> Result<(), Errno> {
    let limit = libc::rlimit64 {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the limit is readable; the old one is not requested.
    check(unsafe {
        libc::syscall(
            libc::SYS_prlimit64,
            0,
            resource,
            &raw const limit,
            std::ptr::null_mut::<c_void>(),
        )
    })
}

/// Creates a Landlock ruleset; without attributes, returns the version of the kernel's Landlock
/// ABI.
pub(crate) fn landlock_create(attributes: Option<&[u64; 3]>) -> Result<RawFd, Errno> {
    // SAFETY: the attributes have the given size.
    number(unsafe {
        match attributes {
            None => libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<c_void>(),
                0,
                1,
            ),
            Some(attributes) => {
                // Kernels without scopes know the first two fields, those without network rules
                // only the first.
                let known = 8
                    * (3 - attributes
                        .iter()
                        .rev()
                        .take_while(|bits| **bits == 0)
                        .count());
                libc::syscall(
                    libc::SYS_landlock_create_ruleset,
                    attributes.as_ptr(),
                    known,
                    0,
                )
            }
        }
    })
}

/// Adds a rule that allows rights beneath an open path.
pub(crate) fn landlock_allow(ruleset: RawFd, rights: u64, beneath: RawFd) -> Result<(), Errno> {
    let mut rule = [0_u8; 12];
    rule[..8].copy_from_slice(&rights.to_ne_bytes());
    rule[8..].copy_from_slice(&beneath.to_ne_bytes());
    const BENEATH: c_int = 1;
    // SAFETY: the rule is packed as the kernel expects it, twelve bytes.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset,
            BENEATH,
            rule.as_ptr(),
            0,
        )
    })
}

pub(crate) fn landlock_restrict(ruleset: RawFd) -> Result<(), Errno> {
    // SAFETY: takes integers only.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) })
}

/// Installs a seccomp filter and returns the descriptor of its notifications.
pub(in crate::linux) fn install_filter(program: &[u8]) -> Result<RawFd, Errno> {
    const SET_FILTER: c_int = 1;
    const NEW_LISTENER: c_int = 1 << 3;
    const WAIT_KILLABLE: c_int = 1 << 5;
    let filter = libc::sock_fprog {
        len: (program.len() / 8) as u16,
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the program consists of instructions of eight bytes; the kernel copies and checks it.
    number(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SET_FILTER,
            NEW_LISTENER | WAIT_KILLABLE,
            &raw const filter,
        )
    })
}
