//! Reads trees and changes from the repository's objects, and writes changed trees.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{Changes, EntryMode, ObjectEntry, TreePath};
use crate::repository::{Error, Repository, unreadable};

/// Id of a commit, a tree or a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(crate) git2::Oid);

impl ObjectId {
    /// Parses an id from its full hexadecimal form.
    pub fn parse(text: &str) -> Option<Self> {
        let is_whole = text.len() == 40 || text.len() == 64;
        is_whole
            .then(|| git2::Oid::from_str(text).ok())
            .flatten()
            .map(Self)
    }

    /// Returns the id in binary form.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the blob id of these bytes.
    pub fn of_blob(bytes: &[u8]) -> Self {
        // Hashing in memory does not fail; readers reject an id that names no object.
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, bytes);
        Self(id.unwrap_or(git2::Oid::ZERO_SHA1))
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl EntryMode {
    /// Converts a raw mode of git; `None` for a folder and for unknown kinds. Of the permissions,
    /// only the owner's execute bit counts.
    pub(crate) fn of(raw: i32) -> Option<Self> {
        match raw & 0o170_000 {
            0o100_000 if raw & 0o100 != 0 => Some(EntryMode::Executable),
            0o100_000 => Some(EntryMode::Plain),
            0o120_000 => Some(EntryMode::Link),
            0o160_000 => Some(EntryMode::Module),
            _ => None,
        }
    }

    /// Returns the mode of the entry in a tree.
    pub(crate) fn raw(self) -> i32 {
        match self {
            EntryMode::Plain => 0o100_644,
            EntryMode::Executable => 0o100_755,
            EntryMode::Link => 0o120_000,
            EntryMode::Module => 0o160_000,
        }
    }
}

impl Repository {
    /// Returns the tree of a commit, or the tree that `revision` names.
    pub fn tree_of(&self, revision: &str) -> Result<ObjectId, Error> {
        let found = self.inner.revparse_single(revision);
        let tree = found.and_then(|object| object.peel_to_tree());
        tree.map(|tree| ObjectId(tree.id()))
            .map_err(|error| self.failed(revision, &error))
    }

    /// Resolves a revision to its commit.
    pub fn commit_id(&self, revision: &str) -> Result<ObjectId, Error> {
        let found = self.inner.revparse_single(revision);
        let commit = found.and_then(|object| object.peel_to_commit());
        commit
            .map(|commit| ObjectId(commit.id()))
            .map_err(|error| self.failed(revision, &error))
    }

    /// Returns the merge base of two commits; `None` if their histories are unrelated.
    pub fn merge_base(&self, one: ObjectId, two: ObjectId) -> Result<Option<ObjectId>, Error> {
        match self.inner.merge_base(one.0, two.0) {
            Ok(id) => Ok(Some(ObjectId(id))),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.failed(&one.to_string(), &error)),
        }
    }

    /// Returns the changes from the tree `before` to the tree `after`, without content. Takes time per
    /// change.
    pub fn changes_between(&self, before: ObjectId, after: ObjectId) -> Result<Changes, Error> {
        let mut changes = Changes::new();
        if before == after {
            return Ok(changes);
        }
        let failed = |error: git2::Error| self.failed(&after.to_string(), &error);
        let tree = |id: ObjectId| self.inner.find_tree(id.0).map_err(failed);
        let mut options = git2::DiffOptions::new();
        options.include_typechange(true).skip_binary_check(true);
        let diff = self.inner.diff_tree_to_tree(
            Some(&tree(before)?),
            Some(&tree(after)?),
            Some(&mut options),
        );
        for delta in diff.map_err(failed)?.deltas() {
            let (old, new) = (delta.old_file(), delta.new_file());
            if let Some(path) = old.path_bytes().filter(|_| old.exists()) {
                changes.entry(TreePath::new(path)).or_insert(None);
            }
            let mode = EntryMode::of(u32::from(new.mode()) as i32).filter(|_| new.exists());
            if let (Some(path), Some(mode)) = (new.path_bytes(), mode) {
                let entry = ObjectEntry {
                    mode,
                    id: ObjectId(new.id()),
                    bytes: None,
                };
                changes.insert(TreePath::new(path), Some(entry));
            }
        }
        Ok(changes)
    }

