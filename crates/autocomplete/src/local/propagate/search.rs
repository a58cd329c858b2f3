//! Search for all sites of patterns in whole texts, to be run on another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{AbsPath, Revision, Span};

use super::super::log::enclosing_call;
use super::pattern::EditPattern;
use super::repeat_sites::{RepeatSearch, RepeatSites};
use super::sites::{PatternSite, SearchText, is_of_many, sites};
use crate::EditorState;

/// A search of open texts for the sites of patterns and groups, prepared for a background thread.
#[derive(Default)]
pub(crate) struct SiteSearch {
    tasks: Vec<PatternSearch>,
    spots: Vec<RepeatSearch>,
}

/// Results of a search, by pattern or group and by text.
#[derive(Default)]
pub(crate) struct SiteFindings {
    pub(super) sites: Vec<(u64, Option<AbsPath>, TextSites)>,
    pub(super) spots: Vec<(u64, Option<AbsPath>, RepeatSites)>,
}

struct PatternSearch {
    pattern: u64,
    what: EditPattern,
    state: EditorState,
    examples: Vec<Span>,
    around: Option<EnclosingContext>,
}

/// Enclosing context of a pattern's latest examples, and whether other contexts are known to be
/// excluded.
#[derive(Clone, Debug)]
pub(super) struct EnclosingContext {
    pub(super) within: [Arc<str>; 2],
    pub(super) is_sure: bool,
}

/// The sites of one pattern in one text, at one revision.
#[derive(Clone, Debug)]
pub(crate) struct TextSites {
    pub(crate) revision: Revision,
    /// Sites, sorted by position.
    pub(crate) sites: Vec<PatternSite>,
    /// Number of sites between the edits of the pattern, which the user has skipped.
    pub(crate) skipped: usize,
    /// Whether sites with another enclosing context were removed.
    pub(crate) is_narrow: bool,
    /// Whether the edits in the text concern several variables of one name.
    pub(crate) is_of_many: bool,
}

/// Number of skipped sites from which on not all sites are meant.
const MANY_SKIPPED: usize = 2;

/// Maximum number of sites kept per text.
const MAX_SITES: usize = 512;

impl SiteSearch {
    pub(super) fn add(
        &mut self,
        pattern: u64,
        what: EditPattern,
        state: EditorState,
        examples: Vec<Span>,
        around: Option<EnclosingContext>,
    ) {
        self.tasks.push(PatternSearch {
            around,
            pattern,
            what,
            state,
            examples,
        });
    }

    /// Adds searches for repeated replacements.
    pub(super) fn also(&mut self, spots: Vec<RepeatSearch>) {
        self.spots = spots;
    }

    /// Whether no search was added, neither for patterns nor for groups.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.spots.is_empty()
    }

    /// Runs all searches. Takes time proportional to the texts.
    pub(crate) fn run(self) -> SiteFindings {
        self.run_until(&AtomicBool::new(false)).unwrap_or_default()
    }

    /// Runs all searches; `None` if `is_over` is set meanwhile. Each search of a text is finished.
    pub(crate) fn run_until(self, is_over: &AtomicBool) -> Option<SiteFindings> {
        let go_on = || (!is_over.load(Ordering::Relaxed)).then_some(());
        let mut findings = SiteFindings::default();
        for task in self.tasks {
            go_on()?;
            findings.sites.push(task.run());
        }
        for spots in self.spots {
            go_on()?;
            findings.spots.extend(spots.run());
        }
        Some(findings)
    }
}

impl PatternSearch {
    /// Returns the number of the pattern, the path of the text, and the sites found in it, at most
    /// `MAX_SITES`.
    fn run(self) -> (u64, Option<AbsPath>, TextSites) {
        let text = &self.state.snapshot;
        let ground = SearchText {
            text,
            syntax: self.state.syntax.as_ref(),
            examples: &self.examples,
            is_elsewhere: self.examples.is_empty(),
        };
        let mut sites = sites(&self.what, ground, text.full_span(), MAX_SITES);
        let first = self.examples.iter().map(|span| span.start).min();
        let last = self.examples.iter().map(|span| span.start).max();
        let is_between = |site: &&PatternSite| {
            first
                .zip(last)
                .is_some_and(|(first, last)| first < site.span.start && site.span.start < last)
        };
        let mut skipped = sites.iter().filter(is_between).count();
        let narrow = self.around.as_ref();
        let narrow = narrow.filter(|around| around.is_sure || skipped >= MANY_SKIPPED);
        if let Some(narrow) = narrow {
            sites.retain(|site| enclosing_call(text, site.span.start) == narrow.within);
            skipped = sites.iter().filter(is_between).count();
        }
        let found = TextSites {
            revision: text.revision(),
            is_narrow: narrow.is_some(),
            is_of_many: is_of_many(&self.what, ground),
            skipped,
            sites,
        };
        (self.pattern, self.state.path, found)
    }
}
