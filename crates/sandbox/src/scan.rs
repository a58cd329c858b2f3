//! Finds new ways to make the host run code, by comparing a workspace before and after a run.
//!
//! Knows: the names of `names`, the contents of git folders. Must not know: git itself, which is
//! never run here.
//! Invariant: no link is followed, and nothing outside the given folders is opened.
//! Invariant: a path that cannot be examined is a finding.
//! Invariant: a folder is skipped only if the system says that no entry was added, renamed or
//! removed since it was read. Build folders are scanned like others: a repository is easily hidden
//! among packages.
//!
//! A repeated scan costs one system call per folder; only changed folders are read again, and a
//! folder without subfolders or names of interest is not even opened. A folder's state is
//! identified by its change time, which cannot be set back. Small files are compared by content;
//! larger ones, which are unusual for these names, by identity and change time.
//!
//! Limitations: a file in git's object store cannot make git run anything, so only its type is
//! examined. References are not compared: moving a branch is work. The links to other repositories
//! in a split index are not read; the other repositories themselves are still found.
//! Start at `ScanBaseline::of`.

pub(crate) mod armed;
mod entry_state;
mod git;
mod index;
mod irregular;
mod quarantine;
mod walk;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use base::AbsPath;

use crate::git::{GitPrograms, RepositoryPaths};
use crate::names::{NameClass, NameReader, SensitiveName};

pub use quarantine::Quarantine;
use walk::ScanSnapshot;

/// The state before a run.
#[derive(Debug)]
pub struct ScanBaseline {
    home: Option<AbsPath>,
    tops: Vec<ScannedFolder>,
}

/// The folders that a `ScanBaseline` compares.
#[derive(Clone, Debug, Default)]
pub struct ScanScope {
    /// The folders that commands can write, the workspace first.
    pub roots: Vec<AbsPath>,
    /// Other git folders that commands can commit to.
    pub git_folders: Vec<AbsPath>,
    /// The folder of the user's own git configuration.
    pub home: Option<AbsPath>,
}

/// One scan of the folders of a `ScanBaseline`, and its findings.
#[derive(Debug)]
pub struct ScanPass {
    findings: Vec<Finding>,
    seen: Vec<ScanSnapshot>,
}

/// One scanned folder and its state.
#[derive(Debug)]
struct ScannedFolder {
    path: AbsPath,
    role: FolderRole,
    programs: GitPrograms,
    seen: ScanSnapshot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FolderRole {
    Workspace,
    GitFolder,
    /// The part of a repository that its worktrees share; commands write only objects, references
    /// and logs there.
    Shared,
}

/// A path through which a host can be made to run code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, link or folder to inspect.
    pub path: AbsPath,
    /// The way it makes a host run code.
    pub kind: FindingKind,
    /// Its change since the last scan.
    pub change: FindingChange,
    /// Its previous content, if it can be restored.
    before: Option<PriorState>,
    is_armed: bool,
    /// The scanned folder that contains it.
    top: AbsPath,
}

/// The previous content of a path, as it can be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PriorState {
    File(FileContent),
    Link(Vec<u8>),
}

/// A file's content and mode.
#[derive(Clone, Debug)]
struct FileContent {
    bytes: Vec<u8>,
    mode: u32,
}

/// The executable bit decides whether git runs a file; its other permission bits do not matter.
impl PartialEq for FileContent {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && (self.mode & 0o111 == 0) == (other.mode & 0o111 == 0)
    }
}

impl Eq for FileContent {}

