//! Edit propagation: after two similar edits, suggests the remaining sites.
//!
//! Must not know: when to search, where texts come from. `learn` receives every edit; a
//! `SiteSearch` on another thread finds sites beyond the visible rows; `candidate` returns the next
//! site.
//! Invariant: a pattern is dropped once it is dismissed, ignored twice, or one of its edits is
//! undone.
//! Invariant: text typed after the pattern was learned contains no sites.
//!
//! `pattern` and `sites` handle edits that the syntax tree identifies, `repeats` the others.

mod choice;
mod pattern;
mod repeat_sites;
mod repeats;
mod search;
mod sites;
mod unopened_files;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{AbsPath, ByteOffset, Revision, Row, Span};
use text::Change;

use super::log::{EditLog, LoggedEdit, TokenRewrite, enclosing_call};
use crate::{ChangeCause, DocumentEdit, EditorState};
use pattern::EditPattern;
use repeats::{RepeatCandidate, RepeatedEdits};
use search::{EnclosingContext, TextSites};
pub(crate) use search::{SiteFindings, SiteSearch};
use sites::{PatternSite, SearchText, sites};
pub use unopened_files::UnopenedFileSearch;
pub(crate) use unopened_files::UnopenedFileSites;

/// The edits that were made more than once, as patterns and groups, with the sites where they still
/// apply.
#[derive(Default)]
pub(crate) struct Propagation {
    /// Ordered from the oldest.
    patterns: Vec<ActivePattern>,
    repeats: RepeatedEdits,
    next: u64,
    revisions: HashMap<Option<AbsPath>, Revision>,
}

/// A pattern with its state.
struct ActivePattern {
    id: u64,
    pattern: EditPattern,
    examples: Vec<PatternExample>,
    /// Sequence number of the first edit made after it was learned.
    learned: u64,
    /// Whether it concerns a variable of one function.
    is_local: bool,
    /// Whether its edits concern several variables of one name.
    is_of_many: bool,
    /// Whether it is limited to sites with the same enclosing context as its latest examples,
    /// because other sites between them were skipped.
    is_narrow: bool,
    ignored: u8,
    accepted: u32,
    is_dropped: bool,
    found: HashMap<Option<AbsPath>, TextSites>,
    /// Incremented whenever the pattern is widened or narrowed.
    version: u32,
    /// Whether unopened files were searched for this version.
    is_searched: bool,
}

/// One of the edits that made a pattern.
struct PatternExample {
    edit: u64,
    piece: usize,
    path: Option<AbsPath>,
    /// Enclosing context of the edit.
    around: [Arc<str>; 2],
}

/// The next site of a repeated edit, as a candidate for a suggestion.
#[derive(Clone, Debug)]
pub(crate) struct PatternCandidate {
    pub(crate) pattern: u64,
    /// Another file; `None` for the current text.
    pub(crate) file: Option<AbsPath>,
    pub(crate) revision: Revision,
    pub(crate) site: PatternSite,
    /// Whether it precedes the caret, and its distance from the caret in bytes; both unset in
    /// another file.
    is_before: bool,
    distance: usize,
    /// Number of remaining sites, including this one.
    pub(crate) places: usize,
    /// Initial probability of being kept, before anything is learned from the user, from 0 to 1.
    pub(crate) likelihood: f32,
}

/// Maximum number of patterns kept, including dropped ones.
const MAX_PATTERNS: usize = 16;

/// Number of earlier edits that a new one is compared with.
const MAX_COMPARED_EDITS: usize = 12;

/// Maximum number of sites searched in the visible rows until the full search has finished.
const MAX_VISIBLE_SITES: usize = 6;

/// Number of ignored suggestions after which a pattern is dropped.
const MAX_IGNORED: u8 = 2;

/// Number of unrelated edits after which a pattern is no longer suggested.
const MAX_OTHER_EDITS: u64 = 5;

impl Propagation {
    /// Learns from a change that the log has recorded: moves known sites, forms new patterns and
    /// drops undone ones.
    pub(crate) fn learn(&mut self, log: &EditLog, edit: &DocumentEdit) {
        let path = &edit.state.path;
        self.revisions.insert(path.clone(), edit.change.after);
        for active in &mut self.patterns {
            active.follow(path, &edit.change);
        }
        self.repeats.follow(path, &edit.change);
        self.repeats.learn(log);
        if edit.cause == ChangeCause::Undone {
            self.drop_undone(log);
        }
        let open = log.open_edit();
        self.forget_unfinished(log, open);
        let Some(open) = open.filter(|open| open.cause == ChangeCause::Typed) else {
            return;
        };
        for (ix, _) in open.pieces.iter().enumerate() {
            self.compare(log, open, ix, edit);
        }
    }

