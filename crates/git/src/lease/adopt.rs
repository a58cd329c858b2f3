//! A lease's commits, brought into the hub, and uncommitted work kept there under a hidden name.

use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Odb, Oid, Repository, Signature, Sort};

use super::hub::as_path;
use super::{Error, Hub, TreeFile};

/// Work that was put away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The lease it came from.
    pub name: String,
    /// The commit that holds every file as it was.
    pub commit: String,
    /// The last commit made in the lease; files that differ from it were not committed.
    pub tip: String,
    /// When it was put away, in seconds since 1970.
    pub seconds: i64,
    /// What is written with it.
    pub message: String,
}

/// Folders within folders beyond this are refused.
const DEEPEST: usize = 1000;

/// A name, and the file there; nothing where it is gone.
pub type Difference = (Vec<u8>, Option<TreeFile>);

impl Hub {
    /// Copies `tip` and everything it stands on that the hub lacks out of the object folder `from` into the hub.
    /// Every object is checked against its name. Refs are not touched.
    pub fn adopt(&self, from: &Path, tip: &str) -> Result<(), Error> {
        let failed = |error: git2::Error| self.failed("take over commits into", &error);
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
            // What a ref stands for is here whole; one that is broken hides nothing.
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
            self.take_tree(&both, &own, commit.tree_id(), 0)
                .map_err(failed)?;
            take(&both, &own, *id).map_err(failed)?;
        }
        Ok(())
    }

    /// Makes a commit of `tip` with `files` changed, for keeping under the hidden name `archive/NAME`. A file is its
    /// name, its mode and its content; without content it is gone.
    pub fn put_away(
        &self,
        name: &str,
        tip: &str,
        files: impl Iterator<Item = (Vec<u8>, Option<(u32, Vec<u8>)>)>,
        message: &str,
        seconds: i64,
    ) -> Result<Archived, Error> {
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
        // In two steps: a folder may stand where a file was, and the other way round.
        let mut tree = parent.tree().map_err(failed)?.id();
        for mut update in [gone, there] {
            let old = self.repository.find_tree(tree).map_err(failed)?;
            tree = update
                .create_updated(&self.repository, &old)
                .map_err(failed)?;
        }
        let tree = self.repository.find_tree(tree).map_err(failed)?;
        let time = git2::Time::new(seconds, 0);
        let who = Signature::new("Burin", "burin@localhost", &time).map_err(failed)?;
        let commit = self
            .repository
            .commit(None, &who, &who, message, &tree, &[&parent])
            .map_err(failed)?;
        Ok(Archived {
            name: name.to_owned(),
            commit: commit.to_string(),
            tip: tip.to_owned(),
            seconds,
            message: message.to_owned(),
        })
    }

    /// All work that was put away.
    pub fn archives(&self) -> Result<Vec<Archived>, Error> {
        let failed = |error: git2::Error| self.failed("read archives of", &error);
        let mut archives = Vec::new();
        for (name, commit) in self.pinned("archive")? {
            let id = Oid::from_str(&commit).map_err(failed)?;
            let found = self.repository.find_commit(id).map_err(failed)?;
            archives.push(Archived {
                name,
                commit,
                tip: found.parent_id(0).map_err(failed)?.to_string(),
                seconds: found.time().seconds(),
                message: String::from_utf8_lossy(found.message_bytes()).into_owned(),
            });
        }
        Ok(archives)
    }

    /// The files in which two commits differ: what `new` holds at each name, or nothing where it is gone.
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

    fn take_tree(
        &self,
        both: &Repository,
        own: &Odb<'_>,
        tree: Oid,
        depth: usize,
    ) -> Result<(), git2::Error> {
        if own.exists(tree) {
            return Ok(());
        }
        // An agent may write trees of any depth; a checkout of such a one would fail anyway.
        if depth > DEEPEST {
            return Err(git2::Error::from_str("its folders are nested too deep"));
        }
        let found = both.find_tree(tree)?;
        for entry in &found {
            match entry.kind() {
                Some(git2::ObjectType::Tree) => self.take_tree(both, own, entry.id(), depth + 1)?,
                Some(git2::ObjectType::Blob) => take(both, own, entry.id())?,
                // A submodule's commit lies elsewhere.
                _ => {}
            }
        }
        take(both, own, tree)
    }
}

/// Copies one object. Reading checks it against its name; writing names it by what it holds.
fn take(both: &Repository, own: &Odb<'_>, id: Oid) -> Result<(), git2::Error> {
    if own.exists(id) {
        return Ok(());
    }
    let odb = both.odb()?;
    let object = odb.read(id)?;
    let written = own.write(object.kind(), object.data())?;
    if written != id {
        return Err(git2::Error::from_str(
            "an object does not hold what its name says",
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
