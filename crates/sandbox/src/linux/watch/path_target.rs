//! Resolves a path as seen inside a sandbox, and indicates whether it can be changed there.
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use base::names::widest_key;
use rustix::fs::{AtFlags, FileType, StatVfsMountFlags, StatxFlags};

use super::calls::{self, PathUse};
use super::{WatchedFilter, new_repository};
use crate::linux::kernel::{self, NotificationReply, SyscallNotification};
use crate::linux::launch;
use crate::linux::plan::absolute;
use crate::names::is_git;
use crate::{DeniedAccess, PathAccess};

/// The kernel's own limit on followed links.
const MAX_LINKS: usize = 40;

/// Records accesses that will be denied, and denies the creation of protected names.
pub(super) fn decide_paths(
    watched: &WatchedFilter,
    question: &SyscallNotification,
    uses: &[PathUse],
) -> NotificationReply {
    let mut source = None;
    for used in uses {
        let Some(path) = path(watched, question, used) else {
            continue;
        };
        let place = find(watched, question, &path, used.follows);
        let is_denied = match watched.in_fresh(&place) {
            Some(inner) => new_repository::denies(question, used, &inner, &place, source.as_ref()),
            None => watched.is_guarded(&place) || watched.is_irregular(question, &place),
        };
        if is_denied {
            watched.record_denial(&place, used.access);
            return NotificationReply::Error(libc::EPERM);
        }
        if let Some(access) = refused(&place, used) {
            watched.record_denial(&place, access);
        }
        source = Some(place);
    }
    NotificationReply::Continue
}

/// Returns the path of a call as an absolute one, `.` and `..` included.
fn path(
    watched: &WatchedFilter,
    question: &SyscallNotification,
    used: &PathUse,
) -> Option<PathBuf> {
    let given = read_path(question, used.path)?;
    if !watched.is_pending(question) {
        return None;
    }
    absolute_path(question, used.from, &given)
}

/// Makes `given` absolute, relative to a descriptor or to the caller's current folder.
pub(super) fn absolute_path(
    question: &SyscallNotification,
    from: Option<i32>,
    given: &[u8],
) -> Option<PathBuf> {
    let given = Path::new(OsStr::from_bytes(given));
    if given.is_absolute() {
        return Some(given.to_owned());
    }
    let thread = question.thread;
    let base = match from {
        None => format!("/proc/{thread}/cwd"),
        Some(descriptor) => format!("/proc/{thread}/fd/{descriptor}"),
    };
    Some(fs::read_link(base).ok()?.join(given))
}

/// Reads the path at an address of the caller's memory, without its NUL. `None` if it is
/// unreadable, empty or not shorter than `PATH_MAX`.
fn read_path(question: &SyscallNotification, address: u64) -> Option<Vec<u8>> {
    let mut buffer = [0; libc::PATH_MAX as usize];
    // Most paths are short; the rest is read only if needed.
    let mut length = kernel::read_memory(question.thread, address, &mut buffer[..256]).ok()?;
    if !buffer[..length].contains(&0) {
        length = kernel::read_memory(question.thread, address, &mut buffer).ok()?;
    }
    let end = buffer[..length].iter().position(|byte| *byte == 0)?;
    (end > 0).then(|| buffer[..end].to_vec())
}

/// A path resolved as seen inside the sandbox.
pub(super) struct ResolvedTarget {
    /// The parent folder, if it can be opened from outside.
    folder: Option<OwnedFd>,
    pub(super) name: Vec<u8>,
    /// The path with links resolved.
    path: PathBuf,
    /// The existing target, with the last link followed if requested.
    pub(super) target: Option<OwnedFd>,
}

/// Resolves a path as the kernel would inside.
pub(super) fn find(
    watched: &WatchedFilter,
    question: &SyscallNotification,
    path: &Path,
    follows: bool,
) -> ResolvedTarget {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let (folder, name) = split(&path);
        let Some(folder) = watched.open(question, &folder, libc::O_DIRECTORY) else {
            return ResolvedTarget {
                folder: None,
                name,
                path,
                target: None,
            };
        };
        let real = real_path(&folder).unwrap_or_else(|| path.clone());
        if follows && let Ok(link) = rustix::fs::readlinkat(&folder, name.as_slice(), Vec::new()) {
            path = real.join(OsStr::from_bytes(link.as_bytes()));
            continue;
        }
        let target = open_in(&folder, &name, 0);
        return ResolvedTarget {
            path: real.join(OsStr::from_bytes(&name)),
            folder: Some(folder),
            name,
            target,
        };
    }
    ResolvedTarget {
        folder: None,
        name: Vec::new(),
        path,
        target: None,
    }
}

/// Splits a path into its folder and last name; a path that ends in `.` or `..` is a folder itself.
fn split(path: &Path) -> (PathBuf, Vec<u8>) {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => (folder.to_owned(), name.as_bytes().to_vec()),
        _ => (path.to_owned(), b".".to_vec()),
    }
}

