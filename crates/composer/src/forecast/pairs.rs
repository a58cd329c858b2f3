//! Merges two sides onto their merge base.

use std::collections::BTreeSet;

use git::Repository;
use git::merge::{
    Changes, ConflictKind, ConflictSide, EntryMode, MergeConflict, ObjectId, TreePath,
};

use super::{ConflictLocation, ForecastParty, ForecastSide};
use crate::symbols::SymbolCache;

/// The conflicts and overlaps between two sides.
pub(super) struct PairResult {
    pub(super) conflicts: Vec<PairConflict>,
    pub(super) overlaps: Vec<(TreePath, String)>,
}

/// One conflict between two sides.
pub(super) struct PairConflict {
    pub(super) path: TreePath,
    pub(super) kind: ConflictKind,
    pub(super) locations: Vec<ConflictLocation>,
}

/// A merge of two sides, to be run.
pub(super) struct PairMerge<'a> {
    pub(super) repository: &'a Repository,
    pub(super) one: &'a ForecastSide,
    pub(super) two: &'a ForecastSide,
}

/// The changes of a side against `base`: the difference between `base` and `tree`, and `changes` on
/// top of `tree`.
pub(super) fn changes_against(
    repository: &Repository,
    base: ObjectId,
    tree: ObjectId,
    changes: &Changes,
) -> Result<Changes, git::Error> {
    let mut whole = repository.changes_between(base, tree)?;
    for (path, entry) in changes {
        if repository.entry_at(base, path)? == *entry {
            whole.remove(path);
        } else {
            whole.insert(path.clone(), entry.clone());
        }
    }
    Ok(whole)
}

impl PairMerge<'_> {
    /// Merges the two sides in memory and returns their conflicts and overlaps.
    pub(super) fn run(&self, symbols: &mut SymbolCache) -> Result<PairResult, git::Error> {
        let (one, two) = (self.one, self.two);
        let mut pair = PairResult {
            conflicts: Vec::new(),
            overlaps: Vec::new(),
        };
        let base = if one.base == two.base {
            Some(one.base)
        } else {
            self.repository.merge_base(one.base, two.base)?
        };
        let Some(base) = base else {
            // Without common history, the two cannot land next to each other.
            return Ok(pair);
        };
        let tree = |id: ObjectId| self.repository.tree_of(&id.to_string());
        let base = tree(base)?;
        let ours = changes_against(self.repository, base, tree(one.base)?, &one.changes)?;
        let theirs = changes_against(self.repository, base, tree(two.base)?, &two.changes)?;
        let merged = self.repository.merge(base, &ours, &theirs)?;
        for conflict in &merged.conflicts {
            // A conflict with commits of the branch is reported once, as a conflict with the
            // branch.
            if self.is_own(one, conflict.ours.as_ref(), conflict)
                && self.is_own(two, conflict.theirs.as_ref(), conflict)
            {
                pair.conflicts.push(describe_conflict(conflict, symbols));
            }
        }
        if two.who != ForecastParty::Branch {
            let fought: BTreeSet<&TreePath> = merged.conflicts.iter().map(|it| &it.path).collect();
            self.find_overlaps(base, (&ours, &theirs), &fought, symbols, &mut pair)?;
        }
        Ok(pair)
    }

    /// Whether a side itself changed the conflicting path.
    fn is_own(
        &self,
        side: &ForecastSide,
        version: Option<&ConflictSide>,
        conflict: &MergeConflict,
    ) -> bool {
        if side.who == ForecastParty::Branch {
            return true;
        }
        let names = [
            Some(&conflict.path),
            version.map(|version| &version.path),
            conflict.base.as_ref().map(|version| &version.path),
        ];
        let own = |path: &TreePath| side.changes.contains_key(path);
        if names.into_iter().flatten().any(own) {
            return true;
        }
        // A file on one side and a folder on the other: the side's own change lies below or above
        // that path.
        conflict.kind == ConflictKind::FileAndFolder
            && side
                .changes
                .keys()
                .any(|path| path.folders().any(|folder| folder == conflict.path))
            || conflict.kind == ConflictKind::FolderMoved && version.is_none()
    }

    /// Finds symbols that both sides change in files that merge cleanly.
    fn find_overlaps(
        &self,
        base: ObjectId,
        (ours, theirs): (&Changes, &Changes),
        fought: &BTreeSet<&TreePath>,
        symbols: &mut SymbolCache,
        pair: &mut PairResult,
    ) -> Result<(), git::Error> {
        for (path, our) in ours {
            let both = (our, theirs.get(path));
            let (Some(our), Some(Some(their))) = both else {
                continue;
            };
            let is_own = self.one.changes.contains_key(path) && self.two.changes.contains_key(path);
            let is_text = our.mode.is_file() && their.mode.is_file();
            if fought.contains(path) || !is_own || !is_text || our.id == their.id {
                continue;
            }
            let Some(before) = self
                .repository
                .entry_at(base, path)?
                .filter(|it| it.mode != EntryMode::Link)
            else {
                continue;
            };
            let bytes = |entry| self.repository.bytes_of(entry);
            let before = bytes(&before)?;
            let one = symbols.changed_symbols(path, &before, &bytes(our)?);
            let two = symbols.changed_symbols(path, &before, &bytes(their)?);
            let both = one.intersection(&two);
            pair.overlaps
                .extend(both.map(|symbol| (path.clone(), symbol.clone())));
        }
        Ok(())
    }
}

fn describe_conflict(conflict: &MergeConflict, symbols: &mut SymbolCache) -> PairConflict {
    let from_one = |range: &std::ops::Range<u32>| range.start + 1..range.end + 1;
    let spots = conflict.lines.iter().map(|lines| {
        // The symbol comes from the side that still has lines there.
        let (version, range) = if lines.ours.is_empty() {
            (conflict.theirs.as_ref(), &lines.theirs)
        } else {
            (conflict.ours.as_ref(), &lines.ours)
        };
        ConflictLocation {
            one: from_one(&lines.ours),
            two: from_one(&lines.theirs),
            symbol: version.and_then(|it| symbols.enclosing(&it.path, &it.bytes, range.clone())),
        }
    });
    PairConflict {
        path: conflict.path.clone(),
        kind: conflict.kind,
        locations: spots.collect(),
    }
}