/// The way a path makes a host run code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// One of the protected or watched names.
    Name(&'static SensitiveName),
    /// A whole repository, in its own folder or disguised as another. Running git status in it, or
    /// in a repository that links to it, runs its configured programs.
    Repository,
    /// A file or link that points to the git folder.
    Pointer,
    /// Git configuration, in any form.
    Config,
    /// A program that git runs on its own.
    Hook,
    /// A file of the workspace that git's configuration or a hook runs.
    Program,
    /// The same in a folder of installed packages.
    Package,
    /// An entry that git never creates in its own folder, and writes through: a link, a pipe, a
    /// hard link.
    Irregular,
    /// A file that tells git where to find the rest of a repository.
    Layout,
    /// Attributes that name drivers, which configuration at any level may define.
    Drivers,
    /// An index entry for another repository, which git then enters.
    Gitlink,
    /// Commands that git runs when a rebase is continued.
    Rebase,
    /// A link that leads out of the workspace: data written or copied there ends up elsewhere.
    LinkOut,
    /// A path that could not be examined.
    Unreadable,
}

/// The change of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingChange {
    /// It did not exist before.
    New,
    /// It existed with other content.
    Changed,
    /// It no longer exists.
    Gone,
}

impl ScanBaseline {
    /// Scans a workspace, and git folders of it that lie elsewhere. A missing workspace counts as
    /// empty.
    pub fn of(workspace: &AbsPath, git_folders: &[AbsPath]) -> Self {
        Self::for_scope(&ScanScope {
            roots: vec![workspace.clone()],
            git_folders: git_folders.to_vec(),
            home: None,
        })
    }

    /// Scans everything that commands can write.
    pub fn for_scope(scope: &ScanScope) -> Self {
        let mut baseline = Self {
            home: scope.home.clone(),
            tops: Vec::new(),
        };
        for root in &scope.roots {
            baseline.add(root);
        }
        for folder in &scope.git_folders {
            baseline.add_top(folder.clone(), FolderRole::GitFolder);
        }
        baseline
    }

    /// Adds a folder to all later scans, with the git folders that belong to it.
    pub fn add(&mut self, root: &AbsPath) {
        let is_known =
            |top: &ScannedFolder| top.role == FolderRole::Workspace && root.is_within(&top.path);
        if self.tops.iter().any(is_known) {
            return;
        }
        self.add_top(root.clone(), FolderRole::Workspace);
        let Some(repository) = RepositoryPaths::of(root.as_path()) else {
            return;
        };
        if let Some(folder) = AbsPath::new(&repository.git_dir) {
            self.add_top(folder, FolderRole::GitFolder);
        }
        if repository.common_dir != repository.git_dir
            && let Some(folder) = AbsPath::new(&repository.common_dir)
        {
            self.add_top(folder, FolderRole::Shared);
        }
    }

    /// Adds a folder unless a scanned folder contains it.
    fn add_top(&mut self, path: AbsPath, kind: FolderRole) {
        let real = real(&path);
        let holds = |top: &ScannedFolder| match top.role {
            FolderRole::Workspace => real.is_within(&crate::scan::real(&top.path)),
            FolderRole::GitFolder | FolderRole::Shared => real == crate::scan::real(&top.path),
        };
        if self.tops.iter().any(holds) {
            return;
        }
        let programs = programs(&path, kind, self.home.as_ref());
        let seen = scan_folder(&path, kind, &programs, None);
        self.tops.push(ScannedFolder {
            path,
            role: kind,
            programs,
            seen,
        });
    }

    /// Scans again and returns the new and changed paths, sorted. A removal is reported only if
    /// another path may take its place: a pointer, a configuration.
    pub fn changes(&self) -> Vec<Finding> {
        self.scan().findings
    }

    /// Like `changes`, and makes the current state the new baseline, including the programs that
    /// git runs now.
    pub fn advance(&mut self) -> Vec<Finding> {
        let pass = self.scan();
        let findings = self.adopt(pass);
        for top in &mut self.tops {
            let programs = programs(&top.path, top.role, self.home.as_ref());
            if programs != top.programs {
                top.seen = self::scan_folder(&top.path, top.role, &programs, Some(&top.seen));
                top.programs = programs;
            }
        }
        findings
    }

