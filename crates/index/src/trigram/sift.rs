//! Answering a search: which files there are now, and which may match.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;

use base::AbsPath;
use host::{Mark, Survey};
use project::Hidden;
use project::search::{Sieve, Sift, Sifted, Wanted};

use super::bits::Bits;
use super::known::{Content, Known};
use super::plan::Plan;
use super::segment::Torn;
use super::trust::Trust;
use super::{Inner, Trigrams, listing, lock};

/// With more changed folders than this a walk costs less than listing them one by one.
const FOLDERS: usize = 24;

impl Sieve for Trigrams {
    fn sift(&self, wanted: &Wanted<'_>) -> Option<Sift> {
        let inner = &self.0;
        let survey = inner
            .survey
            .as_ref()
            .filter(|survey| survey.is_in_place())?;
        let folder = wanted.root.relative_to(&inner.root)?;
        // Before `known`, which is then no older than what is vouched for.
        let trust = inner.trust(survey);
        let known = inner.known();
        if known.folders.is_empty() {
            return None;
        }
        let fresh = wanted.walk.and_then(|hidden| {
            let known = inner.fresh(survey, &known, trust.as_deref())?;
            let chosen = chosen(&known, folder, hidden)?;
            Some((known, chosen))
        });
        let is_whole = fresh.is_some();
        let (known, chosen) = fresh.unwrap_or_else(|| {
            let all = (0..known.files.len()).collect();
            (known, all)
        });
        let plan = Plan::of(wanted.query);
        let Ok(bits) = search(&known, &plan) else {
            inner.give_up();
            return None;
        };
        let files = Box::new(Sifting {
            inner: Arc::clone(inner),
            known,
            trust,
            bits,
            chosen,
        });
        Some(match is_whole {
            true => Sift::Whole(files),
            false => Sift::Part(files),
        })
    }
}

/// The files that a walk from `folder` visits; `None` where that folder is not one of those that are walked.
fn chosen(known: &Known, folder: &Path, hidden: Hidden) -> Option<Vec<usize>> {
    let is_known = known.folders.get(known.folder(folder)?)?;
    let below = known.below(folder);
    match hidden {
        Hidden::Visit => Some(below.collect()),
        Hidden::Skip if !is_known.is_plain => None,
        Hidden::Skip => Some(below.filter(|ix| known.files[*ix].is_plain).collect()),
    }
}

fn search(known: &Known, plan: &Plan) -> Result<Vec<Bits>, Torn> {
    let segments = known.segments.iter();
    segments.map(|held| held.segment.search(plan)).collect()
}

impl Inner {
    /// What is known, with its files and folders as they are now; `None` where that takes a walk.
    fn fresh(
        self: &Arc<Self>,
        survey: &Survey,
        known: &Arc<Known>,
        trust: Option<&Trust>,
    ) -> Option<Arc<Known>> {
        if known.has_problems {
            return None;
        }
        if known.rules != Some(listing::fingerprint(&self.root, known)) {
            self.wake();
            return None;
        }
        let looks_so = |ix: usize| {
            let folder = &known.folders[ix];
            looks_so(survey, known.path(folder.name), folder.mark)
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
        // Where somebody else is at it, this search walks.
        let upkeep = match self.upkeep.try_lock() {
            Ok(upkeep) => upkeep,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let is_current = Arc::ptr_eq(known, &self.known());
        let listed = (is_current && changed.len() <= FOLDERS)
            .then(|| listing::list_folders(&self.root, survey, known, &changed))
            .flatten();
        let Some(listed) = listed else {
            drop(upkeep);
            self.wake();
            return None;
        };
        self.publish(listed);
        Some(self.known())
    }

    /// What holds now without a look at the disk, if anything does.
    fn trust(self: &Arc<Self>, survey: &Survey) -> Option<Arc<Trust>> {
        let trust = lock(&self.trust).clone()?;
        let holds = trust.catch_up();
        if !holds || trust.is_due(survey.moment()) {
            self.wake();
        }
        holds.then_some(trust)
    }

    /// Nothing of what is known can be relied on.
    fn give_up(self: &Arc<Self>) {
        let sentence = format!(
            "the text index in {} is made anew: a segment is damaged",
            self.store
        );
        self.note(sentence);
        *lock(&self.known) = Arc::default();
        self.wake();
    }
}

/// Whether something looks as it did.
pub(super) fn looks_so(survey: &Survey, path: &Path, mark: Option<Mark>) -> bool {
    mark.is_some() && survey.mark(path) == mark
}

/// The numbers below `count` for which `holds` says no. Asked on two threads where there are many.
pub(super) fn except(count: usize, holds: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
    /// With fewer, another thread is not worth starting.
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

/// The files of one search.
struct Sifting {
    inner: Arc<Inner>,
    known: Arc<Known>,
    trust: Option<Arc<Trust>>,
    /// For each segment, the files that satisfy the plan.
    bits: Vec<Bits>,
    /// Numbers of files, growing.
    chosen: Vec<usize>,
}

impl Sifted for Sifting {
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
            Content::Unread | Content::Opaque(_) => return true,
            Content::Binary(mark) => mark,
            Content::Grams {
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
        let trust = self.trust.as_ref();
        if trust.is_some_and(|trust| trust.vouches_for(path)) {
            return false;
        }
        let survey = self.inner.survey.as_ref();
        !survey.is_some_and(|survey| looks_so(survey, path, Some(mark)))
    }
}
