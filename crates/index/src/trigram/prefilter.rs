//! Answers a prefilter query: which files exist now, and which may match.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;

use base::AbsPath;
use host::{BulkStat, FileVersion};
use project::HiddenFiles;
use project::search::{CandidateFiles, Prefilter, PrefilterQuery, PrefilterResult};

use super::file_set::FileSet;
use super::file_table::{ContentState, FileTable};
use super::freshness::Freshness;
use super::plan::TrigramPlan;
use super::segment::Torn;
use super::{TrigramState, Trigrams, listing, lock};

/// Maximum number of changed folders to list one by one; beyond that a walk is cheaper.
const FOLDERS: usize = 24;

impl Prefilter for Trigrams {
    fn candidates(&self, wanted: &PrefilterQuery<'_>) -> Option<PrefilterResult> {
        let inner = &self.0;
        let survey = inner
            .bulk_stat
            .as_ref()
            .filter(|survey| survey.is_in_place())?;
        let folder = wanted.root.relative_to(&inner.root)?;
        // Read before `known`, which is then at least as new.
        let trust = inner.freshness(survey);
        let known = inner.current();
        if known.folders.is_empty() {
            return None;
        }
        let fresh = wanted.walk.and_then(|hidden| {
            let known = inner.up_to_date(survey, &known, trust.as_deref())?;
            let chosen = chosen(&known, folder, hidden)?;
            Some((known, chosen))
        });
        let is_whole = fresh.is_some();
        let (known, chosen) = fresh.unwrap_or_else(|| {
            let all = (0..known.files.len()).collect();
            (known, all)
        });
        let plan = TrigramPlan::of(wanted.query);
        let Ok(bits) = search(&known, &plan) else {
            inner.give_up();
            return None;
        };
        let files = Box::new(TrigramCandidates {
            inner: Arc::clone(inner),
            known,
            freshness: trust,
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
fn chosen(known: &FileTable, folder: &Path, hidden: HiddenFiles) -> Option<Vec<usize>> {
    let is_known = known.folders.get(known.folder(folder)?)?;
    let below = known.files_below(folder);
    match hidden {
        HiddenFiles::Visit => Some(below.collect()),
        HiddenFiles::Skip if !is_known.is_plain => None,
        HiddenFiles::Skip => Some(below.filter(|ix| known.files[*ix].is_plain).collect()),
    }
}

fn search(known: &FileTable, plan: &TrigramPlan) -> Result<Vec<FileSet>, Torn> {
    let segments = known.segments.iter();
    segments.map(|held| held.segment.search(plan)).collect()
}

impl TrigramState {
    /// Returns the index with its files and folders brought up to date; `None` if that requires a
    /// walk.
    fn up_to_date(
        self: &Arc<Self>,
        survey: &BulkStat,
        known: &Arc<FileTable>,
        trust: Option<&Freshness>,
    ) -> Option<Arc<FileTable>> {
        if known.has_problems {
            return None;
        }
        if known.rules != Some(listing::fingerprint(&self.root, known)) {
            self.refresh_in_background();
            return None;
        }
        let looks_so = |ix: usize| {
            let folder = &known.folders[ix];
            is_unchanged(survey, known.path(folder.name), folder.mark)
        };
        let changed = match trust {
            None => except(known.folders.len(), looks_so),
            Some(trust) => {
                let mut doubtful = trust.doubtful_folders(known);
                doubtful.retain(|ix| !looks_so(*ix));
                doubtful
            }
        };
        if changed.is_empty() {
            return Some(Arc::clone(known));
        }
        // If another thread is updating, this search walks.
        let upkeep = match self.upkeep.try_lock() {
            Ok(upkeep) => upkeep,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let is_current = Arc::ptr_eq(known, &self.current());
        let listed = (is_current && changed.len() <= FOLDERS)
            .then(|| listing::list_folders(&self.root, survey, known, &changed))
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
    fn freshness(self: &Arc<Self>, survey: &BulkStat) -> Option<Arc<Freshness>> {
        let trust = lock(&self.freshness).clone()?;
        let holds = trust.catch_up();
        if !holds || trust.is_due(survey.now()) {
            self.refresh_in_background();
        }
        holds.then_some(trust)
    }

    /// Discards everything that is known.
    fn give_up(self: &Arc<Self>) {
        let sentence = format!(
            "the text index in {} is rebuilt: a segment is damaged",
            self.store
        );
        self.note(sentence);
        *lock(&self.known) = Arc::default();
        self.refresh_in_background();
    }
}

/// Returns whether a path's version is unchanged.
pub(super) fn is_unchanged(survey: &BulkStat, path: &Path, mark: Option<FileVersion>) -> bool {
    mark.is_some() && survey.version(path) == mark
}

/// Returns the numbers below `count` for which `holds` is false. Runs on two threads if there are
/// many.
pub(super) fn except(count: usize, holds: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
    /// Below this count a second thread is not worth starting.
    const ALONE: usize = 1500;
    let look =
        |range: std::ops::Range<usize>| -> Vec<usize> { range.filter(|ix| !holds(*ix)).collect() };
    if count <= ALONE {
        return look(0..count);
    }
    let second = Mutex::new(None);
    let mut first = thread::scope(|scope| {
        let builder = thread::Builder::new().name("search".to_owned());
        let other = builder.spawn_scoped(scope, || {
            let found = look(count / 2..count);
            *second.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        });
        drop(other);
        look(0..count / 2)
    });
    let second = second.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.extend(second.unwrap_or_else(|| look(count / 2..count)));
    first
}

/// The candidate files of one search.
struct TrigramCandidates {
    inner: Arc<TrigramState>,
    known: Arc<FileTable>,
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
        let file = &self.known.files[self.chosen[ix]];
        self.inner.root.join(self.known.path(file.name))
    }

    fn position(&self, path: &AbsPath) -> Option<usize> {
        let file = self.known.file(path.relative_to(&self.inner.root)?)?;
        self.chosen.binary_search(&file).ok()
    }

    fn may_match(&self, ix: usize) -> bool {
        let file = &self.known.files[self.chosen[ix]];
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
        let path = self.known.path(file.name);
        let trust = self.freshness.as_ref();
        if trust.is_some_and(|trust| trust.is_unchanged(path)) {
            return false;
        }
        let survey = self.inner.bulk_stat.as_ref();
        !survey.is_some_and(|survey| is_unchanged(survey, path, Some(mark)))
    }
}
