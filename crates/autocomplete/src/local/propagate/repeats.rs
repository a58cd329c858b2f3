//! The same tokens turned into the same again, wherever the like stands around them: in prose, in several rows of one
//! shape, across files.
//!
//! A turn that was made twice is made again where as much of what stands beside it is the same as tells the places
//! that were changed from those that were passed over: the least that does, and that says enough. Where nothing does
//! that all of them have in common, a place must be more like one of them than any is that was passed over.
//! Must not know: what words mean; of the tree only whether a place is code, a string or a comment.

use std::collections::HashMap;
use std::sync::Arc;

use base::{AbsPath, Revision, Span};
use text::Change;

use super::pattern::{Roles, says};
use super::spots::{Level, Spot, SpotSearch, Spots};
use crate::local::log::{EditLog, LoggedEdit, Turn};
use crate::{Cause, Scene};

/// What was made more than once, and where the like stands.
#[derive(Default)]
pub(super) struct Repeats {
    /// The newest last.
    groups: Vec<Group>,
    fates: HashMap<u64, Fate>,
    found: HashMap<(u64, Option<AbsPath>), Spots>,
}

/// Edits that made the same of the same.
#[derive(Clone)]
pub(crate) struct Group {
    pub(super) key: u64,
    examples: Vec<Example>,
    /// The turn that the others are like.
    pub(super) turn: Arc<Turn>,
    /// The newest of them.
    pub(super) turns: Vec<Arc<Turn>>,
    /// Turns of the same into something else.
    pub(super) rivals: Vec<Arc<Turn>>,
    /// The parts that the first of the old words played.
    pub(super) roles: Roles,
    /// How many tokens on either side all of them have in common.
    common: Level,
    /// Edits from this number on were made when it was known already.
    learned: u64,
}

/// One of the edits.
#[derive(Clone)]
struct Example {
    edit: u64,
    path: Option<AbsPath>,
    at: Span,
    is_typed: bool,
}

/// What became of offers of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    accepted: u32,
    ignored: u8,
    is_dropped: bool,
}

/// A place that a group is about.
pub(super) struct Repeat {
    pub(super) group: u64,
    pub(super) file: Option<AbsPath>,
    pub(super) revision: Revision,
    pub(super) span: Span,
    pub(super) old: Arc<str>,
    pub(super) new: Arc<str>,
    /// Whether it is before the caret, and how far from it; of another file neither.
    pub(super) is_before: bool,
    pub(super) distance: usize,
    pub(super) places: usize,
    pub(super) likelihood: f32,
}

/// Groups that are looked for: those that were added to last.
const MOST_GROUPS: usize = 10;

/// A group is of no interest any more after so many edits.
const MOST_OTHERS: u64 = 24;

/// The newest of a group that places are compared with.
const MOST_TURNS: usize = 12;

/// Places that are compared with those that were passed over, and how many of those.
const MOST_LEFT: usize = 40;
const MOST_PASSED: usize = 60;

/// What tokens must say together, and by how much more a place must be like those that were changed than like others.
const ENOUGH: usize = 10;
const MARGIN: usize = 3;

/// Fates that are remembered.
const MOST_FATES: usize = 256;

impl Repeats {
    /// Finds the groups anew.
    pub(super) fn learn(&mut self, log: &EditLog) {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for turn in log
            .all()
            .filter(|it| !it.is_undone)
            .flat_map(|it| &it.turns)
        {
            *counts.entry(turn.key).or_default() += 1;
        }
        counts.retain(|_, count| *count >= 2);
        let newest = log.all().last().map_or(0, |edit| edit.id);
        let mut groups: Vec<Group> = counts
            .keys()
            .filter(|key| !self.fates.get(key).is_some_and(|fate| fate.is_dropped))
            .filter_map(|key| Group::of(*key, log))
            .filter(|group| group.newest() + MOST_OTHERS >= newest)
            .collect();
        groups.sort_by_key(|group| (group.newest(), group.turn.old.len(), group.key));
        let surplus = groups.len().saturating_sub(MOST_GROUPS);
        groups.drain(..surplus);
        self.groups = groups;
        let known = &self.groups;
        self.found.retain(|(key, _), spots| {
            let group = known.iter().find(|group| group.key == *key);
            group.is_some_and(|group| group.roles == spots.roles && group.count() == spots.known)
        });
    }