    /// Searches for an earlier edit that resembles one change of the newest.
    fn compare(&mut self, log: &EditLog, open: &LoggedEdit, ix: usize, edit: &DocumentEdit) {
        let earlier = log.closed().rev().take(MAX_COMPARED_EDITS);
        let earlier = earlier.filter(|it| it.cause == ChangeCause::Typed && !it.is_undone);
        let mut pairs = (0..ix)
            .map(|other| (open, other))
            .chain(earlier.flat_map(|it| (0..it.pieces.len()).map(move |other| (it, other))));
        let found = pairs.find_map(|(other, piece)| {
            let pattern = EditPattern::of(other.pieces.get(piece)?, open.pieces.get(ix)?)?;
            let example = |edit: &LoggedEdit, piece: usize| {
                Some(PatternExample {
                    edit: edit.id,
                    piece,
                    path: edit.path.clone(),
                    around: edit.pieces.get(piece)?.around.clone(),
                })
            };
            Some((pattern, example(other, piece)?, example(open, ix)?))
        });
        let Some((pattern, example, newest)) = found else {
            return;
        };
        if let Some(known) = self
            .patterns
            .iter_mut()
            .find(|it| it.pattern.is_same(&pattern))
        {
            let is_newest = |it: &PatternExample| (it.edit, it.piece) == (open.id, ix);
            if !known.examples.iter().any(is_newest) {
                let before = known.within().cloned();
                known.examples.push(newest);
                known.learned = known.learned.max(open.id + 1);
                known.follow_within(before);
            }
            if known.pattern.widen(&pattern, known.examples.len()) {
                known.search_anew();
            }
            return;
        }
        let at = open.span.start + open.pieces.get(ix).map_or(0, |piece| piece.offset);
        self.patterns.push(ActivePattern {
            id: self.next,
            is_local: sites::is_local(&pattern, edit.after(), edit.state.syntax.as_ref(), at),
            pattern,
            examples: vec![example, newest],
            learned: open.id + 1,
            is_of_many: false,
            is_narrow: false,
            ignored: 0,
            accepted: 0,
            is_dropped: false,
            found: HashMap::new(),
            version: 0,
            is_searched: false,
        });
        self.next += 1;
        if self.patterns.len() > MAX_PATTERNS {
            self.patterns.remove(0);
        }
    }

    /// Forgets patterns that the open edit no longer matches, having resembled another edit for a
    /// few keystrokes only.
    fn forget_unfinished(&mut self, log: &EditLog, open: Option<&LoggedEdit>) {
        let id = open.map_or(log.next_id(), |open| open.id);
        let pieces = open.map_or(&[] as &[_], |open| open.pieces.as_slice());
        for active in &mut self.patterns {
            let before = active.within().cloned();
            let pattern = &active.pattern;
            let closed: Vec<&LoggedEdit> = log.closed().collect();
            active.examples.retain(|example| {
                if example.edit != id || active.accepted > 0 {
                    return true;
                }
                let piece = pieces.get(example.piece);
                let others = closed.iter().flat_map(|it| &it.pieces).chain(pieces);
                piece.is_some_and(|piece| {
                    others
                        .filter(|other| !std::ptr::eq(*other, piece))
                        .filter_map(|other| EditPattern::of(other, piece))
                        .any(|it| it.is_same(pattern))
                })
            });
            active.follow_within(before);
        }
        self.patterns
            .retain(|it| it.examples.len() >= 2 || it.is_dropped);
    }

    fn drop_undone(&mut self, log: &EditLog) {
        let undone: Vec<u64> = log
            .closed()
            .filter(|it| it.is_undone)
            .map(|it| it.id)
            .collect();
        for active in &mut self.patterns {
            let is_undone = active.examples.iter().any(|it| undone.contains(&it.edit));
            active.is_dropped |= is_undone;
        }
    }

    /// Returns the search for sites that these open texts still need. Returns `None` if all sites
    /// are known.
    pub(crate) fn search(&self, log: &EditLog, open: &[EditorState]) -> Option<SiteSearch> {
        let mut search = SiteSearch::default();
        for active in self.patterns.iter().filter(|it| !it.is_dropped) {
            for state in open {
                let is_known = active.found.get(&state.path);
                if is_known.is_some_and(|it| it.revision == state.snapshot.revision()) {
                    continue;
                }
                let examples = active.examples_in(log, &state.path);
                if active.is_local && examples.is_empty() {
                    continue;
                }
                let (what, state) = (active.pattern.clone(), state.clone());
                search.add(active.id, what, state, examples, active.enclosing_context());
            }
        }
        search.also(self.repeats.searches(open));
        (!search.is_empty()).then_some(search)
    }

