//! Commits of the double beside HEAD, and the comparison of two sides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::AbsPath;
use git::diff::{ChangedPath, TreeComparison, TreeSide};
use git::merge::TreePath;
use git::staging::{FileDiff, Side};

use super::{FakeGit, FakeRepository, bytes, content, kind_of};
use crate::service::{CompareRequest, NamedVersion};

/// The revision whose files `FakeGit::set_contents` sets.
const HEAD: &str = "HEAD";

impl FakeGit {
    /// Sets the content of a file at a revision other than HEAD.
    pub fn set_committed(&self, root: &AbsPath, revision: &str, path: &str, text: &str) {
        let mut state = self.lock();
        let repository = state.repositories.entry(root.clone()).or_default();
        let files = repository.commits.entry(revision.to_owned()).or_default();
        files.insert(TreePath::new(path), text.to_owned());
    }
}

impl FakeRepository {
    pub(super) fn versions(&self) -> Vec<NamedVersion> {
        let revisions = std::iter::once(HEAD).chain(self.commits.keys().map(String::as_str));
        let versions = revisions.map(|revision| NamedVersion {
            revision: revision.to_owned(),
            name: format!("Version {revision}"),
            detail: "branch".to_owned(),
        });
        versions.collect()
    }

    pub(super) fn compared_files(&self, sides: &TreeComparison) -> Vec<ChangedPath> {
        let [before, after] = [&sides.before, &sides.after].map(|side| self.files_of(side));
        let paths: BTreeSet<&TreePath> = before.keys().chain(after.keys()).collect();
        let changed = paths.into_iter().filter_map(|path| {
            Some(ChangedPath {
                path: path.clone(),
                old_path: None,
                kind: kind_of(before.get(path), after.get(path))?,
                note: None,
            })
        });
        changed.collect()
    }

    pub(super) fn compared_diff(&self, request: CompareRequest) -> Arc<FileDiff> {
        let CompareRequest {
            sides,
            path,
            old_path,
            buffer,
        } = request;
        let before = self.files_of(&sides.before);
        let base = bytes(before.get(old_path.as_ref().unwrap_or(&path)));
        let stored = bytes(self.files_of(&sides.after).get(&path));
        let unsaved = buffer.filter(|_| sides.after == TreeSide::WorkingTree);
        let (base, work) = (content(base), content(unsaved.or(stored)));
        Arc::new(FileDiff::of_contents(&path, Side::Unstaged, base, work))
    }

    /// Returns the files of a side with their texts.
    fn files_of(&self, side: &TreeSide) -> BTreeMap<TreePath, String> {
        if let TreeSide::Revision(revision) = side
            && revision != HEAD
        {
            return self.commits.get(revision).cloned().unwrap_or_default();
        }
        let files = self.files.iter().filter_map(|(path, contents)| {
            let text = match side {
                TreeSide::Empty => None,
                TreeSide::Revision(_) => contents.head.clone(),
                TreeSide::Index => contents.index.clone(),
                TreeSide::WorkingTree => contents.work.clone(),
            };
            Some((path.clone(), text?))
        });
        files.collect()
    }
}
