//! Merges the paths of two sides with the tree that both started from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::content::{is_binary, merge_bytes};
use super::renames::{self, RenameFile};
use super::{
    Changes, ConflictKind, ConflictSide, EntryMode, MergeConflict, ObjectEntry, ObjectId, TreePath,
};
use crate::repository::{Error, Repository};

/// Result of merging two trees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeMerge {
    /// Merged changes to the base tree, without the paths in `conflicts`.
    pub changes: Changes,
    /// Conflicts, sorted by path.
    pub conflicts: Vec<MergeConflict>,
}

impl TreeMerge {
    /// Returns whether there are no conflicts.
    pub fn is_clean(&self) -> bool {
        self.conflicts.is_empty()
    }
}

impl Repository {
    /// Merges the changes of two sides to the tree `base`. The cost depends on the changes, not on
    /// the size of the tree.
    ///
    /// Files changed by both sides honour `merge=union` and `-merge` in the user's attributes;
    /// custom merge drivers are not run.
    pub fn merge(
        &self,
        base: ObjectId,
        ours: &Changes,
        theirs: &Changes,
    ) -> Result<TreeMerge, Error> {
        let mut merger = TreeMerger {
            repository: self,
            base,
            ours,
            theirs,
            merged: TreeMerge::default(),
            done: BTreeSet::new(),
        };
        merger.renamed()?;
        merger.merge_remaining()?;
        merger.files_and_folders()?;
        let mut merged = merger.merged;
        merged.conflicts.sort_by(|one, two| one.path.cmp(&two.path));
        for conflict in &merged.conflicts {
            merged.changes.remove(&conflict.path);
        }
        Ok(merged)
    }
}

impl Repository {
    /// Detects the renames of one side, as a map from old to new paths.
    pub fn renames(
        &self,
        base: ObjectId,
        side: &Changes,
    ) -> Result<BTreeMap<TreePath, TreePath>, Error> {
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for (path, entry) in side {
            let file = |entry: ObjectEntry| RenameFile {
                path: path.clone(),
                entry,
                is_wanted: true,
            };
            match (entry, self.entry_at(base, path)?) {
                (None, Some(entry)) => gone.push(file(entry)),
                (Some(entry), None) => new.push(file(entry.clone())),
                _ => {}
            }
        }
        let pairs = renames::find(&gone, &new, &|entry: &ObjectEntry| self.bytes_of(entry))?;
        Ok(pairs.into_iter().map(|(old, new)| (new, old)).collect())
    }
}

/// A path with its entry.
type Named<'a> = (&'a TreePath, &'a ObjectEntry);

struct TreeMerger<'a> {
    repository: &'a Repository,
    base: ObjectId,
    ours: &'a Changes,
    theirs: &'a Changes,
    merged: TreeMerge,
    /// Paths that are already merged.
    done: BTreeSet<TreePath>,
}