    /// Scans again, and keeps the result for `adopt`.
    pub fn scan(&self) -> ScanPass {
        let mut findings = Vec::new();
        let mut seen = Vec::with_capacity(self.tops.len());
        for top in &self.tops {
            let now = scan_folder(&top.path, top.role, &top.programs, Some(&top.seen));
            differences(&top.path, &top.seen.marks, &now.marks, &mut findings);
            seen.push(now);
        }
        findings.sort_by(|left, right| (&left.path, left.kind).cmp(&(&right.path, right.kind)));
        ScanPass { findings, seen }
    }

    /// Makes the result of a scan the new baseline.
    pub fn adopt(&mut self, pass: ScanPass) -> Vec<Finding> {
        for (top, seen) in self.tops.iter_mut().zip(pass.seen) {
            top.seen = seen;
        }
        pass.findings
    }
}

impl ScanPass {
    /// Returns the new and changed paths.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

fn scan_folder(
    path: &AbsPath,
    kind: FolderRole,
    programs: &GitPrograms,
    before: Option<&ScanSnapshot>,
) -> ScanSnapshot {
    match kind {
        FolderRole::Workspace => walk::workspace(path, programs, before),
        FolderRole::GitFolder => walk::git_folder(path, before),
        FolderRole::Shared => walk::shared(path, before),
    }
}

fn programs(path: &AbsPath, kind: FolderRole, home: Option<&AbsPath>) -> GitPrograms {
    match kind {
        FolderRole::Workspace => GitPrograms::of(path, home),
        FolderRole::GitFolder | FolderRole::Shared => GitPrograms::default(),
    }
}

/// Returns the path without links, or unchanged if it does not exist.
fn real(path: &AbsPath) -> AbsPath {
    host::Files::canonicalize(&host::RealFiles, path).unwrap_or_else(|_| path.clone())
}

/// A path of interest, and the part of its state that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ScanMark {
    kind: FindingKind,
    /// The state that is compared.
    state: MarkState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum MarkState {
    /// It exists; nothing else matters.
    Present,
    /// The relevant part of its content.
    Bytes(Vec<u8>),
    /// A file's complete content and mode.
    File(FileContent),
    /// A link and its target.
    Link(Vec<u8>),
    /// Device, inode, size, and seconds and nanoseconds of the last change.
    Identity([u64; 5]),
}

type Marks = BTreeMap<PathBuf, ScanMark>;

/// Returns whether there is a mark at a path or below it.
fn has_any(marks: &Marks, path: &Path) -> bool {
    let range = (Bound::Included(path), Bound::Unbounded);
    let mut rest = marks.range::<Path, _>(range);
    rest.next()
        .is_some_and(|(inner, _)| inner.starts_with(path))
}

fn differences(top: &AbsPath, before: &Marks, now: &Marks, findings: &mut Vec<Finding>) {
    let new_within = |path: &Path| {
        path.ancestors().any(|above| {
            let is_repository = |marks: &Marks| {
                marks
                    .get(above)
                    .is_some_and(|mark| mark.kind == FindingKind::Repository)
            };
            above != path && is_repository(now) && !is_repository(before)
        })
    };
    for (path, mark) in now {
        let change = match before.get(path) {
            Some(old) if old == mark => continue,
            Some(_) => FindingChange::Changed,
            // A new repository is one finding, whatever it contains.
            None if mark.kind != FindingKind::Repository && new_within(path) => continue,
            None => FindingChange::New,
        };
        let held = |old: &ScanMark| match &old.state {
            MarkState::File(content) => Some(PriorState::File(content.clone())),
            MarkState::Link(target) => Some(PriorState::Link(target.clone())),
            MarkState::Present | MarkState::Bytes(_) | MarkState::Identity(_) => None,
        };
        findings.push(Finding {
            path: top.join(path),
            kind: mark.kind,
            change,
            before: before.get(path).and_then(held),
            is_armed: armed::is_armed(path, mark, now),
            top: top.clone(),
        });
    }
    for (path, mark) in before {
        let matters = match mark.kind {
            FindingKind::Pointer
            | FindingKind::Config
            | FindingKind::Layout
            | FindingKind::Program => true,
            FindingKind::Name(name) => name.class == NameClass::Closed,
            _ => false,
        };
        if matters && !has_any(now, path) {
            findings.push(Finding {
                path: top.join(path),
                kind: mark.kind,
                change: FindingChange::Gone,
                before: None,
                is_armed: false,
                top: top.clone(),
            });
        }
    }
}

impl Finding {
    /// Returns whether the host's tools would run code through it in its current state. A path that
    /// is not armed may be work, for example a repository for tests that names no program; it is
    /// examined again after the next run.
    pub fn is_armed(&self) -> bool {
        self.is_armed
    }

