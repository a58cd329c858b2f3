//! Text search over a project.
//!
//! Files are decoded as the editor opens them, so byte offsets match those of a document; binary
//! files are skipped. Patterns have the same meaning as in the find bar. Results are streamed,
//! files in no fixed order. Unsaved buffers replace their files. A `Prefilter` may rule out files
//! without reading them; the results are the same. Blocking and long: run it off the UI thread.
//! Start at `search`.

mod matches;
mod prefilter;
mod prefiltered;
mod query;
mod reading;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use async_channel::Sender;
use base::AbsPath;
use caret::find::{Matcher, Searcher};
use host::{Error, Files, RealFiles};
use text::Snapshot;

use crate::walk::{Globs, IgnoredFiles, WalkBackend, WalkOptions, WalkProblem, walk_with};

pub use matches::{FileMatches, MatchingRow, TextMatch};
pub use prefilter::{CandidateFiles, Prefilter, PrefilterQuery, PrefilterResult};
pub use query::{BadQuery, CaseSensitivity, SearchQuery, Syntax};

/// An event of a running search: the matches of a file, a problem, or the end.
#[derive(Clone, Debug)]
pub enum SearchEvent {
    /// A file with at least one match.
    File(FileMatches),
    /// A file or folder that could not be searched.
    Problem(WalkProblem),
    /// The end of the search, unless the receiver was dropped before.
    Done(SearchSummary),
}

/// Totals of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchSummary {
    /// Files that were read, or that a prefilter ruled out (globs may have excluded some of these).
    pub files_searched: usize,
    /// Files with a match.
    pub files_matched: usize,
    /// Matches in all files together.
    pub matches: usize,
    /// Whether the search stopped at `SearchQuery::limit` before the end.
    pub is_cut: bool,
}

/// The effect of an include glob in `WalkOptions::include` on ignored files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Includes {
    /// Adds files, as `rg -g` does: a matching file counts even if it is ignored.
    #[default]
    Widen,
    /// Only narrows the files that count anyway.
    Narrow,
}

/// The files to search, and the unsaved texts that replace some of them.
pub struct SearchScope {
    /// File system to search: the disk, or a fake in tests.
    pub backend: WalkBackend,
    /// Root folder of the search.
    pub root: AbsPath,
    /// Buffers with unsaved text, by path.
    pub unsaved: HashMap<AbsPath, Snapshot>,
    /// Effect of include globs on ignored files.
    pub includes: Includes,
    /// Prefilter that rules out files; used only on the disk.
    pub prefilter: Option<Arc<dyn Prefilter>>,
}

impl SearchScope {
    /// Searches a whole folder, without unsaved texts or a prefilter.
    pub fn new(backend: WalkBackend, root: AbsPath) -> Self {
        Self {
            backend,
            root,
            unsaved: HashMap::new(),
            includes: Includes::default(),
            prefilter: None,
        }
    }

    /// Adds unsaved texts that replace their files.
    pub fn with_unsaved(self, unsaved: HashMap<AbsPath, Snapshot>) -> Self {
        Self { unsaved, ..self }
    }

    /// Sets the prefilter, if there is one.
    pub fn with_prefilter(self, prefilter: Option<Arc<dyn Prefilter>>) -> Self {
        Self { prefilter, ..self }
    }

    /// Sets the effect of include globs.
    pub fn with_includes(self, includes: Includes) -> Self {
        Self { includes, ..self }
    }

    /// Returns the prefilter's files and which of them may match. Returns `None` if there is no
    /// prefilter, the backend is not the disk, or the prefilter does not know; the search then
    /// walks the folder and reads all files.
    fn prefilter_candidates(
        &self,
        query: &SearchQuery,
        walked: &WalkOptions,
    ) -> Option<PrefilterResult> {
        let prefilter = self.prefilter.as_ref()?;
        if !matches!(self.backend, WalkBackend::Disk) {
            return None;
        }
        let by_rules = walked.include.is_empty() && walked.ignored == IgnoredFiles::Skip;
        prefilter.candidates(&PrefilterQuery {
            root: &self.root,
            query,
            walk: by_rules.then_some(walked.hidden),
        })
    }
}

