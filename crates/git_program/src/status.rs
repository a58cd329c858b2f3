//! The status of a working tree, for repositories whose index libgit2 cannot read.
//!
//! Pure but for `GitProgram::status`. Unknown records are counted, not guessed.

use std::path::PathBuf;

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::GitProgram;
use crate::records::{number, path, text};

/// Limit of a status in bytes.
const STATUS_BYTES: usize = 256 << 20;
/// Paths that are passed as arguments; for more of them, everything is compared.
const ARGUMENT_PATHS: usize = 200;

/// The status of a working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusReport {
    /// The current branch.
    pub branch: BranchStatus,
    /// Changed, conflicted and untracked files, in Git's order.
    pub entries: Vec<StatusEntry>,
    /// Number of entries of the stash.
    pub stashes: usize,
    /// Number of records that were not understood.
    pub unknown: usize,
}

/// The branch in a status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchStatus {
    /// The commit of HEAD; `None` before the first commit.
    pub commit: Option<String>,
    /// The name of the branch; `None` if HEAD is detached.
    pub name: Option<String>,
    /// The upstream branch.
    pub upstream: Option<String>,
    /// Commits that the upstream branch lacks.
    pub ahead: usize,
    /// Commits of the upstream branch that this one lacks.
    pub behind: usize,
}

/// A file of a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    /// The path relative to the root of the working tree.
    pub path: PathBuf,
    /// The state of the file.
    pub state: EntryState,
}

/// The state of a file of a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// A tracked file.
    Tracked(TrackedState),
    /// A conflict: the sides that have the file.
    Unmerged {
        /// The letters of Git for our and their side, such as `UU` or `DU`.
        letters: [u8; 2],
        /// The modes of base, ours, theirs and the working tree; 0 where the file is missing.
        modes: [u32; 4],
        /// The blobs of base, ours and theirs.
        ids: [String; 3],
    },
    /// A file that Git does not know.
    Untracked,
    /// A file that Git ignores.
    Ignored,
}

/// The state of a tracked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedState {
    /// The change from HEAD to the index.
    pub staged: Option<ChangeLetter>,
    /// The change from the index to the working tree.
    pub unstaged: Option<ChangeLetter>,
    /// The modes in HEAD, the index and the working tree; 0 where the file is missing.
    pub modes: [u32; 3],
    /// The blobs in HEAD and the index.
    pub ids: [String; 2],
    /// The former path of a renamed or copied file, with the similarity in percent.
    pub source: Option<(PathBuf, u8)>,
    /// The state of a submodule.
    pub submodule: Option<SubmoduleState>,
}

/// A change of a file, by Git's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeLetter {
    /// `A`
    Added,
    /// `M`
    Modified,
    /// `D`
    Deleted,
    /// `R`
    Renamed,
    /// `C`
    Copied,
    /// `T`: a file became a link or a submodule, or the other way round.
    TypeChanged,
}

/// The changes in a submodule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmoduleState {
    /// Whether another commit is checked out.
    pub has_new_commit: bool,
    /// Whether tracked files are changed.
    pub is_modified: bool,
    /// Whether there are untracked files.
    pub has_untracked: bool,
}

impl ChangeLetter {
    /// Returns the change that a letter of Git means.
    pub(crate) fn of(letter: u8) -> Option<Self> {
        Some(match letter {
            b'A' => Self::Added,
            b'M' => Self::Modified,
            b'D' => Self::Deleted,
            b'R' => Self::Renamed,
            b'C' => Self::Copied,
            b'T' => Self::TypeChanged,
            _ => return None,
        })
    }
}

impl GitProgram {
    /// Returns the status of the working tree, untracked files included.
    pub fn status(&self, cancellation: &Cancellation) -> Result<StatusReport, Error> {
        self.status_of(&[], cancellation)
    }

    /// Returns the status of these paths, relative to the root; that of the whole working tree if there are none or very
    /// many.
    pub fn status_of(
        &self,
        paths: &[PathBuf],
        cancellation: &Cancellation,
    ) -> Result<StatusReport, Error> {
        let mut call = GitCall::read("status").args([
            "--porcelain=v2",
            "-z",
            "--branch",
            "--show-stash",
            "--untracked-files=all",
            "--ahead-behind",
            "--",
        ]);
        if paths.len() <= ARGUMENT_PATHS {
            call.arguments.extend(paths.iter().map(Into::into));
        }
        let output = self.output(call, STATUS_BYTES, cancellation)?;
        Ok(parse_status(&output))
    }
}