impl TreeMerger<'_> {
    /// Returns the entry at a path in the base; `None` if there is none.
    fn at_base(&self, path: &TreePath) -> Result<Option<ObjectEntry>, Error> {
        self.repository.entry_at(self.base, path)
    }

    /// Merges files that one side renamed and the other side changed or removed.
    fn renamed(&mut self) -> Result<(), Error> {
        let (ours, theirs) = (self.ours, self.theirs);
        let our_renames = self.renames_of(ours, theirs)?;
        let their_renames = self.renames_of(theirs, ours)?;
        self.moved_folders(ours, &their_renames, true)?;
        self.moved_folders(theirs, &our_renames, false)?;
        let sources: BTreeSet<&TreePath> = our_renames.keys().chain(their_renames.keys()).collect();
        for source in sources {
            let Some(base) = self.at_base(source)? else {
                continue;
            };
            match (our_renames.get(source), their_renames.get(source)) {
                (Some(one), Some(two)) => self.both_renamed((source, &base), one, two)?,
                (Some(target), None) => self.one_renamed((source, &base), target, true)?,
                (None, Some(target)) => self.one_renamed((source, &base), target, false)?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    /// Returns the renames of one side, from old to new paths.
    fn renames_of(
        &self,
        side: &Changes,
        other: &Changes,
    ) -> Result<BTreeMap<TreePath, TreePath>, Error> {
        let is_any_gone = side.values().any(Option::is_none);
        if !is_any_gone || other.is_empty() {
            return Ok(BTreeMap::new());
        }
        // The other side added files next to these: was their folder renamed?
        let mut grown: BTreeSet<Vec<u8>> = BTreeSet::new();
        for (path, entry) in other {
            if entry.is_some() && self.at_base(path)?.is_none() {
                grown.extend(path.folders().map(|folder| folder.as_bytes().to_vec()));
            }
        }
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for (path, entry) in side {
            match (entry, self.at_base(path)?) {
                (None, Some(entry)) => gone.push(RenameFile {
                    path: path.clone(),
                    entry,
                    is_wanted: other.contains_key(path)
                        || path
                            .folders()
                            .any(|folder| grown.contains(folder.as_bytes())),
                }),
                (Some(entry), None) => new.push(RenameFile {
                    path: path.clone(),
                    entry: entry.clone(),
                    is_wanted: true,
                }),
                _ => {}
            }
        }
        let read = |entry: &ObjectEntry| self.repository.bytes_of(entry);
        let pairs = renames::find(&gone, &new, &read)?;
        Ok(pairs.into_iter().collect())
    }

    /// Finds files that `side` added to a folder that the other side renamed.
    fn moved_folders(
        &mut self,
        side: &Changes,
        other_renames: &BTreeMap<TreePath, TreePath>,
        is_ours: bool,
    ) -> Result<(), Error> {
        if other_renames.is_empty() {
            return Ok(());
        }
        let other = if is_ours { self.theirs } else { self.ours };
        for (path, entry) in side {
            let Some(entry) = entry.as_ref().filter(|_| !path.folder().is_empty()) else {
                continue;
            };
            let folder = TreePath::new(path.folder());
            let left_it = |source: &TreePath| source.folder() == folder.as_bytes();
            let targets = other_renames.iter().filter(|(source, _)| left_it(source));
            let mut targets = targets.map(|(_, target)| target.folder()).peekable();
            if targets.peek().is_none() || targets.all(|target| target == folder.as_bytes()) {
                continue;
            }
            if self.at_base(path)?.is_some() || !self.is_emptied(&folder, other)? {
                continue;
            }
            let version = Some(self.version((path, entry))?);
            let (ours, theirs) = if is_ours {
                (version, None)
            } else {
                (None, version)
            };
            self.done.insert(path.clone());
            self.merged.conflicts.push(MergeConflict {
                path: path.clone(),
                kind: ConflictKind::FolderMoved,
                base: None,
                ours,
                theirs,
                lines: Vec::new(),
                merge: None,
            });
        }
        Ok(())
    }

    /// Returns whether a side removed every file of a folder.
    fn is_emptied(&self, folder: &TreePath, side: &Changes) -> Result<bool, Error> {
        let files = self.repository.files_below(self.base, folder)?;
        let is_gone = |path: &TreePath| matches!(side.get(path), Some(None));
        let is_new = |(path, entry): (&TreePath, &Option<ObjectEntry>)| {
            entry.is_some() && path.folders().any(|above| above == *folder)
        };
        Ok(!files.is_empty() && files.iter().all(is_gone) && !side.iter().any(is_new))
    }

    /// Merges a file of the base that ours renamed to `one` and theirs to `two`: their contents if
    /// the paths are equal, otherwise a conflict. Fails if an object cannot be read.
    fn both_renamed(
        &mut self,
        base: Named<'_>,
        one: &TreePath,
        two: &TreePath,
    ) -> Result<(), Error> {
        let ours = self.ours.get(one).cloned().flatten();
        let theirs = self.theirs.get(two).cloned().flatten();
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return Ok(());
        };
        self.resolve(base.0, None);
        if one == two {
            return self.three_way(one, Some(base), Some((one, &ours)), Some((two, &theirs)));
        }
        self.done.extend([one.clone(), two.clone()]);
        self.add_conflict(
            base.0,
            ConflictKind::BothRenamed,
            [Some(base), Some((one, &ours)), Some((two, &theirs))],
        )
    }

    /// Merges a file of the base that one side, ours if `is_ours`, renamed to `target`, into that
    /// path. Does nothing if the other side did not touch the file or has an entry at `target`.
    /// Fails if an object cannot be read.
    fn one_renamed(
        &mut self,
        base: Named<'_>,
        target: &TreePath,
        is_ours: bool,
    ) -> Result<(), Error> {
        let (side, other) = if is_ours {
            (self.ours, self.theirs)
        } else {
            (self.theirs, self.ours)
        };
        let Some(moved) = side.get(target).cloned().flatten() else {
            return Ok(());
        };
        let moved = Some((target, &moved));
        let Some(changed) = other.get(base.0) else {
            // The other side did not touch it: one removal and one addition.
            return Ok(());
        };
        // An entry of that path on the other side is merged there, as a file added by both.
        if other.get(target).is_some_and(Option::is_some) {
            return Ok(());
        }
        self.resolve(base.0, None);
        let changed = changed.as_ref().map(|entry| (base.0, entry));
        let (ours, theirs) = if is_ours {
            (moved, changed)
        } else {
            (changed, moved)
        };
        match changed {
            Some(_) => self.three_way(target, Some(base), ours, theirs),
            None => {
                let kind = removed_kind(is_ours);
                self.add_conflict(target, kind, [Some(base), ours, theirs])
            }
        }
    }

    /// Merges all paths without renames.
    fn merge_remaining(&mut self) -> Result<(), Error> {
        let (ours, theirs) = (self.ours, self.theirs);
        for (path, our) in ours {
            if self.done.contains(path) {
                continue;
            }
            let Some(their) = theirs.get(path) else {
                self.resolve(path, our.clone());
                continue;
            };
            let base = self.at_base(path)?;
            let named = |entry| (path, entry);
            self.three_way(
                path,
                base.as_ref().map(named),
                our.as_ref().map(named),
                their.as_ref().map(named),
            )?;
        }
        for (path, their) in theirs {
            if !self.done.contains(path) {
                self.resolve(path, their.clone());
            }
        }
        Ok(())
    }

    /// Merges the versions of one file and records the result or a conflict at `path`; a `None` is
    /// a missing file. The versions may have other paths. Fails if an object cannot be read.
    fn three_way(
        &mut self,
        path: &TreePath,
        base: Option<Named<'_>>,
        ours: Option<Named<'_>>,
        theirs: Option<Named<'_>>,
    ) -> Result<(), Error> {
        let entry = |it: Option<Named<'_>>| it.map(|(_, entry)| entry.clone());
        let (base_entry, our, their) = (entry(base), entry(ours), entry(theirs));
        if our == their || base_entry == their {
            self.resolve(path, our);
            return Ok(());
        }
        if base_entry == our {
            self.resolve(path, their);
            return Ok(());
        }
        let (Some(our), Some(their)) = (our, their) else {
            let kind = removed_kind(ours.is_some());
            return self.add_conflict(path, kind, [base, ours, theirs]);
        };
        if !our.mode.is_file() || !their.mode.is_file() {
            let kind = match base_entry {
                None => ConflictKind::BothAdded,
                Some(_) => ConflictKind::Kind,
            };
            return self.add_conflict(path, kind, [base, ours, theirs]);
        }
        self.merge_texts(path, [base, ours, theirs], &our, &their)
    }

    /// Merges two files that differ in content, mode or both.
    fn merge_texts(
        &mut self,
        path: &TreePath,
        versions: [Option<Named<'_>>; 3],
        our: &ObjectEntry,
        their: &ObjectEntry,
    ) -> Result<(), Error> {
        let base = versions[0]
            .map(|(_, entry)| entry)
            .filter(|entry| entry.mode.is_file());
        let base_mode = base.map(|entry| entry.mode);
        let mode = if base_mode == Some(our.mode) {
            their.mode
        } else {
            our.mode
        };
        let is_mode_fought = base_mode.is_none() && our.mode != their.mode;
        let bytes = |entry: &ObjectEntry| self.repository.bytes_of(entry);
        let base_id = base.map(|entry| entry.id);
        // No text merge is needed if at most one side changed the content.
        let settled = match () {
            // Both sides added the same bytes, one of them as executable.
            () if our.id == their.id && is_mode_fought => Some((our, EntryMode::Executable)),
            () if our.id == their.id || base_id == Some(their.id) => Some((our, mode)),
            () if base_id == Some(our.id) => Some((their, mode)),
            () => None,
        };
        if let Some((entry, mode)) = settled {
            let entry = entry.clone();
            self.resolve(path, Some(ObjectEntry { mode, ..entry }));
            return Ok(());
        }
        let base_bytes: Arc<[u8]> = base.map(bytes).transpose()?.unwrap_or_default();
        let (our_bytes, their_bytes) = (bytes(our)?, bytes(their)?);
        let way = self.merge_driver(path);
        let is_any_binary = [&base_bytes, &our_bytes, &their_bytes]
            .iter()
            .any(|bytes| is_binary(bytes));
        if way == MergeDriver::Binary || is_any_binary && way != MergeDriver::Union {
            return self.add_conflict(path, ConflictKind::Binary, versions);
        }
        let merge = merge_bytes(&base_bytes, &our_bytes, &their_bytes);
        let clean = match way {
            MergeDriver::Union => Some(merge.union()),
            _ => merge.clean(),
        };
        if let Some(clean) = clean {
            self.resolve(path, Some(ObjectEntry::of_bytes(mode, clean)));
            return Ok(());
        }
        let kind = match base {
            Some(_) => ConflictKind::Content,
            None => ConflictKind::BothAdded,
        };
        self.add_conflict(path, kind, versions)?;
        if let Some(conflict) = self.merged.conflicts.last_mut() {
            conflict.lines = merge.conflict_lines();
            conflict.merge = Some(merge);
        }
        Ok(())
    }

    fn merge_driver(&self, path: &TreePath) -> MergeDriver {
        let flags = git2::AttrCheckFlags::FILE_THEN_INDEX;
        let value = self
            .repository
            .inner
            .get_attr_bytes(&path.to_path(), "merge", flags);
        match value.map(git2::AttrValue::from_bytes) {
            Ok(git2::AttrValue::False) => MergeDriver::Binary,
            Ok(git2::AttrValue::String("union")) => MergeDriver::Union,
            Ok(git2::AttrValue::String("binary")) => MergeDriver::Binary,
            _ => MergeDriver::Text,
        }
    }

    /// Reports files at paths where the other side has a folder.
    fn files_and_folders(&mut self) -> Result<(), Error> {
        let mut fought = BTreeSet::new();
        for (path, entry) in &self.merged.changes {
            if entry.is_none() {
                continue;
            }
            for folder in path.folders() {
                let is_file = match self.merged.changes.get(&folder) {
                    Some(entry) => entry.is_some(),
                    None => self.at_base(&folder)?.is_some(),
                };
                if is_file {
                    fought.insert(folder);
                }
            }
            let below = self.repository.files_below(self.base, path)?;
            let is_left = |path: &TreePath| !matches!(self.merged.changes.get(path), Some(None));
            if below.iter().any(is_left) {
                fought.insert(path.clone());
            }
        }
        for path in fought {
            let of = |side: &Changes| side.get(&path).cloned().flatten();
            let (base, ours, theirs) = (self.at_base(&path)?, of(self.ours), of(self.theirs));
            let named = |entry| (&path, entry);
            let versions = [
                base.as_ref().map(named),
                ours.as_ref().map(named),
                theirs.as_ref().map(named),
            ];
            self.merged
                .conflicts
                .retain(|conflict| conflict.path != path);
            self.add_conflict(&path, ConflictKind::FileAndFolder, versions)?;
        }
        Ok(())
    }

    fn resolve(&mut self, path: &TreePath, entry: Option<ObjectEntry>) {
        self.done.insert(path.clone());
        self.merged.changes.insert(path.clone(), entry);
    }

    fn add_conflict(
        &mut self,
        path: &TreePath,
        kind: ConflictKind,
        versions: [Option<Named<'_>>; 3],
    ) -> Result<(), Error> {
        let version = |it: Option<Named<'_>>| it.map(|it| self.version(it)).transpose();
        let [base, ours, theirs] = versions;
        let conflict = MergeConflict {
            path: path.clone(),
            kind,
            base: version(base)?,
            ours: version(ours)?,
            theirs: version(theirs)?,
            lines: Vec::new(),
            merge: None,
        };
        self.done.insert(path.clone());
        self.merged.conflicts.push(conflict);
        Ok(())
    }

    /// Returns one side of a conflict with its bytes. Fails if they cannot be read.
    fn version(&self, (path, entry): Named<'_>) -> Result<ConflictSide, Error> {
        Ok(ConflictSide {
            path: path.clone(),
            entry: entry.clone(),
            bytes: self.repository.bytes_of(entry)?,
        })
    }
}

/// Merge driver that the attributes select for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeDriver {
    Text,
    Union,
    Binary,
}

fn removed_kind(is_ours_there: bool) -> ConflictKind {
    if is_ours_there {
        ConflictKind::RemovedByThem
    } else {
        ConflictKind::RemovedByUs
    }
}
