//! Answers a prefilter query: which files exist now, and which may match.

use std::path::Path;
use std::sync::{Arc, TryLockError};

use base::AbsPath;
use host::BulkStat;
use project::HiddenFiles;
use project::search::{CandidateFiles, Prefilter, PrefilterQuery, PrefilterResult};

use super::file_set::FileSet;
use super::file_table::{ContentState, FileTable};
use super::freshness::Freshness;
use super::listing;
use super::plan::TrigramPlan;
use super::segment::Torn;
use super::state::{TrigramState, lock};
use super::trigrams::Trigrams;
use super::version_check::{except, is_unchanged};

/// Maximum number of changed folders to list one by one; beyond that a walk is cheaper.
const FOLDERS: usize = 24;

impl Prefilter for Trigrams {
    fn candidates(&self, wanted: &PrefilterQuery<'_>) -> Option<PrefilterResult> {
        let state = &self.0;
        let bulk_stat = state
            .bulk_stat
            .as_ref()
            .filter(|bulk_stat| bulk_stat.is_in_place())?;
        let folder = wanted.root.relative_to(&state.root)?;
        // Read before `table`, which is then at least as new.
        let freshness = state.freshness(bulk_stat);
        let table = state.current();
        if table.folders.is_empty() {
            return None;
        }
        let fresh = wanted.walk.and_then(|hidden| {
            let table = state.up_to_date(bulk_stat, &table, freshness.as_deref())?;
            let chosen = chosen(&table, folder, hidden)?;
            Some((table, chosen))
        });
        let is_whole = fresh.is_some();
        let (table, chosen) = fresh.unwrap_or_else(|| {
            let all = (0..table.files.len()).collect();
            (table, all)
        });
        let plan = TrigramPlan::of(wanted.query);
        let Ok(bits) = search(&table, &plan) else {
            state.give_up();
            return None;
        };
        let files = Box::new(TrigramCandidates {
            state: Arc::clone(state),
            table,
            freshness,
            bits,
            chosen,
        });
        Some(if is_whole {
            PrefilterResult::Complete(files)
        } else {
            PrefilterResult::Partial(files)
        })
    }
}

/// Returns the files that a walk from `folder` visits; `None` if that folder is not walked.
fn chosen(table: &FileTable, folder: &Path, hidden: HiddenFiles) -> Option<Vec<usize>> {
    let is_known = table.folders.get(table.folder(folder)?)?;
    let below = table.files_below(folder);
    match hidden {
        HiddenFiles::Visit => Some(below.collect()),
        HiddenFiles::Skip if !is_known.is_plain => None,
        HiddenFiles::Skip => Some(below.filter(|ix| table.files[*ix].is_plain).collect()),
    }
}

/// Returns for each segment the files that the plan selects. Returns an error if one is damaged.
fn search(table: &FileTable, plan: &TrigramPlan) -> Result<Vec<FileSet>, Torn> {
    let segments = table.segments.iter();
    segments.map(|held| held.segment.search(plan)).collect()
}

impl TrigramState {
    /// Returns the index with its files and folders brought up to date; `None` if that requires a
    /// walk.
    fn up_to_date(
        self: &Arc<Self>,
        bulk_stat: &BulkStat,
        table: &Arc<FileTable>,
        freshness: Option<&Freshness>,
    ) -> Option<Arc<FileTable>> {
        if table.has_problems {
            return None;
        }
        if table.rules != Some(listing::fingerprint(&self.root, table)) {
            self.refresh_in_background();
            return None;
        }
        let looks_so = |ix: usize| {
            let folder = &table.folders[ix];
            is_unchanged(bulk_stat, table.path(folder.name), folder.mark)
        };
        let changed = match freshness {
            None => except(table.folders.len(), looks_so),
            Some(freshness) => {
                let mut doubtful = freshness.doubtful_folders(table);
                doubtful.retain(|ix| !looks_so(*ix));
                doubtful
            }
        };
        if changed.is_empty() {
            return Some(Arc::clone(table));
        }
        // If another thread is updating, this search walks.
        let upkeep = match self.upkeep.try_lock() {
            Ok(upkeep) => upkeep,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let is_current = Arc::ptr_eq(table, &self.current());
        let listed = (is_current && changed.len() <= FOLDERS)
            .then(|| listing::list_folders(&self.root, bulk_stat, table, &changed))
            .flatten();
        let Some(listed) = listed else {
            drop(upkeep);
            self.refresh_in_background();
            return None;
        };
        self.publish(listed);
        Some(self.current())
    }

    /// Returns the freshness information if it is still valid.
    fn freshness(self: &Arc<Self>, bulk_stat: &BulkStat) -> Option<Arc<Freshness>> {
        let freshness = lock(&self.freshness).clone()?;
        let holds = freshness.catch_up();
        if !holds || freshness.is_due(bulk_stat.now()) {
            self.refresh_in_background();
        }
        holds.then_some(freshness)
    }

    /// Discards everything that is known.
    fn give_up(self: &Arc<Self>) {
        let sentence = format!(
            "the text index in {} is rebuilt: a segment is damaged",
            self.store
        );
        self.note(sentence);
        *lock(&self.table) = Arc::default();
        self.refresh_in_background();
    }
}

/// The candidate files of one search.
struct TrigramCandidates {
    state: Arc<TrigramState>,
    table: Arc<FileTable>,
    freshness: Option<Arc<Freshness>>,
    /// For each segment, the files that satisfy the plan.
    bits: Vec<FileSet>,
    /// Indices of files, ascending.
    chosen: Vec<usize>,
}

impl CandidateFiles for TrigramCandidates {
    fn count(&self) -> usize {
        self.chosen.len()
    }

    fn path(&self, ix: usize) -> AbsPath {
        let file = &self.table.files[self.chosen[ix]];
        self.state.root.join(self.table.path(file.name))
    }

    fn position(&self, path: &AbsPath) -> Option<usize> {
        let file = self.table.file(path.relative_to(&self.state.root)?)?;
        self.chosen.binary_search(&file).ok()
    }

    fn may_match(&self, ix: usize) -> bool {
        let file = &self.table.files[self.chosen[ix]];
        let mark = match file.content {
            ContentState::Unread | ContentState::Opaque(_) => return true,
            ContentState::Binary(mark) => mark,
            ContentState::Grams {
                mark,
                segment,
                file,
            } => {
                let bits = self.bits.get(segment as usize);
                if bits.is_none_or(|bits| bits.contains(file)) {
                    return true;
                }
                mark
            }
        };
        let path = self.table.path(file.name);
        let freshness = self.freshness.as_ref();
        if freshness.is_some_and(|freshness| freshness.is_unchanged(path)) {
            return false;
        }
        let bulk_stat = self.state.bulk_stat.as_ref();
        !bulk_stat.is_some_and(|bulk_stat| is_unchanged(bulk_stat, path, Some(mark)))
    }
}
