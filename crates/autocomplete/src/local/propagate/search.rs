//! The search for all sites of a pattern in whole texts, for another thread.

use std::sync::Arc;

use base::{AbsPath, Revision, Span};

use super::super::log::around;
use super::pattern::Pattern;
use super::sites::{Ground, Site, is_of_many, sites};
use super::spots::{SpotSearch, Spots};
use crate::Scene;

/// What is to be searched.
#[derive(Default)]
pub(crate) struct SiteSearch {
    tasks: Vec<Task>,
    spots: Vec<SpotSearch>,
}

/// What a search has found: by pattern or group, and by text.
#[derive(Default)]
pub(crate) struct Findings {
    pub(super) sites: Vec<(u64, Option<AbsPath>, Found)>,
    pub(super) spots: Vec<(u64, Option<AbsPath>, Spots)>,
}

struct Task {
    pattern: u64,
    what: Pattern,
    scene: Scene,
    examples: Vec<Span>,
    around: Option<Around>,
}

/// What the last examples of a pattern are within, and whether places within anything else are not meant for sure.
#[derive(Clone, Debug)]
pub(super) struct Around {
    pub(super) within: [Arc<str>; 2],
    pub(super) is_sure: bool,
}

/// The sites of one text.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) revision: Revision,
    /// In text order.
    pub(crate) sites: Vec<Site>,
    /// Sites between the edits that made the pattern: places that the person has seen and left.
    pub(crate) skipped: usize,
    /// Whether only those were kept that are within what the edits are within.
    pub(crate) is_narrow: bool,
    /// Whether the edits there were made of several variables of one name.
    pub(crate) is_of_many: bool,
}

/// So many sites that the person has seen and left tell that not all are meant.
const MANY_SKIPPED: usize = 2;

/// Sites that are kept of one text.
const MOST_SITES: usize = 512;

impl SiteSearch {
    pub(super) fn add(
        &mut self,
        pattern: u64,
        what: Pattern,
        scene: Scene,
        examples: Vec<Span>,
        around: Option<Around>,
    ) {
        self.tasks.push(Task {
            around,
            pattern,
            what,
            scene,
            examples,
        });
    }

    /// Spots are searched, too.
    pub(super) fn also(&mut self, spots: Vec<SpotSearch>) {
        self.spots = spots;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.spots.is_empty()
    }

    /// Searches everything. Takes time in proportion to the texts.
    pub(crate) fn run(self) -> Findings {
        Findings {
            sites: self.tasks.into_iter().map(Task::run).collect(),
            spots: self.spots.into_iter().flat_map(SpotSearch::run).collect(),
        }
    }
}

impl Task {
    fn run(self) -> (u64, Option<AbsPath>, Found) {
        let text = &self.scene.snapshot;
        let ground = Ground {
            text,
            syntax: self.scene.syntax.as_ref(),
            examples: &self.examples,
            is_elsewhere: self.examples.is_empty(),
        };
        let mut sites = sites(&self.what, ground, text.full_span(), MOST_SITES);
        let first = self.examples.iter().map(|span| span.start).min();
        let last = self.examples.iter().map(|span| span.start).max();
        let is_between = |site: &&Site| {
            first
                .zip(last)
                .is_some_and(|(first, last)| first < site.span.start && site.span.start < last)
        };
        let mut skipped = sites.iter().filter(is_between).count();
        let narrow = self.around.as_ref();
        let narrow = narrow.filter(|around| around.is_sure || skipped >= MANY_SKIPPED);
        if let Some(narrow) = narrow {
            sites.retain(|site| around(text, site.span.start) == narrow.within);
            skipped = sites.iter().filter(is_between).count();
        }
        let found = Found {
            revision: text.revision(),
            is_narrow: narrow.is_some(),
            is_of_many: is_of_many(&self.what, ground),
            skipped,
            sites,
        };
        (self.pattern, self.scene.path, found)
    }
}
