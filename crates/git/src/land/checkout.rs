//! The person's working tree and index, on the way from one tree to another with what they have not committed.
//!
//! A plan is made and everything that speaks against it found before anything moves; then it is carried out file
//! by file, each as a whole, and carrying it out once more changes nothing.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use base::AbsPath;
use host::links::{self, Found};
use host::{ContentHash, Expected, Files, OnDisk, SaveRequest};

use super::eol;
use crate::merge::{Changes, Entry, Mode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// What a name is before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The name.
    pub path: TreePath,
    /// What stands there; nothing, where there is nothing.
    pub before: Option<(Mode, ObjectId)>,
    /// What is to stand there.
    pub after: Option<(Mode, ObjectId)>,
}

/// What is to be done to a checkout. All bytes are objects of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the working tree.
    pub files: Vec<Change>,
    /// In the index.
    pub index: Vec<Change>,
}

/// Something of the person's that is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Where.
    pub path: TreePath,
    /// What, as the end of a sentence about the path.
    pub reason: String,
}

/// A file of at most so many bytes is read in the person's checkout.
const MOST_BYTES: u64 = 1 << 30;

impl Repository {
    /// What has to be done to the checkout when its branch goes from one tree to another. What the person has not
    /// committed in those files is merged in and stays uncommitted; where that cannot be, there are obstacles and
    /// nothing is planned. Writes objects only.
    pub fn plan_checkout(
        &self,
        from: ObjectId,
        to: ObjectId,
        files: &dyn Files,
    ) -> Result<Result<Plan, Vec<Obstacle>>, Error> {
        let landed = self.changes_between(from, to)?;
        let mut obstacles = self.standing_in_the_way(&landed, files)?;
        let (on_disk, unreadable) = self.uncommitted(&landed, from, files)?;
        obstacles.extend(unreadable);
        let staged = match self.staged(&landed, from)? {
            Ok(staged) => staged,
            Err(unmerged) => {
                obstacles.extend(unmerged);
                Changes::new()
            }
        };
        let files = self.side(from, &on_disk, &landed, "uncommitted", &mut obstacles)?;
        let index = self.side(from, &staged, &landed, "staged", &mut obstacles)?;
        obstacles.sort_by(|one, two| one.path.cmp(&two.path));
        obstacles.dedup_by(|one, two| one.path == two.path);
        Ok(match obstacles.is_empty() {
            true => Ok(Plan { files, index }),
            false => Err(obstacles),
        })
    }

    fn side(
        &self,
        from: ObjectId,
        own: &Changes,
        landed: &Changes,
        what: &str,
        obstacles: &mut Vec<Obstacle>,
    ) -> Result<Vec<Change>, Error> {
        let merged = self.merge(from, own, landed)?;
        obstacles.extend(merged.conflicts.iter().map(|conflict| Obstacle {
            path: conflict.path.clone(),
            reason: format!("your {what} changes to it and the landed ones cannot be merged"),
        }));
        let mut changes = Vec::new();
        for (path, after) in &merged.changes {
            let before = match own.get(path) {
                Some(own) => own.clone(),
                None => self.entry_at(from, path)?,
            };
            if before == *after {
                continue;
            }
            if let Some(bytes) = after.as_ref().and_then(|entry| entry.bytes.as_ref()) {
                self.inner
                    .blob(bytes)
                    .map_err(|error| self.failed(&path.to_string(), &error))?;
            }
            let slot = |entry: Option<&Entry>| entry.map(|entry| (entry.mode, entry.id));
            changes.push(Change {
                path: path.clone(),
                before: slot(before.as_ref()),
                after: slot(after.as_ref()),
            });
        }
        Ok(changes)
    }

    /// Folders where a file has to go, and files where a folder has to.
    fn standing_in_the_way(
        &self,
        landed: &Changes,
        files: &dyn Files,
    ) -> Result<Vec<Obstacle>, Error> {
        let root = self.workdir();
        let goes = |path: &TreePath| matches!(landed.get(path), Some(None));
        let mut obstacles = Vec::new();
        for (path, entry) in landed {
            let Some(entry) = entry.as_ref().filter(|entry| entry.mode != Mode::Module) else {
                continue;
            };
            let obstacle = |reason: String| Obstacle {
                path: path.clone(),
                reason,
            };
            if let Some(danger) = path.danger() {
                obstacles.push(obstacle(danger.to_string()));
                continue;
            }
            if entry.mode == Mode::Link {
                let danger = path.link_danger(&self.bytes_of(entry)?);
                obstacles.extend(danger.map(|danger| obstacle(danger.to_string())));
            }
            for folder in path.folders() {
                match links::found(root, &root.join(folder.to_path())) {
                    Ok(Found::Nothing | Found::Folder) => {}
                    Ok(Found::File { .. } | Found::Link(_)) if goes(&folder) => {}
                    _ => obstacles.push(obstacle(format!("{folder} is no folder of its own"))),
                }
            }
            let place = root.join(path.to_path());
            if matches!(links::found(root, &place), Ok(Found::Folder))
                && !self.holds_only(&place, &goes, files)
            {
                obstacles.push(obstacle(
                    "a folder with files of yours has its name".to_owned(),
                ));
            }
        }
        Ok(obstacles)
    }

