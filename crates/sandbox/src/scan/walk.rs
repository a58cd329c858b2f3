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

use super::bytes::{
    Entry, content, entries, identity, kind, link, open_below, open_folder, stat, state,
};
use super::{Mark, Marks, State, Way, control, git, has_any};
use crate::git::{Programs, Role};
use crate::links::trace;
use crate::names::{self, Guard, NAMES, Name};

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
    pub(super) folders: Folders,
    /// Folders of git, which are read for other things.
    pub(super) control: Folders,
}

/// Folders that were read, by their path below the top.
pub(super) type Folders = HashMap<PathBuf, Folder>;

/// A folder that was read, and what in it is worth a look.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    identity: [u64; 5],
    /// Whether the clock had gone on by the time it was read, so that a later change shows.
    is_settled: bool,
    pub(super) kept: Vec<Kept>,
}

#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

/// Reads a folder, or takes what was read before where nothing was added, renamed or removed since.
pub(super) fn read_folder(
    folder: &OwnedFd,
    path: &Path,
    before: Option<&Folders>,
    clock: &RealClock,
    keeps: &dyn Fn(&Entry) -> bool,
) -> Result<Folder, Errno> {
    let identity = identity(&rustix::fs::fstat(folder)?);
    if let Some(known) = before.and_then(|folders| folders.get(path))
        && known.is_settled
        && known.identity == identity
    {
        return Ok(known.clone());
    }
    let now_ms = clock.wall_ms();
    let changed_ms = identity[3] * 1000 + identity[4] / 1_000_000;
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

/// A folder that held nothing worth a look and did not change since, told without opening it.
pub(super) fn still_empty(
    above: impl AsFd,
    name: &OsStr,
    path: &Path,
    before: Option<&Folders>,
) -> Option<Folder> {
    let known = before?.get(path)?;
    if !known.is_settled || !known.kept.is_empty() {
        return None;
    }
    let stat = stat(above, name).ok()?;
    let is_same = kind(&stat) == FileType::Directory && identity(&stat) == known.identity;
    is_same.then(|| known.clone())
}

/// The last parts of all names, folded; the first look at a name must be quick.
static LAST_PARTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let last = |name: &Name| name.path.rsplit('/').next().map(str::to_ascii_lowercase);
    NAMES.iter().filter_map(last).collect()
});

/// Looks at a workspace; what was seen before saves reading.
pub(super) fn workspace(path: &AbsPath, programs: &Programs, before: Option<&Seen>) -> Seen {
    let mut walk = Walk {
        before,
        seen: Seen::default(),
        clock: RealClock::default(),
        top: path,
        links: Vec::new(),
    };
    match open_top(path) {
        Ok(folder) => {
            walk.folder(&folder, Path::new(""), None, 0);
            walk.linked(&folder);
            walk.programs(&folder, programs);
        }
        Err(Errno::NOENT) => {}
        Err(_) => walk.unseen(Path::new("")),
    }
    walk.seen
}

/// Looks at a git folder that lies elsewhere.
pub(super) fn git_folder(path: &AbsPath, before: Option<&Seen>) -> Seen {
    let mut seen = Seen::default();
    match open_top(path) {
        Ok(folder) => {
            git::look(&folder, Path::new(""), &mut seen.marks, 0);
            control::look(&folder, Path::new(""), before, &mut seen);
        }
        Err(Errno::NOENT) => {}
        Err(_) => unseen(Path::new(""), &mut seen.marks),
    }
    seen
}

/// Looks at what the worktrees of a repository share, and commands can write.
pub(super) fn shared(path: &AbsPath, before: Option<&Seen>) -> Seen {
    let mut seen = Seen::default();
    match open_top(path) {
        Ok(folder) => {
            git::look_at_objects(&folder, &mut seen.marks);
            control::look_at_shared(&folder, Path::new(""), before, &mut seen);
        }
        Err(Errno::NOENT) => {}
        Err(_) => unseen(Path::new(""), &mut seen.marks),
    }
    seen
}

