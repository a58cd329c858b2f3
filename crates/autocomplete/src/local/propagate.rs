//! Edit propagation: after two like edits, the remaining places.
//!
//! Must not know: when to look, where texts come from. `learn` hears of every edit; sites beyond the screen are found
//! by a `SiteSearch` on another thread; `offer` tells the next place.
//! Invariant: a pattern is gone once it was dismissed, ignored twice, or one of its edits was taken back.
//! Invariant: nothing is offered inside text that was typed after the pattern was learned.
//! Method: tab-and-index notes §4 for what the tree understands; `repeats` for what it does not.

mod choice;
mod elsewhere;
mod pattern;
mod repeats;
mod search;
mod sites;
mod spots;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{AbsPath, ByteOffset, Revision, Row, Span};
use text::Change;

use super::log::{EditLog, Edited, LoggedEdit, Turn, around};
use crate::{Cause, Scene};
pub use elsewhere::Elsewhere;
pub(crate) use elsewhere::FoundElsewhere;
use pattern::Pattern;
use repeats::{Repeat, Repeats};
use search::{Around, Found};
pub(crate) use search::{Findings, SiteSearch};
use sites::{Ground, Site, sites};

/// What is known of the edits that were made more than once.
#[derive(Default)]
pub(crate) struct Propagation {
    /// The newest last.
    patterns: Vec<Active>,
    repeats: Repeats,
    next: u64,
    revisions: HashMap<Option<AbsPath>, Revision>,
}

/// A pattern and what became of it.
struct Active {
    id: u64,
    pattern: Pattern,
    examples: Vec<Example>,
    /// Edits from this number on were made after it was learned.
    learned: u64,
    /// Whether it is about a variable of one function.
    is_local: bool,
    /// Whether it was made of several variables of that name.
    is_of_many: bool,
    /// Whether it is only about places within what its last examples are within: others were left between them.
    is_narrow: bool,
    ignored: u8,
    accepted: u32,
    is_dropped: bool,
    found: HashMap<Option<AbsPath>, Found>,
    /// Counts what it was widened to.
    version: u32,
    /// Whether files that are not open were searched for this version.
    is_searched: bool,
}

/// One of the edits that made a pattern.
struct Example {
    edit: u64,
    piece: usize,
    path: Option<AbsPath>,
    /// What it is within.
    around: [Arc<str>; 2],
}

/// The next place of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) pattern: u64,
    /// Another file; none for the text that was asked for.
    pub(crate) file: Option<AbsPath>,
    pub(crate) revision: Revision,
    pub(crate) site: Site,
    /// Whether it is before the caret, and how far from it; of another file neither.
    is_before: bool,
    distance: usize,
    /// How many places are left, with this one.
    pub(crate) places: usize,
    /// How sure it is before anything was learned of this person, from 0 to 1.
    pub(crate) likelihood: f32,
}

/// Patterns that are remembered, also to know which were dismissed.
const MOST_PATTERNS: usize = 16;

/// Edits that a new one is compared with.
const MOST_COMPARED: usize = 12;

/// Sites in sight that are looked for while the search has not ended.
const MOST_IN_SIGHT: usize = 6;

/// Offers that may be ignored.
const MOST_IGNORED: u8 = 2;

/// After so many other edits a pattern is of no interest any more.
const MOST_OTHERS: u64 = 5;

impl Propagation {
    /// Takes in a change that the log has taken in.
    pub(crate) fn learn(&mut self, log: &EditLog, edit: &Edited) {
        self.revisions.insert(edit.path.clone(), edit.change.after);
        for active in &mut self.patterns {
            active.follow(&edit.path, &edit.change);
        }
        self.repeats.follow(&edit.path, &edit.change);
        self.repeats.learn(log);
        if edit.cause == Cause::Undone {
            self.drop_undone(log);
        }
        let open = log.open_edit();
        self.forget_unfinished(log, open);
        let Some(open) = open.filter(|open| open.cause == Cause::Typed) else {
            return;
        };
        for (ix, _) in open.pieces.iter().enumerate() {
            self.compare(log, open, ix, edit);
        }
    }

