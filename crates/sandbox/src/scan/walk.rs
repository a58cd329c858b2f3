//! The walk over a workspace: which names are looked at, and which folders need not be read again.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use base::AbsPath;
use host::{Clock, RealClock};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::bytes::{Entry, content, entries, identity, link, open_folder, state};
use super::{Mark, Marks, State, Way, git};
use crate::names::{self, NAMES, Name};

/// Deeper folders are not looked at, and said so.
const DEEPEST: usize = 200;
/// More folders are not looked at, and said so.
const MOST_FOLDERS: usize = 500_000;
/// More marks are not kept, and said so.
pub(super) const MOST_MARKS: usize = 50_000;
/// A folder that was changed so shortly before it was read may have been changed again within the same tick.
const TICK_MS: u64 = 100;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) marks: Marks,
    folders: HashMap<PathBuf, Folder>,
}

/// A folder that was read, and what in it is worth a look.
#[derive(Clone, Debug)]
struct Folder {
    identity: [u64; 5],
    /// Whether the clock had gone on by the time it was read, so that a later change shows.
    is_settled: bool,
    kept: Vec<Kept>,
}

#[derive(Clone, Debug)]
struct Kept {
    name: OsString,
    kind: FileType,
}

/// The last parts of all names, folded; the first look at a name must be quick.
static LAST_PARTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let last = |name: &Name| name.path.rsplit('/').next().map(str::to_ascii_lowercase);
    NAMES.iter().filter_map(last).collect()
});

/// Looks at a workspace; what was seen before saves reading.
pub(super) fn workspace(path: &AbsPath, before: Option<&Seen>) -> Seen {
    let mut walk = Walk {
        before,
        seen: Seen::default(),
        clock: RealClock::default(),
        top: path.as_path(),
    };
    match open_top(path) {
        Ok(folder) => walk.folder(&folder, Path::new(""), None, 0),
        Err(Errno::NOENT) => {}
        Err(_) => walk.unseen(Path::new("")),
    }
    walk.seen
}

/// Looks at a git folder that lies elsewhere.
pub(super) fn git_folder(path: &AbsPath) -> Seen {
    let mut seen = Seen::default();
    match open_top(path) {
        Ok(folder) => git::look(&folder, Path::new(""), &mut seen.marks, 0),
        Err(Errno::NOENT) => {}
        Err(_) => unseen(Path::new(""), &mut seen.marks),
    }
    seen
}

/// The top itself may be reached through links: the person named it.
fn open_top(path: &AbsPath) -> Result<OwnedFd, Errno> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(path.as_path(), flags, Mode::empty())
}

pub(super) fn unseen(path: &Path, marks: &mut Marks) {
    let mark = Mark {
        way: Way::Unseen,
        state: State::There,
    };
    marks.insert(path.to_owned(), mark);
}

struct Walk<'a> {
    before: Option<&'a Seen>,
    seen: Seen,
    clock: RealClock,
    top: &'a Path,
}

