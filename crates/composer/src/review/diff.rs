//! From what sessions changed to hunks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use git::Repository;
use git::merge::{Entry, ObjectId, TreePath, is_binary, line_hunks};
use host::ContentHash;

use super::choices::Choices;
use super::risk::risk;
use super::{Authors, Covered, File, Hunk, HunkId, Part, Review, Reviewed, Version};
use crate::forecast::symbols::Symbols;

/// So many lines around a hunk take part in its id.
const AROUND: u32 = 3;

impl Review {
    /// All hunks of some sessions, each against the commit it began from.
    pub fn of(
        repository: &Repository,
        sessions: &[Reviewed],
        authors: &dyn Authors,
        covered: &dyn Covered,
    ) -> Result<Self, git::Error> {
        let mut all = Vec::new();
        for reviewed in sessions {
            let base = repository.tree_of(&reviewed.base.0)?;
            let mut look = Look {
                repository,
                reviewed,
                base,
                authors,
                covered,
                symbols: Symbols::default(),
                seen: HashMap::new(),
            };
            all.extend(look.files()?);
        }
        let weight = |(_, hunks): &(File, Vec<Hunk>)| hunks.iter().map(|it| it.risk.weight).max();
        all.sort_by(|one, two| {
            let name = |it: &(File, Vec<Hunk>)| (it.0.path.clone(), it.0.session.clone());
            weight(two)
                .cmp(&weight(one))
                .then_with(|| name(one).cmp(&name(two)))
        });
        let (files, hunks): (Vec<File>, Vec<Vec<Hunk>>) = all.into_iter().unzip();
        Ok(Self {
            hunks: Arc::new(hunks.into_iter().flatten().collect()),
            files: Arc::new(files),
            choices: Choices::default(),
        })
    }
}

struct Look<'a> {
    repository: &'a Repository,
    reviewed: &'a Reviewed,
    base: ObjectId,
    authors: &'a dyn Authors,
    covered: &'a dyn Covered,
    symbols: Symbols,
    /// How often the same was done in the same place, so that ids differ.
    seen: HashMap<u128, u32>,
}

impl Look<'_> {
    fn files(&mut self) -> Result<Vec<(File, Vec<Hunk>)>, git::Error> {
        let changes = self.reviewed.changes.clone();
        let renames = self.repository.renames(self.base, &changes)?;
        let moved: BTreeSet<&TreePath> = renames.values().collect();
        let mut files = Vec::new();
        for (path, after) in changes.iter() {
            if after.is_none() && moved.contains(path) {
                continue;
            }
            let was = renames.get(path);
            let before = self.repository.entry_at(self.base, was.unwrap_or(path))?;
            let file = File {
                session: self.reviewed.session.clone(),
                base: self.reviewed.base.clone(),
                path: path.clone(),
                was: was.cloned(),
                before: before.map(|entry| self.version(entry)).transpose()?,
                after: after.clone().map(|entry| self.version(entry)).transpose()?,
                hunks: Vec::new(),
            };
            let hunks = self.hunks(&file);
            let ids = hunks.iter().map(|hunk| hunk.id).collect();
            files.push((File { hunks: ids, ..file }, hunks));
        }
        Ok(files)
    }

    fn version(&self, entry: Entry) -> Result<Version, git::Error> {
        let bytes = self.repository.bytes_of(&entry)?;
        Ok(Version { entry, bytes })
    }

    fn hunks(&mut self, file: &File) -> Vec<Hunk> {
        let mut hunks = Vec::new();
        if let Some(from) = &file.was {
            let part = Part::Name { from: from.clone() };
            hunks.push(self.hunk(file, part, from.as_bytes()));
        }
        let texts = match (&file.before, &file.after) {
            (Some(before), Some(after)) if has_lines(before) && has_lines(after) => (before, after),
            _ => {
                let entry = |version: &Option<Version>| version.as_ref().map(|it| it.entry.clone());
                let (before, after) = (entry(&file.before), entry(&file.after));
                if before == after {
                    // Only its name is another one.
                    return hunks;
                }
                let print = format!("{before:?} {after:?}");
                let lacks_lines =
                    |it: &Option<Version>| it.as_ref().is_some_and(|it| !has_lines(it));
                let is_binary = lacks_lines(&file.before) || lacks_lines(&file.after);
                let part = Part::Whole {
                    before,
                    after,
                    is_binary,
                };
                hunks.push(self.hunk(file, part, print.as_bytes()));
                return hunks;
            }
        };
        let (before, after) = texts;
        if before.entry.mode != after.entry.mode {
            let part = Part::Mode {
                from: before.entry.mode,
                to: after.entry.mode,
            };
            let print = format!("{part:?}");
            hunks.push(self.hunk(file, part, print.as_bytes()));
        }
        let (old, new) = (lines(&before.bytes), lines(&after.bytes));
        for (before, after) in line_hunks(&before.bytes, &after.bytes) {
            let removed: Arc<[u8]> = cut(&old, &before).concat().into();
            let added: Arc<[u8]> = cut(&new, &after).concat().into();
            let above = before.start.saturating_sub(AROUND)..before.start;
            let below = before.end..(before.end + AROUND).min(old.len() as u32);
            let print = [
                cut(&old, &above).concat(),
                removed.to_vec(),
                added.to_vec(),
                cut(&old, &below).concat(),
            ]
            .join(&0);
            let part = Part::Lines {
                before,
                after,
                removed,
                added,
            };
            hunks.push(self.hunk(file, part, &print));
        }
        hunks
    }

    fn hunk(&mut self, file: &File, part: Part, print: &[u8]) -> Hunk {
        let lines = match &part {
            Part::Lines { after, .. } => Some(after.clone()),
            _ => None,
        };
        let symbol = match (&lines, &file.after) {
            (Some(lines), Some(after)) => {
                self.symbols.around(&file.path, &after.bytes, lines.clone())
            }
            _ => None,
        };
        let session = &self.reviewed.session;
        let mut authors = self.authors.authors(session, &file.path, lines.clone());
        authors.dedup();
        let checks = self.covered.checks(session, &file.path, lines);
        let risk = risk(&file.path, &part, !checks.is_empty());
        Hunk {
            id: self.id(file, &part, print),
            session: session.clone(),
            path: file.path.clone(),
            part,
            symbol,
            authors,
            checks,
            risk,
        }
    }

    fn id(&mut self, file: &File, part: &Part, print: &[u8]) -> HunkId {
        let kind: &[u8] = match part {
            Part::Lines { .. } => b"lines",
            Part::Mode { .. } => b"mode",
            Part::Name { .. } => b"name",
            Part::Whole { .. } => b"whole",
        };
        let whole = [file.session.as_bytes(), file.path.as_bytes(), kind, print].join(&0);
        let print = ContentHash::of(&whole).0;
        let count = self.seen.entry(print).or_default();
        *count += 1;
        match *count {
            1 => HunkId(print),
            count => {
                let again = [whole.as_slice(), &count.to_le_bytes()].concat();
                HunkId(ContentHash::of(&again).0)
            }
        }
    }
}

fn has_lines(version: &Version) -> bool {
    version.entry.mode.is_file() && !is_binary(&version.bytes)
}

pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

pub(super) fn cut<'l>(lines: &'l [&'l [u8]], range: &Range<u32>) -> &'l [&'l [u8]] {
    &lines[range.start as usize..range.end as usize]
}

/// Hunks by their ids.
pub(super) fn by_id(hunks: &[Hunk]) -> BTreeMap<HunkId, &Hunk> {
    hunks.iter().map(|hunk| (hunk.id, hunk)).collect()
}