/// Returns the path of an open folder as `/proc` shows it; `None` if it cannot be read.
fn real_path(folder: &OwnedFd) -> Option<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).ok()
}

/// Opens a handle of the entry `name` in a folder, of a link itself. `None` if it cannot be opened.
fn open_in(folder: &OwnedFd, name: &[u8], flags: i32) -> Option<OwnedFd> {
    let name = CString::new(name).ok()?;
    let flags = flags | libc::O_PATH | libc::O_NOFOLLOW;
    let file = kernel::open_path(folder.as_raw_fd(), &name, flags).ok()?;
    Some(launch::owned(file))
}

impl WatchedFilter {
    /// Opens a path as it is seen inside.
    fn open(&self, question: &SyscallNotification, path: &Path, flags: i32) -> Option<OwnedFd> {
        let root = match self.root.get() {
            Some(root) => root,
            None => {
                let path = CString::new(format!("/proc/{}/root", question.thread)).ok()?;
                let root = kernel::open(&path, libc::O_PATH | libc::O_DIRECTORY).ok()?;
                self.root.get_or_init(|| launch::owned(root))
            }
        };
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let flags = flags | libc::O_PATH;
        let resolve = libc::RESOLVE_IN_ROOT;
        let file = kernel::open_how(root.as_raw_fd(), &path, flags, resolve).ok()?;
        Some(launch::owned(file))
    }

    /// Returns the path relative to a git folder that did not exist when the command began, if it
    /// lies in one.
    fn in_fresh(&self, place: &ResolvedTarget) -> Option<PathBuf> {
        let mut fresh = self.plan.fresh.iter();
        fresh.find_map(|git| place.path.strip_prefix(git).ok().map(Path::to_owned))
    }

    /// Returns whether a link or special file is to be created in a git folder: git creates none
    /// there, and writes through them.
    fn is_irregular(&self, question: &SyscallNotification, place: &ResolvedTarget) -> bool {
        if !calls::makes_irregular(question) {
            return false;
        }
        let above = place.path.parent().unwrap_or(Path::new(""));
        let is_within = self.plan.control.iter().any(|git| above.starts_with(git))
            || above.components().any(|part| is_git(part.as_os_str()));
        // With such a name `git init` tests whether links can be created.
        let is_trial = place.name.len() == 7 && place.name.starts_with(b"t");
        is_within && !is_trial
    }

    /// Returns whether the path is a protected name. If its folder cannot be opened from outside,
    /// for example through `/proc`, the name is compared with all protected names.
    fn is_guarded(&self, place: &ResolvedTarget) -> bool {
        let name = widest_key(&place.name).into_owned();
        let guarded = &self.plan.guarded;
        match &place.folder {
            Some(folder) => rustix::fs::fstat(folder).is_ok_and(|facts| {
                let names = guarded.get(&(facts.st_dev, facts.st_ino));
                names.is_some_and(|names| names.contains(&name))
            }),
            None => guarded.values().any(|names| names.contains(&name)),
        }
    }

    pub(super) fn record_denial(&self, place: &ResolvedTarget, access: PathAccess) {
        if let Some(path) = absolute(&place.path) {
            self.denials.add(DeniedAccess::Path { path, access });
        }
    }
}

/// Returns the access that the kernel will deny, if any.
fn refused(place: &ResolvedTarget, used: &PathUse) -> Option<PathAccess> {
    let folder = place.folder.as_ref()?;
    let Some(target) = &place.target else {
        // Changing or removing a missing path fails anyway.
        let makes = used.access == PathAccess::Create;
        return (makes && is_read_only(folder)).then_some(PathAccess::Create);
    };
    match used.access {
        PathAccess::Create if !used.takes_existing => None,
        PathAccess::Remove => {
            (is_read_only(folder) || is_mount(folder, target)).then_some(PathAccess::Remove)
        }
        _ => (is_plain(target) && is_read_only(target)).then_some(PathAccess::Write),
    }
}

/// Returns whether it is a file or folder; devices, pipes and sockets are writable on read-only
/// mounts.
fn is_plain(file: &OwnedFd) -> bool {
    rustix::fs::fstat(file).is_ok_and(|facts| {
        matches!(
            FileType::from_raw_mode(facts.st_mode),
            FileType::RegularFile | FileType::Directory
        )
    })
}

/// Returns whether the mount that contains a file is read-only.
pub(super) fn is_read_only(file: &impl AsFd) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|facts| facts.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Returns whether `target`, an entry of `folder`, is a mount point.
fn is_mount(folder: &OwnedFd, target: &OwnedFd) -> bool {
    let mount = |file: &OwnedFd| {
        let facts = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
        facts.map(|facts| facts.stx_mnt_id).ok()
    };
    mount(folder) != mount(target)
}

/// Returns the path of a Unix socket address: the bytes after the family, up to the first NUL.
pub(super) fn socket_path(address: &[u8]) -> Option<Vec<u8>> {
    let path = address.get(2..)?;
    let end = path
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(path.len());
    (end > 0).then(|| OsStr::from_bytes(&path[..end]).to_owned().into_vec())
}