    /// Returns the entry at a path of a tree; `None` if there is none or it is a folder.
    pub fn entry_at(&self, tree: ObjectId, path: &TreePath) -> Result<Option<ObjectEntry>, Error> {
        let failed = |error: git2::Error| self.failed(&path.to_string(), &error);
        let tree = self.inner.find_tree(tree.0).map_err(failed)?;
        match tree.get_path(&path.to_path()) {
            Ok(found) => Ok(EntryMode::of(found.filemode()).map(|mode| ObjectEntry {
                mode,
                id: ObjectId(found.id()),
                bytes: None,
            })),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns all files below a path of a tree; empty if there is no folder.
    pub fn files_below(&self, tree: ObjectId, path: &TreePath) -> Result<Vec<TreePath>, Error> {
        let failed = |error: git2::Error| self.failed(&path.to_string(), &error);
        let tree = self.inner.find_tree(tree.0).map_err(failed)?;
        let folder = tree.get_path(&path.to_path());
        let Ok(folder) = folder.and_then(|entry| self.inner.find_tree(entry.id())) else {
            return Ok(Vec::new());
        };
        let mut files = Vec::new();
        let walked = folder.walk(git2::TreeWalkMode::PreOrder, |above, entry| {
            if entry.kind() != Some(git2::ObjectType::Tree) {
                let name = [path.as_bytes(), b"/", above.as_bytes(), entry.name_bytes()].concat();
                files.push(TreePath::new(name));
            }
            git2::TreeWalkResult::Ok
        });
        walked.map_err(failed)?;
        Ok(files)
    }

    /// Returns the content of an entry; empty for a submodule.
    pub fn bytes_of(&self, entry: &ObjectEntry) -> Result<Arc<[u8]>, Error> {
        if let Some(bytes) = &entry.bytes {
            return Ok(bytes.clone());
        }
        if entry.mode == EntryMode::Module {
            return Ok(Arc::default());
        }
        let blob = self.inner.find_blob(entry.id.0);
        blob.map(|blob| blob.content().into())
            .map_err(|error| self.failed(&entry.id.to_string(), &error))
    }

    /// Writes a tree with these changes applied, along with the content they hold in memory.
    pub fn write(&self, tree: ObjectId, changes: &Changes) -> Result<ObjectId, Error> {
        let failed = |error: git2::Error| self.failed("the merged tree", &error);
        let mut root = TreeChanges::default();
        for (path, entry) in changes {
            if let Some((entry, bytes)) =
                entry.as_ref().and_then(|it| Some((it, it.bytes.as_ref()?)))
            {
                let id = self.inner.blob(bytes).map_err(failed)?;
                if id != entry.id.0 {
                    return Err(failed(git2::Error::from_str("its content has changed")));
                }
            }
            root.add(&path.components().collect::<Vec<_>>(), entry.as_ref());
        }
        let base = self.inner.find_tree(tree.0).map_err(failed)?;
        let written = self.write_folder(Some(&base), &root).map_err(failed)?;
        match written {
            Some(id) => Ok(ObjectId(id)),
            None => {
                let empty = self.inner.treebuilder(None).and_then(|it| it.write());
                empty.map(ObjectId).map_err(failed)
            }
        }
    }

    /// Returns `None` if the folder becomes empty.
    fn write_folder(
        &self,
        base: Option<&git2::Tree<'_>>,
        folder: &TreeChanges<'_>,
    ) -> Result<Option<git2::Oid>, git2::Error> {
        let mut builder = self.inner.treebuilder(base)?;
        for (name, change) in &folder.files {
            let is_file = builder
                .get(name)?
                .is_some_and(|it| it.kind() != Some(git2::ObjectType::Tree));
            match change {
                Some(entry) => {
                    builder.insert(name, entry.id.0, entry.mode.raw())?;
                }
                // The entry is now a folder, not the file that is to be removed.
                None if is_file => builder.remove(name)?,
                None => {}
            }
        }
        for (name, inner) in &folder.folders {
            let old = builder
                .get(name)?
                .and_then(|it| self.inner.find_tree(it.id()).ok());
            match self.write_folder(old.as_ref(), inner)? {
                Some(id) => {
                    builder.insert(name, id, 0o040_000)?;
                }
                None if old.is_some() => builder.remove(name)?,
                None => {}
            }
        }
        if builder.is_empty() {
            Ok(None)
        } else {
            builder.write().map(Some)
        }
    }

    /// Wraps an error of libgit2 about `what`, a path or a thing in the git folder.
    pub(crate) fn failed(&self, what: &str, error: &git2::Error) -> Error {
        unreadable(&self.inner.path().join(what), error)
    }
}

/// Changes of a folder, by name.
#[derive(Default)]
struct TreeChanges<'a> {
    files: BTreeMap<&'a [u8], Option<&'a ObjectEntry>>,
    folders: BTreeMap<&'a [u8], TreeChanges<'a>>,
}

impl<'a> TreeChanges<'a> {
    fn add(&mut self, parts: &[&'a [u8]], entry: Option<&'a ObjectEntry>) {
        match parts {
            [] => {}
            [name] => {
                self.files.insert(name, entry);
            }
            [name, rest @ ..] => self.folders.entry(name).or_default().add(rest, entry),
        }
    }
}
