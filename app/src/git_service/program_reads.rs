//! Status and diffs through the git program, for repositories that libgit2 cannot read.
//!
//! Limits: lines are not counted, and a renamed file is shown as a new one in its diff. An id of a repository with SHA-256
//! is abbreviated to its first 40 digits, by which git finds the object.

use std::path::Path;

use git::changes::{
    Change, ChangeGroup, ChangeKind, ChangeNote, Changes, ConflictKind, HeadState, Operation,
    OperationKind, Upstream,
};
use git::diff::TreeSide;
use git::merge::{EntryMode, ObjectId, TreePath};
use git::staging::{FileDiff, Side, StagingError};
use git_panel::{CompareRequest, DiffRequest, GitFailure};
use git_program::{
    BranchStatus, Cancellation, ChangeLetter, EntryState, Error as ProgramError, GitProgram,
    OperationState, StatusEntry, TrackedState,
};
use host::{Files as _, RealFiles, is_draft_name};

use super::failures::{of_host, of_program, of_staging, other};
use super::reads::MAX_TEXT_BYTES;

/// The mode of a submodule.
const MODULE: u32 = 0o160_000;

/// Returns all changes.
pub(super) fn changes(program: &GitProgram) -> Result<Changes, GitFailure> {
    let cancellation = Cancellation::default();
    let report = program.status(&cancellation).map_err(of_program)?;
    let operation = program.operation(&cancellation).map_err(of_program)?;
    let mut entries: Vec<Change> = report.entries.iter().flat_map(changes_of).collect();
    entries.sort_by(|one, two| (one.group, &one.path).cmp(&(two.group, &two.path)));
    let upstream = report.branch.upstream.clone().map(|name| Upstream {
        name,
        ahead: report.branch.ahead,
        behind: report.branch.behind,
        is_gone: false,
    });
    Ok(Changes {
        entries,
        head: head_of(&report.branch)?,
        operation: operation.map(operation_of),
        upstream,
    })
}

fn head_of(branch: &BranchStatus) -> Result<HeadState, GitFailure> {
    let name = branch.name.clone();
    let Some(commit) = &branch.commit else {
        return Ok(HeadState::Unborn {
            name: name.unwrap_or_default(),
        });
    };
    let commit = object_id(commit).ok_or_else(|| other("git printed no id for HEAD"))?;
    Ok(match name {
        Some(name) => HeadState::Branch { name, commit },
        None => HeadState::Detached { commit },
    })
}

fn operation_of(state: OperationState) -> Operation {
    use git_program::OperationKind as Kind;
    Operation {
        kind: match state.kind {
            Kind::Merge => OperationKind::Merge,
            Kind::Rebase => OperationKind::Rebase,
            Kind::ApplyMailbox => OperationKind::ApplyMail,
            Kind::CherryPick => OperationKind::CherryPick,
            Kind::Revert => OperationKind::Revert,
            Kind::Bisect => OperationKind::Bisect,
        },
        progress: state.progress,
        branch: state.branch,
    }
}

/// Returns the changes of one record of the status, at most one in each group.
fn changes_of(entry: &StatusEntry) -> Vec<Change> {
    let path = TreePath::of_path(&entry.path);
    match &entry.state {
        EntryState::Tracked(state) => {
            let staged = state
                .staged
                .map(|letter| staged_change(&path, state, letter));
            let unstaged = state
                .unstaged
                .map(|letter| unstaged_change(&path, state, letter));
            staged.into_iter().chain(unstaged).collect()
        }
        EntryState::Unmerged { letters, .. } => {
            let kind = ChangeKind::Conflicted(conflict_of(*letters));
            vec![change(ChangeGroup::Conflicts, path, kind)]
        }
        EntryState::Untracked if entry.path.file_name().is_some_and(is_draft_name) => Vec::new(),
        EntryState::Untracked => vec![untracked(&path)],
        EntryState::Ignored => Vec::new(),
    }
}

