//! Search of unopened files, to be run on another thread by a caller that finds and reads them.
//!
//! Invariant: results for a pattern that was widened or dropped meanwhile are discarded.

use std::collections::BTreeSet;

use base::AbsPath;

use super::pattern::EditPattern;
use super::search::EnclosingContext;
use super::search::{SiteSearch, TextSites};
use super::{ActivePattern, Propagation};
use crate::EditorState;

/// A search of files that are not open for the sites of patterns, prepared for a background thread.
pub struct UnopenedFileSearch {
    wanted: Vec<PatternQuery>,
}

struct PatternQuery {
    pattern: u64,
    version: u32,
    what: EditPattern,
    around: Option<EnclosingContext>,
}

/// Results of a search of unopened files.
#[derive(Default)]
pub(crate) struct UnopenedFileSites {
    /// Searched patterns with their versions.
    searched: Vec<(u64, u32)>,
    found: Vec<(u64, Option<AbsPath>, TextSites)>,
}

impl UnopenedFileSearch {
    /// Returns words of which every file with a site contains at least one as a whole word,
    /// case-sensitively; other files need not be read. For each pattern this is its longest name,
    /// which is usually the rarest.
    pub fn required_words(&self) -> BTreeSet<&str> {
        let words = self.wanted.iter().filter_map(|wanted| wanted.what.anchor());
        words.collect()
    }

    /// Searches files as they are on disk, each given as an editor state. Takes time proportional
    /// to the size of the files.
    pub(crate) fn search(&self, files: impl Iterator<Item = EditorState>) -> UnopenedFileSites {
        let mut found = Vec::new();
        for state in files {
            let mut search = SiteSearch::default();
            for wanted in &self.wanted {
                search.add(
                    wanted.pattern,
                    wanted.what.clone(),
                    state.clone(),
                    Vec::new(),
                    wanted.around.clone(),
                );
            }
            let sites = search.run().sites.into_iter();
            found.extend(sites.filter(|(_, _, found)| !found.sites.is_empty()));
        }
        let searched = self.wanted.iter().map(|it| (it.pattern, it.version));
        UnopenedFileSites {
            searched: searched.collect(),
            found,
        }
    }
}

impl Propagation {
    /// Returns the search of unopened files that is still needed. Returns `None` if no search is
    /// needed.
    pub(crate) fn unopened_search(&self) -> Option<UnopenedFileSearch> {
        let is_open = |it: &&ActivePattern| !it.is_dropped && !it.is_local && !it.is_searched;
        let wanted = self.patterns.iter().filter(is_open).map(|it| PatternQuery {
            pattern: it.id,
            version: it.version,
            what: it.pattern.clone(),
            around: it.enclosing_context(),
        });
        let wanted: Vec<PatternQuery> = wanted.collect();
        (!wanted.is_empty()).then_some(UnopenedFileSearch { wanted })
    }

    /// Stores the results for unopened files. Drops results for an outdated version of a pattern.
    pub(crate) fn add_unopened_sites(&mut self, done: UnopenedFileSites) {
        for (id, version) in done.searched {
            if let Some(active) = self.active(id).filter(|it| it.version == version) {
                active.is_searched = true;
            }
        }
        for (id, path, found) in done.found {
            // Otherwise an older version was searched, and a search for the newer one follows.
            if let Some(active) = self.active(id).filter(|it| it.is_searched) {
                active.found.insert(path, found);
            }
        }
    }

    /// Discards the results for changed files and requests a new search. Returns whether any
    /// results were discarded.
    pub(crate) fn invalidate_changed(&mut self, is_changed: &dyn Fn(&AbsPath) -> bool) -> bool {
        let mut forgotten = 0;
        for active in &mut self.patterns {
            active.is_searched = false;
            let known = active.found.len();
            let is_other = |path: &Option<AbsPath>| path.as_ref().is_some_and(is_changed);
            active.found.retain(|path, _| !is_other(path));
            forgotten += known - active.found.len();
        }
        forgotten > 0
    }
}
