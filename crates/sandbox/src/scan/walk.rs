//! The walk over a workspace: the names of interest, and the folders that need not be read again.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use base::AbsPath;
use host::no_follow::{
    FolderEntry, entries, kind, open_folder, open_folder_below, read_file, read_link, stat,
};
use host::{Clock, RealClock};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::entry_state::{identity, state};
use super::{FindingKind, MarkState, Marks, ScanMark, git, has_any, irregular};
use crate::git::{GitPrograms, ProgramRole};
use crate::links::trace;
use crate::names::{self, NAMES, NameClass, SensitiveName};

/// Deeper folders are not scanned, but reported.
const MAX_DEPTH: usize = 200;
/// Further folders are not scanned, but reported.
const MAX_FOLDERS: usize = 500_000;
/// Further marks are not kept, but reported.
pub(super) const MAX_MARKS: usize = 50_000;
/// A folder changed this shortly before it was read may have changed again within the same clock
/// tick, in milliseconds.
const TICK_MS: u64 = 100;

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct ScanSnapshot {
    pub(super) marks: Marks,
    pub(super) folders: Folders,
    /// Folders of git, which are read for other entries.
    pub(super) control: Folders,
}

/// Folders that were read, by their path below the scanned folder.
pub(super) type Folders = HashMap<PathBuf, FolderSnapshot>;

/// A folder that was read, and its entries of interest.
#[derive(Clone, Debug)]
pub(super) struct FolderSnapshot {
    identity: [u64; 5],
    /// Whether the clock had advanced by the time it was read, so that a later change is visible.
    is_settled: bool,
    pub(super) kept: Vec<KeptName>,
}

#[derive(Clone, Debug)]
pub(super) struct KeptName {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

/// Reads a folder, or returns the earlier result if no entry was added, renamed or removed since.
pub(super) fn read_folder(
    folder: &OwnedFd,
    path: &Path,
    before: Option<&Folders>,
    clock: &RealClock,
    keeps: &dyn Fn(&FolderEntry) -> bool,
) -> Result<FolderSnapshot, Errno> {
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
        .map(|FolderEntry { name, kind }| KeptName { name, kind })
        .collect();
    Ok(FolderSnapshot {
        identity,
        is_settled: changed_ms + TICK_MS < now_ms,
        kept,
    })
}

/// Returns the earlier result for an unchanged folder without entries of interest, without opening
/// it.
pub(super) fn still_empty(
    above: impl AsFd,
    name: &OsStr,
    path: &Path,
    before: Option<&Folders>,
) -> Option<FolderSnapshot> {
    let known = before?.get(path)?;
    if !known.is_settled || !known.kept.is_empty() {
        return None;
    }
    let stat = stat(above, name).ok()?;
    let is_same = kind(&stat) == FileType::Directory && identity(&stat) == known.identity;
    is_same.then(|| known.clone())
}

/// The folded last components of all names, for a fast first check.
static LAST_PARTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let last = |name: &SensitiveName| name.path.rsplit('/').next().map(str::to_ascii_lowercase);
    NAMES.iter().filter_map(last).collect()
});

