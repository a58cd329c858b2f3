//! Computes the exact contents that accepted hunks give, of one session or of several.

use std::collections::BTreeMap;

use git::merge::{Changes, EntryMode, ObjectEntry, TreePath};

use super::diff::{by_id, slice_lines, split_lines};
use super::{HunkChange, HunkId, HunkVerdict, Review, ReviewFile, ReviewHunk};
use crate::work::CommitId;

/// Two accepted hunks that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkOverlap {
    /// Id of the first hunk.
    pub one: HunkId,
    /// Id of the second hunk.
    pub two: HunkId,
    /// The message for the user.
    pub sentence: String,
}

impl Review {
    /// Returns the accepted changes of a session against its base, as exact contents; undecided and
    /// rejected hunks are left out. Returns empty changes if no hunk is accepted.
    pub fn accepted(&self, session: &str) -> Changes {
        let hunks = by_id(&self.hunks);
        let mut changes = Changes::new();
        for file in self.files.iter().filter(|file| file.session == session) {
            let accepted = file
                .hunks
                .iter()
                .filter(|id| self.verdict(**id) == HunkVerdict::Accepted);
            let accepted: Vec<&ReviewHunk> =
                accepted.filter_map(|id| hunks.get(id).copied()).collect();
            changes.extend(file_changes(file, &accepted));
        }
        changes
    }

    /// Combines the accepted hunks of several sessions that started from the same commit, or
    /// returns the pairs that exclude each other. The same change in several sessions counts once.
    pub fn mix(&self) -> Result<(CommitId, Changes), Vec<HunkOverlap>> {
        let hunks = by_id(&self.hunks);
        let is_accepted = |id: &&HunkId| self.verdict(**id) == HunkVerdict::Accepted;
        let mut picked: BTreeMap<&TreePath, Vec<(&ReviewFile, &ReviewHunk)>> = BTreeMap::new();
        let mut base: Option<(&CommitId, HunkId)> = None;
        let mut overlaps = Vec::new();
        for file in self.files.iter() {
            for id in file.hunks.iter().filter(is_accepted) {
                let Some(hunk) = hunks.get(id).copied() else {
                    continue;
                };
                let (first_base, first) = *base.get_or_insert((&file.base, *id));
                if *first_base != file.base {
                    overlaps.push(HunkOverlap {
                        one: first,
                        two: *id,
                        sentence: format!(
                            "{} started from a different commit than the others; land it \
                             separately.",
                            file.session
                        ),
                    });
                }
                let before = file.renamed_from.as_ref().unwrap_or(&file.path);
                picked.entry(before).or_default().push((file, hunk));
            }
        }
        for of_file in picked.values() {
            overlaps.extend(overlapping(of_file));
        }
        if !overlaps.is_empty() {
            return Err(overlaps);
        }
        let mut changes = Changes::new();
        for of_file in picked.values() {
            changes.extend(combine_hunks(of_file));
        }
        let base = base.map_or_else(|| CommitId(String::new()), |(base, _)| base.clone());
        Ok((base, changes))
    }
}

fn overlapping(of_file: &[(&ReviewFile, &ReviewHunk)]) -> Vec<HunkOverlap> {
    let mut overlaps = Vec::new();
    for (ix, (file, one)) in of_file.iter().enumerate() {
        for (other, two) in &of_file[ix + 1..] {
            if file.session != other.session && contradicts((file, one), (other, two)) {
                overlaps.push(HunkOverlap {
                    one: one.id,
                    two: two.id,
                    sentence: format!(
                        "{} and {} change the same lines in {}: accept only one of them.",
                        file.session, other.session, file.path
                    ),
                });
            }
        }
    }
    overlaps
}