    fn holds_only(
        &self,
        folder: &AbsPath,
        is_expected: &dyn Fn(&TreePath) -> bool,
        files: &dyn Files,
    ) -> bool {
        let Ok(listing) = files.list(folder) else {
            return false;
        };
        listing.problems.is_empty()
            && listing.entries.iter().all(|entry| {
                if entry.kind == host::FileKind::Folder && !entry.is_link {
                    return self.holds_only(&entry.path, is_expected, files);
                }
                let inner = entry.path.relative_to(self.workdir());
                inner.is_some_and(|inner| is_expected(&TreePath::of_path(inner)))
            })
    }

    /// What the person's working tree has otherwise than `from`, of the files that were landed.
    fn uncommitted(
        &self,
        landed: &Changes,
        from: ObjectId,
        files: &dyn Files,
    ) -> Result<(Changes, Vec<Obstacle>), Error> {
        let (mut own, mut obstacles) = (Changes::new(), Vec::new());
        for (path, entry) in landed {
            let committed = self.entry_at(from, path)?;
            let is_module = |entry: Option<&Entry>| entry.is_some_and(|it| it.mode == Mode::Module);
            if is_module(committed.as_ref()) || is_module(entry.as_ref()) {
                continue;
            }
            match self.on_disk(path, committed.as_ref(), files) {
                Ok((now, _)) if now == committed => {}
                Ok((now, _)) => {
                    own.insert(path.clone(), now);
                }
                Err(reason) => obstacles.push(Obstacle {
                    path: path.clone(),
                    reason,
                }),
            }
        }
        Ok((own, obstacles))
    }

