//! Mounts of Linux: overlays, memory, and the namespace that lets an ordinary user mount.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount as mount_at, mount_change, unmount,
};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use super::MountPrivilege;
use crate::error::Error;

pub(super) const HAS_OVERLAYS: bool = true;

pub(super) fn mount(file_system: &str, at: &Path, options: &CStr) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount_at("burin", at, file_system, flags, Some(options))?;
    Ok(())
}

pub(super) fn detach(at: &Path) -> io::Result<()> {
    let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
    match unmount(at, flags) {
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// All mount points that this process sees.
pub(super) fn mount_points() -> Vec<PathBuf> {
    let Ok(table) = fs::read("/proc/self/mountinfo") else {
        return Vec::new();
    };
    table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|place| PathBuf::from(OsStr::from_bytes(&unescaped(place))))
        .collect()
}

pub(super) fn privilege() -> MountPrivilege {
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

pub(super) fn enter_namespace() -> Result<MountPrivilege, Error> {
    let before = privilege();
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
    Ok(privilege())
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

/// Decodes a path of `mountinfo`, where spaces and other special characters are octal escapes.
fn unescaped(place: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(place.len());
    let mut rest = place;
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                path.push(code);
                rest = &tail[3..];
            }
            None => {
                path.push(*first);
                rest = tail;
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_mount_table_are_decoded() {
        assert_eq!(unescaped(br"/a\040b\134c"), b"/a b\\c");
        assert_eq!(unescaped(br"/a\9"), br"/a\9");
    }
}
