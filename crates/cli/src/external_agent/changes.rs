//! The files that a turn changed: those added or removed, and those with reported changes.
//!
//! Limits: ignored files are not counted. A file that was changed and changed back is counted.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use project::{HiddenFiles, WalkBackend, WalkOptions, file_list};

/// Folders that are not looked into.
const PASSED_OVER: [&str; 3] = [".git", "node_modules", "target"];

/// Tracks the files of a folder during a turn.
pub(super) struct FolderWatch {
    root: AbsPath,
    before: BTreeSet<PathBuf>,
    reported: BTreeSet<PathBuf>,
    is_complete: bool,
}

/// The changed files, by paths relative to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedFiles {
    pub(super) new: Vec<PathBuf>,
    pub(super) changed: Vec<PathBuf>,
    pub(super) gone: Vec<PathBuf>,
    /// Whether every change was reported.
    pub(super) is_complete: bool,
}

impl FolderWatch {
    /// Lists the current files.
    pub(super) async fn before(root: &AbsPath) -> Self {
        Self {
            root: root.clone(),
            before: files(root).await,
            reported: BTreeSet::new(),
            is_complete: true,
        }
    }

    /// Adds reported changes; an empty list means that any file may have changed.
    pub(super) fn add_changes(&mut self, paths: Vec<PathBuf>) {
        self.is_complete &= !paths.is_empty();
        self.reported.extend(paths);
    }

    /// Returns the changes since the start.
    pub(super) async fn after(self) -> ChangedFiles {
        let after = files(&self.root).await;
        let but = |all: &BTreeSet<PathBuf>, these: &BTreeSet<PathBuf>| {
            all.difference(these).cloned().collect()
        };
        let stayed = self.before.intersection(&after);
        let is_reported = |path: &&PathBuf| self.reported.contains(self.root.join(path).as_path());
        ChangedFiles {
            new: but(&after, &self.before),
            changed: stayed.filter(is_reported).cloned().collect(),
            gone: but(&self.before, &after),
            is_complete: self.is_complete,
        }
    }
}

async fn files(root: &AbsPath) -> BTreeSet<PathBuf> {
    let root = root.clone();
    let listed = tokio::task::spawn_blocking(move || {
        let options = WalkOptions {
            exclude: PASSED_OVER.map(|name| format!("{name}/")).to_vec(),
            hidden: HiddenFiles::Visit,
            ..WalkOptions::default()
        };
        file_list(&WalkBackend::Disk, &root, &options, &AtomicBool::new(false))
    });
    match listed.await {
        Ok(Ok((files, problems))) => {
            for problem in problems {
                log::debug!("{}", problem.0);
            }
            files.into_iter().collect()
        }
        Ok(Err(_)) | Err(_) => {
            base::never!("the files of a folder were not listed");
            BTreeSet::new()
        }
    }
}
