//! Searches the files listed by a prefilter, on several threads.

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{CandidateFiles, SearchRun, SearchWorker};
use crate::walk::Globs;

/// Number of files that a thread claims at a time: large enough to make claiming cheap, small
/// enough to balance the end.
const BATCH: usize = 64;
/// Maximum number of threads, the same as for the walk.
const MAX_THREADS: usize = 12;

impl SearchRun<'_> {
    /// Searches those of `files` that pass the globs and may match.
    pub(super) fn search_candidates(&self, files: &dyn CandidateFiles, globs: &Globs) {
        let sifting = PrefilteredSearch {
            run: self,
            files,
            globs,
            next: AtomicUsize::new(0),
            unsaved: self.positions_of_unsaved(files),
        };
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.min(MAX_THREADS).min(files.count() / BATCH + 1);
        thread::scope(|scope| {
            for _ in 1..threads {
                // If a thread cannot start, the others do its share.
                let builder = thread::Builder::new().name("search".to_owned());
                builder.spawn_scoped(scope, || sifting.work()).ok();
            }
            sifting.work();
        });
    }

    /// Returns the positions in `files` of those with unsaved text.
    fn positions_of_unsaved(&self, files: &dyn CandidateFiles) -> HashSet<usize> {
        let unsaved = self.scope.unsaved.keys();
        unsaved.filter_map(|path| files.position(path)).collect()
    }
}

struct PrefilteredSearch<'a> {
    run: &'a SearchRun<'a>,
    files: &'a dyn CandidateFiles,
    globs: &'a Globs,
    /// Index of the first unclaimed file.
    next: AtomicUsize,
    /// Files to search in any case, since their text is unsaved.
    unsaved: HashSet<usize>,
}

impl PrefilteredSearch<'_> {
    fn work(&self) {
        let (mut worker, mut globs) = (None, self.globs.clone());
        loop {
            let first = self.next.fetch_add(BATCH, Ordering::Relaxed);
            let last = self.files.count().min(first + BATCH);
            if first >= last || self.run.is_over() {
                return;
            }
            for ix in first..last {
                self.file(ix, &mut globs, &mut worker);
            }
        }
    }

    fn file(&self, ix: usize, globs: &mut Globs, worker: &mut Option<SearchWorker>) {
        if !self.unsaved.contains(&ix) && !self.files.may_match(ix) {
            self.run.searched.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let path = self.files.path(ix);
        if globs.includes(&path) && !self.run.is_over() {
            let worker = worker.get_or_insert_with(|| self.run.worker());
            self.run.visit(worker, path);
        }
    }
}