    /// What stands in the working tree, as git would keep it.
    fn on_disk(
        &self,
        path: &TreePath,
        committed: Option<&Entry>,
        files: &dyn Files,
    ) -> Result<(Option<Entry>, Expected), String> {
        let root = self.workdir();
        let place = root.join(path.to_path());
        // A folder, or a link on the way: the name itself is free, and the way is looked at elsewhere.
        let found = links::found(root, &place).unwrap_or(Found::Nothing);
        match found {
            Found::Nothing | Found::Folder => return Ok((None, Expected::Absent)),
            Found::Other => return Err("it is a pipe, a socket or a device".to_owned()),
            Found::Link(target) => {
                let entry = Entry::of_bytes(Mode::Link, target.as_bytes());
                return Ok((Some(entry), Expected::Anything));
            }
            Found::File { .. } => {}
        }
        let within = files.beneath(root);
        let files = within.as_deref().unwrap_or(files);
        let read = files.read_with_stat(&place, MOST_BYTES);
        let (bytes, stat) = read.map_err(|error| error.to_string())?;
        let expected = Expected::Unchanged(OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&bytes),
        });
        let is_crlf_in_git = || {
            let bytes = committed.and_then(|entry| self.bytes_of(entry).ok());
            bytes.is_some_and(|bytes| eol::has_crlf(&bytes))
        };
        let kept = eol::to_git(&self.inner, path, &bytes, &is_crlf_in_git);
        let mode = match (self.keeps_modes(), committed.map(|entry| entry.mode)) {
            (false, Some(mode)) if mode.is_file() => mode,
            (false, _) => Mode::Plain,
            (true, _) if stat.mode & 0o100 != 0 => Mode::Executable,
            (true, _) => Mode::Plain,
        };
        Ok((Some(Entry::of_bytes(mode, kept.into_owned())), expected))
    }

    /// Whether permission bits of the working tree mean anything.
    fn keeps_modes(&self) -> bool {
        let config = self.inner.config();
        config.is_ok_and(|config| config.get_bool("core.filemode").unwrap_or(true))
    }

    /// What the index has otherwise than `from`, of the files that were landed; or what is not merged in it.
    fn staged(
        &self,
        landed: &Changes,
        from: ObjectId,
    ) -> Result<Result<Changes, Vec<Obstacle>>, Error> {
        let failed = |error: git2::Error| self.failed("index", &error);
        let mut index = self.inner.index().map_err(failed)?;
        index.read(true).map_err(failed)?;
        if index.has_conflicts() {
            let unmerged = index.iter().find(|entry| stage(entry) > 0);
            let path = unmerged.map(|entry| entry.path).unwrap_or_default();
            return Ok(Err(vec![Obstacle {
                path: TreePath::new(path),
                reason: "a merge of yours left it unresolved".to_owned(),
            }]));
        }
        let mut staged = Changes::new();
        for path in landed.keys() {
            let now = index
                .get_path(&path.to_path(), 0)
                .and_then(|entry| entry_of(&entry));
            if now != self.entry_at(from, path)? {
                staged.insert(path.clone(), now);
            }
        }
        Ok(Ok(staged))
    }

    /// Takes git's lock on the index; `false` when a git command has it.
    pub fn lock_index(&self, files: &dyn Files) -> Result<bool, Error> {
        self.take_lock(&self.index_lock(), files)
    }

    /// Gives the index back.
    pub fn unlock_index(&self, files: &dyn Files) -> Result<(), Error> {
        self.clear_lock(&self.index_lock(), files).map(|_| ())
    }

    /// Brings working tree and index to where the plan says; whoever calls holds the lock on the index. A file
    /// that is neither as it was planned to be nor done already is left alone and named.
    pub fn carry_out(&self, plan: &Plan, files: &dyn Files) -> Result<Vec<Obstacle>, Error> {
        let mut left = Vec::new();
        let (gone, written): (Vec<_>, Vec<_>) =
            plan.files.iter().partition(|change| change.after.is_none());
        for change in gone.into_iter().chain(written) {
            if let Err(reason) = self.carry_out_one(change, files) {
                left.push(Obstacle {
                    path: change.path.clone(),
                    reason,
                });
            }
        }
        left.extend(self.rewrite_index(&plan.index, files)?);
        Ok(left)
    }

    fn carry_out_one(&self, change: &Change, files: &dyn Files) -> Result<(), String> {
        let is_module =
            |slot: Option<(Mode, ObjectId)>| slot.is_some_and(|it| it.0 == Mode::Module);
        if is_module(change.after) || is_module(change.before) {
            return Ok(());
        }
        let root = self.workdir();
        let within = files.beneath(root);
        let files = within.as_deref().unwrap_or(files);
        let before = change.before.map(entry);
        let (now, expected) = self.on_disk(&change.path, before.as_ref(), files)?;
        let slot = now.as_ref().map(|entry| (entry.mode, entry.id));
        let is_only_mode_left = slot.map(|it| it.1) == change.after.map(|it| it.1);
        if slot == change.after {
            // Whoever removed the file may have been killed before its folders.
            if slot.is_none() {
                remove_empty_folders(root, &change.path);
            }
            return Ok(());
        }
        if slot != change.before && !is_only_mode_left {
            return Err("it was changed meanwhile and was left as it is".to_owned());
        }
        let place = root.join(change.path.to_path());
        match change.after {
            None => {
                files.remove(&place).map_err(|error| error.to_string())?;
                remove_empty_folders(root, &change.path);
                Ok(())
            }
            Some((mode, id)) => {
                let bytes = self
                    .bytes_of(&entry((mode, id)))
                    .map_err(|error| error.to_string())?;
                if matches!(links::found(root, &place), Ok(Found::Folder)) {
                    remove_empty_tree(root, &change.path, files);
                }
                self.write_file(root, (&change.path, mode, &bytes), expected, files)
                    .map_err(|error| error.to_string())
            }
        }
    }

    fn rewrite_index(&self, changes: &[Change], files: &dyn Files) -> Result<Vec<Obstacle>, Error> {
        let mut left = Vec::new();
        let git_dir = self.git_dir().unwrap_or_else(|| self.common_dir());
        let (place, scratch) = (git_dir.join("index"), self.own_folder().join("index"));
        if changes.is_empty() {
            return Ok(left);
        }
        let failed = |error: git2::Error| self.failed("index", &error);
        // A landing that was killed here leaves its scratch and the lock by which libgit2 wrote it.
        self.clear_scratch(files)?;
        match files.read(&place, u64::MAX) {
            Ok(bytes) => files.write_private(&scratch, &bytes)?,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        let mut index = git2::Index::open(scratch.as_path()).map_err(failed)?;
        for change in changes {
            let now = index
                .get_path(&change.path.to_path(), 0)
                .and_then(|it| entry_of(&it));
            let now = now.map(|entry| (entry.mode, entry.id));
            if now != change.before && now != change.after {
                left.push(Obstacle {
                    path: change.path.clone(),
                    reason: "it was staged anew meanwhile, and stays staged so".to_owned(),
                });
                continue;
            }
            match change.after {
                None if now.is_none() => Ok(()),
                None => index.remove(&change.path.to_path(), 0),
                Some(after) => index.add(&self.index_entry(&change.path, after, files)),
            }
            .map_err(failed)?;
        }
        index.write().map_err(failed)?;
        let bytes = files.read(&scratch, u64::MAX)?;
        files.save(&SaveRequest {
            path: &place,
            content: &bytes,
            expected: Expected::Anything,
            recovery_folder: &self.own_folder().join("recovery"),
        })?;
        files.remove(&scratch)?;
        Ok(left)
    }

    /// With what the system says of the file, if the file is what the index will say; then git need not read it.
    fn index_entry(
        &self,
        path: &TreePath,
        after: (Mode, ObjectId),
        files: &dyn Files,
    ) -> git2::IndexEntry {
        let now = self.on_disk(path, Some(&entry(after)), files).ok();
        let is_same = now.and_then(|it| it.0).map(|it| (it.mode, it.id)) == Some(after);
        let place = self.workdir().join(path.to_path());
        let metadata = place.as_path().symlink_metadata().ok().filter(|_| is_same);
        let time = |seconds: i64, ns: i64| git2::IndexTime::new(seconds as i32, ns as u32);
        let mut entry = git2::IndexEntry {
            ctime: time(0, 0),
            mtime: time(0, 0),
            dev: 0,
            ino: 0,
            mode: after.0.raw() as u32,
            uid: 0,
            gid: 0,
            file_size: 0,
            id: after.1.0,
            flags: 0,
            flags_extended: 0,
            path: path.as_bytes().to_vec(),
        };
        if let Some(metadata) = metadata {
            entry.ctime = time(metadata.ctime(), metadata.ctime_nsec());
            entry.mtime = time(metadata.mtime(), metadata.mtime_nsec());
            // Git keeps the lower halves of these, as its format has room for no more.
            entry.dev = metadata.dev() as u32;
            entry.ino = metadata.ino() as u32;
            (entry.uid, entry.gid) = (metadata.uid(), metadata.gid());
            entry.file_size = metadata.len() as u32;
        }
        entry
    }
}

