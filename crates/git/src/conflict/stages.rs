//! Unmerged entries of the index, and the names of their sides.
//!
//! Start at `Repository::conflicts`.

use std::sync::Arc;

use base::AbsPath;
use git2::{BranchType, Oid, RepositoryState};
use host::{Files as _, RealFiles};

use super::marker_text::MARKER_SIZE;
use super::resolve::ConflictChoice;
use crate::land::eol;
use crate::merge::{ConflictKind, EntryMode, ObjectEntry, ObjectId, TreePath, is_binary};
use crate::repository::{Error, Repository};

/// Maximum size in bytes of a file of git with one id or name.
const MAX_NAME: u64 = 4096;

/// The sides of a text in conflict, with the line endings of the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextStages {
    /// The merge base; `None` if both sides added the file.
    pub base: Option<Arc<str>>,
    /// Our side.
    pub ours: Arc<str>,
    /// Their side.
    pub theirs: Arc<str>,
}

/// Names of the sides of a conflict, for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictNames {
    /// The side of stage 2.
    pub ours: String,
    /// The side of stage 3.
    pub theirs: String,
}

/// A path with unmerged entries in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedConflict {
    /// The path, relative to the working tree.
    pub path: TreePath,
    /// Reason of the conflict. A path with a single entry is `BothRenamed`, because renames of both
    /// sides leave such paths.
    pub kind: ConflictKind,
    /// The entries of the merge base, of our side and of their side.
    pub stages: [Option<ObjectEntry>; 3],
}

impl StagedConflict {
    /// Returns whether the conflict can be resolved by editing the text of the file.
    pub fn is_text(&self) -> bool {
        matches!(self.kind, ConflictKind::Content | ConflictKind::BothAdded)
    }

    /// Returns the ways to resolve the conflict without editing.
    pub fn choices(&self) -> Vec<ConflictChoice> {
        let [base, ours, theirs] = &self.stages;
        let mut choices = Vec::new();
        if ours.is_some() {
            choices.push(ConflictChoice::Ours);
        }
        if theirs.is_some() {
            choices.push(ConflictChoice::Theirs);
        }
        if base.is_some() && ours.is_none() && theirs.is_none() {
            choices.push(ConflictChoice::Base);
        }
        if ours.is_none() || theirs.is_none() {
            choices.push(ConflictChoice::Remove);
        }
        choices
    }
}

impl Repository {
    /// Returns the unmerged paths of the index, in its order. Reads their contents.
    pub fn conflicts(&self) -> Result<Vec<StagedConflict>, Error> {
        let mut conflicts = unmerged(self)?;
        for conflict in &mut conflicts {
            conflict.kind = kind_of(self, &conflict.stages)?;
        }
        Ok(conflicts)
    }

    /// Returns the conflict of a file; `None` if its entry is merged or the file is not in the
    /// working tree.
    pub fn conflict_at(&self, path: &AbsPath) -> Result<Option<StagedConflict>, Error> {
        let Some(relative) = self.relative(path) else {
            return Ok(None);
        };
        let path = TreePath::of_path(&relative);
        let unmerged = unmerged(self)?;
        let Some(mut conflict) = unmerged.into_iter().find(|it| it.path == path) else {
            return Ok(None);
        };
        conflict.kind = kind_of(self, &conflict.stages)?;
        Ok(Some(conflict))
    }

    /// Returns the sides of a conflict as texts. `None` if they are not UTF-8, or the conflict is
    /// not about a text.
    pub fn text_stages(&self, conflict: &StagedConflict) -> Result<Option<TextStages>, Error> {
        if !conflict.is_text() {
            return Ok(None);
        }
        let text = |entry: &Option<ObjectEntry>| -> Result<Option<Arc<str>>, Error> {
            let Some(entry) = entry else {
                return Ok(None);
            };
            let bytes = self.bytes_of(entry)?;
            let bytes = eol::to_worktree(&self.inner, &conflict.path, &bytes).into_owned();
            Ok(String::from_utf8(bytes).ok().map(Arc::from))
        };
        let [base, ours, theirs] = &conflict.stages;
        let read_base = text(base)?;
        let (Some(ours), Some(theirs)) = (text(ours)?, text(theirs)?) else {
            return Ok(None);
        };
        if base.is_some() && read_base.is_none() {
            return Ok(None);
        }
        Ok(Some(TextStages {
            base: read_base,
            ours,
            theirs,
        }))
    }

    /// Returns the number of signs in the conflict markers of a file, as its attributes set it.
    pub fn marker_size(&self, path: &TreePath) -> usize {
        let flags = git2::AttrCheckFlags::FILE_THEN_INDEX;
        let value = self
            .inner
            .get_attr_bytes(&path.to_path(), "conflict-marker-size", flags);
        let value = value.ok().flatten().map(String::from_utf8_lossy);
        let size = value.and_then(|value| value.parse().ok());
        size.filter(|size| *size > 0).unwrap_or(MARKER_SIZE)
    }

