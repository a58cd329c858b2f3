//! Overlay mounts: mounting, finding and detaching.
//!
//! Inode numbers are those of the lower layer, so an index of the base is valid for the mount.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

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
    // Layers on several file systems shall look like one.
    if layers.lower.len() > 1 {
        options.extend_from_slice(b",xino=on");
    }
    // The kernel reads at most one page.
    if options.len() > 4000 {
        return Err(Errno::NAMETOOLONG.into());
    }
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("burin", at, "overlay", flags, Some(options.as_c_str()))?;
    Ok(())
}

/// Detaches a mount, even while it is in use. A missing mount is no error.
pub(crate) fn detach(at: &Path) -> io::Result<()> {
    let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
    match unmount(at, flags) {
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// The mount points below `folder` that this process sees, deepest first.
pub(crate) fn mounted_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(table) = fs::read("/proc/self/mountinfo") else {
        return Vec::new();
    };
    // The kernel lists canonical paths.
    let real = folder.canonicalize();
    let folder = real.as_deref().unwrap_or(folder);
    let mut places: Vec<_> = table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|place| std::path::PathBuf::from(OsStr::from_bytes(&unescaped(place))))
        .filter(|place| place.starts_with(folder))
        .collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.components().count()));
    places
}

/// Whether `place` is itself a mount point.
pub(crate) fn is_mounted(place: &Path) -> bool {
    let parent = place.parent().unwrap_or(place);
    match (rustix::fs::lstat(place), rustix::fs::lstat(parent)) {
        (Ok(own), Ok(above)) => own.st_dev != above.st_dev,
        _ => false,
    }
}

/// Detaches all mounts below `folder`.
pub(crate) fn detach_below(folder: &Path) -> io::Result<()> {
    for place in mounted_below(folder) {
        detach(&place)?;
    }
    Ok(())
}

fn escape(path: &OsStr, into: &mut Vec<u8>) {
    for byte in path.as_bytes() {
        if matches!(byte, b'\\' | b':' | b',') {
            into.push(b'\\');
        }
        into.push(*byte);
    }
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
    fn odd_paths_survive_both_ways() {
        let mut escaped = Vec::new();
        escape(OsStr::new("/a,b:c\\d"), &mut escaped);
        assert_eq!(escaped, b"/a\\,b\\:c\\\\d");
        assert_eq!(unescaped(br"/a\040b\134c"), b"/a b\\c");
        assert_eq!(unescaped(br"/a\9"), br"/a\9");
    }
}
