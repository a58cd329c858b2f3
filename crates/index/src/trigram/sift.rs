//! Answering a search: which files there are now, and which may match.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;

use base::AbsPath;
use host::{Mark, Survey};
use project::Hidden;
use project::search::{Sieve, Sift, Sifted, Wanted};

use super::bits::Bits;
use super::known::{Content, Known, Name};
use super::plan::Plan;
use super::segment::Torn;
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
        let known = inner.known();
        if known.folders.is_empty() {
            return None;
        }
        let fresh = wanted.walk.and_then(|hidden| {
            let known = inner.fresh(survey, &known)?;
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
            bits,
            chosen,
            spans_rows: wanted.query.spans_rows(),
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
    fn fresh(self: &Arc<Self>, survey: &Survey, known: &Arc<Known>) -> Option<Arc<Known>> {
        if known.has_problems {
            return None;
        }
        if known.rules != Some(listing::fingerprint(&self.root, known)) {
            self.wake();
            return None;
        }
        let changed = changed(survey, known, known.folders.len(), |ix| {
            let folder = &known.folders[ix];
            (folder.name, folder.mark)
        });
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

/// The numbers of things that do not look any more as they did.
pub(super) fn changed(
    survey: &Survey,
    known: &Known,
    count: usize,
    entry: impl Fn(usize) -> (Name, Option<Mark>) + Sync,
) -> Vec<usize> {
    /// With fewer, another thread is not worth starting.
    const ALONE: usize = 1500;
    let look = |range: std::ops::Range<usize>| -> Vec<usize> {
        range
            .filter(|ix| {
                let (name, mark) = entry(*ix);
                mark.is_none() || survey.mark(known.path(name)) != mark
            })
            .collect()
    };
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
    /// For each segment, the files that satisfy the plan.
    bits: Vec<Bits>,
    /// Numbers of files, growing.
    chosen: Vec<usize>,
    spans_rows: bool,
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
            // Where rows are joined, only the first piece of a file is looked at for zero bytes.
            Content::Binary(_) if self.spans_rows => return true,
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
        let survey = self.inner.survey.as_ref();
        let now = survey.and_then(|survey| survey.mark(self.known.path(file.name)));
        now != Some(mark)
    }
}
