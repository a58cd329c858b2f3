//! The privilege of this process to mount, and the namespace that gives it to an ordinary user.

use std::fs;
use std::path::Path;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use crate::error::Error;

/// The privilege of a process to mount, and the visibility of its mounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountPrivilege {
    /// Root: every process sees its mounts.
    Root,
    /// In its own mount namespace: only the process and its children see its mounts, which end with
    /// them.
    Namespace,
    /// No privilege to mount.
    Plain,
}

impl MountPrivilege {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Namespace => "namespace",
            Self::Plain => "plain",
        }
    }
}

/// Determines the privilege of this process.
pub fn current_privilege() -> MountPrivilege {
    let can_mount =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if !can_mount {
        return MountPrivilege::Plain;
    }
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let words: Vec<&str> = map.split_whitespace().collect();
    match words.as_slice() {
        ["0", "0", "4294967295"] => MountPrivilege::Root,
        _ => MountPrivilege::Namespace,
    }
}

/// Moves this process into its own user and mount namespace, where it may mount overlays; its user
/// and group ids stay the same. Its mounts are visible to it and its children, and vanish with the
/// last of them.
///
/// Call this first in `main`, before any thread starts. For root it does nothing.
pub fn enter_namespace() -> Result<MountPrivilege, Error> {
    let before = current_privilege();
    if before != MountPrivilege::Plain {
        return Ok(before);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare().map_err(|errno| {
        Error::Refused(format!(
            "cannot create a namespace for overlay mounts: {errno}; as root run \"sysctl \
             kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000\", and on Ubuntu \"sysctl \
             kernel.apparmor_restrict_unprivileged_userns=0\""
        ))
    })?;
    let write = |path: &str, text: String| {
        fs::write(path, text).map_err(Error::file("write", Path::new(path)))
    };
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", flags).map_err(Error::errno("make mounts private at", Path::new("/")))?;
    Ok(current_privilege())
}

#[expect(
    unsafe_code,
    reason = "only the flag for file tables can break the soundness of this call, and it is not given"
)]
/// Moves the calling thread into a new user namespace and a new mount namespace.
fn unshare() -> Result<(), rustix::io::Errno> {
    let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    // SAFETY: descriptors stay shared with every thread, as `UnshareFlags::FILES` is absent.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}