    /// Stores the results of a search, except for texts that have changed since.
    pub(crate) fn add_findings(&mut self, findings: SiteFindings) {
        let is_stale = |path: &Option<AbsPath>, revision: Revision| {
            let now = self.revisions.get(path);
            now.is_some_and(|it| *it != revision)
        };
        for (id, path, found) in findings.sites {
            let active = self.patterns.iter_mut().find(|it| it.id == id);
            if let Some(active) = active.filter(|_| !is_stale(&path, found.revision)) {
                active.is_of_many |= found.is_of_many;
                if found.is_narrow {
                    active.narrow();
                }
                active.found.insert(path, found);
            }
        }
        for (key, path, spots) in findings.spots {
            if !is_stale(&path, spots.revision) {
                self.repeats.add_sites(key, path, spots);
            }
        }
    }

    /// Returns the most likely next site of all patterns and repeats that are still current.
    /// Returns `None` if no site is left.
    pub(crate) fn candidate(&self, log: &EditLog, state: &EditorState) -> Option<PatternCandidate> {
        let mut candidates = self.candidates_by_tree(log, state);
        // A change of a function's local variable applies only inside that function.
        let is_settled = |turn: &TokenRewrite| {
            let mut patterns = self.patterns.iter();
            patterns.any(|it| it.is_of_one_function() && it.pattern.rewrites(&turn.old, &turn.new))
        };
        let repeats = self.repeats.candidates(log, state, &is_settled);
        candidates.extend(repeats.into_iter().map(RepeatCandidate::into_candidate));
        choice::choose(candidates)
    }

    /// Returns the nearest site of each pattern.
    fn candidates_by_tree(&self, log: &EditLog, state: &EditorState) -> Vec<PatternCandidate> {
        let live: Vec<&ActivePattern> = self.patterns.iter().filter(|it| !it.is_dropped).collect();
        let examples = live.iter().flat_map(|it| &it.examples);
        let own: HashSet<u64> = examples.map(|it| it.edit).collect();
        live.iter()
            .filter(|it| it.is_of_interest(log, state, &own))
            .filter_map(|it| it.candidate(log, state, &live))
            .collect()
    }

    /// Records that a suggestion of the pattern or group with this number was accepted.
    pub(crate) fn accepted(&mut self, pattern: u64) {
        if let Some(active) = self.active(pattern) {
            active.accepted += 1;
            active.ignored = 0;
        } else {
            self.repeats.accepted(pattern);
        }
    }

    /// Records that the user ignored a suggestion of the pattern or group with this number. Drops
    /// the pattern or group after the second ignored suggestion in a row.
    pub(crate) fn ignored(&mut self, pattern: u64) {
        if let Some(active) = self.active(pattern) {
            active.ignored += 1;
            active.is_dropped |= active.ignored >= MAX_IGNORED;
        } else {
            self.repeats.ignored(pattern);
        }
    }

    /// Drops the pattern or group with this number, so that no further suggestions come from it.
    pub(crate) fn drop_pattern(&mut self, pattern: u64) {
        if let Some(active) = self.active(pattern) {
            active.is_dropped = true;
        } else {
            self.repeats.drop_group(pattern);
        }
    }

    /// Returns the pattern with this number; `None` if there is none, as for the key of a group.
    fn active(&mut self, pattern: u64) -> Option<&mut ActivePattern> {
        self.patterns.iter_mut().find(|it| it.id == pattern)
    }
}

impl ActivePattern {
    /// Whether it concerns one variable of one function, and no others of the same name.
    fn is_of_one_function(&self) -> bool {
        self.is_local && !self.is_of_many
    }

    /// Restarts the search if the enclosing context of the examples has changed.
    fn follow_within(&mut self, before: Option<[Arc<str>; 2]>) {
        if self.within() != before.as_ref() {
            self.is_narrow = false;
            self.search_anew();
        }
    }

    /// Limits the pattern to sites with the same enclosing context as its latest examples.
    fn narrow(&mut self) {
        if !self.is_narrow {
            self.is_narrow = true;
            self.search_anew();
        }
    }

    fn search_anew(&mut self) {
        self.found.clear();
        self.version += 1;
        self.is_searched = false;
    }

    /// Returns the call around its last example, or the context that its last two examples share.
    /// Returns `None` with fewer than two examples, or if neither exists.
    fn within(&self) -> Option<&[Arc<str>; 2]> {
        let [.., before, last] = self.examples.as_slice() else {
            return None;
        };
        let [callee, bracket] = &last.around;
        let is_call = &**bracket == "(" && !callee.is_empty();
        (is_call || before.around == last.around).then_some(&last.around)
    }

