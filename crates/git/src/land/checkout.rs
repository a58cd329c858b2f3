//! Updates the user's working tree and index from one tree to another, preserving uncommitted
//! changes.
//!
//! Planning finds every obstacle before anything is written. The plan is then applied file by file,
//! each atomically; applying it again changes nothing.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;

use base::{AbsPath, NameRules};
use host::links::{self, NoFollowEntry};
use host::{ContentHash, ExpectedContent, Files, OnDisk};

use super::eol;
use super::spelling::{Respelled, collisions};
use super::unusable_file::UnusableFile;
use crate::index_file::{blank_entry, set_stat};
use crate::merge::{Changes, EntryMode, ObjectEntry, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// Transition of one path in a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutChange {
    /// Path of the file.
    pub path: TreePath,
    /// The expected present entry; `None` if there is none.
    pub before: Option<(EntryMode, ObjectId)>,
    /// The entry to write; `None` to remove the file.
    pub after: Option<(EntryMode, ObjectId)>,
}

/// Changes to apply to a checkout. All bytes are objects of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutPlan {
    /// Changes to the working tree.
    pub files: Vec<CheckoutChange>,
    /// Changes to the index.
    pub index: Vec<CheckoutChange>,
}

/// An uncommitted change or file of the user's that blocks the update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Path of the obstacle.
    pub path: TreePath,
    /// Description as the end of a sentence about the path.
    pub reason: String,
}

/// Maximum size in bytes of a file that is read from the user's checkout.
const MAX_FILE_BYTES: u64 = 1 << 30;