    /// Returns the names of the sides in the operation that goes on: branches, or the subject of the
    /// commit that is applied. `None` without such an operation, as after applying a stash.
    pub fn conflict_names(&self) -> Option<ConflictNames> {
        use RepositoryState as S;
        let head = || {
            let branch = self.branch();
            branch.map_or_else(|| "HEAD".to_owned(), |branch| branch.name)
        };
        let subject = |name: &str| named_commit(self, name).map(|it| subject(self, it));
        match self.inner.state() {
            S::Merge => Some(ConflictNames {
                ours: head(),
                theirs: branch_or_subject(self, named_commit(self, "MERGE_HEAD")?),
            }),
            S::Rebase | S::RebaseInteractive | S::RebaseMerge => {
                let onto = git_file(self, "rebase-merge/onto");
                let onto = onto.or_else(|| git_file(self, "rebase-apply/onto"));
                let onto = onto.and_then(|id| Oid::from_str(&id).ok());
                let onto = onto.map_or_else(head, |id| branch_or_subject(self, id));
                let subject = subject("REBASE_HEAD").unwrap_or_default();
                Some(ConflictNames {
                    ours: format!("onto {onto}"),
                    theirs: format!("your commit being replayed: {subject}"),
                })
            }
            S::CherryPick | S::CherryPickSequence => Some(ConflictNames {
                ours: head(),
                theirs: format!("picked commit: {}", subject("CHERRY_PICK_HEAD")?),
            }),
            S::Revert | S::RevertSequence => Some(ConflictNames {
                ours: head(),
                theirs: format!("without the commit: {}", subject("REVERT_HEAD")?),
            }),
            S::Clean | S::Bisect | S::ApplyMailbox | S::ApplyMailboxOrRebase => None,
        }
    }
}

/// Returns the unmerged paths of the index without the reason of their conflicts.
fn unmerged(repository: &Repository) -> Result<Vec<StagedConflict>, Error> {
    let failed = |error: git2::Error| repository.failed("index", &error);
    let mut index = repository.inner.index().map_err(failed)?;
    index.read(true).map_err(failed)?;
    let mut conflicts: Vec<StagedConflict> = Vec::new();
    for entry in index.iter() {
        let stage = usize::from((entry.flags >> 12) & 3);
        let Some(slot) = stage.checked_sub(1) else {
            continue;
        };
        let path = TreePath::new(&entry.path);
        if conflicts.last().is_none_or(|last| last.path != path) {
            conflicts.push(StagedConflict {
                path,
                kind: ConflictKind::Content,
                stages: [None, None, None],
            });
        }
        let mode = EntryMode::of(entry.mode as i32);
        if let (Some(mode), Some(last)) = (mode, conflicts.last_mut()) {
            last.stages[slot] = Some(ObjectEntry {
                mode,
                id: ObjectId(entry.id),
                bytes: None,
            });
        }
    }
    Ok(conflicts)
}

/// Classifies a conflict by the entries of its stages.
fn kind_of(
    repository: &Repository,
    stages: &[Option<ObjectEntry>; 3],
) -> Result<ConflictKind, Error> {
    let [base, ours, theirs] = stages;
    let (Some(our), Some(their)) = (ours, theirs) else {
        return Ok(match (base, ours, theirs) {
            (Some(_), Some(_), _) => ConflictKind::RemovedByThem,
            (Some(_), _, Some(_)) => ConflictKind::RemovedByUs,
            _ => ConflictKind::BothRenamed,
        });
    };
    if !our.mode.is_file() || !their.mode.is_file() {
        return Ok(ConflictKind::Kind);
    }
    for entry in stages.iter().flatten() {
        if is_binary(&repository.bytes_of(entry)?) {
            return Ok(ConflictKind::Binary);
        }
    }
    Ok(match base {
        Some(_) => ConflictKind::Content,
        None => ConflictKind::BothAdded,
    })
}

/// Reads a file with one line in the folder of git.
fn git_file(repository: &Repository, name: &str) -> Option<String> {
    let path = repository.git_dir()?.join(name);
    let bytes = RealFiles.read(&path, MAX_NAME).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().next().map(|line| line.trim().to_owned())
}

fn named_commit(repository: &Repository, name: &str) -> Option<Oid> {
    Oid::from_str(&git_file(repository, name)?).ok()
}

/// Returns the name of a branch that points to a commit, or else the subject of the commit.
fn branch_or_subject(repository: &Repository, commit: Oid) -> String {
    let name = |filter: BranchType| {
        let branches = repository.inner.branches(Some(filter)).ok()?;
        let (branch, _) = branches
            .flatten()
            .find(|(it, _)| it.get().target() == Some(commit))?;
        let name = branch.name_bytes().ok()?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    name(BranchType::Local)
        .or_else(|| name(BranchType::Remote))
        .unwrap_or_else(|| subject(repository, commit))
}

/// Returns the subject of a commit, or its short id if it cannot be read.
fn subject(repository: &Repository, id: Oid) -> String {
    let commit = repository.inner.find_commit(id).ok();
    let subject = commit.as_ref().and_then(|commit| commit.summary_bytes());
    match subject {
        Some(subject) => String::from_utf8_lossy(subject).into_owned(),
        None => id.to_string().chars().take(8).collect(),
    }
}
