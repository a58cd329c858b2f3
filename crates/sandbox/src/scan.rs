//! New ways to make a host run something, found by comparing a workspace before and after a run.
//!
//! Knows: the names of `names`, what git folders hold. Must not know: git itself, which is never asked here.
//! Invariant: no link is followed, and nothing outside the folders that were given is opened.
//! Invariant: what could not be looked at is a finding.
//! Invariant: folders are skipped for no reason but that the system says that nothing in them was added, renamed or
//! removed since they were read. Build folders are looked at like others: a repository hides well among packages.
//!
//! The second look costs one question per folder; only folders that changed are read again. What a folder of names
//! looks like is told by the time of its last change, which nobody can set back. What a file holds is compared itself
//! where it is small; larger ones, which is unusual for what is looked for, are compared by identity and that time.
//!
//! A folder in which nothing changed costs one question, and is not opened where it held no folder.
//!
//! Limitations: a file in git's object store cannot make git run anything, so only its kind is looked at. References are
//! not compared: moving a branch is work. A repository whose index lies in parts has its links to other repositories unread;
//! the other repositories themselves are found all the same.
//! Start at `Control::of`.

mod armed;
mod bytes;
mod control;
mod git;
mod index;
mod quarantine;
mod walk;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use base::AbsPath;

use crate::git::{Programs, Repository};
use crate::names::{Guard, Name, Reader};

pub(crate) use armed::is_plain;
pub use quarantine::Quarantine;
use walk::Seen;

/// What there was before a run.
#[derive(Debug)]
pub struct Control {
    home: Option<AbsPath>,
    tops: Vec<Top>,
}

/// What a `Control` compares.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The folders that commands can write, the workspace first.
    pub roots: Vec<AbsPath>,
    /// Git folders beside them that commands can commit to.
    pub git_folders: Vec<AbsPath>,
    /// Where the person's own Git configuration lies.
    pub home: Option<AbsPath>,
}

/// One look at what a `Control` is about, and what it found.
#[derive(Debug)]
pub struct Look {
    findings: Vec<Finding>,
    seen: Vec<Seen>,
}

/// One folder that was looked at.
#[derive(Debug)]
struct Top {
    path: AbsPath,
    kind: Kind,
    programs: Programs,
    seen: Seen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Workspace,
    GitFolder,
    /// The part of a repository that its worktrees share, where commands write objects, references and logs alone.
    Shared,
}

/// Something that can make a host run something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is to be looked at: a file, a link or a folder.
    pub path: AbsPath,
    /// Why it matters.
    pub way: Way,
    /// What became of it.
    pub change: Change,
    /// What was there before, where it can be put back.
    before: Option<Before>,
    is_armed: bool,
    /// The folder that was looked at.
    top: AbsPath,
}

/// What was at a path before, as it can be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Before {
    File(Content),
    Link(Vec<u8>),
}

/// What a file held, and its mode.
#[derive(Clone, Debug)]
struct Content {
    bytes: Vec<u8>,
    mode: u32,
}

/// Whether a file can be executed decides what Git makes of it; its other rights do not.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && (self.mode & 0o111 == 0) == (other.mode & 0o111 == 0)
    }
}

impl Eq for Content {}

/// How something can make a host run something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// One of the protected or watched names.
    Name(&'static Name),
    /// A whole repository, in a folder of its own or one that only looks like one. Whoever asks git for the status in
    /// it, or in a repository that links to it, runs what it says.
    Repository,
    /// A file or link that says where the git folder is.
    Pointer,
    /// The configuration of git, by whatever way it is written.
    Config,
    /// A program that git runs by itself.
    Hook,
    /// A file of the workspace that the configuration of git or a hook runs.
    Program,
    /// The same in a folder of installed packages.
    Package,
    /// What git never makes in its own folder, and writes through: a link, a pipe, a second name for a file.
    Irregular,
    /// Where git finds the rest of a repository.
    Layout,
    /// Attributes that name drivers, which the configuration of any level may define.
    Drivers,
    /// A link of the index to another repository, which git then enters.
    Gitlink,
    /// Commands that git runs when a rebase is continued.
    Rebase,
    /// A link that leads out of the workspace: what is written or copied there lands elsewhere.
    LinkOut,
    /// What could not be looked at.
    Unseen,
}

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It was not there before.
    New,
    /// It was another one before.
    Changed,
    /// It is not there any more.
    Gone,
}