    /// Returns the enclosing context from `within`, and whether the pattern is limited to it
    /// already. Returns `None` where `within` does.
    fn enclosing_context(&self) -> Option<EnclosingContext> {
        self.within().map(|within| EnclosingContext {
            within: within.clone(),
            is_sure: self.is_narrow,
        })
    }

    /// Maps the sites of a text through a change.
    fn follow(&mut self, path: &Option<AbsPath>, change: &Change) {
        let Some(found) = self.found.get_mut(path) else {
            return;
        };
        if found.revision != change.before {
            self.found.remove(path);
            return;
        }
        found.revision = change.after;
        found.sites.retain_mut(|site| {
            let is_touched = change.splices.iter().any(|splice| {
                splice.old.start <= site.span.end && site.span.start <= splice.old.end
            });
            site.span = change.map_span(site.span);
            !is_touched
        });
    }

    /// Returns the current positions of its examples in a text.
    fn examples_in(&self, log: &EditLog, path: &Option<AbsPath>) -> Vec<Span> {
        let here = self.examples.iter().filter(|it| it.path == *path);
        here.filter_map(|example| {
            let edit = log.all().find(|it| it.id == example.edit)?;
            let piece = edit.pieces.get(example.piece)?;
            Some(Span::at(edit.span.start + piece.offset))
        })
        .collect()
    }

    /// Whether the user is still working on it. `own` contains the edits of all patterns, since
    /// alternating between them is one task.
    fn is_of_interest(&self, log: &EditLog, state: &EditorState, own: &HashSet<u64>) -> bool {
        let newest = self.examples.iter().map(|it| it.edit).max().unwrap_or(0);
        let is_own = |edit: &LoggedEdit| {
            edit.id <= newest || edit.cause == ChangeCause::Accepted || own.contains(&edit.id)
        };
        let others = log.closed().filter(|edit| !is_own(edit)).count() as u64;
        let typing = log.open_edit().filter(|edit| !is_own(edit));
        let is_typing = typing.as_ref().is_some_and(|edit| {
            edit.path == state.path
                && edit.span.start <= state.caret
                && state.caret <= edit.span.end
        });
        others + u64::from(typing.is_some()) < MAX_OTHER_EDITS && !is_typing
    }

    /// Returns the first remaining site of the current text by `rank`, otherwise the first of
    /// another file. Returns `None` if no site remains. If patterns in `live` rival this one, only
    /// sites of the current text for which `is_meant` holds remain.
    fn candidate(
        &self,
        log: &EditLog,
        state: &EditorState,
        live: &[&ActivePattern],
    ) -> Option<PatternCandidate> {
        let rivals: Vec<&&ActivePattern> = live
            .iter()
            .filter(|it| it.pattern.is_rival(&self.pattern))
            .collect();
        let known = self.found.get(&state.path);
        let known = known.filter(|it| it.revision == state.snapshot.revision());
        let in_sight;
        let here = match known {
            Some(found) => &found.sites,
            None => {
                in_sight = self.in_sight(log, state);
                &in_sight
            }
        };
        let here: Vec<&PatternSite> = here
            .iter()
            .filter(|site| is_unchanged(site, state) && !self.is_new_text(log, &state.path, site))
            .filter(|site| rivals.is_empty() || self.is_meant(site, state, &rivals))
            .collect();
        let elsewhere = if rivals.is_empty() {
            self.elsewhere(log, state)
        } else {
            Vec::new()
        };
        let places = here.len()
            + elsewhere
                .iter()
                .map(|(_, found)| found.sites.len())
                .sum::<usize>();
        let nearest = here.iter().min_by_key(|site| rank(site, state));
        let (_, is_before, distance) = nearest.map_or_else(Default::default, |it| rank(it, state));
        let (file, revision, site) = match nearest {
            Some(site) => (None, state.snapshot.revision(), (*site).clone()),
            None => {
                let (path, found) = elsewhere.first()?;
                (
                    Some((*path).clone()),
                    found.revision,
                    found.sites.first()?.clone(),
                )
            }
        };
        Some(PatternCandidate {
            pattern: self.id,
            file,
            revision,
            site,
            is_before,
            distance,
            places,
            likelihood: self.likelihood(places),
        })
    }

    /// Whether a site claimed by several patterns belongs to this one: it shares the enclosing
    /// context of one of its examples and of none of the others'.
    fn is_meant(
        &self,
        site: &PatternSite,
        state: &EditorState,
        rivals: &[&&ActivePattern],
    ) -> bool {
        let around = enclosing_call(&state.snapshot, site.span.start);
        let is_within =
            |active: &ActivePattern| active.examples.iter().any(|it| it.around == around);
        is_within(self) && !rivals.iter().any(|it| is_within(it))
    }

