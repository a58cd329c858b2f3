//! Two sides, merged onto what both began from.

use std::collections::BTreeSet;

use git::Repository;
use git::merge::{Changes, Conflict, ConflictKind, Mode, ObjectId, TreePath, Version};

use super::symbols::Symbols;
use super::{Side, Spot, Who};

/// What was found between two sides.
pub(super) struct Pair {
    pub(super) conflicts: Vec<Found>,
    pub(super) near: Vec<(TreePath, String)>,
}

/// One conflict between two sides.
pub(super) struct Found {
    pub(super) path: TreePath,
    pub(super) kind: ConflictKind,
    pub(super) spots: Vec<Spot>,
}

pub(super) struct Between<'a> {
    pub(super) repository: &'a Repository,
    pub(super) one: &'a Side,
    pub(super) two: &'a Side,
}

/// What a side is against `base`: what `tree` is against it, and the side's own changes of `tree` over that.
pub(super) fn composed(
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

impl Between<'_> {
    pub(super) fn pair(&self, symbols: &mut Symbols) -> Result<Pair, git::Error> {
        let (one, two) = (self.one, self.two);
        let mut pair = Pair {
            conflicts: Vec::new(),
            near: Vec::new(),
        };
        let base = match one.base == two.base {
            true => Some(one.base),
            false => self.repository.merge_base(one.base, two.base)?,
        };
        let Some(base) = base else {
            // Nothing in common: there is no landing one beside the other.
            return Ok(pair);
        };
        let tree = |id: ObjectId| self.repository.tree_of(&id.to_string());
        let base = tree(base)?;
        let ours = composed(self.repository, base, tree(one.base)?, &one.changes)?;
        let theirs = composed(self.repository, base, tree(two.base)?, &two.changes)?;
        let merged = self.repository.merge(base, &ours, &theirs)?;
        for conflict in &merged.conflicts {
            // What the branch brought in on one side is told as a conflict with the branch, once.
            if self.is_own(one, conflict.ours.as_ref(), conflict)
                && self.is_own(two, conflict.theirs.as_ref(), conflict)
            {
                pair.conflicts.push(found(conflict, symbols));
            }
        }
        if two.who != Who::Branch {
            let fought: BTreeSet<&TreePath> = merged.conflicts.iter().map(|it| &it.path).collect();
            self.near(base, (&ours, &theirs), &fought, symbols, &mut pair)?;
        }
        Ok(pair)
    }

    /// Whether a side itself changed what is fought over.
    fn is_own(&self, side: &Side, version: Option<&Version>, conflict: &Conflict) -> bool {
        if side.who == Who::Branch {
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
        // A file where the other side has a folder: what is own lies below it, or above.
        conflict.kind == ConflictKind::FileAndFolder
            && side
                .changes
                .keys()
                .any(|path| path.folders().any(|folder| folder == conflict.path))
            || conflict.kind == ConflictKind::FolderMoved && version.is_none()
    }

    /// Symbols both sides change in files that merge.
    fn near(
        &self,
        base: ObjectId,
        (ours, theirs): (&Changes, &Changes),
        fought: &BTreeSet<&TreePath>,
        symbols: &mut Symbols,
        pair: &mut Pair,
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
                .filter(|it| it.mode != Mode::Link)
            else {
                continue;
            };
            let bytes = |entry| self.repository.bytes_of(entry);
            let before = bytes(&before)?;
            let one = symbols.changed(path, &before, &bytes(our)?);
            let two = symbols.changed(path, &before, &bytes(their)?);
            let both = one.intersection(&two);
            pair.near
                .extend(both.map(|symbol| (path.clone(), symbol.clone())));
        }
        Ok(())
    }
}

fn found(conflict: &Conflict, symbols: &mut Symbols) -> Found {
    let from_one = |range: &std::ops::Range<u32>| range.start + 1..range.end + 1;
    let spots = conflict.lines.iter().map(|lines| {
        // Named by the side that still has lines there.
        let (version, range) = match lines.ours.is_empty() {
            false => (conflict.ours.as_ref(), &lines.ours),
            true => (conflict.theirs.as_ref(), &lines.theirs),
        };
        Spot {
            one: from_one(&lines.ours),
            two: from_one(&lines.theirs),
            symbol: version.and_then(|it| symbols.around(&it.path, &it.bytes, range.clone())),
        }
    });
    Found {
        path: conflict.path.clone(),
        kind: conflict.kind,
        spots: spots.collect(),
    }
}