/// Returns whether two hunks that change the same file of the base cannot both be applied. Equal
/// changes never contradict each other; different ones of adjacent lines do.
fn contradicts(
    (file, one): (&ReviewFile, &ReviewHunk),
    (other, two): (&ReviewFile, &ReviewHunk),
) -> bool {
    match (&one.part, &two.part) {
        (
            HunkChange::Lines { before, added, .. },
            HunkChange::Lines {
                before: other_before,
                added: other_added,
                ..
            },
        ) => {
            // Adjacent hunks have no defined order; one line between them is enough.
            let touches = before.start <= other_before.end && other_before.start <= before.end;
            touches && (before, added) != (other_before, other_added)
        }
        (HunkChange::Mode { to, .. }, HunkChange::Mode { to: other_to, .. }) => to != other_to,
        (HunkChange::Name { .. }, HunkChange::Name { .. }) => file.path != other.path,
        (
            HunkChange::Whole { after, .. },
            HunkChange::Whole {
                after: other_after, ..
            },
        ) => after != other_after,
        (HunkChange::Whole { .. }, _) | (_, HunkChange::Whole { .. }) => true,
        _ => false,
    }
}

/// Applies accepted hunks to a file of one session.
fn file_changes(file: &ReviewFile, accepted: &[&ReviewHunk]) -> Changes {
    let picked: Vec<(&ReviewFile, &ReviewHunk)> =
        accepted.iter().map(|hunk| (file, *hunk)).collect();
    combine_hunks(&picked)
}

/// Applies compatible hunks to a file of the base.
fn combine_hunks(picked: &[(&ReviewFile, &ReviewHunk)]) -> Changes {
    let mut changes = Changes::new();
    let Some((first, _)) = picked.first() else {
        return changes;
    };
    for (file, hunk) in picked {
        if let HunkChange::Whole { after, .. } = &hunk.part {
            let bytes = file.after.as_ref().map(|version| version.bytes.clone());
            let entry = after.clone().map(|entry| ObjectEntry { bytes, ..entry });
            let is_renamed = picked
                .iter()
                .any(|(_, hunk)| matches!(hunk.part, HunkChange::Name { .. }));
            let old = file.renamed_from.as_ref().unwrap_or(&file.path);
            if is_renamed {
                changes.insert(old.clone(), None);
            }
            let target = if is_renamed { &file.path } else { old };
            changes.insert(target.clone(), entry);
            return changes;
        }
    }
    let Some(before) = &first.before else {
        return changes;
    };
    let old = first.renamed_from.as_ref().unwrap_or(&first.path);
    let (mut mode, mut name): (EntryMode, &TreePath) = (before.entry.mode, old);
    let mut edits: BTreeMap<(u32, u32), &[u8]> = BTreeMap::new();
    for (file, hunk) in picked {
        match &hunk.part {
            HunkChange::Lines { before, added, .. } => {
                edits.insert((before.start, before.end), added);
            }
            HunkChange::Mode { to, .. } => mode = *to,
            HunkChange::Name { .. } => name = &file.path,
            HunkChange::Whole { .. } => {}
        }
    }
    let bytes = apply_edits(&before.bytes, &edits);
    let entry = ObjectEntry::of_bytes(mode, bytes);
    if name == old && entry == before.entry {
        return changes;
    }
    if name != old {
        changes.insert(old.clone(), None);
    }
    changes.insert(name.clone(), Some(entry));
    changes
}

/// Replaces ranges of rows in the base; they are sorted and do not overlap.
fn apply_edits(base: &[u8], edits: &BTreeMap<(u32, u32), &[u8]>) -> Vec<u8> {
    let lines = split_lines(base);
    let mut whole = Vec::with_capacity(base.len());
    let mut at = 0;
    for ((start, end), added) in edits {
        // If the base lacks a final line ending, the next text still begins on a new line.
        whole.extend(slice_lines(&lines, &(at..*start)).concat());
        end_line(&mut whole, added);
        whole.extend_from_slice(added);
        at = *end;
    }
    let rest = slice_lines(&lines, &(at..lines.len() as u32)).concat();
    end_line(&mut whole, &rest);
    whole.extend(rest);
    whole
}

fn end_line(whole: &mut Vec<u8>, next: &[u8]) {
    if !next.is_empty() && whole.last().is_some_and(|last| *last != b'\n') {
        whole.push(b'\n');
    }
}
