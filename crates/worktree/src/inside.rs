//! What this process may mount, and how an ordinary user's process comes to mount at all.

use std::fs;
use std::path::Path;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use crate::error::Error;

/// What a process may mount, and who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Root of the machine: every program sees its mounts.
    Root,
    /// Inside a namespace of its own: only it and what it starts see its mounts, and they go with it.
    Namespace,
    /// Nothing.
    Plain,
}

impl Standing {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Namespace => "namespace",
            Self::Plain => "plain",
        }
    }
}

/// What this process may mount.
pub fn standing() -> Standing {
    let can_mount =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if !can_mount {
        return Standing::Plain;
    }
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let words: Vec<&str> = map.split_whitespace().collect();
    match words.as_slice() {
        ["0", "0", "4294967295"] => Standing::Root,
        _ => Standing::Namespace,
    }
}

/// Puts this process into a user and a mount namespace of its own, where it may mount overlays. Its ids stay as they
/// are. Mounts made there are seen by it and by what it starts, and vanish with the last of them.
///
/// To be called first thing in `main`, before any thread is started; root needs it not and stays where it is.
pub fn enter() -> Result<Standing, Error> {
    let before = standing();
    if before != Standing::Plain {
        return Ok(before);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare().map_err(|errno| {
        Error::Refused(format!(
            "cannot make a namespace for overlay mounts: {errno}; as root run \"sysctl \
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
    mount_change("/", flags)
        .map_err(Error::errno("keep mounts to ourselves at", Path::new("/")))?;
    Ok(standing())
}

#[expect(
    unsafe_code,
    reason = "only the flag for file tables can break the soundness of this call, and it is not given"
)]
fn unshare() -> Result<(), rustix::io::Errno> {
    let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    // SAFETY: descriptors stay shared with every thread, as `UnshareFlags::FILES` is absent.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}