impl Repository {
    /// Plans the update of the checkout when its branch moves between the trees `from` and `to`.
    /// Uncommitted changes in affected files are merged in and stay uncommitted; if that fails, or
    /// if the volume of the checkout takes two paths of `to` for one, the obstacles are returned
    /// instead of a plan. Writes objects only. Takes time per file of `to` on a volume that folds
    /// names, else per changed file.
    pub fn plan_checkout(
        &self,
        from: ObjectId,
        to: ObjectId,
        files: &dyn Files,
    ) -> Result<Result<CheckoutPlan, Vec<Obstacle>>, Error> {
        let landed = self.changes_between(from, to)?;
        let mut obstacles = path_obstacles(self, &landed, files)?;
        obstacles.extend(same_names(self, &landed, from, to)?);
        let (on_disk, unreadable) = uncommitted(self, &landed, from, files)?;
        obstacles.extend(unreadable);
        let staged = match staged(self, &landed, from)? {
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
        Ok(if obstacles.is_empty() {
            Ok(CheckoutPlan { files, index })
        } else {
            Err(obstacles)
        })
    }

    /// Merges the user's `own` changes with the landed ones, both relative to `from`, and returns
    /// the changes that lead from the own state to the result. Conflicts become `obstacles`, which
    /// call the own changes `what`. Writes merged contents as blobs.
    fn side(
        &self,
        from: ObjectId,
        own: &Changes,
        landed: &Changes,
        what: &str,
        obstacles: &mut Vec<Obstacle>,
    ) -> Result<Vec<CheckoutChange>, Error> {
        let merged = self.merge(from, own, landed)?;
        obstacles.extend(merged.conflicts.iter().map(|conflict| Obstacle {
            path: conflict.path.clone(),
            reason: format!("your {what} changes to it conflict with the landed ones"),
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
            let slot = |entry: Option<&ObjectEntry>| entry.map(|entry| (entry.mode, entry.id));
            changes.push(CheckoutChange {
                path: path.clone(),
                before: slot(before.as_ref()),
                after: slot(after.as_ref()),
            });
        }
        Ok(changes)
    }

    /// Returns whether permission bits of the working tree are significant (`core.fileMode`).
    pub(crate) fn keeps_modes(&self) -> bool {
        let config = self.inner.config();
        config.is_ok_and(|config| config.get_bool("core.filemode").unwrap_or(true))
    }

    /// Takes git's index lock; `false` if a git command holds it.
    pub fn lock_index(&self, files: &dyn Files) -> Result<bool, Error> {
        self.take_lock(&self.index_lock(), files)
    }

    /// Releases the index lock.
    pub fn unlock_index(&self, files: &dyn Files) -> Result<(), Error> {
        self.clear_lock(&self.index_lock(), files).map(|_| ())
    }

    /// Applies a plan to the working tree and the index; the caller must hold the index lock. A
    /// file that has neither its planned old nor its planned new content is left alone and
    /// returned.
    pub fn apply_checkout(
        &self,
        plan: &CheckoutPlan,
        files: &dyn Files,
    ) -> Result<Vec<Obstacle>, Error> {
        let mut left = Vec::new();
        let paths = plan.files.iter().map(|change| &change.path);
        let respelled = Respelled::of(paths, name_rules(self));
        let (gone, written): (Vec<_>, Vec<_>) =
            plan.files.iter().partition(|change| change.after.is_none());
        for change in gone.into_iter().chain(written) {
            if let Err(reason) = self.apply_change(change, &respelled, files) {
                left.push(Obstacle {
                    path: change.path.clone(),
                    reason: reason.to_string(),
                });
            }
        }
        left.extend(self.rewrite_index(&plan.index, files)?);
        Ok(left)
    }

    fn apply_change(
        &self,
        change: &CheckoutChange,
        respelled: &Respelled,
        files: &dyn Files,
    ) -> Result<(), UnusableFile> {
        let is_module =
            |slot: Option<(EntryMode, ObjectId)>| slot.is_some_and(|it| it.0 == EntryMode::Module);
        if is_module(change.after) || is_module(change.before) {
            return Ok(());
        }
        let root = self.workdir();
        let within = files.open_beneath(root);
        let files = within.as_deref().unwrap_or(files);
        let before = change.before.map(entry);
        let (now, expected) = on_disk(self, &change.path, before.as_ref(), respelled, files)?;
        let slot = now.as_ref().map(|entry| (entry.mode, entry.id));
        let is_only_mode_left = slot.map(|it| it.1) == change.after.map(|it| it.1);
        if slot == change.after {
            // A previous run may have been killed between removing the file and removing its
            // folders.
            if slot.is_none() {
                remove_empty_folders(root, &change.path);
            }
            return Ok(());
        }
        if slot != change.before && !is_only_mode_left {
            return Err(UnusableFile::Changed);
        }
        let place = root.join(change.path.to_path());
        match change.after {
            None => {
                files.remove(&place)?;
                remove_empty_folders(root, &change.path);
                Ok(())
            }
            Some((mode, id)) => {
                let bytes = self.bytes_of(&entry((mode, id)))?;
                if matches!(links::entry_at(root, &place), Ok(NoFollowEntry::Folder)) {
                    remove_empty_tree(root, &change.path, files);
                }
                self.write_file(root, (&change.path, mode, &bytes), expected, files)?;
                Ok(())
            }
        }
    }

    /// Applies changes to the index. Returns the entries that were left alone because they have
    /// neither their planned old nor new version. The caller must hold the index lock.
    fn rewrite_index(
        &self,
        changes: &[CheckoutChange],
        files: &dyn Files,
    ) -> Result<Vec<Obstacle>, Error> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        self.edit_index(files, |index| self.change_entries(index, changes, files))
    }

    fn change_entries(
        &self,
        index: &mut git2::Index,
        changes: &[CheckoutChange],
        files: &dyn Files,
    ) -> Result<Vec<Obstacle>, Error> {
        let mut left = Vec::new();
        for change in changes {
            let now = index
                .get_path(&change.path.to_path(), 0)
                .and_then(|it| entry_of(&it));
            let now = now.map(|entry| (entry.mode, entry.id));
            if now != change.before && now != change.after {
                left.push(Obstacle {
                    path: change.path.clone(),
                    reason: "its staged version changed in the meantime and was left untouched"
                        .to_owned(),
                });
                continue;
            }
            match change.after {
                None if now.is_none() => Ok(()),
                None => index.remove(&change.path.to_path(), 0),
                Some(after) => index.add(&self.index_entry(&change.path, after, files)),
            }
            .map_err(|error| self.failed("index", &error))?;
        }
        Ok(left)
    }

    /// Writes a file, or removes it, if its present entry is one of `known` or there is none. Returns
    /// `false` if it is another one. Leaves submodules alone.
    pub(crate) fn replace_file(
        &self,
        path: &TreePath,
        known: &[ObjectEntry],
        after: Option<(EntryMode, ObjectId)>,
        files: &dyn Files,
    ) -> Result<bool, Error> {
        let respelled = Respelled::default();
        let committed = known.first();
        let replaced = on_disk(self, path, committed, &respelled, files);
        let replaced = replaced.and_then(|(now, _)| {
            let is_another = |now: &ObjectEntry| known.iter().all(|it| it.id != now.id);
            if now.as_ref().is_some_and(is_another) {
                return Err(UnusableFile::Changed);
            }
            let change = CheckoutChange {
                path: path.clone(),
                before: now.map(|entry| (entry.mode, entry.id)),
                after,
            };
            self.apply_change(&change, &respelled, files)
        });
        match replaced {
            Ok(()) => Ok(true),
            Err(UnusableFile::Failed(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Builds an index entry. If the file on disk has the planned content, its stat data go into
    /// the entry, so that git need not read it.
    pub(crate) fn index_entry(
        &self,
        path: &TreePath,
        after: (EntryMode, ObjectId),
        files: &dyn Files,
    ) -> git2::IndexEntry {
        let written = Respelled::default();
        let now = on_disk(self, path, Some(&entry(after)), &written, files).ok();
        let is_same = now.and_then(|it| it.0).map(|it| (it.mode, it.id)) == Some(after);
        let place = self.workdir().join(path.to_path());
        let metadata = place.as_path().symlink_metadata().ok().filter(|_| is_same);
        let mut entry = blank_entry(path, after.0.raw() as u32, after.1);
        if let Some(metadata) = metadata {
            set_stat(&mut entry, &metadata);
        }
        entry
    }
}

/// Returns how the volume of the checkout compares names: as Git found out when it made the
/// repository there (`core.ignoreCase`, `core.precomposeUnicode`).
fn name_rules(repository: &Repository) -> NameRules {
    crate::status::name_rules(&repository.inner)
}

/// Finds paths that land and that the volume takes for another path of the new tree.
fn same_names(
    repository: &Repository,
    landed: &Changes,
    from: ObjectId,
    to: ObjectId,
) -> Result<Vec<Obstacle>, Error> {
    let rules = name_rules(repository);
    if rules == NameRules::EXACT {
        return Ok(Vec::new());
    }
    let failed = |error: git2::Error| repository.failed("the landed tree", &error);
    let mut after = Vec::new();
    let tree = repository.inner.find_tree(to.0).map_err(failed)?;
    collect_paths(&repository.inner, &tree, &mut Vec::new(), &mut after).map_err(failed)?;
    let is_new = |path: &TreePath| matches!(repository.entry_at(from, path), Ok(None));
    Ok(collisions(landed, &after, rules, &is_new))
}

/// Finds folders at paths where a file must go, and files where a folder must go.
fn path_obstacles(
    repository: &Repository,
    landed: &Changes,
    files: &dyn Files,
) -> Result<Vec<Obstacle>, Error> {
    let root = repository.workdir();
    let rules = name_rules(repository);
    let removed = landed.iter().filter(|(_, entry)| entry.is_none());
    let removed: HashSet<_> = removed
        .map(|(path, _)| rules.key(path.as_bytes()))
        .collect();
    let goes = |path: &TreePath| match landed.get(path) {
        Some(entry) => entry.is_none(),
        None => removed.contains(&rules.key(path.as_bytes())),
    };
    let mut obstacles = Vec::new();
    for (path, entry) in landed {
        let Some(entry) = entry
            .as_ref()
            .filter(|entry| entry.mode != EntryMode::Module)
        else {
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
        if entry.mode == EntryMode::Link {
            let danger = path.link_danger(&repository.bytes_of(entry)?);
            obstacles.extend(danger.map(|danger| obstacle(danger.to_string())));
        }
        for folder in path.folders() {
            match links::entry_at(root, &root.join(folder.to_path())) {
                Ok(NoFollowEntry::Absent | NoFollowEntry::Folder) => {}
                Ok(NoFollowEntry::File { .. } | NoFollowEntry::Link(_)) if goes(&folder) => {}
                _ => obstacles.push(obstacle(format!("{folder} is not a real folder"))),
            }
        }
        let place = root.join(path.to_path());
        if matches!(links::entry_at(root, &place), Ok(NoFollowEntry::Folder))
            && !holds_only(repository, &place, &goes, files)
        {
            obstacles.push(obstacle("a folder with your files has its name".to_owned()));
        }
    }
    Ok(obstacles)
}

/// Returns whether every entry below `folder` that is not a folder has a path for which
/// `is_expected` is true. False if a folder cannot be listed completely. Does not follow
/// symlinks.
fn holds_only(
    repository: &Repository,
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
                return holds_only(repository, &entry.path, is_expected, files);
            }
            let inner = entry.path.relative_to(repository.workdir());
            inner.is_some_and(|inner| is_expected(&TreePath::of_path(inner)))
        })
}

/// Returns the user's uncommitted changes, relative to `from`, in the files that landed.
fn uncommitted(
    repository: &Repository,
    landed: &Changes,
    from: ObjectId,
    files: &dyn Files,
) -> Result<(Changes, Vec<Obstacle>), Error> {
    let (mut own, mut obstacles) = (Changes::new(), Vec::new());
    let respelled = Respelled::of(landed.keys(), name_rules(repository));
    for (path, entry) in landed {
        let committed = repository.entry_at(from, path)?;
        let is_module =
            |entry: Option<&ObjectEntry>| entry.is_some_and(|it| it.mode == EntryMode::Module);
        if is_module(committed.as_ref()) || is_module(entry.as_ref()) {
            continue;
        }
        match on_disk(repository, path, committed.as_ref(), &respelled, files) {
            Ok((now, _)) if now == committed => {}
            Ok((now, _)) => {
                own.insert(path.clone(), now);
            }
            Err(reason) => obstacles.push(Obstacle {
                path: path.clone(),
                reason: reason.to_string(),
            }),
        }
    }
    Ok((own, obstacles))
}

/// Returns the entry in the working tree as git would store it; none if the file there is one
/// of `respelled` under its other name.
fn on_disk(
    repository: &Repository,
    path: &TreePath,
    committed: Option<&ObjectEntry>,
    respelled: &Respelled,
    files: &dyn Files,
) -> Result<(Option<ObjectEntry>, ExpectedContent), UnusableFile> {
    let root = repository.workdir();
    if respelled.is_other(root, path) {
        return Ok((None, ExpectedContent::Absent));
    }
    let place = root.join(path.to_path());
    // A folder, or a symlink on the way: the path itself is free, and its parents are checked
    // elsewhere.
    let found = links::entry_at(root, &place).unwrap_or(NoFollowEntry::Absent);
    match found {
        NoFollowEntry::Absent | NoFollowEntry::Folder => {
            return Ok((None, ExpectedContent::Absent));
        }
        NoFollowEntry::Other => return Err(UnusableFile::Special),
        NoFollowEntry::Link(target) => {
            let entry = ObjectEntry::of_bytes(EntryMode::Link, target.as_bytes());
            return Ok((Some(entry), ExpectedContent::Anything));
        }
        NoFollowEntry::File { .. } => {}
    }
    let within = files.open_beneath(root);
    let files = within.as_deref().unwrap_or(files);
    let (bytes, stat) = files.read_with_stat(&place, MAX_FILE_BYTES)?;
    let expected = ExpectedContent::Unchanged(OnDisk {
        stamp: stat.stamp,
        hash: ContentHash::of(&bytes),
    });
    let is_crlf_in_git = || {
        let bytes = committed.and_then(|entry| repository.bytes_of(entry).ok());
        bytes.is_some_and(|bytes| eol::has_crlf(&bytes))
    };
    let kept = eol::to_git(&repository.inner, path, &bytes, &is_crlf_in_git);
    let mode = match (repository.keeps_modes(), committed.map(|entry| entry.mode)) {
        (false, Some(mode)) if mode.is_file() => mode,
        (false, _) => EntryMode::Plain,
        (true, _) if stat.mode & 0o100 != 0 => EntryMode::Executable,
        (true, _) => EntryMode::Plain,
    };
    Ok((
        Some(ObjectEntry::of_bytes(mode, kept.into_owned())),
        expected,
    ))
}

/// Returns the index's changes, relative to `from`, in the files that landed. If any entry of
/// the index is unmerged, returns one obstacle: the first unmerged path, landed or not.
fn staged(
    repository: &Repository,
    landed: &Changes,
    from: ObjectId,
) -> Result<Result<Changes, Vec<Obstacle>>, Error> {
    let failed = |error: git2::Error| repository.failed("index", &error);
    let mut index = repository.inner.index().map_err(failed)?;
    index.read(true).map_err(failed)?;
    if index.has_conflicts() {
        let unmerged = index.iter().find(|entry| stage(entry) > 0);
        let path = unmerged.map(|entry| entry.path).unwrap_or_default();
        return Ok(Err(vec![Obstacle {
            path: TreePath::new(path),
            reason: "your merge left it unresolved".to_owned(),
        }]));
    }
    let mut staged = Changes::new();
    for path in landed.keys() {
        // With `core.ignoreCase` it finds other spellings as well.
        let now = index
            .get_path(&path.to_path(), 0)
            .filter(|entry| entry.path == path.as_bytes())
            .and_then(|entry| entry_of(&entry));
        if now != repository.entry_at(from, path)? {
            staged.insert(path.clone(), now);
        }
    }
    Ok(Ok(staged))
}

fn entry((mode, id): (EntryMode, ObjectId)) -> ObjectEntry {
    ObjectEntry {
        mode,
        id,
        bytes: None,
    }
}

/// Converts an entry of the index, without its bytes; `None` if its mode is unknown.
fn entry_of(found: &git2::IndexEntry) -> Option<ObjectEntry> {
    Some(entry((
        EntryMode::of(found.mode as i32)?,
        ObjectId(found.id),
    )))
}

/// Adds all paths of a tree but those of folders.
fn collect_paths(
    repository: &git2::Repository,
    tree: &git2::Tree<'_>,
    prefix: &mut Vec<u8>,
    paths: &mut Vec<TreePath>,
) -> Result<(), git2::Error> {
    for entry in tree {
        let length = prefix.len();
        prefix.extend_from_slice(entry.name_bytes());
        if entry.kind() == Some(git2::ObjectType::Tree) {
            prefix.push(b'/');
            let inner = repository.find_tree(entry.id())?;
            collect_paths(repository, &inner, prefix, paths)?;
        } else {
            paths.push(TreePath::new(&*prefix));
        }
        prefix.truncate(length);
    }
    Ok(())
}

fn stage(entry: &git2::IndexEntry) -> u16 {
    (entry.flags >> 12) & 3
}

/// Removes the folders that a removed file left empty, since git does not track folders.
fn remove_empty_folders(root: &AbsPath, path: &TreePath) {
    for folder in path.folders() {
        let place = root.join(folder.to_path());
        let is_folder = matches!(links::entry_at(root, &place), Ok(NoFollowEntry::Folder));
        if !is_folder || std::fs::remove_dir(place.as_path()).is_err() {
            return;
        }
    }
}

/// Removes a tree of empty folders; if it contains anything else, the write that follows fails and
/// reports it.
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
    // A folder with content is not removed by this call, and the write that follows reports it.
    drop(std::fs::remove_dir(place.as_path()));
}
