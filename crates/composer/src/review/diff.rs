//! Computes the hunks of sessions' changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use git::Repository;
use git::merge::{ObjectEntry, ObjectId, TreePath, is_binary, line_hunks};
use host::ContentHash;

use super::risk::risk;
use super::verdicts::VerdictHistory;
use super::{
    CheckCoverage, HunkChange, HunkId, LineAuthors, Review, ReviewFile, ReviewHunk, ReviewedVersion,
};
use crate::symbols::SymbolCache;
use crate::work::SessionChanges;

/// Number of context lines on each side that enter the id of a hunk.
const CONTEXT_LINES: u32 = 3;

impl Review {
    /// Builds the review of some sessions, each against the commit from which it started. All hunks
    /// are undecided. Fails if the repository cannot be read.
    pub fn build(
        repository: &Repository,
        sessions: &[SessionChanges],
        authors: &dyn LineAuthors,
        covered: &dyn CheckCoverage,
    ) -> Result<Self, git::Error> {
        let mut all = Vec::new();
        for reviewed in sessions {
            let base = repository.tree_of(&reviewed.base.0)?;
            let mut look = HunkBuilder {
                repository,
                reviewed,
                base,
                authors,
                covered,
                symbols: SymbolCache::default(),
                seen: HashMap::new(),
            };
            all.extend(look.files()?);
        }
        let weight = |(_, hunks): &(ReviewFile, Vec<ReviewHunk>)| {
            hunks.iter().map(|it| it.risk.weight).max()
        };
        all.sort_by(|one, two| {
            let name =
                |it: &(ReviewFile, Vec<ReviewHunk>)| (it.0.path.clone(), it.0.session.clone());
            weight(two)
                .cmp(&weight(one))
                .then_with(|| name(one).cmp(&name(two)))
        });
        let (files, hunks): (Vec<ReviewFile>, Vec<Vec<ReviewHunk>>) = all.into_iter().unzip();
        Ok(Self {
            hunks: Arc::new(hunks.into_iter().flatten().collect()),
            files: Arc::new(files),
            verdicts: VerdictHistory::default(),
        })
    }
}

struct HunkBuilder<'a> {
    repository: &'a Repository,
    reviewed: &'a SessionChanges,
    base: ObjectId,
    authors: &'a dyn LineAuthors,
    covered: &'a dyn CheckCoverage,
    symbols: SymbolCache,
    /// Number of equal changes so far, which keeps the ids of repeated hunks distinct.
    seen: HashMap<u128, u32>,
}

impl HunkBuilder<'_> {
    /// Returns the changed files of the session, in path order, each with its hunks. The old path
    /// of a renamed file is not listed. Fails if a content cannot be read.
    fn files(&mut self) -> Result<Vec<(ReviewFile, Vec<ReviewHunk>)>, git::Error> {
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
            let file = ReviewFile {
                session: self.reviewed.session.clone(),
                base: self.reviewed.base.clone(),
                path: path.clone(),
                renamed_from: was.cloned(),
                before: before.map(|entry| self.version(entry)).transpose()?,
                after: after.clone().map(|entry| self.version(entry)).transpose()?,
                hunks: Vec::new(),
            };
            let hunks = self.hunks(&file);
            let ids = hunks.iter().map(|hunk| hunk.id).collect();
            files.push((ReviewFile { hunks: ids, ..file }, hunks));
        }
        Ok(files)
    }

    /// Reads the content of an entry; fails if Git cannot read it.
    fn version(&self, entry: ObjectEntry) -> Result<ReviewedVersion, git::Error> {
        let bytes = self.repository.bytes_of(&entry)?;
        Ok(ReviewedVersion { entry, bytes })
    }

    fn hunks(&mut self, file: &ReviewFile) -> Vec<ReviewHunk> {
        let mut hunks = Vec::new();
        if let Some(from) = &file.renamed_from {
            let part = HunkChange::Name { from: from.clone() };
            hunks.push(self.hunk(file, part, from.as_bytes()));
        }
        let texts = match (&file.before, &file.after) {
            (Some(before), Some(after)) if has_lines(before) && has_lines(after) => (before, after),
            _ => {
                let entry =
                    |version: &Option<ReviewedVersion>| version.as_ref().map(|it| it.entry.clone());
                let (before, after) = (entry(&file.before), entry(&file.after));
                if before == after {
                    // The file was only renamed.
                    return hunks;
                }
                let print = format!("{before:?} {after:?}");
                let lacks_lines =
                    |it: &Option<ReviewedVersion>| it.as_ref().is_some_and(|it| !has_lines(it));
                let is_binary = lacks_lines(&file.before) || lacks_lines(&file.after);
                let part = HunkChange::Whole {
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
            let part = HunkChange::Mode {
                from: before.entry.mode,
                to: after.entry.mode,
            };
            let print = format!("{part:?}");
            hunks.push(self.hunk(file, part, print.as_bytes()));
        }
        let (old, new) = (split_lines(&before.bytes), split_lines(&after.bytes));
        for (before, after) in line_hunks(&before.bytes, &after.bytes) {
            let removed: Arc<[u8]> = slice_lines(&old, &before).concat().into();
            let added: Arc<[u8]> = slice_lines(&new, &after).concat().into();
            let above = before.start.saturating_sub(CONTEXT_LINES)..before.start;
            let below = before.end..(before.end + CONTEXT_LINES).min(old.len() as u32);
            let print = [
                slice_lines(&old, &above).concat(),
                removed.to_vec(),
                added.to_vec(),
                slice_lines(&old, &below).concat(),
            ]
            .join(&0);
            let part = HunkChange::Lines {
                before,
                after,
                removed,
                added,
            };
            hunks.push(self.hunk(file, part, &print));
        }
        hunks
    }

    fn hunk(&mut self, file: &ReviewFile, part: HunkChange, print: &[u8]) -> ReviewHunk {
        let lines = match &part {
            HunkChange::Lines { after, .. } => Some(after.clone()),
            _ => None,
        };
        let symbol = match (&lines, &file.after) {
            (Some(lines), Some(after)) => {
                self.symbols
                    .enclosing(&file.path, &after.bytes, lines.clone())
            }
            _ => None,
        };
        let session = &self.reviewed.session;
        let mut authors = self.authors.authors(session, &file.path, lines.clone());
        authors.dedup();
        let checks = self.covered.checks(session, &file.path, lines);
        let risk = risk(&file.path, &part, !checks.is_empty());
        ReviewHunk {
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

    fn id(&mut self, file: &ReviewFile, part: &HunkChange, print: &[u8]) -> HunkId {
        let kind: &[u8] = match part {
            HunkChange::Lines { .. } => b"lines",
            HunkChange::Mode { .. } => b"mode",
            HunkChange::Name { .. } => b"name",
            HunkChange::Whole { .. } => b"whole",
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

/// Returns whether a version is a text file, which can be compared by lines: no symlink, no binary.
fn has_lines(version: &ReviewedVersion) -> bool {
    version.entry.mode.is_file() && !is_binary(&version.bytes)
}

/// Splits bytes into lines, keeping their line feeds.
pub(super) fn split_lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the lines in `range`, which must lie within `lines`.
pub(super) fn slice_lines<'l>(lines: &'l [&'l [u8]], range: &Range<u32>) -> &'l [&'l [u8]] {
    &lines[range.start as usize..range.end as usize]
}

/// Indexes hunks by their ids.
pub(super) fn by_id(hunks: &[ReviewHunk]) -> BTreeMap<HunkId, &ReviewHunk> {
    hunks.iter().map(|hunk| (hunk.id, hunk)).collect()
}
