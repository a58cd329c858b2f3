//! Repeated token replacements in similar surroundings: in prose, in rows of the same shape, across
//! files.
//!
//! A replacement that was made twice is suggested at sites whose neighbouring tokens match. The
//! required match is the smallest that separates changed sites from skipped ones and is specific
//! enough. If no such match exists, a site must resemble a changed site more than any skipped site
//! does.
//!
//! Must not know: the meaning of words; the tree only distinguishes code, strings and comments.

use std::collections::HashMap;
use std::sync::Arc;

use base::{AbsPath, Revision, Span};
use text::Change;

use super::pattern::{TokenRoles, specificity};
use super::repeat_sites::{ContextWidth, RepeatSearch, RepeatSite, RepeatSites};
use crate::local::log::{EditLog, LoggedEdit, TokenRewrite};
use crate::{ChangeCause, EditorState};

/// Repeated replacements and their sites.
#[derive(Default)]
pub(super) struct RepeatedEdits {
    /// Ordered from the oldest.
    groups: Vec<EditGroup>,
    outcomes: HashMap<u64, GroupOutcome>,
    found: HashMap<(u64, Option<AbsPath>), RepeatSites>,
}

/// Edits that made the same replacement of tokens, as a source of further sites.
#[derive(Clone)]
pub(crate) struct EditGroup {
    pub(super) key: u64,
    examples: Vec<GroupExample>,
    /// The newest replacement, which represents the group.
    pub(super) turn: Arc<TokenRewrite>,
    /// The newest replacements of the group.
    pub(super) turns: Vec<Arc<TokenRewrite>>,
    /// Replacements of the same tokens with something else.
    pub(super) rivals: Vec<Arc<TokenRewrite>>,
    /// Roles of the first old word.
    pub(super) roles: TokenRoles,
    /// Number of neighbouring tokens that all members have in common.
    common: ContextWidth,
    /// Sequence number of the first edit made after the group was known.
    learned: u64,
}

/// One edit of a group.
#[derive(Clone)]
struct GroupExample {
    edit: u64,
    path: Option<AbsPath>,
    at: Span,
    is_typed: bool,
}

/// Outcomes of a group's suggestions.
#[derive(Clone, Copy, Debug, Default)]
struct GroupOutcome {
    accepted: u32,
    ignored: u8,
    is_dropped: bool,
}

/// A site of a group.
pub(super) struct RepeatCandidate {
    pub(super) group: u64,
    pub(super) file: Option<AbsPath>,
    pub(super) revision: Revision,
    pub(super) span: Span,
    pub(super) old: Arc<str>,
    pub(super) new: Arc<str>,
    /// Whether it precedes the caret, and its distance from the caret in bytes; both unset in
    /// another file.
    pub(super) is_before: bool,
    pub(super) distance: usize,
    pub(super) places: usize,
    pub(super) likelihood: f32,
}

/// Maximum number of groups searched for, the most recently extended ones.
const MAX_SEARCHED_GROUPS: usize = 10;

/// Number of edits after which a group is no longer suggested.
const MAX_OTHER_EDITS: u64 = 24;

/// Maximum number of a group's replacements that sites are compared with.
const MAX_REWRITES: usize = 12;

/// Maximum number of sites compared with skipped sites, and of skipped sites compared with.
const MAX_REMAINING_SITES: usize = 40;
const MAX_PASSED_SITES: usize = 60;

/// Minimum specificity of the matching tokens, and minimum lead of a site's similarity over rival
/// replacements.
const ENOUGH: usize = 10;
const MARGIN: usize = 3;

/// Maximum number of group outcomes kept.
const MAX_OUTCOMES: usize = 256;

