//! Imports a lease's commits into the main repository, and commits uncommitted work there for
//! archiving.

use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Odb, Oid, Repository, Signature, Sort};

use super::main_repo::as_path;
use super::{CommitFile, Error, MainRepo};

/// An archived snapshot of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedCommit {
    /// Name of the lease.
    pub name: String,
    /// Commit that holds every file of the snapshot.
    pub commit: String,
    /// Last commit made in the lease; files that differ from it were uncommitted.
    pub tip: String,
    /// Archiving time in seconds since 1970.
    pub seconds: i64,
    /// Message of the archive commit.
    pub message: String,
}

/// Maximum nesting depth of folders in an imported tree.
const DEEPEST: usize = 1000;

/// A changed path and its new file; `None` if it was removed.
pub type Difference = (Vec<u8>, Option<CommitFile>);

impl MainRepo {
    /// Copies `tip` and every object reachable from it that the main repository lacks from the
    /// object folder `from`. Every object is verified against its id. Refs are not touched.
    pub fn import_commits(&self, from: &Path, tip: &str) -> Result<(), Error> {
        let failed = |error: git2::Error| self.failed("import commits into", &error);
        let tip = Oid::from_str(tip).map_err(failed)?;
        if self.repository.find_commit(tip).is_ok() {
            return Ok(());
        }
        let odb = Odb::new().map_err(failed)?;
        for folder in [from, &self.object_folder()] {
            odb.add_disk_alternate(&folder.to_string_lossy())
                .map_err(failed)?;
        }
        let both = Repository::from_odb(odb).map_err(failed)?;
        let mut walk = both.revwalk().map_err(failed)?;
        walk.set_sorting(Sort::TOPOLOGICAL).map_err(failed)?;
        walk.push(tip).map_err(failed)?;
        let own = self.repository.odb().map_err(failed)?;
        let mut missing = Vec::new();
        for id in self.repository.references().map_err(failed)?.flatten() {
            // Everything reachable from a ref is complete here; broken refs are skipped.
            let commit = id.peel_to_commit();
            if let Ok(commit) = commit {
                walk.hide(commit.id()).map_err(failed)?;
            }
        }
        for id in walk {
            missing.push(id.map_err(failed)?);
        }
        for id in missing.iter().rev() {
            let commit = both.find_commit(*id).map_err(failed)?;
            self.copy_tree(&both, &own, commit.tree_id(), 0)
                .map_err(failed)?;
            copy_object(&both, &own, *id).map_err(failed)?;
        }
        Ok(())
    }

    /// Commits `files` on top of the commit `tip` and returns the new commit, to which no ref points: the
    /// caller keeps it under the hidden ref `archive/NAME`. Each file has a path, a mode and its content;
    /// without content it is removed. `seconds` is the time of the commit since 1970.
    pub fn archive(
        &self,
        name: &str,
        tip: &str,
        files: impl Iterator<Item = (Vec<u8>, Option<(u32, Vec<u8>)>)>,
        message: &str,
        seconds: i64,
    ) -> Result<ArchivedCommit, Error> {
        let failed = |error: git2::Error| self.failed("archive work in", &error);
        let id = Oid::from_str(tip).map_err(failed)?;
        let parent = self.repository.find_commit(id).map_err(failed)?;
        let mut gone = TreeUpdateBuilder::new();
        let mut there = TreeUpdateBuilder::new();
        for (path, content) in files {
            match content {
                Some((mode, content)) => {
                    let blob = self.repository.blob(&content).map_err(failed)?;
                    there.upsert(as_path(&path), blob, file_mode(mode));
                }
                None => {
                    gone.remove(as_path(&path));
                }
            }
        }
        // Removals first: a folder may replace a file, and the other way round.
        let mut tree = parent.tree().map_err(failed)?.id();
        for mut update in [gone, there] {
            let old = self.repository.find_tree(tree).map_err(failed)?;
            tree = update
                .create_updated(&self.repository, &old)
                .map_err(failed)?;
        }
        let tree = self.repository.find_tree(tree).map_err(failed)?;
        let time = git2::Time::new(seconds, 0);
        let signature = Signature::new("Burin", "burin@localhost", &time).map_err(failed)?;
        let commit = self
            .repository
            .commit(None, &signature, &signature, message, &tree, &[&parent])
            .map_err(failed)?;
        Ok(ArchivedCommit {
            name: name.to_owned(),
            commit: commit.to_string(),
            tip: tip.to_owned(),
            seconds,
            message: message.to_owned(),
        })
    }

