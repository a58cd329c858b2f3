//! Text search over a project, on ripgrep's libraries.
//!
//! Results equal those of `rg` with the same options; rows found are streamed as they come, in no
//! fixed order of files. Unsaved buffers are searched instead of their files. A `Sieve` may spare it files;
//! what it finds is the same. Blocking and long: run it off the UI thread. Start at `search`.

mod found;
mod query;
mod sieve;
mod sifted;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_channel::Sender;
use base::AbsPath;
use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use text::Snapshot;

use crate::walk::{Globs, Ground, Ignored, WalkOptions, WalkProblem, walk_with};

pub use found::{FileMatches, FoundRow};
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

/// Files beyond this are searched with the searcher's own fixed buffer and never read whole, so
/// there is no upper limit on disk; over listed files this is the limit.
const LISTED_LIMIT: u64 = 256 << 20;

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
    matcher: RegexMatcher,
    events: &'a Sender<SearchEvent>,
    /// Ends the walk.
    stop: AtomicBool,
    searched: AtomicUsize,
    matched: AtomicUsize,
    matches: AtomicUsize,
    cut: AtomicBool,
    cancel: &'a AtomicBool,
}

/// What a thread looks with. Threads that share an expression wait for each other at every row.
struct Eye {
    searcher: Searcher,
    matcher: RegexMatcher,
}

impl Run<'_> {
    fn eye(&self) -> Eye {
        Eye {
            searcher: self.query.searcher(),
            matcher: self.matcher.clone(),
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
            Ok(rows) if rows.is_empty() => {}
            Ok(rows) => self.found(path, rows),
            Err(reason) => {
                let sentence = format!("cannot search {path}: {reason}");
                self.send(SearchEvent::Problem(WalkProblem(sentence)));
            }
        }
    }

    fn search_file(
        &self,
        Eye { searcher, matcher }: &mut Eye,
        path: &AbsPath,
    ) -> Result<Vec<FoundRow>, String> {
        let mut sink = found::Collect::new(matcher, self.query.only_rows);
        let result = if let Some(snapshot) = self.scope.unsaved.get(path) {
            let text = snapshot.to_string();
            searcher.search_slice(&*matcher, text.as_bytes(), &mut sink)
        } else {
            match &self.scope.ground {
                Ground::Disk => searcher.search_path(&*matcher, path.as_path(), &mut sink),
                Ground::Listed(files) => {
                    let bytes = files
                        .read(path, LISTED_LIMIT)
                        .map_err(|error| error.to_string())?;
                    searcher.search_slice(&*matcher, &bytes, &mut sink)
                }
            }
        };
        result.map_err(|error| error.to_string())?;
        Ok(sink.into_rows())
    }

    fn found(&self, path: AbsPath, mut rows: Vec<FoundRow>) {
        let count: usize = rows.iter().map(FoundRow::match_count).sum();
        let before = self.matches.fetch_add(count, Ordering::Relaxed);
        if before >= self.query.limit {
            self.cut.store(true, Ordering::Relaxed);
            self.matches.fetch_sub(count, Ordering::Relaxed);
            return self.stop.store(true, Ordering::Relaxed);
        }
        if before + count > self.query.limit {
            let kept = found::keep_matches(&mut rows, self.query.limit - before);
            self.matches.fetch_sub(count - kept, Ordering::Relaxed);
            self.cut.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
        self.matched.fetch_add(1, Ordering::Relaxed);
        self.send(SearchEvent::File(FileMatches { path, rows }));
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