impl RepeatedEdits {
    /// Recomputes the groups from the log.
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
        let mut groups: Vec<EditGroup> = counts
            .keys()
            .filter(|key| {
                !self
                    .outcomes
                    .get(key)
                    .is_some_and(|outcome| outcome.is_dropped)
            })
            .filter_map(|key| EditGroup::of(*key, log))
            .filter(|group| group.newest() + MAX_OTHER_EDITS >= newest)
            .collect();
        groups.sort_by_key(|group| (group.newest(), group.turn.old.len(), group.key));
        let surplus = groups.len().saturating_sub(MAX_SEARCHED_GROUPS);
        groups.drain(..surplus);
        self.groups = groups;
        let known = &self.groups;
        self.found.retain(|(key, _), spots| {
            let group = known.iter().find(|group| group.key == *key);
            group.is_some_and(|group| group.roles == spots.roles && group.count() == spots.known)
        });
    }

    /// Maps the sites of a text through a change.
    pub(super) fn follow(&mut self, path: &Option<AbsPath>, change: &Change) {
        for ((_, other), spots) in &mut self.found {
            if other == path {
                spots.follow(change);
            }
        }
        self.found.retain(|_, spots| !spots.is_lost);
    }

    /// Returns the searches that are still needed in these texts.
    pub(super) fn searches(&self, open: &[EditorState]) -> Vec<RepeatSearch> {
        let mut searches = Vec::new();
        for state in open {
            let is_known = |group: &&EditGroup| {
                let found = self.found.get(&(group.key, state.path.clone()));
                found.is_some_and(|it| it.revision == state.snapshot.revision())
            };
            let groups: Vec<EditGroup> = self
                .groups
                .iter()
                .filter(|group| !is_known(group))
                .cloned()
                .collect();
            if !groups.is_empty() {
                searches.push(RepeatSearch {
                    state: state.clone(),
                    groups,
                });
            }
        }
        searches
    }

    pub(super) fn add_sites(&mut self, key: u64, path: Option<AbsPath>, spots: RepeatSites) {
        self.found.insert((key, path), spots);
    }

    /// Returns the nearest site of each group, except for groups in `settled`, which the syntax
    /// tree handles better.
    pub(super) fn candidates(
        &self,
        log: &EditLog,
        state: &EditorState,
        is_settled: &dyn Fn(&TokenRewrite) -> bool,
    ) -> Vec<RepeatCandidate> {
        let groups = self.groups.iter().filter(|it| !is_settled(&it.turn));
        groups
            .filter_map(|group| self.candidate_of(group, log, state))
            .collect()
    }

    /// Returns the group's next site: in the current text the nearest after the caret, then the
    /// nearest before it, otherwise one of another file. Returns `None` if no site remains, or only
    /// sites that resemble a skipped site as much as a changed one.
    fn candidate_of(
        &self,
        group: &EditGroup,
        log: &EditLog,
        state: &EditorState,
    ) -> Option<RepeatCandidate> {
        let passed = self.passed(group, log);
        let level = group.level(&passed);
        let stands = |path: &Option<AbsPath>, spot: &RepeatSite| {
            is_meant(spot, level)
                && !group.is_passed(log, path, spot)
                && !is_new_text(log, path, spot, group.learned)
        };
        let spots = |path: &Option<AbsPath>| {
            let found = self.found.get(&(group.key, path.clone()));
            let spots = found.map_or(&[] as &[RepeatSite], |found| &found.spots);
            let path = path.clone();
            spots.iter().filter(move |spot| stands(&path, spot))
        };
        let here = self.found.get(&(group.key, state.path.clone()));
        let is_now = here.is_some_and(|it| it.revision == state.snapshot.revision());
        let far = |spot: &RepeatSite| {
            let (start, caret) = (spot.span.start, state.caret);
            (start < caret, start.0.abs_diff(caret.0))
        };
        let own = group.turn.old.iter().map(|token| specificity(token)).sum();
        let is_left = |spot: &&RepeatSite| {
            level.is_some()
                || passed
                    .iter()
                    .take(MAX_PASSED_SITES)
                    .all(|other| spot.likeness > spot.likeness_to(other, own))
        };
        let mut near: Vec<&RepeatSite> = spots(&state.path).filter(|_| is_now).collect();
        near.sort_by_key(|spot| far(spot));
        let nearest = near.into_iter().take(MAX_REMAINING_SITES).find(is_left);
        let others = self.others(group, state);
        let places = spots(&state.path).count()
            + others.iter().map(|path| spots(path).count()).sum::<usize>();
        let (file, revision, spot) = match nearest {
            Some(spot) => (None, state.snapshot.revision(), spot),
            None => others.iter().find_map(|path| {
                let revision = self.found.get(&(group.key, (*path).clone()))?.revision;
                let spot = spots(path).take(MAX_REMAINING_SITES).find(is_left)?;
                Some(((*path).clone(), revision, spot))
            })?,
        };
        let (is_before, distance) = if file.is_none() {
            far(spot)
        } else {
            (false, 0)
        };
        Some(RepeatCandidate {
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

    /// Returns the other searched files, starting after the current one and wrapping around.
    fn others(&self, group: &EditGroup, state: &EditorState) -> Vec<&Option<AbsPath>> {
        let keys = self.found.keys();
        let others = keys
            .filter(|(key, path)| *key == group.key && *path != state.path && path.is_some())
            .map(|(_, path)| path);
        let mut others: Vec<&Option<AbsPath>> = others.collect();
        others.sort_by_key(|path| (**path < state.path, (*path).clone()));
        others
    }

    /// Returns the sites that the user skipped.
    fn passed<'a>(&'a self, group: &'a EditGroup, log: &'a EditLog) -> Vec<&'a RepeatSite> {
        let own = self.found.iter().filter(|((key, _), _)| *key == group.key);
        own.flat_map(|((_, path), found)| {
            let spots = found.spots.iter();
            spots.filter(move |spot| group.is_passed(log, path, spot))
        })
        .collect()
    }

    /// Returns the initial probability, from 0.01 to 0.95, that a suggestion of the group is kept.
    /// `places` is the number of remaining sites; `is_told` is whether a common context separates
    /// them from skipped sites.
    fn likelihood(&self, group: &EditGroup, places: usize, is_told: bool) -> f32 {
        let outcome = self.outcomes.get(&group.key).copied().unwrap_or_default();
        let more = group.count() as f32 - 2.0 + outcome.accepted as f32;
        let mut likelihood = 0.6 + 0.07 * more.min(4.0);
        likelihood *= if is_told { 1.0 } else { 0.7 };
        likelihood *= 0.7_f32.powi(i32::from(outcome.ignored));
        likelihood *= if places > 60 { 0.7 } else { 1.0 };
        likelihood.clamp(0.01, 0.95)
    }

    pub(super) fn accepted(&mut self, key: u64) {
        let outcome = self.outcome_mut(key);
        outcome.accepted += 1;
        outcome.ignored = 0;
    }

    pub(super) fn ignored(&mut self, key: u64) {
        let outcome = self.outcome_mut(key);
        outcome.ignored += 1;
        outcome.is_dropped |= outcome.ignored >= super::MAX_IGNORED;
        self.forget_dropped();
    }

    pub(super) fn drop_group(&mut self, key: u64) {
        self.outcome_mut(key).is_dropped = true;
        self.forget_dropped();
    }

    fn forget_dropped(&mut self) {
        let outcomes = &self.outcomes;
        self.groups.retain(|it| {
            !outcomes
                .get(&it.key)
                .is_some_and(|outcome| outcome.is_dropped)
        });
    }

    fn outcome_mut(&mut self, key: u64) -> &mut GroupOutcome {
        if self.outcomes.len() > MAX_OUTCOMES {
            self.outcomes.clear();
        }
        self.outcomes.entry(key).or_default()
    }
}