fn change(group: ChangeGroup, path: TreePath, kind: ChangeKind) -> Change {
    Change {
        group,
        path,
        old_path: None,
        kind,
        note: None,
        lines: None,
    }
}

fn untracked(path: &TreePath) -> Change {
    let bytes = path.as_bytes();
    let folder = bytes.strip_suffix(b"/");
    let path = TreePath::new(folder.unwrap_or(bytes));
    Change {
        note: folder.map(|_| ChangeNote::Repository),
        ..change(ChangeGroup::Untracked, path, ChangeKind::Untracked)
    }
}

fn staged_change(path: &TreePath, state: &TrackedState, letter: ChangeLetter) -> Change {
    let [head, index, _] = state.modes;
    let mut staged = change(ChangeGroup::Staged, path.clone(), kind_of(letter));
    if letter == ChangeLetter::Renamed {
        let source = state.source.as_ref();
        staged.old_path = source.map(|(source, _)| TreePath::of_path(source));
    }
    if head == MODULE || index == MODULE {
        staged.note = Some(ChangeNote::Submodule {
            old: object_id(&state.ids[0]),
            new: object_id(&state.ids[1]),
            is_dirty: false,
        });
        if letter == ChangeLetter::Modified {
            staged.kind = ChangeKind::Submodule;
        }
    } else if letter == ChangeLetter::Modified && head != index {
        staged.note = Some(ChangeNote::Mode {
            old: head,
            new: index,
        });
        if state.ids[0] == state.ids[1] {
            staged.kind = ChangeKind::ModeChanged;
        }
    }
    staged
}

fn unstaged_change(path: &TreePath, state: &TrackedState, letter: ChangeLetter) -> Change {
    let [_, index, tree] = state.modes;
    let mut unstaged = change(ChangeGroup::Unstaged, path.clone(), kind_of(letter));
    if let Some(module) = state.submodule {
        let recorded = object_id(&state.ids[1]);
        unstaged.note = Some(ChangeNote::Submodule {
            old: recorded,
            // Git prints no other id: the commit that is checked out is unknown here.
            new: recorded.filter(|_| !module.has_new_commit),
            is_dirty: module.is_modified,
        });
        if letter == ChangeLetter::Modified {
            unstaged.kind = ChangeKind::Submodule;
        }
    } else if letter == ChangeLetter::Modified && index != tree {
        unstaged.note = Some(ChangeNote::Mode {
            old: index,
            new: tree,
        });
    }
    unstaged
}

fn kind_of(letter: ChangeLetter) -> ChangeKind {
    match letter {
        ChangeLetter::Added | ChangeLetter::Copied => ChangeKind::Added,
        ChangeLetter::Modified => ChangeKind::Modified,
        ChangeLetter::Deleted => ChangeKind::Deleted,
        ChangeLetter::Renamed => ChangeKind::Renamed,
        ChangeLetter::TypeChanged => ChangeKind::TypeChanged,
    }
}

fn conflict_of(letters: [u8; 2]) -> ConflictKind {
    match &letters {
        b"DD" => ConflictKind::BothDeleted,
        b"AU" => ConflictKind::AddedByUs,
        b"UD" => ConflictKind::DeletedByThem,
        b"UA" => ConflictKind::AddedByThem,
        b"DU" => ConflictKind::DeletedByUs,
        b"AA" => ConflictKind::BothAdded,
        _ => ConflictKind::BothModified,
    }
}

/// Returns an id, abbreviated to the length of SHA-1; `None` for none.
fn object_id(text: &str) -> Option<ObjectId> {
    let text = text.get(..40)?;
    ObjectId::parse(text).filter(|id| id.as_bytes().iter().any(|byte| *byte != 0))
}

type FileContent = Option<(EntryMode, Vec<u8>)>;