impl Control {
    /// Looks at a workspace, and at git folders of its that lie elsewhere. A workspace that is not there is empty.
    pub fn of(workspace: &AbsPath, git_folders: &[AbsPath]) -> Self {
        Self::over(&Scope {
            roots: vec![workspace.clone()],
            git_folders: git_folders.to_vec(),
            home: None,
        })
    }

    /// Looks at everything that commands can write.
    pub fn over(scope: &Scope) -> Self {
        let mut control = Self {
            home: scope.home.clone(),
            tops: Vec::new(),
        };
        for root in &scope.roots {
            control.add(root);
        }
        for folder in &scope.git_folders {
            control.top(folder.clone(), Kind::GitFolder);
        }
        control
    }

    /// Looks at one more folder from now on, with the git folders that belong to it.
    pub fn add(&mut self, root: &AbsPath) {
        let is_known = |top: &Top| top.kind == Kind::Workspace && root.is_within(&top.path);
        if self.tops.iter().any(is_known) {
            return;
        }
        self.top(root.clone(), Kind::Workspace);
        let Some(repository) = Repository::of(root.as_path()) else {
            return;
        };
        if let Some(folder) = AbsPath::new(&repository.git_dir) {
            self.top(folder, Kind::GitFolder);
        }
        if repository.common_dir != repository.git_dir
            && let Some(folder) = AbsPath::new(&repository.common_dir)
        {
            self.top(folder, Kind::Shared);
        }
    }

    /// Adds a folder that lies in none of those which are looked at as a whole.
    fn top(&mut self, path: AbsPath, kind: Kind) {
        let real = real(&path);
        let holds = |top: &Top| match top.kind {
            Kind::Workspace => real.is_within(&crate::scan::real(&top.path)),
            Kind::GitFolder | Kind::Shared => real == crate::scan::real(&top.path),
        };
        if self.tops.iter().any(holds) {
            return;
        }
        let programs = programs(&path, kind, self.home.as_ref());
        let seen = look(&path, kind, &programs, None);
        self.tops.push(Top {
            path,
            kind,
            programs,
            seen,
        });
    }

    /// Looks again, and says what is new or different, sorted by path. What is merely gone is told where something
    /// else may take its place: a pointer, a configuration.
    pub fn changes(&self) -> Vec<Finding> {
        self.look().findings
    }

    /// The same; from now on what is there now is what was there before, and Git runs what it is told to run now.
    pub fn advance(&mut self) -> Vec<Finding> {
        let look = self.look();
        let findings = self.take(look);
        for top in &mut self.tops {
            let programs = programs(&top.path, top.kind, self.home.as_ref());
            if programs != top.programs {
                top.seen = self::look(&top.path, top.kind, &programs, Some(&top.seen));
                top.programs = programs;
            }
        }
        findings
    }

    /// Looks again, and keeps what was seen for `take`.
    pub fn look(&self) -> Look {
        let mut findings = Vec::new();
        let mut seen = Vec::with_capacity(self.tops.len());
        for top in &self.tops {
            let now = look(&top.path, top.kind, &top.programs, Some(&top.seen));
            differences(&top.path, &top.seen.marks, &now.marks, &mut findings);
            seen.push(now);
        }
        findings.sort_by(|left, right| (&left.path, left.way).cmp(&(&right.path, right.way)));
        Look { findings, seen }
    }

    /// What a look saw is what was there before, from now on.
    pub fn take(&mut self, look: Look) -> Vec<Finding> {
        for (top, seen) in self.tops.iter_mut().zip(look.seen) {
            top.seen = seen;
        }
        look.findings
    }
}

impl Look {
    /// What is new or different.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

fn look(path: &AbsPath, kind: Kind, programs: &Programs, before: Option<&Seen>) -> Seen {
    match kind {
        Kind::Workspace => walk::workspace(path, programs, before),
        Kind::GitFolder => walk::git_folder(path, before),
        Kind::Shared => walk::shared(path, before),
    }
}

fn programs(path: &AbsPath, kind: Kind, home: Option<&AbsPath>) -> Programs {
    match kind {
        Kind::Workspace => Programs::of(path, home),
        Kind::GitFolder | Kind::Shared => Programs::default(),
    }
}

/// The path without links, or as it is where nothing is there.
fn real(path: &AbsPath) -> AbsPath {
    host::Files::canonicalize(&host::RealFiles, path).unwrap_or_else(|_| path.clone())
}

/// Something that matters, and what of it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    way: Way,
    /// What is compared.
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// It is there, and that is all that matters.
    There,
    /// What of it matters.
    Holds(Vec<u8>),
    /// A file, whole.
    File(Content),
    /// A link, and where it leads.
    Link(Vec<u8>),
    /// Device, number, size, and seconds and nanoseconds of the last change.
    Is([u64; 5]),
}

