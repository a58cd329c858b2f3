//! The status of every file that differs from HEAD, and of its parent folders.

use std::collections::HashMap;

use base::{AbsPath, NameRules};

/// Status of a file relative to HEAD, in increasing priority: a folder shows the highest status
/// below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileStatus {
    /// Excluded by an ignore rule.
    Ignored,
    /// Not tracked and not ignored.
    Untracked,
    /// In the index, not in HEAD.
    Added,
    /// Renamed since HEAD was committed.
    Renamed,
    /// Content or mode differs from HEAD.
    Modified,
    /// In HEAD, but not in the working tree.
    Deleted,
    /// Unresolved after a merge.
    Conflicted,
}

/// The files of a working tree that differ from HEAD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses {
    /// The rules by which the working tree compares names: the index can have another spelling than
    /// the disk. The keys of the maps are folded by them.
    names: NameRules,
    /// The changed files, as Git spells them.
    files: HashMap<AbsPath, (AbsPath, FileStatus)>,
    /// The highest status below each folder that contains a changed file.
    folders: HashMap<AbsPath, FileStatus>,
    /// Folders that are untracked or ignored with everything below them.
    whole: HashMap<AbsPath, FileStatus>,
}

impl Statuses {
    /// Returns the status of a file or folder; `None` if it equals HEAD.
    pub fn of(&self, path: &AbsPath) -> Option<FileStatus> {
        let key = self.names.path_key(path);
        let file = self.files.get(&key).map(|(_, status)| status);
        if let Some(status) = file.or_else(|| self.folders.get(&key)) {
            return Some(*status);
        }
        let mut ancestor = Some(key);
        while let Some(folder) = ancestor {
            if let Some(status) = self.whole.get(&folder) {
                return Some(*status);
            }
            ancestor = folder.parent();
        }
        None
    }

    /// Returns the changed files in no particular order.
    pub fn files(&self) -> impl Iterator<Item = (&AbsPath, FileStatus)> {
        self.files.values().map(|(path, status)| (path, *status))
    }
}

/// Reads the statuses, including untracked and ignored files, without writing to the index. An
/// ignored folder is one entry.
pub(crate) fn read(
    repository: &git2::Repository,
    workdir: &AbsPath,
) -> Result<Statuses, git2::Error> {
    let mut options = git2::StatusOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_ignored(true)
        .recurse_ignored_dirs(false)
        .exclude_submodules(true)
        .renames_head_to_index(true)
        // The index belongs to the user: a query must not rewrite it.
        .update_index(false)
        .include_unreadable(true);
    let names = name_rules(repository);
    let mut statuses = Statuses {
        names,
        ..Statuses::default()
    };
    let root = names.path_key(workdir);
    for entry in repository.statuses(Some(&mut options))?.iter() {
        let Some(status) = classify(entry.status()) else {
            continue;
        };
        let name = entry.path_bytes();
        let is_folder = name.ends_with(b"/");
        let path = workdir.join(os_path(name));
        let key = names.path_key(&path);
        if is_folder {
            statuses.whole.insert(key.clone(), status);
        } else {
            statuses.files.insert(key.clone(), (path, status));
        }
        if status != FileStatus::Ignored {
            mark_ancestors(&mut statuses.folders, &key, &root, status);
        }
    }
    Ok(statuses)
}

/// Returns the rules that `git init` found out about the volume of the working tree.
pub(crate) fn name_rules(repository: &git2::Repository) -> NameRules {
    let config = repository.config().ok();
    let is_set = |name| {
        config
            .as_ref()
            .is_some_and(|it| it.get_bool(name).is_ok_and(|is_set| is_set))
    };
    NameRules {
        folds_case: is_set("core.ignorecase"),
        normalizes: is_set("core.precomposeunicode"),
    }
}

fn mark_ancestors(
    folders: &mut HashMap<AbsPath, FileStatus>,
    path: &AbsPath,
    workdir: &AbsPath,
    status: FileStatus,
) {
    // A folder that contains a deleted file is modified, not deleted.
    let shown = match status {
        FileStatus::Deleted | FileStatus::Renamed => FileStatus::Modified,
        other => other,
    };
    let mut ancestor = path.parent();
    while let Some(folder) = ancestor {
        if !folder.is_within(workdir) {
            return;
        }
        match folders.get_mut(&folder) {
            // All further ancestors already have at least this status.
            Some(known) if *known >= shown => return,
            Some(known) => *known = shown,
            None => {
                folders.insert(folder.clone(), shown);
            }
        }
        ancestor = folder.parent();
    }
}

/// Returns the status that represents all flags of a file: the first that applies of conflicted,
/// ignored, deleted, added, renamed, modified and untracked. A file that is deleted in the index
/// and present on disk is modified. `None` if no flag applies.
fn classify(status: git2::Status) -> Option<FileStatus> {
    use git2::Status as S;
    let any = |flags: S| status.intersects(flags);
    if any(S::CONFLICTED) {
        Some(FileStatus::Conflicted)
    } else if any(S::IGNORED) {
        Some(FileStatus::Ignored)
    } else if any(S::WT_DELETED | S::INDEX_DELETED) && !any(S::WT_NEW) {
        Some(FileStatus::Deleted)
    } else if any(S::INDEX_NEW) {
        Some(FileStatus::Added)
    } else if any(S::INDEX_RENAMED | S::WT_RENAMED) {
        Some(FileStatus::Renamed)
    } else if any(S::INDEX_MODIFIED | S::WT_MODIFIED | S::INDEX_TYPECHANGE | S::WT_TYPECHANGE)
        || (any(S::INDEX_DELETED) && any(S::WT_NEW))
    {
        Some(FileStatus::Modified)
    } else if any(S::WT_NEW) {
        Some(FileStatus::Untracked)
    } else {
        None
    }
}

#[cfg(unix)]
fn os_path(bytes: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests;
