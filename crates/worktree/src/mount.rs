//! Overlay mounts: the privilege to mount, mounting, finding and detaching.
//!
//! Only Linux has overlays; elsewhere nothing is ever mounted.
//! Inode numbers are those of the lower layer, so an index of the base is valid for the mount.

#[cfg(not(all(target_os = "linux", not(burin_portable))))]
mod absent;
#[cfg(all(target_os = "linux", not(burin_portable)))]
mod linux;

use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

#[cfg(not(all(target_os = "linux", not(burin_portable))))]
use self::absent as system;
#[cfg(all(target_os = "linux", not(burin_portable)))]
use self::linux as system;
use crate::error::Error;

/// Whether this system can mount overlays at all, given the privilege.
pub(crate) const HAS_OVERLAYS: bool = system::HAS_OVERLAYS;

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
    /// The name in cache keys.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Namespace => "namespace",
            Self::Plain => "plain",
        }
    }
}

/// Returns the privilege of this process to mount; always `Plain` on systems without overlays.
pub fn current_privilege() -> MountPrivilege {
    system::privilege()
}

/// Moves this process into its own user and mount namespace, where it may mount overlays, and
/// returns its privilege there; its user and group ids stay the same. Its mounts are visible to it
/// and its children, and vanish with the last of them.
///
/// Call this first in `main`, before any thread starts. For root, and on systems without overlays,
/// it does nothing.
///
/// # Errors
/// `Error::Refused` if the kernel allows no namespace; `Error::File` if it cannot be set up.
pub fn enter_namespace() -> Result<MountPrivilege, Error> {
    system::enter_namespace()
}

/// The folders of one overlay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverlayLayers<'a> {
    /// Read-only layers, topmost first.
    pub(crate) lower: &'a [&'a Path],
    /// The layer that takes the changes.
    pub(crate) upper: &'a Path,
    /// Work folder of the kernel, on the file system of `upper`.
    pub(crate) work: &'a Path,
}

/// Mounts `layers` at `at`. With `by_user` the kernel marks layers in the user's attributes, the
/// only ones allowed in a namespace.
pub(crate) fn overlay(layers: OverlayLayers<'_>, at: &Path, by_user: bool) -> io::Result<()> {
    system::mount("overlay", at, &options(layers, by_user)?)
}

/// Mounts an empty file system in memory at `at`, readable by the user alone, for at most `size`
/// bytes and a few files.
pub(crate) fn memory(at: &Path, size: usize) -> io::Result<()> {
    let options = CString::new(format!("mode=700,size={size},nr_inodes=16"))?;
    system::mount("tmpfs", at, &options)
}

/// Detaches a mount, even while it is in use. A missing mount is not an error.
pub(crate) fn detach(at: &Path) -> io::Result<()> {
    system::detach(at)
}

/// Returns the mount points below `folder` that this process sees, deepest first.
pub(crate) fn mounted_below(folder: &Path) -> Vec<PathBuf> {
    let mut places = system::mount_points();
    if places.is_empty() {
        return places;
    }
    // The kernel lists canonical paths.
    let real = folder.canonicalize();
    let folder = real.as_deref().unwrap_or(folder);
    places.retain(|place| place.starts_with(folder));
    places.sort_by_key(|place| std::cmp::Reverse(place.components().count()));
    places
}

/// Returns whether `place` is itself a mount point.
pub(crate) fn is_mounted(place: &Path) -> bool {
    let parent = place.parent().unwrap_or(place);
    match (rustix::fs::lstat(place), rustix::fs::lstat(parent)) {
        (Ok(own), Ok(above)) => own.st_dev != above.st_dev,
        _ => false,
    }
}

/// Detaches all mounts below `folder`, and `folder` itself.
pub(crate) fn detach_below(folder: &Path) -> io::Result<()> {
    for place in mounted_below(folder) {
        detach(&place)?;
    }
    Ok(())
}

/// The options of the kernel for an overlay.
fn options(layers: OverlayLayers<'_>, by_user: bool) -> io::Result<CString> {
    let mut options = b"lowerdir=".to_vec();
    for (ix, path) in layers.lower.iter().enumerate() {
        if ix > 0 {
            options.push(b':');
        }
        escape(path.as_os_str(), &mut options);
    }
    for (name, path) in [(",upperdir=", layers.upper), (",workdir=", layers.work)] {
        options.extend_from_slice(name.as_bytes());
        escape(path.as_os_str(), &mut options);
    }
    // Root can rename folders of the base; in a namespace the kernel has no safe way to record
    // that.
    let notes: &[u8] = if by_user {
        b",userxattr,index=off,metacopy=off"
    } else {
        b",redirect_dir=on,index=off,metacopy=off"
    };
    options.extend_from_slice(notes);
    // Makes layers on several file systems look like one.
    if layers.lower.len() > 1 {
        options.extend_from_slice(b",xino=on");
    }
    // The kernel reads at most one page.
    if options.len() > 4000 {
        return Err(Errno::NAMETOOLONG.into());
    }
    Ok(CString::new(options)?)
}

fn escape(path: &OsStr, into: &mut Vec<u8>) {
    for byte in path.as_bytes() {
        if matches!(byte, b'\\' | b':' | b',') {
            into.push(b'\\');
        }
        into.push(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_in_paths_are_escaped() {
        let mut escaped = Vec::new();
        escape(OsStr::new("/a,b:c\\d"), &mut escaped);
        assert_eq!(escaped, b"/a\\,b\\:c\\\\d");
    }
}