/// Searches until done, cancelled, at the limit, or until the receiver is dropped; the results
/// arrive as `events`. Use a bounded channel: while it is full, the search waits for its reader.
/// Blocks; runs on several threads.
///
/// # Errors
///
/// Fails before the search if the pattern or a glob is invalid. Files that cannot be read are
/// events.
pub fn search(
    query: &SearchQuery,
    scope: &SearchScope,
    cancel: &AtomicBool,
    events: &Sender<SearchEvent>,
) -> Result<SearchSummary, BadQuery> {
    let matcher = query.matcher()?;
    let run = SearchRun {
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
    // Globs that only narrow are applied after the walk, which then follows ignore rules alone.
    let mut walked = query.files.clone();
    if scope.includes == Includes::Narrow {
        walked.include.clear();
    }
    let globs = Globs::new(&scope.root, &query.files)?;
    match scope.prefilter_candidates(query, &walked) {
        Some(PrefilterResult::Complete(files)) => run.search_candidates(files.as_ref(), &globs),
        Some(PrefilterResult::Partial(files)) => {
            run.search_walk(&walked, &globs, Some(files.as_ref()))?
        }
        None => run.search_walk(&walked, &globs, None)?,
    }
    let summary = run.summary();
    // If the reader is gone, nothing needs the summary.
    events.send_blocking(SearchEvent::Done(summary)).ok();
    Ok(summary)
}

struct SearchRun<'a> {
    query: &'a SearchQuery,
    scope: &'a SearchScope,
    matcher: Matcher,
    /// Held while a large file is in memory.
    large: Mutex<()>,
    events: &'a Sender<SearchEvent>,
    /// Set to stop the walk.
    stop: AtomicBool,
    searched: AtomicUsize,
    matched: AtomicUsize,
    matches: AtomicUsize,
    cut: AtomicBool,
    cancel: &'a AtomicBool,
}

/// The state of a search thread.
struct SearchWorker {
    searcher: Searcher,
    /// Content of the last file.
    bytes: Vec<u8>,
}

impl SearchRun<'_> {
    fn worker(&self) -> SearchWorker {
        SearchWorker {
            searcher: Searcher::new(&self.matcher),
            bytes: Vec::new(),
        }
    }

    /// Searches the files that the walk finds, except those that `candidates` rules out.
    fn search_walk(
        &self,
        walked: &WalkOptions,
        globs: &Globs,
        candidates: Option<&dyn CandidateFiles>,
    ) -> Result<(), BadQuery> {
        let scope = self.scope;
        walk_with(&scope.backend, &scope.root, walked, &self.stop, &|| {
            let mut worker = self.worker();
            let mut globs = globs.clone();
            Box::new(move |found| {
                if self.is_over() {
                    return;
                }
                match found {
                    Ok(path) if scope.includes == Includes::Narrow && !globs.includes(&path) => {}
                    Ok(path) if self.is_ruled_out(candidates, &path) => {
                        self.searched.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(path) => self.visit(&mut worker, path),
                    Err(problem) => self.send(SearchEvent::Problem(problem)),
                }
            })
        })?;
        Ok(())
    }

    /// Whether the prefilter excludes a file. `false` for files with unsaved text, and for those
    /// that `candidates` does not know.
    fn is_ruled_out(&self, candidates: Option<&dyn CandidateFiles>, path: &AbsPath) -> bool {
        let Some(candidates) = candidates.filter(|_| !self.scope.unsaved.contains_key(path)) else {
            return false;
        };
        let position = candidates.position(path);
        position.is_some_and(|ix| !candidates.may_match(ix))
    }

    /// Returns whether the search is over.
    fn is_over(&self) -> bool {
        if self.cancel.load(Ordering::Relaxed) {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn visit(&self, worker: &mut SearchWorker, path: AbsPath) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        match self.search_file(worker, &path) {
            Ok(None) => {}
            Ok(Some(found)) => self.send_matches(found),
            Err(mut error) => {
                error.doing = "search";
                self.send(SearchEvent::Problem(WalkProblem(error.to_string())));
            }
        }
    }

    /// Returns the matches in a file, or in its unsaved text. Returns `None` if it has none or is
    /// binary, and an error if it cannot be read or is too large.
    fn search_file(
        &self,
        worker: &mut SearchWorker,
        path: &AbsPath,
    ) -> Result<Option<FileMatches>, Error> {
        let SearchWorker { searcher, bytes } = worker;
        let mut find =
            |text: &str| matches::matches_in(path, text, searcher, self.query, &|| self.is_over());
        if let Some(snapshot) = self.scope.unsaved.get(path) {
            return Ok(find(&snapshot.to_string()));
        }
        let alone = || self.large.lock().unwrap_or_else(PoisonError::into_inner);
        let files: &dyn Files = match &self.scope.backend {
            WalkBackend::Disk => &RealFiles,
            WalkBackend::Listed(files) => files.as_ref(),
        };
        reading::with_text(files, path, bytes, alone, find)
    }

    fn send_matches(&self, mut found: FileMatches) {
        let count: usize = found.rows.iter().map(MatchingRow::match_count).sum();
        let before = self.matches.fetch_add(count, Ordering::Relaxed);
        if before >= self.query.limit {
            self.cut.store(true, Ordering::Relaxed);
            self.matches.fetch_sub(count, Ordering::Relaxed);
            return self.stop.store(true, Ordering::Relaxed);
        }
        if before + count > self.query.limit {
            let kept = matches::keep_matches(&mut found.rows, self.query.limit - before);
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
