//! Which files a turn changed: those that are there before and after it, and those whose changes were heard of.
//!
//! Limits: files that ignore files name are not counted. A file that was changed and is as before is counted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use project::{Ground, Hidden, WalkOptions, file_list};

/// Folders that are not looked into.
const PASSED_OVER: [&str; 3] = [".git", "node_modules", "target"];

/// The files of a folder, and what happens to them.
pub(super) struct Changes {
    root: AbsPath,
    before: BTreeSet<PathBuf>,
    heard: BTreeSet<PathBuf>,
    is_complete: bool,
}

/// What became of files, by paths relative to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) new: Vec<PathBuf>,
    pub(super) changed: Vec<PathBuf>,
    pub(super) gone: Vec<PathBuf>,
    /// Whether every change was heard of.
    pub(super) is_complete: bool,
}

/// Whether changes in a folder of this name, or below it, are nobody's business.
pub(super) fn is_passed_over(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| PASSED_OVER.contains(&name))
}

impl Changes {
    /// Looks at what there is.
    pub(super) async fn before(root: &AbsPath) -> Self {
        Self {
            root: root.clone(),
            before: files(root).await,
            heard: BTreeSet::new(),
            is_complete: true,
        }
    }

    /// Takes in what was heard of: none means that anything may have changed.
    pub(super) fn heard(&mut self, paths: Vec<PathBuf>) {
        self.is_complete &= !paths.is_empty();
        self.heard.extend(paths);
    }

    /// What changed since.
    pub(super) async fn after(self) -> Changed {
        let after = files(&self.root).await;
        let but = |all: &BTreeSet<PathBuf>, these: &BTreeSet<PathBuf>| {
            all.difference(these).cloned().collect()
        };
        let stayed = self.before.intersection(&after);
        let is_heard = |path: &&PathBuf| self.heard.contains(self.root.join(path).as_path());
        Changed {
            new: but(&after, &self.before),
            changed: stayed.filter(is_heard).cloned().collect(),
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
            hidden: Hidden::Visit,
            ..WalkOptions::default()
        };
        file_list(&Ground::Disk, &root, &options, &AtomicBool::new(false))
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
