//! Text search over a project.
//!
//! Files are decoded as the editor opens them, so byte offsets are those of a document; binary files are left out.
//! Patterns mean what they mean in the find bar. Results are streamed, in no fixed order of files. Unsaved buffers are
//! searched instead of their files. A `Sieve` may spare it files; the results are the same.
//! Blocking and long: run it off the UI thread. Start at `search`.

mod found;
mod query;
mod reading;
mod sieve;
mod sifted;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use async_channel::Sender;
use base::AbsPath;
use caret::find::{Matcher, Searcher};
use host::{Error, Files, RealFiles};
use text::Snapshot;

use crate::walk::{Globs, Ground, Ignored, WalkOptions, WalkProblem, walk_with};

pub use found::{FileMatches, FoundRow, TextMatch};
pub use query::{BadQuery, Case, SearchQuery, Syntax};
pub use sieve::{Sieve, Sift, Sifted, Wanted};

/// What a running search says.
#[derive(Clone, Debug)]
pub enum SearchEvent {
    /// A file with at least one match.
    File(FileMatches),
    /// A file or folder that could not be searched.
    Problem(WalkProblem),
    /// The end, unless the receiver went away before.
    Done(SearchSummary),
}

/// The search as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchSummary {
    /// Files that were looked into, or that a sieve knew to hold no match (globs may have left out some of these).
    pub files_searched: usize,
    /// Files with a match.
    pub files_matched: usize,
    /// Matches in all of them.
    pub matches: usize,
    /// Whether it ended at `SearchQuery::limit`, with more to be found.
    pub is_cut: bool,
}

/// What a glob in `WalkOptions::include` does to files that do not count otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Includes {
    /// It takes them in, as `rg -g` does: what is named counts, though rules ignore it.
    #[default]
    Widen,
    /// It only narrows what counts anyway.
    Narrow,
}

/// Where to search and what stands in for what is on disk.
pub struct SearchScope {
    /// The disk, or what a test has instead.
    pub ground: Ground,
    /// The folder.
    pub root: AbsPath,
    /// Buffers with unsaved text, by path.
    pub unsaved: HashMap<AbsPath, Snapshot>,
    /// What globs that include files do.
    pub includes: Includes,
    /// What may spare files; used on the disk only.
    pub sieve: Option<Arc<dyn Sieve>>,
}

impl SearchScope {
    /// All of a folder, nothing unsaved, no sieve.
    pub fn new(ground: Ground, root: AbsPath) -> Self {
        Self {
            ground,
            root,
            unsaved: HashMap::new(),
            includes: Includes::default(),
            sieve: None,
        }
    }

    /// With texts in place of their files.
    pub fn with_unsaved(self, unsaved: HashMap<AbsPath, Snapshot>) -> Self {
        Self { unsaved, ..self }
    }

    /// With what knows the files, if anything does.
    pub fn with_sieve(self, sieve: Option<Arc<dyn Sieve>>) -> Self {
        Self { sieve, ..self }
    }

    /// With another meaning of globs that include.
    pub fn with_includes(self, includes: Includes) -> Self {
        Self { includes, ..self }
    }

    fn sift(&self, query: &SearchQuery, walked: &WalkOptions) -> Option<Sift> {
        let sieve = self.sieve.as_ref()?;
        if !matches!(self.ground, Ground::Disk) {
            return None;
        }
        let by_rules = walked.include.is_empty() && walked.ignored == Ignored::Skip;
        sieve.sift(&Wanted {
            root: &self.root,
            query,
            walk: by_rules.then_some(walked.hidden),
        })
    }
}

/// Searches until done, cancelled, at the limit, or until the receiver is dropped. The channel
/// should be bounded: a full one makes the search wait for its reader.
pub fn search(
    query: &SearchQuery,
    scope: &SearchScope,
    cancel: &AtomicBool,
    events: &Sender<SearchEvent>,
) -> Result<SearchSummary, BadQuery> {
    let matcher = query.matcher()?;
    let run = Run {
        query,
        scope,
        matcher,
        large: Mutex::new(()),
        events,
        stop: AtomicBool::new(false),
        searched: AtomicUsize::new(0),
        matched: AtomicUsize::new(0),
        matches: AtomicUsize::new(0),
        cut: AtomicBool::new(false),
        cancel,
    };
    // Globs that only narrow are looked at behind the walk, which then goes by rules alone.
    let mut walked = query.files.clone();
    if scope.includes == Includes::Narrow {
        walked.include.clear();
    }
    let globs = Globs::new(&scope.root, &query.files)?;
    match scope.sift(query, &walked) {
        Some(Sift::Whole(files)) => run.sifted(files.as_ref(), &globs),
        Some(Sift::Part(files)) => run.walked(&walked, &globs, Some(files.as_ref()))?,
        None => run.walked(&walked, &globs, None)?,
    }
    let summary = run.summary();
    // A reader that went away wants no summary.
    events.send_blocking(SearchEvent::Done(summary)).ok();
    Ok(summary)
}

