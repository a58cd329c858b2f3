//! Where a path leads inside a sandbox, and whether it can be changed there.
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, StatVfsMountFlags, StatxFlags};

use super::calls::{self, Use};
use super::{Watched, fresh};
use crate::linux::kernel::{self, Answer, Question};
use crate::linux::launch;
use crate::linux::plan::absolute;
use crate::names::is_git;
use crate::{Access, Denied};

/// As many links are followed as the kernel follows.
const LINKS: usize = 40;

/// Tells of what will be denied, and denies what is protected and may not be there.
pub(super) fn judge(watched: &Watched, question: &Question, uses: &[Use]) -> Answer {
    let mut source = None;
    for used in uses {
        let Some(path) = path(watched, question, used) else {
            continue;
        };
        let place = find(watched, question, &path, used.follows);
        let is_denied = match watched.in_fresh(&place) {
            Some(inner) => fresh::denies(question, used, &inner, &place, source.as_ref()),
            None => watched.is_guarded(&place) || watched.is_irregular(question, &place),
        };
        if is_denied {
            watched.tell(&place, used.access);
            return Answer::Error(libc::EPERM);
        }
        if let Some(access) = refused(&place, used) {
            watched.tell(&place, access);
        }
        source = Some(place);
    }
    Answer::Continue
}

/// The path of a call as an absolute one, with what it says about `.` and `..` still in it.
fn path(watched: &Watched, question: &Question, used: &Use) -> Option<PathBuf> {
    let given = read_path(question, used.path)?;
    if !watched.is_asked(question) {
        return None;
    }
    absolute_path(question, used.from, &given)
}

/// `given`, taken from a descriptor or the current folder of whoever asks.
pub(super) fn absolute_path(
    question: &Question,
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

fn read_path(question: &Question, address: u64) -> Option<Vec<u8>> {
    let mut buffer = [0; libc::PATH_MAX as usize];
    // Most paths are short; what is beyond is read only when it has to be.
    let mut length = kernel::read_memory(question.thread, address, &mut buffer[..256]).ok()?;
    if !buffer[..length].contains(&0) {
        length = kernel::read_memory(question.thread, address, &mut buffer).ok()?;
    }
    let end = buffer[..length].iter().position(|byte| *byte == 0)?;
    (end > 0).then(|| buffer[..end].to_vec())
}

/// Where a path leads.
pub(super) struct Place {
    /// The folder, when it can be found from outside.
    folder: Option<OwnedFd>,
    pub(super) name: Vec<u8>,
    /// The path, links followed.
    path: PathBuf,
    /// What is there, the last link followed if that was asked for.
    pub(super) target: Option<OwnedFd>,
}

/// Follows a path as the kernel would inside.
pub(super) fn find(watched: &Watched, question: &Question, path: &Path, follows: bool) -> Place {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let (folder, name) = split(&path);
        let Some(folder) = watched.open(question, &folder, libc::O_DIRECTORY) else {
            return Place {
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
        return Place {
            path: real.join(OsStr::from_bytes(&name)),
            folder: Some(folder),
            name,
            target,
        };
    }
    Place {
        folder: None,
        name: Vec::new(),
        path,
        target: None,
    }
}

/// The folder and the last name; a path that ends in `.` or `..` is a folder itself.
fn split(path: &Path) -> (PathBuf, Vec<u8>) {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => (folder.to_owned(), name.as_bytes().to_vec()),
        _ => (path.to_owned(), b".".to_vec()),
    }
}

fn real_path(folder: &OwnedFd) -> Option<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).ok()
}

fn open_in(folder: &OwnedFd, name: &[u8], flags: i32) -> Option<OwnedFd> {
    let name = CString::new(name).ok()?;
    let flags = flags | libc::O_PATH | libc::O_NOFOLLOW;
    let file = kernel::open_path(folder.as_raw_fd(), &name, flags).ok()?;
    Some(launch::owned(file))
}

impl Watched {
    /// Opens a path as it is seen inside.
    fn open(&self, question: &Question, path: &Path, flags: i32) -> Option<OwnedFd> {
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

    /// The path within a git folder that was not there when the command began, where it lies in one.
    fn in_fresh(&self, place: &Place) -> Option<PathBuf> {
        let mut fresh = self.plan.fresh.iter();
        fresh.find_map(|git| place.path.strip_prefix(git).ok().map(Path::to_owned))
    }

    /// Whether a link or a special file is to be made in a git folder: git makes none there, and writes through them.
    fn is_irregular(&self, question: &Question, place: &Place) -> bool {
        if !calls::makes_irregular(question) {
            return false;
        }
        let above = place.path.parent().unwrap_or(Path::new(""));
        let is_within = self.plan.control.iter().any(|git| above.starts_with(git))
            || above.components().any(|part| is_git(part.as_os_str()));
        // With a name like this git tries, when it makes a repository, whether links can be made.
        let is_trial = place.name.len() == 7 && place.name.starts_with(b"t");
        is_within && !is_trial
    }

    /// Whether a protected name is meant. A folder that cannot be found from outside, such as one
    /// reached through the list of processes, is taken for the one that holds it.
    fn is_guarded(&self, place: &Place) -> bool {
        let name = place.name.to_ascii_lowercase();
        let guarded = &self.plan.guarded;
        match &place.folder {
            Some(folder) => rustix::fs::fstat(folder).is_ok_and(|facts| {
                let names = guarded.get(&(facts.st_dev, facts.st_ino));
                names.is_some_and(|names| names.contains(&name))
            }),
            None => guarded.values().any(|names| names.contains(&name)),
        }
    }

    pub(super) fn tell(&self, place: &Place, access: Access) {
        if let Some(path) = absolute(&place.path) {
            self.denials.add(Denied::Path { path, access });
        }
    }
}

/// How it will be refused, if it will.
fn refused(place: &Place, used: &Use) -> Option<Access> {
    let folder = place.folder.as_ref()?;
    let Some(target) = &place.target else {
        // Changing or removing what is not there fails by itself.
        let makes = used.access == Access::Create;
        return (makes && is_read_only(folder)).then_some(Access::Create);
    };
    match used.access {
        Access::Create if !used.takes_existing => None,
        Access::Remove => {
            (is_read_only(folder) || is_mount(folder, target)).then_some(Access::Remove)
        }
        _ => (is_plain(target) && is_read_only(target)).then_some(Access::Write),
    }
}

/// Files and folders; devices, pipes and sockets can be written wherever they lie.
fn is_plain(file: &OwnedFd) -> bool {
    rustix::fs::fstat(file).is_ok_and(|facts| {
        matches!(
            FileType::from_raw_mode(facts.st_mode),
            FileType::RegularFile | FileType::Directory
        )
    })
}

/// Whether the mount that a file lies on is read-only.
pub(super) fn is_read_only(file: &impl AsFd) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|facts| facts.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn is_mount(folder: &OwnedFd, target: &OwnedFd) -> bool {
    let mount = |file: &OwnedFd| {
        let facts = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
        facts.map(|facts| facts.stx_mnt_id).ok()
    };
    mount(folder) != mount(target)
}

/// The path of a local socket's address: what comes after the family, up to the first NUL.
pub(super) fn socket_path(address: &[u8]) -> Option<Vec<u8>> {
    let path = address.get(2..)?;
    let end = path
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(path.len());
    (end > 0).then(|| OsStr::from_bytes(&path[..end]).to_owned().into_vec())
}
