//! Finds entries that git never creates in its own folder and follows when it writes: links, pipes,
//! sockets, devices, hard links, and files of another owner.
//!
//! The user's next commit, fetch or garbage collection writes to such names (`COMMIT_EDITMSG`,
//! `logs/HEAD`, `gc.log` and many more), and thus to their targets.
//!
//! Limitations: a hard link that a file gets later does not change the folder, so the file is not
//! examined again. Objects may be hard links, since a local clone creates them; git never writes
//! into an object.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::RealClock;
use host::no_follow::{self, FolderEntry, open_folder, read_link, stat};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::walk::{
    FolderSnapshot, Folders, MAX_MARKS, ScanSnapshot, mark_unreadable, read_folder, still_empty,
};
use super::{FindingKind, MarkState, Marks, ScanMark};

/// Deeper folders are not scanned, but reported.
const MAX_DEPTH: usize = 64;

/// The folders that the worktrees of a repository share and write to.
const SHARED: [&str; 3] = ["objects", "refs", "logs"];

/// Scans a git folder.
pub(super) fn scan(
    folder: &OwnedFd,
    path: &Path,
    before: Option<&ScanSnapshot>,
    seen: &mut ScanSnapshot,
) {
    let mut walk = ControlWalk::new(folder, before, seen);
    walk.folder(folder, path, GitFolderPart::Other, 0);
}

/// Scans the folders that worktrees share.
pub(super) fn scan_shared(
    folder: &OwnedFd,
    path: &Path,
    before: Option<&ScanSnapshot>,
    seen: &mut ScanSnapshot,
) {
    let mut walk = ControlWalk::new(folder, before, seen);
    for name in SHARED {
        let name = OsStr::new(name);
        let Ok(stat) = stat(folder, name) else {
            continue;
        };
        let kind = no_follow::kind(&stat);
        walk.entry(
            folder,
            &path.join(name),
            name,
            kind,
            part_of(GitFolderPart::Other, name),
            0,
        );
    }
}

/// The part of a git folder that contains an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GitFolderPart {
    Objects,
    Other,
}

fn part_of(part: GitFolderPart, name: &OsStr) -> GitFolderPart {
    if name == "objects" {
        GitFolderPart::Objects
    } else {
        part
    }
}

struct ControlWalk<'a> {
    before: Option<&'a Folders>,
    marks: &'a mut Marks,
    folders: &'a mut Folders,
    clock: RealClock,
    owner: u32,
}

impl<'a> ControlWalk<'a> {
    fn new(folder: &OwnedFd, before: Option<&'a ScanSnapshot>, seen: &'a mut ScanSnapshot) -> Self {
        let ScanSnapshot { marks, control, .. } = seen;
        Self {
            before: before.map(|seen| &seen.control),
            marks,
            folders: control,
            clock: RealClock::default(),
            owner: rustix::fs::fstat(folder).map_or(u32::MAX, |stat| stat.st_uid),
        }
    }

    fn folder(&mut self, folder: &OwnedFd, path: &Path, part: GitFolderPart, depth: usize) {
        if depth > MAX_DEPTH || self.marks.len() >= MAX_MARKS {
            return mark_unreadable(path, self.marks);
        }
        let owner = self.owner;
        let keeps = |entry: &FolderEntry| is_kept(folder, entry, part, owner);
        let read = read_folder(folder, path, self.before, &self.clock, &keeps);
        let Ok(read) = read else {
            return mark_unreadable(path, self.marks);
        };
        for kept in &read.kept {
            let part = part_of(part, &kept.name);
            self.entry(
                folder,
                &path.join(&kept.name),
                &kept.name,
                kept.kind,
                part,
                depth,
            );
        }
        self.record_folder(path, read);
    }

    fn record_folder(&mut self, path: &Path, read: FolderSnapshot) {
        self.folders.insert(path.to_owned(), read);
    }

    fn entry(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        name: &OsStr,
        kind: FileType,
        part: GitFolderPart,
        depth: usize,
    ) {
        if kind != FileType::Directory {
            return self.irregular(folder, path, name, kind);
        }
        if let Some(known) = still_empty(folder, name, path, self.before) {
            return self.record_folder(path, known);
        }
        match open_folder(folder, name) {
            Ok(inner) => self.folder(&inner, path, part, depth + 1),
            Err(Errno::NOENT) => {}
            Err(_) => mark_unreadable(path, self.marks),
        }
    }

    fn irregular(&mut self, folder: &OwnedFd, path: &Path, name: &OsStr, kind: FileType) {
        let state = match kind {
            FileType::Symlink => match read_link(folder, name) {
                // Git itself once wrote its references this way.
                Ok(target) if name == "HEAD" && is_reference(&target) => return,
                Ok(target) => MarkState::Link(target),
                Err(Errno::NOENT) => return,
                Err(_) => return mark_unreadable(path, self.marks),
            },
            _ => MarkState::Present,
        };
        let way = FindingKind::Irregular;
        let known = self.marks.get(path).map(|mark| mark.kind);
        // Its type matters more than its content, unless it is run as it is.
        let is_weaker = matches!(
            known,
            None | Some(
                FindingKind::Layout
                    | FindingKind::Unreadable
                    | FindingKind::Rebase
                    | FindingKind::Drivers
                    | FindingKind::Gitlink
            )
        );
        if is_weaker {
            self.marks
                .insert(path.to_owned(), ScanMark { kind: way, state });
        }
    }
}

/// Returns whether an entry is of interest: a folder, or one that git does not create.
fn is_kept(folder: &OwnedFd, entry: &FolderEntry, part: GitFolderPart, owner: u32) -> bool {
    match entry.kind {
        FileType::RegularFile if part == GitFolderPart::Objects => false,
        FileType::RegularFile => {
            let stat = stat(folder, &entry.name);
            stat.is_ok_and(|stat| stat.st_nlink > 1 || stat.st_uid != owner)
        }
        // Git's own socket, for its file system monitor.
        FileType::Socket => entry.name != "fsmonitor--daemon.ipc",
        _ => true,
    }
}

/// Returns whether the target of a link is a relative path below `refs/` without `.` and `..`.
fn is_reference(target: &[u8]) -> bool {
    target.starts_with(b"refs/")
        && Path::new(OsStr::from_bytes(target))
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
}