/// Scans a workspace; `before` avoids reading unchanged folders.
pub(super) fn workspace(
    path: &AbsPath,
    programs: &GitPrograms,
    before: Option<&ScanSnapshot>,
) -> ScanSnapshot {
    let mut walk = WorkspaceWalk {
        before,
        seen: ScanSnapshot::default(),
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

/// Scans a git folder outside the workspace.
pub(super) fn git_folder(path: &AbsPath, before: Option<&ScanSnapshot>) -> ScanSnapshot {
    let mut seen = ScanSnapshot::default();
    match open_top(path) {
        Ok(folder) => {
            git::scan_git_folder(&folder, Path::new(""), &mut seen.marks, 0);
            irregular::scan(&folder, Path::new(""), before, &mut seen);
        }
        Err(Errno::NOENT) => {}
        Err(_) => mark_unreadable(Path::new(""), &mut seen.marks),
    }
    seen
}

/// Scans the folders that the worktrees of a repository share and commands can write.
pub(super) fn shared(path: &AbsPath, before: Option<&ScanSnapshot>) -> ScanSnapshot {
    let mut seen = ScanSnapshot::default();
    match open_top(path) {
        Ok(folder) => {
            git::scan_objects(&folder, &mut seen.marks);
            irregular::scan_shared(&folder, Path::new(""), before, &mut seen);
        }
        Err(Errno::NOENT) => {}
        Err(_) => mark_unreadable(Path::new(""), &mut seen.marks),
    }
    seen
}

/// Opens a scanned folder, which may itself be reached through links: the user named it.
pub(super) fn open_top(path: &AbsPath) -> Result<OwnedFd, Errno> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(path.as_path(), flags, Mode::empty())
}

pub(super) fn mark_unreadable(path: &Path, marks: &mut Marks) {
    let mark = ScanMark {
        kind: FindingKind::Unreadable,
        state: MarkState::Present,
    };
    marks.insert(path.to_owned(), mark);
}

struct WorkspaceWalk<'a> {
    before: Option<&'a ScanSnapshot>,
    seen: ScanSnapshot,
    clock: RealClock,
    top: &'a AbsPath,
    /// Links inside names that no agent may write.
    links: Vec<(PathBuf, &'static SensitiveName)>,
}

impl WorkspaceWalk<'_> {
    /// Scans a folder; `within` is the sensitive name that contains it.
    fn folder(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        within: Option<&'static SensitiveName>,
        depth: usize,
    ) {
        let is_much = self.seen.folders.len() >= MAX_FOLDERS || self.seen.marks.len() >= MAX_MARKS;
        if depth > MAX_DEPTH || is_much {
            return self.unseen(path);
        }
        let before = self.before.map(|seen| &seen.folders);
        let keeps = |entry: &FolderEntry| within.is_some() || is_worth_a_look(entry);
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
            // The workspace itself is represented by the file that makes it a repository, which can
            // be quarantined.
            let name = match depth {
                0 => PathBuf::from("HEAD"),
                _ => path.to_owned(),
            };
            self.mark(&name, FindingKind::Repository, MarkState::Present);
            git::scan_git_folder(folder, path, &mut self.seen.marks, 0);
            irregular::scan_shared(folder, path, self.before, &mut self.seen);
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
        kept: &KeptName,
        within: Option<&'static SensitiveName>,
        depth: usize,
    ) {
        if names::is_git(&kept.name) {
            return self.git(folder, path, kept);
        }
        let within = within.or_else(|| {
            if is_last_part(&kept.name) {
                names::of(path)
            } else {
                None
            }
        });
        match (kept.kind, within) {
            (FileType::Directory, _) => self.inner(folder, path, kept, within, depth),
            (_, Some(name)) if name.path == ".gitattributes" => {
                self.attributes(folder, path, &kept.name)
            }
            (kind, Some(name)) => match state(folder, &kept.name) {
                Ok(state) => {
                    if kind == FileType::Symlink && name.class == NameClass::Closed {
                        self.links.push((path.to_owned(), name));
                    }
                    self.mark(path, FindingKind::Name(name), state);
                }
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
            (FileType::Symlink, None) => self.link(folder, path, &kept.name),
            (_, None) => {}
        }
    }

    /// Scans a subfolder of a scanned folder.
    fn inner(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        kept: &KeptName,
        within: Option<&'static SensitiveName>,
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
            // It was removed, or replaced by something else.
            Err(Errno::NOENT) => return,
            Err(_) => return self.unseen(path),
        }
        // An empty folder with a protected name shows that its creation was not prevented.
        if let Some(name) = within
            && name.class == NameClass::Closed
            && !has_any(&self.seen.marks, path)
            && names::of(path.parent().unwrap_or(Path::new(""))).is_none()
        {
            self.mark(path, FindingKind::Name(name), MarkState::Present);
        }
    }

    /// Marks the targets of links inside protected names: the same programs read them.
    fn linked(&mut self, top: &OwnedFd) {
        let Ok(root) = host::Files::canonicalize(&host::RealFiles, self.top) else {
            return;
        };
        for (path, name) in std::mem::take(&mut self.links) {
            let trace = trace(root.as_path(), &path);
            let paths = trace.links.into_iter().skip(1).chain(trace.target);
            for path in paths {
                let inner = path.strip_prefix(root.as_path()).unwrap_or(&path);
                self.at(top, inner, FindingKind::Name(name));
            }
        }
    }

    /// Marks the files of the workspace that git runs on its own.
    fn programs(&mut self, top: &OwnedFd, programs: &GitPrograms) {
        if programs.paths.is_empty() {
            return;
        }
        let Ok(root) = host::Files::canonicalize(&host::RealFiles, self.top) else {
            return;
        };
        for (path, role) in &programs.paths {
            let way = match role {
                ProgramRole::Config => FindingKind::Config,
                ProgramRole::Hooks => FindingKind::Hook,
                ProgramRole::Program => FindingKind::Program,
                ProgramRole::Package => FindingKind::Package,
            };
            if let Ok(inner) = path.strip_prefix(root.as_path()) {
                self.at(top, inner, way);
            }
        }
    }

    /// Marks one path below the scanned folder, a folder with its contents. A weaker mark is
    /// replaced.
    fn at(&mut self, top: &OwnedFd, path: &Path, way: FindingKind) {
        let above = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().unwrap_or_default();
        let mut found = Marks::new();
        let folder = match open_folder_below(top, above) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return,
            // The entry in the way is marked itself.
            Err(_) => return,
        };
        match stat(&folder, name) {
            Ok(stat) if kind(&stat) == FileType::Directory => {
                if let Ok(inner) = open_folder(&folder, name) {
                    all_of(inner, path, way, &mut found, &git::is_sample, 0);
                }
            }
            Ok(_) => match state(&folder, name) {
                Ok(state) => {
                    found.insert(path.to_owned(), ScanMark { kind: way, state });
                }
                Err(_) => mark_unreadable(path, &mut found),
            },
            Err(_) => {}
        }
        for (path, mark) in found {
            let is_stronger = self
                .seen
                .marks
                .get(&path)
                .is_none_or(|known| match known.kind {
                    FindingKind::Name(name) => name.class == NameClass::Watched,
                    FindingKind::LinkOut | FindingKind::Unreadable => true,
                    _ => false,
                });
            if is_stronger {
                self.seen.marks.insert(path, mark);
            }
        }
    }

    fn git(&mut self, folder: &OwnedFd, path: &Path, kept: &KeptName) {
        match kept.kind {
            FileType::Directory => match open_folder(folder, &kept.name) {
                Ok(inner) => {
                    self.mark(path, FindingKind::Repository, MarkState::Present);
                    git::scan_git_folder(&inner, path, &mut self.seen.marks, 0);
                    irregular::scan(&inner, path, self.before, &mut self.seen);
                }
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
            _ => match state(folder, &kept.name) {
                Ok(state) => self.mark(path, FindingKind::Pointer, state),
                Err(Errno::NOENT) => {}
                Err(_) => self.unseen(path),
            },
        }
    }

    fn attributes(&mut self, folder: &OwnedFd, path: &Path, name: &OsStr) {
        match read_file(folder, name, 1 << 20) {
            Ok(Some(text)) => {
                let drivers = git::drivers(&text);
                if !drivers.is_empty() {
                    self.mark(path, FindingKind::Drivers, MarkState::Bytes(drivers));
                }
            }
            Err(Errno::NOENT) => {}
            // A link, or a file longer than anybody writes by hand.
            Ok(None) | Err(_) => self.unseen(path),
        }
    }

    fn link(&mut self, folder: &OwnedFd, path: &Path, name: &OsStr) {
        let Ok(target) = read_link(folder, name) else {
            return;
        };
        if leads_out(
            path,
            Path::new(OsStr::from_bytes(&target)),
            self.top.as_path(),
        ) {
            self.mark(path, FindingKind::LinkOut, MarkState::Link(target));
        }
    }

    fn mark(&mut self, path: &Path, way: FindingKind, state: MarkState) {
        self.seen
            .marks
            .insert(path.to_owned(), ScanMark { kind: way, state });
    }

    fn unseen(&mut self, path: &Path) {
        mark_unreadable(path, &mut self.seen.marks);
    }
}