impl Plan {
    /// The texts that files will have, by name; for buffers that hold other ones.
    pub fn targets(&self) -> BTreeMap<&TreePath, Option<(Mode, ObjectId)>> {
        self.files
            .iter()
            .map(|change| (&change.path, change.after))
            .collect()
    }
}

fn entry((mode, id): (Mode, ObjectId)) -> Entry {
    Entry {
        mode,
        id,
        bytes: None,
    }
}

fn entry_of(found: &git2::IndexEntry) -> Option<Entry> {
    Some(entry((Mode::of(found.mode as i32)?, ObjectId(found.id))))
}

fn stage(entry: &git2::IndexEntry) -> u16 {
    (entry.flags >> 12) & 3
}

/// Git keeps no folders: those that a removed file left empty go too.
fn remove_empty_folders(root: &AbsPath, path: &TreePath) {
    for folder in path.folders() {
        let place = root.join(folder.to_path());
        let is_folder = matches!(links::found(root, &place), Ok(Found::Folder));
        if !is_folder || std::fs::remove_dir(place.as_path()).is_err() {
            return;
        }
    }
}

/// Removes folders without files; whatever else there is stays, and the write that follows says so.
fn remove_empty_tree(root: &AbsPath, path: &TreePath, files: &dyn Files) {
    let place = root.join(path.to_path());
    for entry in files
        .list(&place)
        .into_iter()
        .flat_map(|listing| listing.entries)
    {
        if entry.kind == host::FileKind::Folder && !entry.is_link {
            let inner = entry.path.relative_to(root).map(TreePath::of_path);
            if let Some(inner) = inner {
                remove_empty_tree(root, &inner, files);
            }
        }
    }
    // A folder that holds something is not removed by this call, and the write that follows says so.
    drop(std::fs::remove_dir(place.as_path()));
}