impl Walk<'_> {
    /// `within` is the name that all in this folder belongs to.
    fn folder(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        within: Option<&'static Name>,
        depth: usize,
    ) {
        let is_much =
            self.seen.folders.len() >= MOST_FOLDERS || self.seen.marks.len() >= MOST_MARKS;
        if depth > DEEPEST || is_much {
            return self.unseen(path);
        }
        let Ok(read) = self.read(folder, path, within) else {
            return self.unseen(path);
        };
        if git::is_bare(
            &read
                .kept
                .iter()
                .map(|kept| (kept.name.as_os_str(), kept.kind))
                .collect::<Vec<_>>(),
        ) {
            self.mark(path, Way::Repository, State::There);
            git::look(folder, path, &mut self.seen.marks, 0);
        }
        for kept in &read.kept {
            self.entry(folder, &path.join(&kept.name), kept, within, depth);
        }
        self.seen.folders.insert(path.to_owned(), read);
    }

    fn read(
        &self,
        folder: &OwnedFd,
        path: &Path,
        within: Option<&'static Name>,
    ) -> Result<Folder, Errno> {
        let identity = identity(&rustix::fs::fstat(folder)?);
        if let Some(known) = self.before.and_then(|seen| seen.folders.get(path))
            && known.is_settled
            && known.identity == identity
        {
            return Ok(known.clone());
        }
        let now_ms = self.clock.wall_ms();
        let changed_ms = identity[3] * 1000 + identity[4] / 1_000_000;
        let keeps = |entry: &Entry| within.is_some() || is_worth_a_look(entry);
        let kept = entries(folder)?.into_iter().filter(keeps);
        let kept = kept
            .map(|Entry { name, kind }| Kept { name, kind })
            .collect();
        Ok(Folder {
            identity,
            is_settled: changed_ms + TICK_MS < now_ms,
            kept,
        })
    }

    fn entry(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        kept: &Kept,
        within: Option<&'static Name>,
        depth: usize,
    ) {
        if names::is_git(&kept.name) {
            return self.git(folder, path, kept);
        }
        let within = within.or_else(|| match is_last_part(&kept.name) {
            true => names::of(path),
            false => None,
        });
        match (kept.kind, within) {
            (FileType::Directory, _) => match open_folder(folder, &kept.name) {
                Ok(inner) => self.folder(&inner, path, within, depth + 1),
                // It went away, or somebody put something else there.
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
            (_, Some(name)) if name.path == ".gitattributes" => {
                self.attributes(folder, path, &kept.name)
            }
            (_, Some(name)) => match state(folder, &kept.name) {
                Ok(state) => self.mark(path, Way::Name(name), state),
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
            (FileType::Symlink, None) => self.link(folder, path, &kept.name),
            (_, None) => {}
        }
    }

    fn git(&mut self, folder: &OwnedFd, path: &Path, kept: &Kept) {
        match kept.kind {
            FileType::Directory => match open_folder(folder, &kept.name) {
                Ok(inner) => {
                    self.mark(path, Way::Repository, State::There);
                    git::look(&inner, path, &mut self.seen.marks, 0);
                }
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
            _ => match state(folder, &kept.name) {
                Ok(state) => self.mark(path, Way::Pointer, state),
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
        }
    }

    fn attributes(&mut self, folder: &OwnedFd, path: &Path, name: &OsStr) {
        match content(folder, name, 1 << 20) {
            Ok(Some(text)) => {
                let drivers = git::drivers(&text);
                if !drivers.is_empty() {
                    self.mark(path, Way::Drivers, State::Holds(drivers));
                }
            }
            Err(Errno::NOENT) => {}
            // A link, or more than anybody writes by hand.
            Ok(None) | Err(_) => self.unseen(path),
        }
    }

    fn link(&mut self, folder: &OwnedFd, path: &Path, name: &OsStr) {
        let Ok(target) = link(folder, name) else {
            return;
        };
        if leads_out(path, Path::new(OsStr::from_bytes(&target)), self.top) {
            self.mark(path, Way::LinkOut, State::Holds(target));
        }
    }

    fn mark(&mut self, path: &Path, way: Way, state: State) {
        self.seen.marks.insert(path.to_owned(), Mark { way, state });
    }

    fn unseen(&mut self, path: &Path) {
        unseen(path, &mut self.seen.marks);
    }
}

fn is_worth_a_look(entry: &Entry) -> bool {
    match entry.kind {
        FileType::Directory | FileType::Symlink => true,
        _ => {
            is_last_part(&entry.name) || names::is_git(&entry.name) || git::makes_bare(&entry.name)
        }
    }
}

fn is_last_part(name: &OsStr) -> bool {
    LAST_PARTS.contains(&names::folded(name))
}

/// Whether a link at `path` leads out of the top, told by names alone.
fn leads_out(path: &Path, target: &Path, top: &Path) -> bool {
    let mut depth = path.components().count() - 1;
    let target = match target.strip_prefix(top) {
        Ok(inner) => {
            depth = 0;
            inner.to_owned()
        }
        Err(_) => target.to_owned(),
    };
    for part in target.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => return true,
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
        }
    }
    false
}

/// A path below another, for marks.
pub(super) fn below(path: &Path, rest: &[u8]) -> PathBuf {
    path.join(OsString::from_vec(rest.to_vec()))
}

/// Everything in a folder, to a depth, as marks of one way. `skips` says which names mean nothing.
pub(super) fn all_of(
    folder: impl AsFd,
    path: &Path,
    way: Way,
    marks: &mut Marks,
    skips: &dyn Fn(&OsStr) -> bool,
    depth: usize,
) {
    let Ok(entries) = entries(&folder) else {
        return unseen(path, marks);
    };
    for entry in entries {
        let path = path.join(&entry.name);
        if depth > 8 || marks.len() >= MOST_MARKS {
            return unseen(&path, marks);
        }
        match entry.kind {
            FileType::Directory => match open_folder(&folder, &entry.name) {
                Ok(inner) => all_of(inner, &path, way, marks, skips, depth + 1),
                Err(_) => unseen(&path, marks),
            },
            _ if skips(&entry.name) => {}
            _ => match state(&folder, &entry.name) {
                Ok(state) => {
                    marks.insert(path, Mark { way, state });
                }
                Err(_) => unseen(&path, marks),
            },
        }
    }
}