/// Returns whether an entry is examined further: a folder, a link, or a file whose name is of
/// interest.
fn is_worth_a_look(entry: &FolderEntry) -> bool {
    match entry.kind {
        FileType::Directory | FileType::Symlink => true,
        _ => {
            is_last_part(&entry.name) || names::is_git(&entry.name) || git::makes_bare(&entry.name)
        }
    }
}

/// Returns whether a name is, in any case, the last component of a sensitive name.
fn is_last_part(name: &OsStr) -> bool {
    LAST_PARTS.contains(&names::folded(name))
}

/// Returns whether a link at `path` leads out of the scanned folder, judged lexically.
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

/// Joins a name given as bytes to a path.
pub(super) fn join_bytes(path: &Path, rest: &[u8]) -> PathBuf {
    path.join(OsString::from_vec(rest.to_vec()))
}

/// Marks everything in a folder, up to a depth, in the same way. `skips` selects names to ignore.
pub(super) fn all_of(
    folder: impl AsFd,
    path: &Path,
    way: FindingKind,
    marks: &mut Marks,
    skips: &dyn Fn(&OsStr) -> bool,
    depth: usize,
) {
    let Ok(entries) = entries(&folder) else {
        return mark_unreadable(path, marks);
    };
    for entry in entries {
        let path = path.join(&entry.name);
        if depth > 8 || marks.len() >= MAX_MARKS {
            return mark_unreadable(&path, marks);
        }
        match entry.kind {
            FileType::Directory => match open_folder(&folder, &entry.name) {
                Ok(inner) => all_of(inner, &path, way, marks, skips, depth + 1),
                Err(_) => mark_unreadable(&path, marks),
            },
            _ if skips(&entry.name) => {}
            _ => match state(&folder, &entry.name) {
                Ok(state) => {
                    marks.insert(path, ScanMark { kind: way, state });
                }
                Err(_) => mark_unreadable(&path, marks),
            },
        }
    }
}