    /// Searches the visible rows while the full search is pending.
    fn in_sight(&self, log: &EditLog, state: &EditorState) -> Vec<PatternSite> {
        let examples = self.examples_in(log, &state.path);
        if self.is_narrow || self.is_local && examples.is_empty() {
            return Vec::new();
        }
        let ground = SearchText {
            text: &state.snapshot,
            syntax: state.syntax.as_ref(),
            examples: &examples,
            is_elsewhere: examples.is_empty(),
        };
        let from = state.snapshot.row_start(state.rows.0);
        let to = state.snapshot.row_start(Row(state.rows.1.0)).max(from);
        sites(
            &self.pattern,
            ground,
            Span::new(from, to),
            MAX_VISIBLE_SITES,
        )
    }

    /// Returns the other files with sites, sorted by path.
    fn elsewhere(&self, log: &EditLog, state: &EditorState) -> Vec<(&AbsPath, &TextSites)> {
        let mut files: Vec<(&AbsPath, &TextSites)> = self
            .found
            .iter()
            .filter(|(path, found)| **path != state.path && !found.sites.is_empty())
            .filter_map(|(path, found)| Some((path.as_ref()?, found)))
            .filter(|(path, found)| {
                let path = Some((*path).clone());
                !found
                    .sites
                    .iter()
                    .any(|site| self.is_new_text(log, &path, site))
            })
            .collect();
        files.sort_by_key(|(path, _)| *path);
        files
    }

    /// Whether a site lies in text that was typed after the pattern was learned.
    fn is_new_text(&self, log: &EditLog, path: &Option<AbsPath>, site: &PatternSite) -> bool {
        log.all().any(|edit| {
            edit.id >= self.learned && edit.path == *path && edit.span.overlaps(site.span)
        })
    }

    /// Returns the initial probability, from 0.01 to 0.95, that a suggestion of the pattern is
    /// kept. `places` is the number of remaining sites.
    fn likelihood(&self, places: usize) -> f32 {
        let mut likelihood: f32 = if self.is_local { 0.85 } else { 0.7 };
        likelihood -= if self.pattern.has_hole() { 0.1 } else { 0.0 };
        likelihood += 0.05 * (self.examples.len() as f32 - 2.0 + self.accepted as f32).min(3.0);
        let skipped: usize = self.found.values().map(|found| found.skipped).sum();
        // A user who skipped sites wants to change only some of them.
        likelihood *= 0.6_f32.powi(skipped.min(4) as i32);
        likelihood *= 0.7_f32.powi(i32::from(self.ignored));
        if places > 60 {
            likelihood *= 0.7;
        }
        likelihood.clamp(0.01, 0.95)
    }
}

impl RepeatCandidate {
    fn into_candidate(self) -> PatternCandidate {
        PatternCandidate {
            pattern: self.group,
            file: self.file,
            revision: self.revision,
            site: PatternSite {
                span: self.span,
                old: self.old,
                new: self.new,
            },
            is_before: self.is_before,
            distance: self.distance,
            places: self.places,
            likelihood: self.likelihood,
        }
    }
}

/// Whether the text at the site is still the one to be replaced.
fn is_unchanged(site: &PatternSite, state: &EditorState) -> bool {
    site.span.end <= state.snapshot.len() && state.snapshot.text(site.span) == *site.old
}

/// Sort key of a site: the same function first, then sites after the caret, then by distance.
fn rank(site: &PatternSite, state: &EditorState) -> (bool, bool, usize) {
    let function = function_around(state);
    let is_outside = !function.is_some_and(|span| span.covers(site.span));
    let is_before = site.span.start < state.caret;
    let distance = site.span.start.0.abs_diff(state.caret.0);
    (is_outside, is_before, distance)
}

/// Returns the innermost function around the caret.
fn function_around(state: &EditorState) -> Option<Span> {
    let at = ByteOffset(state.caret.0.min(state.snapshot.len().0.saturating_sub(1)));
    let nodes = state
        .syntax
        .as_ref()?
        .nodes_around(&state.snapshot, Span::at(at), 64);
    let is_function = |name: &str| {
        ["function_", "method_", "constructor_"]
            .iter()
            .any(|start| name.starts_with(start))
            && !name.ends_with("type")
    };
    let node = nodes.iter().find(|node| is_function(node.name))?;
    Some(node.span)
}

#[cfg(test)]
mod tests;