    /// Keeps the spots of a text in step with a change of it.
    pub(super) fn follow(&mut self, path: &Option<AbsPath>, change: &Change) {
        for ((_, other), spots) in &mut self.found {
            if other == path {
                spots.follow(change);
            }
        }
        self.found.retain(|_, spots| !spots.is_lost);
    }

    /// The searches that are still to be made in these texts.
    pub(super) fn searches(&self, open: &[Scene]) -> Vec<SpotSearch> {
        let mut searches = Vec::new();
        for scene in open {
            let is_known = |group: &&Group| {
                let found = self.found.get(&(group.key, scene.path.clone()));
                found.is_some_and(|it| it.revision == scene.snapshot.revision())
            };
            let groups: Vec<Group> = self
                .groups
                .iter()
                .filter(|group| !is_known(group))
                .cloned()
                .collect();
            if !groups.is_empty() {
                searches.push(SpotSearch {
                    scene: scene.clone(),
                    groups,
                });
            }
        }
        searches
    }

    pub(super) fn found(&mut self, key: u64, path: Option<AbsPath>, spots: Spots) {
        self.found.insert((key, path), spots);
    }

    /// The nearest place of each group, those in `settled` left out: the tree knows better of them.
    pub(super) fn offers(
        &self,
        log: &EditLog,
        scene: &Scene,
        is_settled: &dyn Fn(&Turn) -> bool,
    ) -> Vec<Repeat> {
        let groups = self.groups.iter().filter(|it| !is_settled(&it.turn));
        groups
            .filter_map(|group| self.offer_of(group, log, scene))
            .collect()
    }

    fn offer_of(&self, group: &Group, log: &EditLog, scene: &Scene) -> Option<Repeat> {
        let passed = self.passed(group, log);
        let level = group.level(&passed);
        let stands = |path: &Option<AbsPath>, spot: &Spot| {
            is_meant(spot, level)
                && !group.is_passed(log, path, spot)
                && !is_new_text(log, path, spot, group.learned)
        };
        let spots = |path: &Option<AbsPath>| {
            let found = self.found.get(&(group.key, path.clone()));
            let spots = found.map_or(&[] as &[Spot], |found| &found.spots);
            let path = path.clone();
            spots.iter().filter(move |spot| stands(&path, spot))
        };
        let here = self.found.get(&(group.key, scene.path.clone()));
        let is_now = here.is_some_and(|it| it.revision == scene.snapshot.revision());
        let far = |spot: &Spot| {
            let (start, caret) = (spot.span.start, scene.caret);
            (start < caret, start.0.abs_diff(caret.0))
        };
        let own = group.turn.old.iter().map(|token| says(token)).sum();
        let is_left = |spot: &&Spot| {
            level.is_some()
                || passed
                    .iter()
                    .take(MOST_PASSED)
                    .all(|other| spot.likeness > spot.likeness_to(other, own))
        };
        let mut near: Vec<&Spot> = spots(&scene.path).filter(|_| is_now).collect();
        near.sort_by_key(|spot| far(spot));
        let nearest = near.into_iter().take(MOST_LEFT).find(is_left);
        let others = self.others(group, scene);
        let places = spots(&scene.path).count()
            + others.iter().map(|path| spots(path).count()).sum::<usize>();
        let (file, revision, spot) = match nearest {
            Some(spot) => (None, scene.snapshot.revision(), spot),
            None => others.iter().find_map(|path| {
                let revision = self.found.get(&(group.key, (*path).clone()))?.revision;
                let spot = spots(path).take(MOST_LEFT).find(is_left)?;
                Some(((*path).clone(), revision, spot))
            })?,
        };
        let (is_before, distance) = match file.is_none() {
            true => far(spot),
            false => (false, 0),
        };
        Some(Repeat {
            group: group.key,
            is_before,
            distance,
            file,
            revision,
            span: spot.span,
            old: spot.old.clone(),
            new: spot.new.clone(),
            places,
            likelihood: self.likelihood(group, places, level.is_some()),
        })
    }