/// The top itself may be reached through links: the person named it.
pub(super) fn open_top(path: &AbsPath) -> Result<OwnedFd, Errno> {
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
    top: &'a AbsPath,
    /// Links below names that no agent writes.
    links: Vec<(PathBuf, &'static Name)>,
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
        let before = self.before.map(|seen| &seen.folders);
        let keeps = |entry: &Entry| within.is_some() || is_worth_a_look(entry);
        let Ok(read) = read_folder(folder, path, before, &self.clock, &keeps) else {
            return self.unseen(path);
        };
        if git::is_bare(
            &read
                .kept
                .iter()
                .map(|kept| (kept.name.as_os_str(), kept.kind))
                .collect::<Vec<_>>(),
        ) {
            // The workspace itself is told by the file that makes it a repository, which can be put aside.
            let told = match depth {
                0 => PathBuf::from("HEAD"),
                _ => path.to_owned(),
            };
            self.mark(&told, Way::Repository, State::There);
            git::look(folder, path, &mut self.seen.marks, 0);
            control::look_at_shared(folder, path, self.before, &mut self.seen);
        }
        for kept in &read.kept {
            self.entry(folder, &path.join(&kept.name), kept, within, depth);
        }
        self.seen.folders.insert(path.to_owned(), read);
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
            (FileType::Directory, _) => self.inner(folder, path, kept, within, depth),
            (_, Some(name)) if name.path == ".gitattributes" => {
                self.attributes(folder, path, &kept.name)
            }
            (kind, Some(name)) => match state(folder, &kept.name) {
                Ok(state) => {
                    if kind == FileType::Symlink && name.guard == Guard::Closed {
                        self.links.push((path.to_owned(), name));
                    }
                    self.mark(path, Way::Name(name), state);
                }
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
            (FileType::Symlink, None) => self.link(folder, path, &kept.name),
            (_, None) => {}
        }
    }

    /// A folder in a folder.
    fn inner(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        kept: &Kept,
        within: Option<&'static Name>,
        depth: usize,
    ) {
        let before = self.before.map(|seen| &seen.folders);
        if within.is_none()
            && let Some(known) = still_empty(folder, &kept.name, path, before)
        {
            self.seen.folders.insert(path.to_owned(), known);
            return;
        }
        match open_folder(folder, &kept.name) {
            Ok(inner) => self.folder(&inner, path, within, depth + 1),
            // It went away, or somebody put something else there.
            Err(Errno::NOENT) => return,
            Err(_) => return self.unseen(path),
        }
        // An empty folder of a protected name shows that somebody got past what keeps it from being made.
        if let Some(name) = within
            && name.guard == Guard::Closed
            && !has_any(&self.seen.marks, path)
            && names::of(path.parent().unwrap_or(Path::new(""))).is_none()
        {
            self.mark(path, Way::Name(name), State::There);
        }
    }

    /// Marks what links below protected names lead to: it is read by the same programs.
    fn linked(&mut self, top: &OwnedFd) {
        let Ok(root) = host::Files::canonicalize(&host::RealFiles, self.top) else {
            return;
        };
        for (path, name) in std::mem::take(&mut self.links) {
            let trace = trace(root.as_path(), &path);
            let paths = trace.links.into_iter().skip(1).chain(trace.end);
            for path in paths {
                let inner = path.strip_prefix(root.as_path()).unwrap_or(&path);
                self.at(top, inner, Way::Name(name));
            }
        }
    }

    /// Marks the files of the workspace that git runs by itself.
    fn programs(&mut self, top: &OwnedFd, programs: &Programs) {
        if programs.paths.is_empty() {
            return;
        }
        let Ok(root) = host::Files::canonicalize(&host::RealFiles, self.top) else {
            return;
        };
        for (path, role) in &programs.paths {
            let way = match role {
                Role::Config => Way::Config,
                Role::Hooks => Way::Hook,
                Role::Program => Way::Program,
                Role::Package => Way::Package,
            };
            if let Ok(inner) = path.strip_prefix(root.as_path()) {
                self.at(top, inner, way);
            }
        }
    }

    /// Marks one path below the top, a folder with all that it holds. What is marked as something weaker is replaced.
    fn at(&mut self, top: &OwnedFd, path: &Path, way: Way) {
        let above = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().unwrap_or_default();
        let mut found = Marks::new();
        let folder = match open_below(top, above) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return,
            // What stands in the way is marked itself.
            Err(_) => return,
        };
        match stat(&folder, name) {
            Ok(facts) if kind(&facts) == FileType::Directory => {
                if let Ok(inner) = open_folder(&folder, name) {
                    all_of(inner, path, way, &mut found, &git::is_sample, 0);
                }
            }
            Ok(_) => match state(&folder, name) {
                Ok(state) => {
                    found.insert(path.to_owned(), Mark { way, state });
                }
                Err(_) => unseen(path, &mut found),
            },
            Err(_) => {}
        }
        for (path, mark) in found {
            let is_stronger = self
                .seen
                .marks
                .get(&path)
                .is_none_or(|known| match known.way {
                    Way::Name(name) => name.guard == Guard::Watched,
                    Way::LinkOut | Way::Unseen => true,
                    _ => false,
                });
            if is_stronger {
                self.seen.marks.insert(path, mark);
            }
        }
    }

    fn git(&mut self, folder: &OwnedFd, path: &Path, kept: &Kept) {
        match kept.kind {
            FileType::Directory => match open_folder(folder, &kept.name) {
                Ok(inner) => {
                    self.mark(path, Way::Repository, State::There);
                    git::look(&inner, path, &mut self.seen.marks, 0);
                    control::look(&inner, path, self.before, &mut self.seen);
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
        if leads_out(
            path,
            Path::new(OsStr::from_bytes(&target)),
            self.top.as_path(),
        ) {
            self.mark(path, Way::LinkOut, State::Link(target));
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