impl EditGroup {
    /// Returns the group of a key; `None` if one of its edits was undone or it has fewer than two
    /// members.
    fn of(key: u64, log: &EditLog) -> Option<Self> {
        let mut members: Vec<(&LoggedEdit, &Arc<TokenRewrite>)> = Vec::new();
        for edit in log.all() {
            for turn in edit.turns.iter().filter(|turn| turn.key == key) {
                if edit.is_undone {
                    return None;
                }
                members.push((edit, turn));
            }
        }
        let (_, turn) = *members.last()?;
        let mut common = ContextWidth {
            left: turn.left.len(),
            right: turn.right.len(),
        };
        for (_, other) in &members {
            common = common.least(ContextWidth::between(turn, other));
        }
        let rivals = log
            .all()
            .flat_map(|edit| &edit.turns)
            .filter(|other| other.old == turn.old && other.new != turn.new)
            .filter(|_| !turn.old.is_empty())
            .take(MAX_REWRITES)
            .cloned()
            .collect();
        let example = |(edit, turn): &(&LoggedEdit, &Arc<TokenRewrite>)| GroupExample {
            edit: edit.id,
            path: edit.path.clone(),
            at: Span::at(edit.span.start + turn.offset),
            is_typed: edit.cause == ChangeCause::Typed,
        };
        Some(Self {
            key,
            learned: members.get(1)?.0.id + 1,
            examples: members.iter().map(example).collect(),
            turn: turn.clone(),
            turns: members
                .iter()
                .rev()
                .take(MAX_REWRITES)
                .map(|(_, turn)| (*turn).clone())
                .collect(),
            rivals,
            roles: TokenRoles::of(members.iter().map(|(_, turn)| turn.role)),
            common,
        })
    }