    /// The other files that were searched: on from this one, around the end.
    fn others(&self, group: &Group, scene: &Scene) -> Vec<&Option<AbsPath>> {
        let keys = self.found.keys();
        let others = keys
            .filter(|(key, path)| *key == group.key && *path != scene.path && path.is_some())
            .map(|(_, path)| path);
        let mut others: Vec<&Option<AbsPath>> = others.collect();
        others.sort_by_key(|path| (**path < scene.path, (*path).clone()));
        others
    }

    /// The places that the person has gone past.
    fn passed<'a>(&'a self, group: &'a Group, log: &'a EditLog) -> Vec<&'a Spot> {
        let own = self.found.iter().filter(|((key, _), _)| *key == group.key);
        own.flat_map(|((_, path), found)| {
            let spots = found.spots.iter();
            spots.filter(move |spot| group.is_passed(log, path, spot))
        })
        .collect()
    }

    fn likelihood(&self, group: &Group, places: usize, is_told: bool) -> f32 {
        let fate = self.fates.get(&group.key).copied().unwrap_or_default();
        let more = group.count() as f32 - 2.0 + fate.accepted as f32;
        let mut likelihood = 0.6 + 0.07 * more.min(4.0);
        likelihood *= if is_told { 1.0 } else { 0.7 };
        likelihood *= 0.7_f32.powi(i32::from(fate.ignored));
        likelihood *= if places > 60 { 0.7 } else { 1.0 };
        likelihood.clamp(0.01, 0.95)
    }

    pub(super) fn accepted(&mut self, key: u64) {
        let fate = self.fate(key);
        fate.accepted += 1;
        fate.ignored = 0;
    }

    pub(super) fn ignored(&mut self, key: u64) {
        let fate = self.fate(key);
        fate.ignored += 1;
        fate.is_dropped |= fate.ignored >= super::MOST_IGNORED;
        self.forget_dropped();
    }

    pub(super) fn drop_group(&mut self, key: u64) {
        self.fate(key).is_dropped = true;
        self.forget_dropped();
    }

    fn forget_dropped(&mut self) {
        let fates = &self.fates;
        self.groups
            .retain(|it| !fates.get(&it.key).is_some_and(|fate| fate.is_dropped));
    }

    fn fate(&mut self, key: u64) -> &mut Fate {
        if self.fates.len() > MOST_FATES {
            self.fates.clear();
        }
        self.fates.entry(key).or_default()
    }
}

impl Group {
    /// The group of a key; none where one of its edits was taken back, or none of them is a person's.
    fn of(key: u64, log: &EditLog) -> Option<Self> {
        let mut members: Vec<(&LoggedEdit, &Arc<Turn>)> = Vec::new();
        for edit in log.all() {
            for turn in edit.turns.iter().filter(|turn| turn.key == key) {
                if edit.is_undone {
                    return None;
                }
                members.push((edit, turn));
            }
        }
        let (_, turn) = *members.last()?;
        let mut common = Level {
            left: turn.left.len(),
            right: turn.right.len(),
        };
        for (_, other) in &members {
            common = common.least(Level::between(turn, other));
        }
        let rivals = log
            .all()
            .flat_map(|edit| &edit.turns)
            .filter(|other| other.old == turn.old && other.new != turn.new)
            .filter(|_| !turn.old.is_empty())
            .take(MOST_TURNS)
            .cloned()
            .collect();
        let example = |(edit, turn): &(&LoggedEdit, &Arc<Turn>)| Example {
            edit: edit.id,
            path: edit.path.clone(),
            at: Span::at(edit.span.start + turn.offset),
            is_typed: edit.cause == Cause::Typed,
        };
        Some(Self {
            key,
            learned: members.get(1)?.0.id + 1,
            examples: members.iter().map(example).collect(),
            turn: turn.clone(),
            turns: members
                .iter()
                .rev()
                .take(MOST_TURNS)
                .map(|(_, turn)| (*turn).clone())
                .collect(),
            rivals,
            roles: Roles::of(members.iter().map(|(_, turn)| turn.role)),
            common,
        })
    }

