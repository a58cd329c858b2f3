//! The search of files that are not open, for another thread: who runs it finds and reads them.
//!
//! Invariant: what was found for a pattern that was widened meanwhile, or dropped, is not taken.

use std::collections::BTreeSet;

use base::AbsPath;

use super::pattern::Pattern;
use super::search::Around;
use super::search::{Found, SiteSearch};
use super::{Active, Propagation};
use crate::Scene;

/// What is looked for in files that are not open.
pub struct Elsewhere {
    wanted: Vec<Wanted>,
}

struct Wanted {
    pattern: u64,
    version: u32,
    what: Pattern,
    around: Option<Around>,
}

/// What was found there.
#[derive(Default)]
pub(crate) struct FoundElsewhere {
    /// The patterns that were looked for, in this version.
    searched: Vec<(u64, u32)>,
    found: Vec<(u64, Option<AbsPath>, Found)>,
}

impl Elsewhere {
    /// Words of which each text with a place holds one, as a whole word in this spelling; all other files need not be
    /// read. Of each pattern the longest name, which as a rule is the rarest.
    pub fn words(&self) -> BTreeSet<&str> {
        let words = self.wanted.iter().filter_map(|wanted| wanted.what.anchor());
        words.collect()
    }

    /// Searches files as they lie on the disk. Takes time in proportion to them.
    pub(crate) fn search(&self, files: impl Iterator<Item = Scene>) -> FoundElsewhere {
        let mut found = Vec::new();
        for scene in files {
            let mut search = SiteSearch::default();
            for wanted in &self.wanted {
                search.add(
                    wanted.pattern,
                    wanted.what.clone(),
                    scene.clone(),
                    Vec::new(),
                    wanted.around.clone(),
                );
            }
            let sites = search.run().sites.into_iter();
            found.extend(sites.filter(|(_, _, found)| !found.sites.is_empty()));
        }
        let searched = self.wanted.iter().map(|it| (it.pattern, it.version));
        FoundElsewhere {
            searched: searched.collect(),
            found,
        }
    }
}

impl Propagation {
    /// What is still to be looked for in files that are not open.
    pub(crate) fn elsewhere(&self) -> Option<Elsewhere> {
        let is_open = |it: &&Active| !it.is_dropped && !it.is_local && !it.is_searched;
        let wanted = self.patterns.iter().filter(is_open).map(|it| Wanted {
            pattern: it.id,
            version: it.version,
            what: it.pattern.clone(),
            around: it.around(),
        });
        let wanted: Vec<Wanted> = wanted.collect();
        (!wanted.is_empty()).then_some(Elsewhere { wanted })
    }

    /// Takes what was found in files that are not open.
    pub(crate) fn found_elsewhere(&mut self, done: FoundElsewhere) {
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

    /// Files that are not open are others: what was found there is forgotten, and looked for anew. Says whether
    /// anything had been found.
    pub(crate) fn look_again(&mut self, is_changed: &dyn Fn(&AbsPath) -> bool) -> bool {
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