type Marks = BTreeMap<PathBuf, Mark>;

/// Whether there is a mark at a path or below it.
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
                    .is_some_and(|mark| mark.way == Way::Repository)
            };
            above != path && is_repository(now) && !is_repository(before)
        })
    };
    for (path, mark) in now {
        let change = match before.get(path) {
            Some(old) if old == mark => continue,
            Some(_) => Change::Changed,
            // A new repository is one finding, whatever it holds.
            None if mark.way != Way::Repository && new_within(path) => continue,
            None => Change::New,
        };
        let held = |old: &Mark| match &old.state {
            State::File(content) => Some(Before::File(content.clone())),
            State::Link(target) => Some(Before::Link(target.clone())),
            State::There | State::Holds(_) | State::Is(_) => None,
        };
        findings.push(Finding {
            path: top.join(path),
            way: mark.way,
            change,
            before: before.get(path).and_then(held),
            is_armed: armed::is_armed(path, mark, now),
            top: top.clone(),
        });
    }
    for (path, mark) in before {
        let matters = match mark.way {
            Way::Pointer | Way::Config | Way::Layout | Way::Program => true,
            Way::Name(name) => name.guard == Guard::Closed,
            _ => false,
        };
        if matters && !has_any(now, path) {
            findings.push(Finding {
                path: top.join(path),
                way: mark.way,
                change: Change::Gone,
                before: None,
                is_armed: false,
                top: top.clone(),
            });
        }
    }
}

impl Finding {
    /// Whether somebody's tools would run something by it as it is now. What is not armed may be work: a repository
    /// for tests, say, that names no program; it is looked at again after the next run.
    pub fn is_armed(&self) -> bool {
        self.is_armed
    }

    /// Whether no agent was to write it at all; the others are work that the person should know of.
    pub fn guard(&self) -> Guard {
        match self.way {
            Way::Name(name) => name.guard,
            Way::Drivers | Way::Rebase | Way::LinkOut | Way::Package => Guard::Watched,
            Way::Repository
            | Way::Program
            | Way::Irregular
            | Way::Pointer
            | Way::Config
            | Way::Hook
            | Way::Layout
            | Way::Gitlink
            | Way::Unseen => Guard::Closed,
        }
    }

    /// One word for programs.
    pub fn kind(&self) -> &'static str {
        match self.way {
            Way::Name(name) => match name.reader {
                Reader::Editor => "editor",
                Reader::Agent => "agent",
                Reader::Shell => "shell",
                Reader::Git => "git",
                Reader::Packages => "packages",
                Reader::Elsewhere => "elsewhere",
            },
            Way::Repository => "repository",
            Way::Pointer => "pointer",
            Way::Config => "config",
            Way::Hook => "hook",
            Way::Program | Way::Package => "program",
            Way::Irregular => "irregular",
            Way::Layout => "layout",
            Way::Drivers => "drivers",
            Way::Gitlink => "gitlink",
            Way::Rebase => "rebase",
            Way::LinkOut => "link",
            Way::Unseen => "unseen",
        }
    }
}

/// A sentence for the person.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.change {
            Change::New => "is new",
            Change::Changed => "was changed",
            Change::Gone => "was taken away",
        };
        write!(f, "{} {change}; ", self.path)?;
        match self.way {
            Way::Name(name) => write!(f, "it {}", name.why),
            Way::Repository => f.write_str("git runs what the configuration of a repository says"),
            Way::Pointer => f.write_str("it decides which repository git takes this folder for"),
            Way::Config => f.write_str("it decides which programs git runs"),
            Way::Hook => f.write_str("git runs it by itself"),
            Way::Program | Way::Package => {
                f.write_str("git runs it by itself, as its configuration or a hook says")
            }
            Way::Irregular => {
                f.write_str("git never makes such a file in its folder, and writes through it")
            }
            Way::Layout => f.write_str("it decides where git finds the rest of the repository"),
            Way::Drivers => f.write_str("it names drivers for git to run on contents"),
            Way::Gitlink => f.write_str("the index links to another repository, which git enters"),
            Way::Rebase => f.write_str("it holds commands that git runs when the rebase goes on"),
            Way::LinkOut => f.write_str("it leads out of the workspace"),
            Way::Unseen => f.write_str("it could not be looked at"),
        }
    }
}

#[cfg(test)]
mod tests;