    fn newest(&self) -> u64 {
        self.examples.iter().map(|it| it.edit).max().unwrap_or(0)
    }

    /// Whether tokens that say so much say what is meant, with so many edits that they are known from. What was only
    /// taken tells less than what was typed.
    pub(super) fn is_enough(&self, says: usize) -> bool {
        let typed = self.examples.iter().filter(|it| it.is_typed).count();
        says + 3 * typed.saturating_sub(2).min(2) >= ENOUGH
    }

    /// How many edits it has.
    pub(super) fn count(&self) -> usize {
        self.examples.len()
    }

    /// What a place must have in common with all of them, if that tells them from those that were passed over.
    fn level(&self, passed: &[&Spot]) -> Option<Level> {
        if !self.rivals.is_empty() {
            return None;
        }
        let common = self.common;
        // What only comes in must be held from both sides.
        let least = usize::from(self.turn.old.is_empty());
        let (left, right) = (least.min(common.left), least.min(common.right));
        let mut levels: Vec<Level> = (left..=common.left)
            .flat_map(|left| (right..=common.right).map(move |right| Level { left, right }))
            .collect();
        levels.sort_by_key(|it| (it.left + it.right, it.left.abs_diff(it.right)));
        levels.into_iter().find(|level| {
            self.says_enough(*level) && !passed.iter().any(|spot| spot.level.covers(*level))
        })
    }

    /// Whether the tokens that are asked for say what is meant, rather than standing anywhere.
    fn says_enough(&self, level: Level) -> bool {
        if self.turn.old.is_empty() && level.left + level.right == 0 {
            return false;
        }
        let left = self.turn.left.iter().take(level.left);
        let right = self.turn.right.iter().take(level.right);
        let tokens = self.turn.old.iter().chain(left).chain(right);
        self.is_enough(tokens.map(|token| says(token)).sum())
    }

    /// Whether the person has gone past a spot since the first of the edits.
    fn is_passed(&self, log: &EditLog, path: &Option<AbsPath>, spot: &Spot) -> bool {
        let here = self.examples.iter().filter(|it| it.path == *path);
        let starts = || here.clone().map(|it| it.at.start);
        let Some(oldest) = here.clone().map(|it| it.edit).min() else {
            return false;
        };
        let later = log.all().filter(|it| it.path == *path && it.id >= oldest);
        let from = starts().min();
        let to = starts().chain(later.map(|it| it.span.start)).max();
        from.zip(to)
            .is_some_and(|(from, to)| from < spot.span.start && spot.span.start < to)
    }
}

/// Whether a spot has what is asked for; where nothing tells the places apart, enough of one of the edits.
fn is_meant(spot: &Spot, level: Option<Level>) -> bool {
    level.map_or_else(
        || spot.likeness >= (ENOUGH + MARGIN).max(spot.rivalry + MARGIN),
        |level| spot.level.covers(level),
    )
}

/// Whether a spot lies in text that was typed after it was known what to do with the like.
fn is_new_text(log: &EditLog, path: &Option<AbsPath>, spot: &Spot, learned: u64) -> bool {
    log.all()
        .any(|edit| edit.id >= learned && edit.path == *path && edit.span.overlaps(spot.span))
}
