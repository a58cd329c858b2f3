//! Discards the unstaged change of a file so that it can be taken back.
//!
//! Invariant: no change is lost: a changed file gets its content by an edit that the user can undo, and an untracked file
//! goes to the trash, with a copy kept for a while.
//! Limits: the latest 32 untracked files of at most 16 MiB can be moved back; larger ones and folders stay in the trash.

use std::collections::VecDeque;
use std::sync::Mutex;

use base::{AbsPath, LogErr as _};
use git::changes::{Change, ChangeGroup, ChangeKind};
use git::merge::TreePath;
use git::{GitTask, Repository};
use git_panel::{DiscardedFile, GitFailure, GitFailureKind};
use git_program::{Cancellation, GitProgram};
use host::{ContentHash, Dirs, ExpectedContent, FileKind, Files as _, RealFiles, SaveRequest};

use super::door::{RepositoryAccess, RepositoryDoor};
use super::failures::{failure, of_git, of_host, of_program, other};
use super::folder_state::GitFolderState;
use super::queues::lock;
use super::reads::MAX_TEXT_BYTES;

/// Number of files that can be moved back.
const MAX_KEPT: usize = 32;
/// Size of the largest file that can be moved back, in bytes.
const MAX_KEPT_BYTES: u64 = 16 << 20;

/// Copies of the untracked files that were moved to the trash.
pub(super) struct DiscardedFiles {
    folder: AbsPath,
    /// The discarded files with their copies, the latest last.
    kept: Mutex<VecDeque<(AbsPath, AbsPath)>>,
}

impl DiscardedFiles {
    pub(super) fn new(dirs: &Dirs) -> Self {
        Self {
            folder: dirs.state.join("discarded"),
            kept: Mutex::default(),
        }
    }

    /// Moves a file to the trash and keeps a copy of it.
    fn discard(&self, file: &AbsPath) -> Result<(), host::Error> {
        let stat = RealFiles.stat(file)?;
        let copy = if stat.kind == FileKind::File && stat.stamp.size <= MAX_KEPT_BYTES {
            Some(self.copy(file)?)
        } else {
            None
        };
        let trashed = RealFiles.trash(file);
        if let Some(copy) = copy {
            if trashed.is_err() {
                RealFiles.remove(&copy).log_err();
            } else {
                self.keep(file.clone(), copy);
            }
        }
        trashed
    }

    fn copy(&self, file: &AbsPath) -> Result<AbsPath, host::Error> {
        RealFiles.create_folder(&self.folder)?;
        let hash = ContentHash::of(file.as_path().as_os_str().as_encoded_bytes()).0;
        let copy = self.folder.join(format!("{hash:032x}"));
        if RealFiles.exists(&copy) {
            RealFiles.remove(&copy)?;
        }
        RealFiles.copy(file, &copy)?;
        Ok(copy)
    }

    fn keep(&self, file: AbsPath, copy: AbsPath) {
        let mut kept = lock(&self.kept);
        kept.retain(|(known, _)| *known != file);
        kept.push_back((file, copy));
        while kept.len() > MAX_KEPT {
            if let Some((_, oldest)) = kept.pop_front() {
                RealFiles.remove(&oldest).log_err();
            }
        }
    }

    /// Moves a discarded file back to its place, which must be free.
    pub(super) fn restore(&self, file: &AbsPath) -> Result<(), GitFailure> {
        let mut kept = lock(&self.kept);
        let at = kept.iter().position(|(known, _)| known == file);
        let Some(at) = at else {
            let sentence =
                format!("{file} is in the trash of the desktop; move it back from there");
            return Err(other(sentence));
        };
        let copy = kept[at].1.clone();
        if let Some(folder) = file.parent() {
            RealFiles.create_folder(&folder).map_err(of_host)?;
        }
        RealFiles.copy(&copy, file).map_err(of_host)?;
        kept.remove(at);
        RealFiles.remove(&copy).log_err();
        Ok(())
    }
}