    /// Returns `NameClass::Closed` if no agent may write it; other findings are work that the user
    /// should know about.
    pub fn class(&self) -> NameClass {
        match self.kind {
            FindingKind::Name(name) => name.class,
            FindingKind::Drivers
            | FindingKind::Rebase
            | FindingKind::LinkOut
            | FindingKind::Package => NameClass::Watched,
            FindingKind::Repository
            | FindingKind::Program
            | FindingKind::Irregular
            | FindingKind::Pointer
            | FindingKind::Config
            | FindingKind::Hook
            | FindingKind::Layout
            | FindingKind::Gitlink
            | FindingKind::Unreadable => NameClass::Closed,
        }
    }

    /// Returns a one-word identifier for programs.
    pub fn kind(&self) -> &'static str {
        match self.kind {
            FindingKind::Name(name) => match name.reader {
                NameReader::Editor => "editor",
                NameReader::Agent => "agent",
                NameReader::Shell => "shell",
                NameReader::Git => "git",
                NameReader::Packages => "packages",
                NameReader::Elsewhere => "elsewhere",
            },
            FindingKind::Repository => "repository",
            FindingKind::Pointer => "pointer",
            FindingKind::Config => "config",
            FindingKind::Hook => "hook",
            FindingKind::Program | FindingKind::Package => "program",
            FindingKind::Irregular => "irregular",
            FindingKind::Layout => "layout",
            FindingKind::Drivers => "drivers",
            FindingKind::Gitlink => "gitlink",
            FindingKind::Rebase => "rebase",
            FindingKind::LinkOut => "link",
            FindingKind::Unreadable => "unseen",
        }
    }
}

/// Formats a sentence for the user.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.change {
            FindingChange::New => "is new",
            FindingChange::Changed => "was changed",
            FindingChange::Gone => "was removed",
        };
        write!(f, "{} {change}; ", self.path)?;
        match self.kind {
            FindingKind::Name(name) => write!(f, "it {}", name.why),
            FindingKind::Repository => {
                f.write_str("git runs the programs that a repository's configuration names")
            }
            FindingKind::Pointer => {
                f.write_str("it decides which repository git uses for this folder")
            }
            FindingKind::Config => f.write_str("it decides which programs git runs"),
            FindingKind::Hook => f.write_str("git runs it automatically"),
            FindingKind::Program | FindingKind::Package => f.write_str(
                "git runs it automatically because its configuration or a hook names it",
            ),
            FindingKind::Irregular => {
                f.write_str("git never creates such a file in its folder, and writes through it")
            }
            FindingKind::Layout => {
                f.write_str("it decides where git finds the rest of the repository")
            }
            FindingKind::Drivers => f.write_str("it names drivers that git runs on file contents"),
            FindingKind::Gitlink => {
                f.write_str("the index links to another repository, which git enters")
            }
            FindingKind::Rebase => {
                f.write_str("it contains commands that git runs when the rebase is continued")
            }
            FindingKind::LinkOut => f.write_str("it leads out of the workspace"),
            FindingKind::Unreadable => f.write_str("it could not be examined"),
        }
    }
}

#[cfg(test)]
mod tests;