/// Returns the diff of one file.
pub(super) fn file_diff(
    program: &GitProgram,
    request: &DiffRequest,
) -> Result<FileDiff, GitFailure> {
    let DiffRequest { path, side, buffer } = request;
    let name = path.to_path();
    let entries = program.index_entries(std::slice::from_ref(&name), &Cancellation::default());
    let entries = entries.map_err(of_program)?;
    if entries.has_conflicts() {
        return Err(of_staging(StagingError::Conflicted(path.clone())));
    }
    let mode = entries.mode_of(&name);
    if mode == Some(MODULE) {
        return Err(other(format!("{path} is a submodule, which has no lines")));
    }
    let indexed = match mode {
        Some(mode) => stored(program, "", &name, entry_mode(mode))?,
        None => None,
    };
    let (base, work) = match side {
        Side::Staged => {
            let kept = mode.map_or(EntryMode::Plain, entry_mode);
            (stored(program, "HEAD", &name, kept)?, indexed)
        }
        Side::Unstaged => (indexed, worktree(program, &name, buffer.as_deref())?),
    };
    if base.is_none() && work.is_none() {
        return Err(of_staging(StagingError::Absent(path.clone())));
    }
    Ok(FileDiff::of_contents(path, *side, base, work))
}

/// Returns the diff of one file between two sides.
pub(super) fn compared_diff(
    program: &GitProgram,
    request: &CompareRequest,
) -> Result<FileDiff, GitFailure> {
    let CompareRequest {
        sides,
        path,
        old_path,
        buffer,
    } = request;
    let content = |side: &TreeSide, path: &TreePath| match side {
        TreeSide::Empty => Ok(None),
        TreeSide::Revision(id) => stored(program, id, &path.to_path(), EntryMode::Plain),
        TreeSide::Index => stored(program, "", &path.to_path(), EntryMode::Plain),
        TreeSide::WorkingTree => worktree(program, &path.to_path(), buffer.as_deref()),
    };
    let base = content(&sides.before, old_path.as_ref().unwrap_or(path))?;
    let work = content(&sides.after, path)?;
    if base.is_none() && work.is_none() {
        return Err(of_staging(StagingError::Absent(path.clone())));
    }
    let mut diff = FileDiff::of_contents(path, Side::Unstaged, base, work);
    diff.old_path = old_path.clone();
    Ok(diff)
}

/// Returns a content that Git stores; `None` if the commit or the index has no such file.
fn stored(
    program: &GitProgram,
    revision: &str,
    name: &Path,
    mode: EntryMode,
) -> Result<FileContent, GitFailure> {
    let limit = usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX);
    match program.show(revision, name, limit, &Cancellation::default()) {
        Ok(bytes) => Ok(Some((mode, bytes))),
        Err(ProgramError::Failed { .. }) => Ok(None),
        Err(error) => Err(of_program(error)),
    }
}

/// Returns the content of the working tree as Git stores it.
fn worktree(
    program: &GitProgram,
    name: &Path,
    buffer: Option<&[u8]>,
) -> Result<FileContent, GitFailure> {
    use std::os::unix::ffi::OsStrExt as _;
    let file = program.root().join(name);
    if let Some(target) = RealFiles.read_link(&file) {
        let target = target.as_os_str().as_bytes().to_vec();
        return Ok(Some((EntryMode::Link, target)));
    }
    let stat = RealFiles.stat(&file).ok();
    let is_executable = stat.is_some_and(|stat| stat.mode & 0o100 != 0);
    let mode = if is_executable {
        EntryMode::Executable
    } else {
        EntryMode::Plain
    };
    let content = match buffer {
        Some(content) => content.to_vec(),
        None => match RealFiles.read(&file, MAX_TEXT_BYTES) {
            Ok(content) => content,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(of_host(error)),
        },
    };
    let limit = usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX);
    let cleaned = program.clean_content(name, content, limit, &Cancellation::default());
    Ok(Some((mode, cleaned.map_err(of_program)?)))
}

fn entry_mode(mode: u32) -> EntryMode {
    match mode {
        0o100_755 => EntryMode::Executable,
        0o120_000 => EntryMode::Link,
        MODULE => EntryMode::Module,
        _ => EntryMode::Plain,
    }
}

#[cfg(test)]
mod tests;