/// Discards the unstaged change of a file.
pub(super) fn discard_file(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    change: &Change,
) -> Result<DiscardedFile, GitFailure> {
    let path = &change.path;
    let file = access.root.join(path.to_path());
    match (change.group, change.kind) {
        (ChangeGroup::Conflicts, _) => {
            let sentence = format!("{path} has conflicts; resolve them first");
            return Err(failure(sentence, GitFailureKind::Conflicted));
        }
        (ChangeGroup::Staged, _) => {
            return Err(other(format!("{path} is staged; unstage it first")));
        }
        (ChangeGroup::Untracked, _) | (ChangeGroup::Unstaged, ChangeKind::Added) => {
            folder.discarded.discard(&file).map_err(of_host)?;
            return Ok(DiscardedFile::Trashed);
        }
        (ChangeGroup::Unstaged, ChangeKind::ModeChanged) => {
            return Err(other(format!(
                "only the mode of {path} changed; `git restore` resets it"
            )));
        }
        (ChangeGroup::Unstaged, ChangeKind::Submodule | ChangeKind::TypeChanged) => {
            return Err(other(format!(
                "{path} is a submodule or changed its type; `git restore` resets it"
            )));
        }
        (ChangeGroup::Unstaged, _) => {}
    }
    let content = index_content(access, folder, path)?;
    if change.kind != ChangeKind::Deleted {
        return Ok(DiscardedFile::Replace(content));
    }
    restore_deleted(&file, &content, folder)?;
    Ok(DiscardedFile::Restored)
}

/// Returns the content that a checkout of the index writes for a file.
fn index_content(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    path: &TreePath,
) -> Result<Vec<u8>, GitFailure> {
    let program = match access.open(GitTask::Staging, folder)? {
        RepositoryDoor::Program(program) => program,
        RepositoryDoor::InProcess(repository) => match in_process(&repository, path)? {
            Some(content) => return Ok(content),
            None => access.program(folder)?,
        },
    };
    by_program(&program, path)
}

fn in_process(repository: &Repository, path: &TreePath) -> Result<Option<Vec<u8>>, GitFailure> {
    repository.checked_out_index(path).map_err(of_git)
}

fn by_program(program: &GitProgram, path: &TreePath) -> Result<Vec<u8>, GitFailure> {
    let limit = usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX);
    let content = program.show_for_worktree(&path.to_path(), limit, &Cancellation::default());
    content.map_err(of_program)
}

/// Writes a deleted file again. Its place must be free.
fn restore_deleted(
    file: &AbsPath,
    content: &[u8],
    folder: &GitFolderState,
) -> Result<(), GitFailure> {
    if let Some(parent) = file.parent() {
        RealFiles.create_folder(&parent).map_err(of_host)?;
    }
    let recovery = folder.dirs.recovery();
    let saved = RealFiles.save(&SaveRequest {
        path: file,
        content,
        expected: ExpectedContent::Absent,
        recovery_folder: &recovery,
    });
    saved.map(drop).map_err(of_host)
}

#[cfg(test)]
mod tests {
    use host::{Dirs, Files as _, RealFiles, TempFolder};

    use super::{DiscardedFiles, MAX_KEPT};

    #[test]
    fn the_latest_discarded_files_can_be_moved_back() {
        let temporary = TempFolder::new().expect("a folder");
        let folder = temporary.path();
        let dirs = Dirs::under(&folder.join("own"));
        dirs.create().expect("folders");
        let discarded = DiscardedFiles::new(&dirs);
        let file = |ix: usize| folder.join(format!("{ix}"));
        for ix in 0..=MAX_KEPT {
            let text = ix.to_string();
            RealFiles
                .write_private(&file(ix), text.as_bytes())
                .expect("a file");
            let copy = discarded.copy(&file(ix)).expect("a copy");
            RealFiles.remove(&file(ix)).expect("removed");
            discarded.keep(file(ix), copy);
        }
        discarded.restore(&file(0)).expect_err("forgotten");
        discarded.restore(&file(1)).expect("moved back");
        let text = RealFiles.read(&file(1), 10).expect("it is back");
        assert_eq!(text, b"1");
        discarded.restore(&file(1)).expect_err("back already");
        // The file that took the place stays.
        RealFiles.write_private(&file(2), b"new").expect("a file");
        discarded.restore(&file(2)).expect_err("not free");
        let text = RealFiles.read(&file(2), 10).expect("a file");
        assert_eq!(text, b"new");
    }
}