    /// Returns all archived snapshots, from the hidden refs below `archive/`.
    pub fn archives(&self) -> Result<Vec<ArchivedCommit>, Error> {
        let failed = |error: git2::Error| self.failed("read archives of", &error);
        let mut archives = Vec::new();
        for (name, commit) in self.pinned("archive")? {
            let id = Oid::from_str(&commit).map_err(failed)?;
            let found = self.repository.find_commit(id).map_err(failed)?;
            archives.push(ArchivedCommit {
                name,
                commit,
                tip: found.parent_id(0).map_err(failed)?.to_string(),
                seconds: found.time().seconds(),
                message: String::from_utf8_lossy(found.message_bytes()).into_owned(),
            });
        }
        Ok(archives)
    }

    /// Returns the files that differ between two commits: each path with its file in `new`, or
    /// `None` if it was removed.
    pub fn between(&self, old: &str, new: &str) -> Result<Vec<Difference>, Error> {
        let failed = |error: git2::Error| self.failed("compare commits of", &error);
        let tree = |commit: &str| {
            let id = Oid::from_str(commit)?;
            self.repository
                .find_commit(id)?
                .tree_id()
                .to_string()
                .parse::<Oid>()
        };
        let (old, new) = (tree(old).map_err(failed)?, tree(new).map_err(failed)?);
        let old = self.contents(&old.to_string())?;
        let new = self.contents(&new.to_string())?;
        let mut before: std::collections::BTreeMap<_, _> = old
            .files
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect();
        let mut changed = Vec::new();
        for file in new.files {
            let known = before.remove(&file.path);
            if known.as_ref() != Some(&file) {
                changed.push((file.path.clone(), Some(file)));
            }
        }
        changed.extend(before.into_keys().map(|path| (path, None)));
        Ok(changed)
    }

    /// Copies a tree and all below it from `both` to `own`, unless `own` has it. `depth` counts the
    /// folders above it. Fails if an object is missing or damaged, or below `DEEPEST` folders.
    fn copy_tree(
        &self,
        both: &Repository,
        own: &Odb<'_>,
        tree: Oid,
        depth: usize,
    ) -> Result<(), git2::Error> {
        if own.exists(tree) {
            return Ok(());
        }
        // An agent may create trees of any depth; such a tree could not be checked out anyway.
        if depth > DEEPEST {
            return Err(git2::Error::from_str("its folders are nested too deeply"));
        }
        let found = both.find_tree(tree)?;
        for entry in &found {
            match entry.kind() {
                Some(git2::ObjectType::Tree) => self.copy_tree(both, own, entry.id(), depth + 1)?,
                Some(git2::ObjectType::Blob) => copy_object(both, own, entry.id())?,
                // A submodule's commit is not in this repository.
                _ => {}
            }
        }
        copy_object(both, own, tree)
    }
}

/// Copies one object. Reading verifies it against its id; writing names it by its content.
fn copy_object(both: &Repository, own: &Odb<'_>, id: Oid) -> Result<(), git2::Error> {
    if own.exists(id) {
        return Ok(());
    }
    let odb = both.odb()?;
    let object = odb.read(id)?;
    let written = own.write(object.kind(), object.data())?;
    if written != id {
        return Err(git2::Error::from_str(
            "an object's content does not match its id",
        ));
    }
    Ok(())
}

fn file_mode(mode: u32) -> FileMode {
    match mode {
        0o120000 => FileMode::Link,
        0o100755 => FileMode::BlobExecutable,
        _ => FileMode::Blob,
    }
}