/// Parses the output of `git status --porcelain=v2 -z`.
pub fn parse_status(output: &[u8]) -> StatusReport {
    let mut report = StatusReport::default();
    let output = output.strip_suffix(&[0]).unwrap_or(output);
    let mut records = output.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        if record.is_empty() {
            continue;
        }
        if let Some(header) = record.strip_prefix(b"# ") {
            read_header(&mut report, header);
            continue;
        }
        let source = if record.starts_with(b"2 ") {
            records.next()
        } else {
            None
        };
        match read_entry(record, source) {
            Some(entry) => report.entries.push(entry),
            None => report.unknown += 1,
        }
    }
    report
}

fn read_header(report: &mut StatusReport, header: &[u8]) {
    let header = text(header);
    let Some((key, value)) = header.split_once(' ') else {
        return;
    };
    let branch = &mut report.branch;
    match key {
        "branch.oid" => branch.commit = (value != "(initial)").then(|| value.to_owned()),
        "branch.head" => branch.name = (value != "(detached)").then(|| value.to_owned()),
        "branch.upstream" => branch.upstream = Some(value.to_owned()),
        "branch.ab" => {
            let mut counts = value.split(' ').map(|count| count.get(1..)?.parse().ok());
            branch.ahead = counts.next().flatten().unwrap_or(0);
            branch.behind = counts.next().flatten().unwrap_or(0);
        }
        "stash" => report.stashes = value.parse().unwrap_or(0),
        // Later versions of Git may add more.
        _ => {}
    }
}

fn read_entry(record: &[u8], source: Option<&[u8]>) -> Option<StatusEntry> {
    let (kind, rest) = (record.first()?, record.get(2..)?);
    let simple = |state| {
        Some(StatusEntry {
            path: path(rest),
            state,
        })
    };
    match kind {
        b'1' => tracked(rest, None),
        b'2' => tracked(rest, Some(source?)),
        b'u' => unmerged(rest),
        b'?' => simple(EntryState::Untracked),
        b'!' => simple(EntryState::Ignored),
        _ => None,
    }
}

/// Reads `XY sub mH mI mW hH hI [Xscore] path`.
fn tracked(rest: &[u8], source: Option<&[u8]>) -> Option<StatusEntry> {
    let count = if source.is_some() { 9 } else { 8 };
    let fields: Vec<&[u8]> = rest.splitn(count, |byte| *byte == b' ').collect();
    let [letters, submodule, head, index, tree, head_id, index_id, ..] = fields[..] else {
        return None;
    };
    let source = match source {
        Some(source) => Some((path(source), number(fields.get(7)?.get(1..)?)?)),
        None => None,
    };
    let state = TrackedState {
        staged: ChangeLetter::of(*letters.first()?),
        unstaged: ChangeLetter::of(*letters.get(1)?),
        modes: [mode(head)?, mode(index)?, mode(tree)?],
        ids: [text(head_id), text(index_id)],
        source,
        submodule: submodule_state(submodule),
    };
    Some(StatusEntry {
        path: path(fields.get(count - 1)?),
        state: EntryState::Tracked(state),
    })
}

/// Reads `XY sub m1 m2 m3 mW h1 h2 h3 path`.
fn unmerged(rest: &[u8]) -> Option<StatusEntry> {
    let fields: Vec<&[u8]> = rest.splitn(10, |byte| *byte == b' ').collect();
    let [letters, _, base, ours, theirs, tree, one, two, three, name] = fields[..] else {
        return None;
    };
    let state = EntryState::Unmerged {
        letters: [*letters.first()?, *letters.get(1)?],
        modes: [mode(base)?, mode(ours)?, mode(theirs)?, mode(tree)?],
        ids: [text(one), text(two), text(three)],
    };
    let path = path(name);
    Some(StatusEntry { path, state })
}

fn mode(field: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(field).ok()?, 8).ok()
}

fn submodule_state(field: &[u8]) -> Option<SubmoduleState> {
    let [b'S', commit, modified, untracked] = field else {
        return None;
    };
    Some(SubmoduleState {
        has_new_commit: *commit == b'C',
        is_modified: *modified == b'M',
        has_untracked: *untracked == b'U',
    })
}

#[cfg(test)]
mod tests;