    /// Looks for an earlier edit like one piece of the newest.
    fn compare(&mut self, log: &EditLog, open: &LoggedEdit, ix: usize, edit: &Edited) {
        let earlier = log.closed().rev().take(MOST_COMPARED);
        let earlier = earlier.filter(|it| it.cause == Cause::Typed && !it.is_undone);
        let mut pairs = (0..ix)
            .map(|other| (open, other))
            .chain(earlier.flat_map(|it| (0..it.pieces.len()).map(move |other| (it, other))));
        let found = pairs.find_map(|(other, piece)| {
            let pattern = Pattern::of(other.pieces.get(piece)?, open.pieces.get(ix)?)?;
            let example = |edit: &LoggedEdit, piece: usize| {
                Some(Example {
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
            let is_newest = |it: &Example| (it.edit, it.piece) == (open.id, ix);
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
        self.patterns.push(Active {
            id: self.next,
            is_local: sites::is_local(&pattern, &edit.after, edit.syntax.as_ref(), at),
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
        if self.patterns.len() > MOST_PATTERNS {
            self.patterns.remove(0);
        }
    }

    /// Forgets patterns that the open edit has left behind: it was like another edit for a few keys only.
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
                        .filter_map(|other| Pattern::of(other, piece))
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

    /// The search that is still to be made in these open texts.
    pub(crate) fn search(&self, log: &EditLog, open: &[Scene]) -> Option<SiteSearch> {
        let mut search = SiteSearch::default();
        for active in self.patterns.iter().filter(|it| !it.is_dropped) {
            for scene in open {
                let is_known = active.found.get(&scene.path);
                if is_known.is_some_and(|it| it.revision == scene.snapshot.revision()) {
                    continue;
                }
                let examples = active.examples_in(log, &scene.path);
                if active.is_local && examples.is_empty() {
                    continue;
                }
                let (what, scene) = (active.pattern.clone(), scene.clone());
                search.add(active.id, what, scene, examples, active.around());
            }
        }
        search.also(self.repeats.searches(open));
        (!search.is_empty()).then_some(search)
    }

    /// Takes what a search has found, unless the text has changed since.
    pub(crate) fn found(&mut self, findings: Findings) {
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
                self.repeats.found(key, path, spots);
            }
        }
    }

    /// The most likely next place of all patterns and repeats that the person is still about.
    pub(crate) fn offer(&self, log: &EditLog, scene: &Scene) -> Option<Offer> {
        let mut offers = self.offers_by_tree(log, scene);
        // What is known of a variable of a function holds there alone.
        let is_settled = |turn: &Turn| {
            let mut patterns = self.patterns.iter();
            patterns.any(|it| it.is_of_one_function() && it.pattern.turns(&turn.old, &turn.new))
        };
        let repeats = self.repeats.offers(log, scene, &is_settled);
        offers.extend(repeats.into_iter().map(Repeat::into_offer));
        choice::choose(offers)
    }

    /// The nearest place of each pattern.
    fn offers_by_tree(&self, log: &EditLog, scene: &Scene) -> Vec<Offer> {
        let live: Vec<&Active> = self.patterns.iter().filter(|it| !it.is_dropped).collect();
        let examples = live.iter().flat_map(|it| &it.examples);
        let own: HashSet<u64> = examples.map(|it| it.edit).collect();
        live.iter()
            .filter(|it| it.is_of_interest(log, scene, &own))
            .filter_map(|it| it.offer(log, scene, &live))
            .collect()
    }

    /// Hears what became of an offer.
    pub(crate) fn accepted(&mut self, pattern: u64) {
        if let Some(active) = self.active(pattern) {
            active.accepted += 1;
            active.ignored = 0;
        } else {
            self.repeats.accepted(pattern);
        }
    }

    /// An offer was passed over; after the second one the pattern is given up.
    pub(crate) fn ignored(&mut self, pattern: u64) {
        if let Some(active) = self.active(pattern) {
            active.ignored += 1;
            active.is_dropped |= active.ignored >= MOST_IGNORED;
        } else {
            self.repeats.ignored(pattern);
        }
    }

    /// Gives a pattern up.
    pub(crate) fn drop_pattern(&mut self, pattern: u64) {
        if let Some(active) = self.active(pattern) {
            active.is_dropped = true;
        } else {
            self.repeats.drop_group(pattern);
        }
    }

    fn active(&mut self, pattern: u64) -> Option<&mut Active> {
        self.patterns.iter_mut().find(|it| it.id == pattern)
    }
}

impl Active {
    fn is_of_one_function(&self) -> bool {
        self.is_local && !self.is_of_many
    }

    /// Searches anew where its examples are within something else than before.
    fn follow_within(&mut self, before: Option<[Arc<str>; 2]>) {
        if self.within() != before.as_ref() {
            self.is_narrow = false;
            self.search_anew();
        }
    }

    /// From now on it is only about places within what its last examples are within.
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

    /// The call that its last example is within, or what both of its last ones are.
    fn within(&self) -> Option<&[Arc<str>; 2]> {
        let [.., before, last] = self.examples.as_slice() else {
            return None;
        };
        let [callee, bracket] = &last.around;
        let is_call = &**bracket == "(" && !callee.is_empty();
        (is_call || before.around == last.around).then_some(&last.around)
    }

    fn around(&self) -> Option<Around> {
        self.within().map(|within| Around {
            within: within.clone(),
            is_sure: self.is_narrow,
        })
    }

    /// Keeps the sites of a text in step with a change of it.
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

    /// Where its examples stand now in a text.
    fn examples_in(&self, log: &EditLog, path: &Option<AbsPath>) -> Vec<Span> {
        let here = self.examples.iter().filter(|it| it.path == *path);
        here.filter_map(|example| {
            let edit = log.all().find(|it| it.id == example.edit)?;
            let piece = edit.pieces.get(example.piece)?;
            Some(Span::at(edit.span.start + piece.offset))
        })
        .collect()
    }

    /// Whether the person is still about it. `own` are the edits of all patterns: going to and fro between them is
    /// one task.
    fn is_of_interest(&self, log: &EditLog, scene: &Scene, own: &HashSet<u64>) -> bool {
        let newest = self.examples.iter().map(|it| it.edit).max().unwrap_or(0);
        let is_own = |edit: &LoggedEdit| {
            edit.id <= newest || edit.cause == Cause::Accepted || own.contains(&edit.id)
        };
        let others = log.closed().filter(|edit| !is_own(edit)).count() as u64;
        let typing = log.open_edit().filter(|edit| !is_own(edit));
        let is_typing = typing.as_ref().is_some_and(|edit| {
            edit.path == scene.path
                && edit.span.start <= scene.caret
                && scene.caret <= edit.span.end
        });
        others + u64::from(typing.is_some()) < MOST_OTHERS && !is_typing
    }

    fn offer(&self, log: &EditLog, scene: &Scene, live: &[&Active]) -> Option<Offer> {
        let rivals: Vec<&&Active> = live
            .iter()
            .filter(|it| it.pattern.is_rival(&self.pattern))
            .collect();
        let known = self.found.get(&scene.path);
        let known = known.filter(|it| it.revision == scene.snapshot.revision());
        let in_sight;
        let here = match known {
            Some(found) => &found.sites,
            None => {
                in_sight = self.in_sight(log, scene);
                &in_sight
            }
        };
        let here: Vec<&Site> = here
            .iter()
            .filter(|site| stands(site, scene) && !self.is_new_text(log, &scene.path, site))
            .filter(|site| rivals.is_empty() || self.is_meant(site, scene, &rivals))
            .collect();
        let elsewhere = match rivals.is_empty() {
            true => self.elsewhere(log, scene),
            false => Vec::new(),
        };
        let places = here.len()
            + elsewhere
                .iter()
                .map(|(_, found)| found.sites.len())
                .sum::<usize>();
        let nearest = here.iter().min_by_key(|site| rank(site, scene));
        let (_, is_before, distance) = nearest.map_or_else(Default::default, |it| rank(it, scene));
        let (file, revision, site) = match nearest {
            Some(site) => (None, scene.snapshot.revision(), (*site).clone()),
            None => {
                let (path, found) = elsewhere.first()?;
                (
                    Some((*path).clone()),
                    found.revision,
                    found.sites.first()?.clone(),
                )
            }
        };
        Some(Offer {
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

    /// Whether a site that several patterns are about is one of this: it is within what one of its examples was
    /// within, and none of the others'.
    fn is_meant(&self, site: &Site, scene: &Scene, rivals: &[&&Active]) -> bool {
        let around = around(&scene.snapshot, site.span.start);
        let is_within = |active: &Active| active.examples.iter().any(|it| it.around == around);
        is_within(self) && !rivals.iter().any(|it| is_within(it))
    }

    /// The sites in the rows in sight, for as long as the search is out.
    fn in_sight(&self, log: &EditLog, scene: &Scene) -> Vec<Site> {
        let examples = self.examples_in(log, &scene.path);
        if self.is_narrow || self.is_local && examples.is_empty() {
            return Vec::new();
        }
        let ground = Ground {
            text: &scene.snapshot,
            syntax: scene.syntax.as_ref(),
            examples: &examples,
            is_elsewhere: examples.is_empty(),
        };
        let from = scene.snapshot.row_start(scene.rows.0);
        let to = scene.snapshot.row_start(Row(scene.rows.1.0)).max(from);
        sites(&self.pattern, ground, Span::new(from, to), MOST_IN_SIGHT)
    }

    /// Files with sites besides the one in sight, in a fixed order.
    fn elsewhere(&self, log: &EditLog, scene: &Scene) -> Vec<(&AbsPath, &Found)> {
        let mut files: Vec<(&AbsPath, &Found)> = self
            .found
            .iter()
            .filter(|(path, found)| **path != scene.path && !found.sites.is_empty())
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
    fn is_new_text(&self, log: &EditLog, path: &Option<AbsPath>, site: &Site) -> bool {
        log.all().any(|edit| {
            edit.id >= self.learned && edit.path == *path && edit.span.overlaps(site.span)
        })
    }

    fn likelihood(&self, places: usize) -> f32 {
        let mut likelihood: f32 = if self.is_local { 0.85 } else { 0.7 };
        likelihood -= if self.pattern.has_hole() { 0.1 } else { 0.0 };
        likelihood += 0.05 * (self.examples.len() as f32 - 2.0 + self.accepted as f32).min(3.0);
        let skipped: usize = self.found.values().map(|found| found.skipped).sum();
        // Who passed places over means only some of them.
        likelihood *= 0.6_f32.powi(skipped.min(4) as i32);
        likelihood *= 0.7_f32.powi(i32::from(self.ignored));
        if places > 60 {
            likelihood *= 0.7;
        }
        likelihood.clamp(0.01, 0.95)
    }
}

impl Repeat {
    fn into_offer(self) -> Offer {
        Offer {
            pattern: self.group,
            file: self.file,
            revision: self.revision,
            site: Site {
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

fn stands(site: &Site, scene: &Scene) -> bool {
    site.span.end <= scene.snapshot.len() && scene.snapshot.text(site.span) == *site.old
}

/// Nearer sites first: in the same function, then behind the caret, then before it.
fn rank(site: &Site, scene: &Scene) -> (bool, bool, usize) {
    let function = function_around(scene);
    let is_outside = !function.is_some_and(|span| span.covers(site.span));
    let is_before = site.span.start < scene.caret;
    let distance = site.span.start.0.abs_diff(scene.caret.0);
    (is_outside, is_before, distance)
}

/// The innermost function around the caret.
fn function_around(scene: &Scene) -> Option<Span> {
    let at = ByteOffset(scene.caret.0.min(scene.snapshot.len().0.saturating_sub(1)));
    let nodes = scene
        .syntax
        .as_ref()?
        .nodes_around(&scene.snapshot, Span::at(at), 64);
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
