//! Names of two sides onto the tree both began from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::content::{is_binary, merge_bytes};
use super::renames::{self, File};
use super::{Changes, Conflict, ConflictKind, Entry, Mode, ObjectId, TreePath, Version};
use crate::repository::{Error, Repository};

/// What became of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// What both sides together made of the tree; without the names in `conflicts`.
    pub changes: Changes,
    /// What needs a decision, by name.
    pub conflicts: Vec<Conflict>,
}

impl Merged {
    /// Whether nothing is fought over.
    pub fn is_clean(&self) -> bool {
        self.conflicts.is_empty()
    }
}

impl Repository {
    /// Merges what two sides made of `base`, a tree. Costs what the sides changed, whatever the tree holds.
    ///
    /// Files that both sides changed are merged as `merge=union` or `-merge` in the person's attributes ask for;
    /// a merge program that attributes name is not run.
    pub fn merge(&self, base: ObjectId, ours: &Changes, theirs: &Changes) -> Result<Merged, Error> {
        let mut merger = Merger {
            repository: self,
            base,
            ours,
            theirs,
            merged: Merged::default(),
            done: BTreeSet::new(),
        };
        merger.renamed()?;
        merger.rest()?;
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
    /// Which of the names a side gave up became which of its new ones: old names by new ones.
    pub fn renames(
        &self,
        base: ObjectId,
        side: &Changes,
    ) -> Result<BTreeMap<TreePath, TreePath>, Error> {
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for (path, entry) in side {
            let file = |entry: Entry| File {
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
        let pairs = renames::find(&gone, &new, &|entry: &Entry| self.bytes_of(entry))?;
        Ok(pairs.into_iter().map(|(old, new)| (new, old)).collect())
    }
}

/// A name with what it stands for.
type Named<'a> = (&'a TreePath, &'a Entry);

struct Merger<'a> {
    repository: &'a Repository,
    base: ObjectId,
    ours: &'a Changes,
    theirs: &'a Changes,
    merged: Merged,
    /// Names that need no second look.
    done: BTreeSet<TreePath>,
}

impl Merger<'_> {
    fn at_base(&self, path: &TreePath) -> Result<Option<Entry>, Error> {
        self.repository.entry_at(self.base, path)
    }

    /// Files that one side renamed while the other did anything to them.
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

    /// New names by old ones, of one side.
    fn renames_of(
        &self,
        side: &Changes,
        other: &Changes,
    ) -> Result<BTreeMap<TreePath, TreePath>, Error> {
        let is_any_gone = side.values().any(Option::is_none);
        if !is_any_gone || other.is_empty() {
            return Ok(BTreeMap::new());
        }
        // Files beside which the other side put new ones: was their folder renamed?
        let mut grown: BTreeSet<Vec<u8>> = BTreeSet::new();
        for (path, entry) in other {
            if entry.is_some() && self.at_base(path)?.is_none() {
                grown.extend(path.folders().map(|folder| folder.as_bytes().to_vec()));
            }
        }
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for (path, entry) in side {
            match (entry, self.at_base(path)?) {
                (None, Some(entry)) => gone.push(File {
                    path: path.clone(),
                    entry,
                    is_wanted: other.contains_key(path)
                        || path
                            .folders()
                            .any(|folder| grown.contains(folder.as_bytes())),
                }),
                (Some(entry), None) => new.push(File {
                    path: path.clone(),
                    entry: entry.clone(),
                    is_wanted: true,
                }),
                _ => {}
            }
        }
        let read = |entry: &Entry| self.repository.bytes_of(entry);
        let pairs = renames::find(&gone, &new, &read)?;
        Ok(pairs.into_iter().collect())
    }

    /// Files that `side` added to a folder that the other side renamed.
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
            self.merged.conflicts.push(Conflict {
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

    /// Whether nothing is left of a folder on a side.
    fn is_emptied(&self, folder: &TreePath, side: &Changes) -> Result<bool, Error> {
        let files = self.repository.files_below(self.base, folder)?;
        let is_gone = |path: &TreePath| matches!(side.get(path), Some(None));
        let is_new = |(path, entry): (&TreePath, &Option<Entry>)| {
            entry.is_some() && path.folders().any(|above| above == *folder)
        };
        Ok(!files.is_empty() && files.iter().all(is_gone) && !side.iter().any(is_new))
    }

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
        self.settle(base.0, None);
        if one == two {
            return self.three_way(one, Some(base), Some((one, &ours)), Some((two, &theirs)));
        }
        self.done.extend([one.clone(), two.clone()]);
        self.fight(
            base.0,
            ConflictKind::BothRenamed,
            [Some(base), Some((one, &ours)), Some((two, &theirs))],
        )
    }

    fn one_renamed(
        &mut self,
        base: Named<'_>,
        target: &TreePath,
        is_ours: bool,
    ) -> Result<(), Error> {
        let (side, other) = match is_ours {
            true => (self.ours, self.theirs),
            false => (self.theirs, self.ours),
        };
        let Some(moved) = side.get(target).cloned().flatten() else {
            return Ok(());
        };
        let moved = Some((target, &moved));
        let Some(changed) = other.get(base.0) else {
            // Nobody else touched it: a file less and a file more.
            return Ok(());
        };
        // Something else of that name on the other side is settled there, as files that both added.
        if other.get(target).is_some_and(Option::is_some) {
            return Ok(());
        }
        self.settle(base.0, None);
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
                self.fight(target, kind, [Some(base), ours, theirs])
            }
        }
    }

