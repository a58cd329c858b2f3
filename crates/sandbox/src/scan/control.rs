//! What git never makes in its own folder, and follows when it writes: links, pipes, sockets, devices, second names for
//! files, and files of another owner.
//!
//! The person's next commit, fetch or garbage collection writes to such names (`COMMIT_EDITMSG`, `logs/HEAD`, `gc.log`
//! and many more), and thus wherever they lead.
//!
//! Limitations: a second name that a file gets later does not change the folder, so the file is not asked again. Objects
//! may have second names, since a local clone makes them; git never writes into an object.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::RealClock;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::bytes::{Entry, link, open_folder, stat};
use super::walk::{Folder, Folders, MOST_MARKS, Seen, read_folder, still_empty, unseen};
use super::{Mark, Marks, State, Way};

/// Deeper folders are not looked at, and said so.
const DEEPEST: usize = 64;

/// The folders that the worktrees of a repository share and write to.
const SHARED: [&str; 3] = ["objects", "refs", "logs"];

/// Looks through a git folder.
pub(super) fn look(folder: &OwnedFd, path: &Path, before: Option<&Seen>, seen: &mut Seen) {
    let mut walk = Walk::new(folder, before, seen);
    walk.folder(folder, path, Part::Other, 0);
}

/// Looks through the folders that worktrees share.
pub(super) fn look_at_shared(
    folder: &OwnedFd,
    path: &Path,
    before: Option<&Seen>,
    seen: &mut Seen,
) {
    let mut walk = Walk::new(folder, before, seen);
    for name in SHARED {
        let name = OsStr::new(name);
        let Ok(facts) = stat(folder, name) else {
            continue;
        };
        let kind = super::bytes::kind(&facts);
        walk.entry(
            folder,
            &path.join(name),
            name,
            kind,
            part_of(Part::Other, name),
            0,
        );
    }
}

/// Which part of a git folder something lies in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Objects,
    Other,
}

fn part_of(part: Part, name: &OsStr) -> Part {
    match name == "objects" {
        true => Part::Objects,
        false => part,
    }
}

struct Walk<'a> {
    before: Option<&'a Folders>,
    marks: &'a mut Marks,
    folders: &'a mut Folders,
    clock: RealClock,
    owner: u32,
}

impl<'a> Walk<'a> {
    fn new(folder: &OwnedFd, before: Option<&'a Seen>, seen: &'a mut Seen) -> Self {
        let Seen { marks, control, .. } = seen;
        Self {
            before: before.map(|seen| &seen.control),
            marks,
            folders: control,
            clock: RealClock::default(),
            owner: rustix::fs::fstat(folder).map_or(u32::MAX, |stat| stat.st_uid),
        }
    }

    fn folder(&mut self, folder: &OwnedFd, path: &Path, part: Part, depth: usize) {
        if depth > DEEPEST || self.marks.len() >= MOST_MARKS {
            return unseen(path, self.marks);
        }
        let owner = self.owner;
        let keeps = |entry: &Entry| is_kept(folder, entry, part, owner);
        let read = read_folder(folder, path, self.before, &self.clock, &keeps);
        let Ok(read) = read else {
            return unseen(path, self.marks);
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
        self.keep(path, read);
    }

    fn keep(&mut self, path: &Path, read: Folder) {
        self.folders.insert(path.to_owned(), read);
    }

    fn entry(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        name: &OsStr,
        kind: FileType,
        part: Part,
        depth: usize,
    ) {
        if kind != FileType::Directory {
            return self.irregular(folder, path, name, kind);
        }
        if let Some(known) = still_empty(folder, name, path, self.before) {
            return self.keep(path, known);
        }
        match open_folder(folder, name) {
            Ok(inner) => self.folder(&inner, path, part, depth + 1),
            Err(Errno::NOENT) => {}
            Err(_) => unseen(path, self.marks),
        }
    }

    fn irregular(&mut self, folder: &OwnedFd, path: &Path, name: &OsStr, kind: FileType) {
        let state = match kind {
            FileType::Symlink => match link(folder, name) {
                // As git itself once wrote its references.
                Ok(target) if name == "HEAD" && is_reference(&target) => return,
                Ok(target) => State::Link(target),
                Err(Errno::NOENT) => return,
                Err(_) => return unseen(path, self.marks),
            },
            _ => State::There,
        };
        let way = Way::Irregular;
        let known = self.marks.get(path).map(|mark| mark.way);
        // What it is matters more than what stands in it, unless that is run as it is.
        let is_weaker = matches!(
            known,
            None | Some(Way::Layout | Way::Unseen | Way::Rebase | Way::Drivers | Way::Gitlink)
        );
        if is_weaker {
            self.marks.insert(path.to_owned(), Mark { way, state });
        }
    }
}

/// What is looked at: folders, and what git does not make.
fn is_kept(folder: &OwnedFd, entry: &Entry, part: Part, owner: u32) -> bool {
    match entry.kind {
        FileType::RegularFile if part == Part::Objects => false,
        FileType::RegularFile => {
            let facts = stat(folder, &entry.name);
            facts.is_ok_and(|facts| facts.st_nlink > 1 || facts.st_uid != owner)
        }
        // Git's own, for its monitor of the file system.
        FileType::Socket => entry.name != "fsmonitor--daemon.ipc",
        _ => true,
    }
}

fn is_reference(target: &[u8]) -> bool {
    target.starts_with(b"refs/")
        && Path::new(OsStr::from_bytes(target))
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
}
