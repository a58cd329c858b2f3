//! From what was accepted to exact bytes, of one session or picked from several.

use std::collections::BTreeMap;

use git::merge::{Changes, Entry, Mode, TreePath};

use super::diff::{by_id, cut, lines};
use super::{Choice, File, Hunk, HunkId, Part, Review};
use crate::work::CommitId;

/// Two accepted hunks of which only one can land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// One.
    pub one: HunkId,
    /// The other.
    pub two: HunkId,
    /// For people.
    pub sentence: String,
}

impl Review {
    /// What of a session was accepted, against its base; what nobody decided about is left out.
    pub fn accepted(&self, session: &str) -> Changes {
        let hunks = by_id(&self.hunks);
        let mut changes = Changes::new();
        for file in self.files.iter().filter(|file| file.session == session) {
            let accepted = file
                .hunks
                .iter()
                .filter(|id| self.choice(**id) == Some(Choice::Accepted));
            let accepted: Vec<&Hunk> = accepted.filter_map(|id| hunks.get(id).copied()).collect();
            changes.extend(made(file, &accepted));
        }
        changes
    }

    /// What was accepted of several sessions that began from one commit, together; or the pairs that do not go
    /// together. The same change in several sessions counts once.
    pub fn mix(&self) -> Result<(CommitId, Changes), Vec<Overlap>> {
        let hunks = by_id(&self.hunks);
        let is_accepted = |id: &&HunkId| self.choice(**id) == Some(Choice::Accepted);
        let mut picked: BTreeMap<&TreePath, Vec<(&File, &Hunk)>> = BTreeMap::new();
        let mut base: Option<(&CommitId, HunkId)> = None;
        let mut overlaps = Vec::new();
        for file in self.files.iter() {
            for id in file.hunks.iter().filter(is_accepted) {
                let Some(hunk) = hunks.get(id).copied() else {
                    continue;
                };
                let (first_base, first) = *base.get_or_insert((&file.base, *id));
                if *first_base != file.base {
                    overlaps.push(Overlap {
                        one: first,
                        two: *id,
                        sentence: format!(
                            "{} began from another commit than the others; land it by itself.",
                            file.session
                        ),
                    });
                }
                let before = file.was.as_ref().unwrap_or(&file.path);
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
            changes.extend(mixed(of_file));
        }
        let base = base.map_or_else(|| CommitId(String::new()), |(base, _)| base.clone());
        Ok((base, changes))
    }
}

fn overlapping(of_file: &[(&File, &Hunk)]) -> Vec<Overlap> {
    let mut overlaps = Vec::new();
    for (ix, (file, one)) in of_file.iter().enumerate() {
        for (other, two) in &of_file[ix + 1..] {
            if file.session != other.session && is_at_odds((file, one), (other, two)) {
                overlaps.push(Overlap {
                    one: one.id,
                    two: two.id,
                    sentence: format!(
                        "{} and {} change the same place in {}: pick one of the two.",
                        file.session, other.session, file.path
                    ),
                });
            }
        }
    }
    overlaps
}

fn is_at_odds((file, one): (&File, &Hunk), (other, two): (&File, &Hunk)) -> bool {
    match (&one.part, &two.part) {
        (
            Part::Lines { before, added, .. },
            Part::Lines {
                before: other_before,
                added: other_added,
                ..
            },
        ) => {
            // Two that only touch have no order of their own, unless one line between keeps them apart.
            let touches = before.start <= other_before.end && other_before.start <= before.end;
            touches && (before, added) != (other_before, other_added)
        }
        (Part::Mode { to, .. }, Part::Mode { to: other_to, .. }) => to != other_to,
        (Part::Name { .. }, Part::Name { .. }) => file.path != other.path,
        (
            Part::Whole { after, .. },
            Part::Whole {
                after: other_after, ..
            },
        ) => after != other_after,
        (Part::Whole { .. }, _) | (_, Part::Whole { .. }) => true,
        _ => false,
    }
}

/// What a file of one session becomes.
fn made(file: &File, accepted: &[&Hunk]) -> Changes {
    let picked: Vec<(&File, &Hunk)> = accepted.iter().map(|hunk| (file, *hunk)).collect();
    mixed(&picked)
}

/// What a file of the base becomes by hunks that go together.
fn mixed(picked: &[(&File, &Hunk)]) -> Changes {
    let mut changes = Changes::new();
    let Some((first, _)) = picked.first() else {
        return changes;
    };
    for (file, hunk) in picked {
        if let Part::Whole { after, .. } = &hunk.part {
            let bytes = file.after.as_ref().map(|version| version.bytes.clone());
            let entry = after.clone().map(|entry| Entry { bytes, ..entry });
            let is_renamed = picked
                .iter()
                .any(|(_, hunk)| matches!(hunk.part, Part::Name { .. }));
            let old = file.was.as_ref().unwrap_or(&file.path);
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
    let old = first.was.as_ref().unwrap_or(&first.path);
    let (mut mode, mut name): (Mode, &TreePath) = (before.entry.mode, old);
    let mut edits: BTreeMap<(u32, u32), &[u8]> = BTreeMap::new();
    for (file, hunk) in picked {
        match &hunk.part {
            Part::Lines { before, added, .. } => {
                edits.insert((before.start, before.end), added);
            }
            Part::Mode { to, .. } => mode = *to,
            Part::Name { .. } => name = &file.path,
            Part::Whole { .. } => {}
        }
    }
    let bytes = edited(&before.bytes, &edits);
    let entry = Entry::of_bytes(mode, bytes);
    if name == old && entry == before.entry {
        return changes;
    }
    if name != old {
        changes.insert(old.clone(), None);
    }
    changes.insert(name.clone(), Some(entry));
    changes
}

/// The base with some ranges of lines replaced; they are in order and do not overlap.
fn edited(base: &[u8], edits: &BTreeMap<(u32, u32), &[u8]>) -> Vec<u8> {
    let lines = lines(base);
    let mut whole = Vec::with_capacity(base.len());
    let mut at = 0;
    for ((start, end), added) in edits {
        // A line without an ending stays the last one: whatever follows it begins a line of its own.
        whole.extend(cut(&lines, &(at..*start)).concat());
        end_line(&mut whole, added);
        whole.extend_from_slice(added);
        at = *end;
    }
    let rest = cut(&lines, &(at..lines.len() as u32)).concat();
    end_line(&mut whole, &rest);
    whole.extend(rest);
    whole
}

fn end_line(whole: &mut Vec<u8>, next: &[u8]) {
    if !next.is_empty() && whole.last().is_some_and(|last| *last != b'\n') {
        whole.push(b'\n');
    }
}