    /// All names that no rename settled.
    fn rest(&mut self) -> Result<(), Error> {
        let (ours, theirs) = (self.ours, self.theirs);
        for (path, our) in ours {
            if self.done.contains(path) {
                continue;
            }
            let Some(their) = theirs.get(path) else {
                self.settle(path, our.clone());
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
                self.settle(path, their.clone());
            }
        }
        Ok(())
    }

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
            self.settle(path, our);
            return Ok(());
        }
        if base_entry == our {
            self.settle(path, their);
            return Ok(());
        }
        let (Some(our), Some(their)) = (our, their) else {
            let kind = removed_kind(ours.is_some());
            return self.fight(path, kind, [base, ours, theirs]);
        };
        if !our.mode.is_file() || !their.mode.is_file() {
            let kind = match base_entry {
                None => ConflictKind::BothAdded,
                Some(_) => ConflictKind::Kind,
            };
            return self.fight(path, kind, [base, ours, theirs]);
        }
        self.texts(path, [base, ours, theirs], &our, &their)
    }

    /// Two files, whose bytes or modes or both differ.
    fn texts(
        &mut self,
        path: &TreePath,
        versions: [Option<Named<'_>>; 3],
        our: &Entry,
        their: &Entry,
    ) -> Result<(), Error> {
        let base = versions[0]
            .map(|(_, entry)| entry)
            .filter(|entry| entry.mode.is_file());
        let base_mode = base.map(|entry| entry.mode);
        let mode = match base_mode == Some(our.mode) {
            true => their.mode,
            false => our.mode,
        };
        let is_mode_fought = base_mode.is_none() && our.mode != their.mode;
        let bytes = |entry: &Entry| self.repository.bytes_of(entry);
        let base_id = base.map(|entry| entry.id);
        // Where at most one side has other bytes, no text has to be merged.
        let settled = match () {
            // Both added the same bytes, one of them to be executed.
            () if our.id == their.id && is_mode_fought => Some((our, Mode::Executable)),
            () if our.id == their.id || base_id == Some(their.id) => Some((our, mode)),
            () if base_id == Some(our.id) => Some((their, mode)),
            () => None,
        };
        if let Some((entry, mode)) = settled {
            let entry = entry.clone();
            self.settle(path, Some(Entry { mode, ..entry }));
            return Ok(());
        }
        let base_bytes: Arc<[u8]> = base.map(bytes).transpose()?.unwrap_or_default();
        let (our_bytes, their_bytes) = (bytes(our)?, bytes(their)?);
        let way = self.way_of(path);
        let is_any_binary = [&base_bytes, &our_bytes, &their_bytes]
            .iter()
            .any(|bytes| is_binary(bytes));
        if way == Way::Binary || is_any_binary && way != Way::Union {
            return self.fight(path, ConflictKind::Binary, versions);
        }
        let merge = merge_bytes(&base_bytes, &our_bytes, &their_bytes);
        let clean = match way {
            Way::Union => Some(merge.union()),
            _ => merge.clean(),
        };
        if let Some(clean) = clean {
            self.settle(path, Some(Entry::of_bytes(mode, clean)));
            return Ok(());
        }
        let kind = match base {
            Some(_) => ConflictKind::Content,
            None => ConflictKind::BothAdded,
        };
        self.fight(path, kind, versions)?;
        if let Some(conflict) = self.merged.conflicts.last_mut() {
            conflict.lines = merge.lines();
            conflict.merge = Some(merge);
        }
        Ok(())
    }

    fn way_of(&self, path: &TreePath) -> Way {
        let flags = git2::AttrCheckFlags::FILE_THEN_INDEX;
        let value = self
            .repository
            .inner
            .get_attr_bytes(&path.to_path(), "merge", flags);
        match value.map(git2::AttrValue::from_bytes) {
            Ok(git2::AttrValue::False) => Way::Binary,
            Ok(git2::AttrValue::String("union")) => Way::Union,
            Ok(git2::AttrValue::String("binary")) => Way::Binary,
            _ => Way::Text,
        }
    }

    /// A file cannot stand where a folder has to.
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
            self.fight(&path, ConflictKind::FileAndFolder, versions)?;
        }
        Ok(())
    }

    fn settle(&mut self, path: &TreePath, entry: Option<Entry>) {
        self.done.insert(path.clone());
        self.merged.changes.insert(path.clone(), entry);
    }

    fn fight(
        &mut self,
        path: &TreePath,
        kind: ConflictKind,
        versions: [Option<Named<'_>>; 3],
    ) -> Result<(), Error> {
        let version = |it: Option<Named<'_>>| it.map(|it| self.version(it)).transpose();
        let [base, ours, theirs] = versions;
        let conflict = Conflict {
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

    fn version(&self, (path, entry): Named<'_>) -> Result<Version, Error> {
        Ok(Version {
            path: path.clone(),
            entry: entry.clone(),
            bytes: self.repository.bytes_of(entry)?,
        })
    }
}

/// How attributes want a file to be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Text,
    Union,
    Binary,
}

fn removed_kind(is_ours_there: bool) -> ConflictKind {
    match is_ours_there {
        true => ConflictKind::RemovedByThem,
        false => ConflictKind::RemovedByUs,
    }
}