    /// Returns the sequence number of the group's latest edit.
    fn newest(&self) -> u64 {
        self.examples.iter().map(|it| it.edit).max().unwrap_or(0)
    }

    /// Whether tokens of this specificity identify a site, given the number of edits. Accepted
    /// suggestions count less than typed edits.
    pub(super) fn is_enough(&self, says: usize) -> bool {
        let typed = self.examples.iter().filter(|it| it.is_typed).count();
        says + 3 * typed.saturating_sub(2).min(2) >= ENOUGH
    }

    /// Returns the number of edits in the group.
    pub(super) fn count(&self) -> usize {
        self.examples.len()
    }

    /// Returns the smallest common context that is specific enough and that no skipped site
    /// matches. Returns `None` if there is none, or if rivals replace the same tokens otherwise.
    fn level(&self, passed: &[&RepeatSite]) -> Option<ContextWidth> {
        if !self.rivals.is_empty() {
            return None;
        }
        let common = self.common;
        // An insertion must match on both sides.
        let least = usize::from(self.turn.old.is_empty());
        let (left, right) = (least.min(common.left), least.min(common.right));
        let mut levels: Vec<ContextWidth> = (left..=common.left)
            .flat_map(|left| (right..=common.right).map(move |right| ContextWidth { left, right }))
            .collect();
        levels.sort_by_key(|it| (it.left + it.right, it.left.abs_diff(it.right)));
        levels.into_iter().find(|level| {
            self.says_enough(*level) && !passed.iter().any(|spot| spot.level.covers(*level))
        })
    }

    /// Whether the required tokens are specific enough.
    fn says_enough(&self, level: ContextWidth) -> bool {
        if self.turn.old.is_empty() && level.left + level.right == 0 {
            return false;
        }
        let left = self.turn.left.iter().take(level.left);
        let right = self.turn.right.iter().take(level.right);
        let tokens = self.turn.old.iter().chain(left).chain(right);
        self.is_enough(tokens.map(|token| specificity(token)).sum())
    }

    /// Whether the user has moved past a site since the first edit of the group.
    fn is_passed(&self, log: &EditLog, path: &Option<AbsPath>, spot: &RepeatSite) -> bool {
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

/// Whether a site matches the required context or, without one, resembles one of the edits closely
/// enough.
fn is_meant(spot: &RepeatSite, level: Option<ContextWidth>) -> bool {
    level.map_or_else(
        || spot.likeness >= (ENOUGH + MARGIN).max(spot.rivalry + MARGIN),
        |level| spot.level.covers(level),
    )
}

/// Whether a site lies in text that was typed after the group was known.
fn is_new_text(log: &EditLog, path: &Option<AbsPath>, spot: &RepeatSite, learned: u64) -> bool {
    log.all()
        .any(|edit| edit.id >= learned && edit.path == *path && edit.span.overlaps(spot.span))
}