struct Run<'a> {
    query: &'a SearchQuery,
    scope: &'a SearchScope,
    matcher: Matcher,
    /// Held while a large file is in memory.
    large: Mutex<()>,
    events: &'a Sender<SearchEvent>,
    /// Ends the walk.
    stop: AtomicBool,
    searched: AtomicUsize,
    matched: AtomicUsize,
    matches: AtomicUsize,
    cut: AtomicBool,
    cancel: &'a AtomicBool,
}

/// What a thread searches with.
struct Eye {
    searcher: Searcher,
    /// The content of the last file.
    bytes: Vec<u8>,
}

impl Run<'_> {
    fn eye(&self) -> Eye {
        Eye {
            searcher: Searcher::new(&self.matcher),
            bytes: Vec::new(),
        }
    }

    /// Looks into whatever the walk finds, but for what `known` says cannot match.
    fn walked(
        &self,
        walked: &WalkOptions,
        globs: &Globs,
        known: Option<&dyn Sifted>,
    ) -> Result<(), BadQuery> {
        let scope = self.scope;
        walk_with(&scope.ground, &scope.root, walked, &self.stop, &|| {
            let mut eye = self.eye();
            let mut globs = globs.clone();
            Box::new(move |found| {
                if self.is_over() {
                    return;
                }
                match found {
                    Ok(path) if scope.includes == Includes::Narrow && !globs.take(&path) => {}
                    Ok(path) if self.is_spared(known, &path) => {
                        self.searched.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(path) => self.visit(&mut eye, path),
                    Err(problem) => self.send(SearchEvent::Problem(problem)),
                }
            })
        })?;
        Ok(())
    }

    fn is_spared(&self, known: Option<&dyn Sifted>, path: &AbsPath) -> bool {
        let Some(known) = known.filter(|_| !self.scope.unsaved.contains_key(path)) else {
            return false;
        };
        let position = known.position(path);
        position.is_some_and(|ix| !known.may_match(ix))
    }

    /// Whether there is nothing more to do.
    fn is_over(&self) -> bool {
        if self.cancel.load(Ordering::Relaxed) {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn visit(&self, eye: &mut Eye, path: AbsPath) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        match self.search_file(eye, &path) {
            Ok(None) => {}
            Ok(Some(found)) => self.found(found),
            Err(mut error) => {
                error.doing = "search";
                self.send(SearchEvent::Problem(WalkProblem(error.to_string())));
            }
        }
    }

    fn search_file(&self, eye: &mut Eye, path: &AbsPath) -> Result<Option<FileMatches>, Error> {
        let Eye { searcher, bytes } = eye;
        let mut find =
            |text: &str| found::matches_in(path, text, searcher, self.query, &|| self.is_over());
        if let Some(snapshot) = self.scope.unsaved.get(path) {
            return Ok(find(&snapshot.to_string()));
        }
        let alone = || self.large.lock().unwrap_or_else(PoisonError::into_inner);
        let files: &dyn Files = match &self.scope.ground {
            Ground::Disk => &RealFiles,
            Ground::Listed(files) => files.as_ref(),
        };
        reading::with_text(files, path, bytes, alone, find)
    }

    fn found(&self, mut found: FileMatches) {
        let count: usize = found.rows.iter().map(FoundRow::match_count).sum();
        let before = self.matches.fetch_add(count, Ordering::Relaxed);
        if before >= self.query.limit {
            self.cut.store(true, Ordering::Relaxed);
            self.matches.fetch_sub(count, Ordering::Relaxed);
            return self.stop.store(true, Ordering::Relaxed);
        }
        if before + count > self.query.limit {
            let kept = found::keep_matches(&mut found.rows, self.query.limit - before);
            self.matches.fetch_sub(count - kept, Ordering::Relaxed);
            self.cut.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
        self.matched.fetch_add(1, Ordering::Relaxed);
        self.send(SearchEvent::File(found));
    }

    fn send(&self, event: SearchEvent) {
        if self.events.send_blocking(event).is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn summary(&self) -> SearchSummary {
        SearchSummary {
            files_searched: self.searched.load(Ordering::Relaxed),
            files_matched: self.matched.load(Ordering::Relaxed),
            matches: self.matches.load(Ordering::Relaxed),
            is_cut: self.cut.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests;
