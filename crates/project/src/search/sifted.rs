//! Searching files that a sieve lists, on threads of our own.

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Eye, Run, Sifted};
use crate::walk::Globs;

/// Files that a thread takes at a time: enough that taking costs nothing, few enough that the last ones are shared.
const BATCH: usize = 64;
/// As many threads as the walk takes at most.
const THREADS: usize = 12;

impl Run<'_> {
    /// Looks into those of `files` that the globs leave and that may match.
    pub(super) fn sifted(&self, files: &dyn Sifted, globs: &Globs) {
        let sifting = Sifting {
            run: self,
            files,
            globs,
            next: AtomicUsize::new(0),
            unsaved: self.positions_of_unsaved(files),
        };
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.min(THREADS).min(files.count() / BATCH + 1);
        thread::scope(|scope| {
            for _ in 1..threads {
                // A thread that cannot be had leaves its share to the others.
                let builder = thread::Builder::new().name("search".to_owned());
                builder.spawn_scoped(scope, || sifting.work()).ok();
            }
            sifting.work();
        });
    }

    fn positions_of_unsaved(&self, files: &dyn Sifted) -> HashSet<usize> {
        let unsaved = self.scope.unsaved.keys();
        unsaved.filter_map(|path| files.position(path)).collect()
    }
}

struct Sifting<'a> {
    run: &'a Run<'a>,
    files: &'a dyn Sifted,
    globs: &'a Globs,
    /// The first file that nobody took yet.
    next: AtomicUsize,
    /// Files that are looked into in any case.
    unsaved: HashSet<usize>,
}

impl Sifting<'_> {
    fn work(&self) {
        let (mut eye, mut globs) = (None, self.globs.clone());
        loop {
            let first = self.next.fetch_add(BATCH, Ordering::Relaxed);
            let last = self.files.count().min(first + BATCH);
            if first >= last || self.run.is_over() {
                return;
            }
            for ix in first..last {
                self.file(ix, &mut globs, &mut eye);
            }
        }
    }

    fn file(&self, ix: usize, globs: &mut Globs, eye: &mut Option<Eye>) {
        if !self.unsaved.contains(&ix) && !self.files.may_match(ix) {
            self.run.searched.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let path = self.files.path(ix);
        if globs.take(&path) && !self.run.is_over() {
            let eye = eye.get_or_insert_with(|| self.run.eye());
            self.run.visit(eye, path);
        }
    }
}
