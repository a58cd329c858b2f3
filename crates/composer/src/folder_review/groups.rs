//! The places of a file that a set of changes touches, and whether others changed them since.
//!
//! Pure. A place is contested if text of others lies within it, so that the set cannot be taken out
//! of it without a guess.
//! Start at `ChangeSet::groups`.

use std::collections::HashSet;

use crate::change_history::ChangeId;

use super::weave::{Weave, WovenLine};

/// Changes to be taken out of a file.
pub(super) struct ChangeSet<'a> {
    /// Whether a change belongs to the set.
    pub(super) has: &'a dyn Fn(ChangeId) -> bool,
    /// Whether a change is an undo.
    pub(super) is_undo: &'a dyn Fn(ChangeId) -> bool,
    /// Whether lines that the user kept stay.
    pub(super) spares_kept: bool,
}

/// Lines of a weave, adjacent in the text, that differ without the changes of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineGroup {
    /// Lines that go, by index in the weave, ascending.
    pub(super) added: Vec<usize>,
    /// Lines that come back, by index in the weave, ascending.
    pub(super) removed: Vec<usize>,
    /// A change of another author within the group; the group is contested.
    pub(super) contested_by: Option<ChangeId>,
    /// The change that removed lines of the set within the group.
    fought_by: Option<ChangeId>,
    /// The first and the last line, by index in the weave.
    first: usize,
    last: usize,
    /// The change of the latest line.
    latest: ChangeId,
}

/// The part that a line plays for a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineRole {
    /// In the text, but not without the set.
    Added(ChangeId),
    /// Not in the text, but without the set.
    Removed(ChangeId),
    /// Added by the set, and removed by another change since.
    Fought { added: ChangeId, by: ChangeId },
    /// In the text with and without the set.
    Stays,
    /// In neither.
    Absent,
}

impl ChangeSet<'_> {
    fn has_addition(&self, line: &WovenLine) -> Option<ChangeId> {
        let mut changes = [line.added_by, line.written_by].into_iter().flatten();
        let added = changes.find(|change| (self.has)(*change));
        added.filter(|_| !(self.spares_kept && line.is_addition_kept))
    }

    fn has_removal(&self, line: &WovenLine) -> Option<ChangeId> {
        let removed = line.removed_by.filter(|change| (self.has)(*change));
        removed.filter(|_| !(self.spares_kept && line.is_removal_kept))
    }

    fn role(&self, line: &WovenLine, kept: &KeptRewritings) -> LineRole {
        let removal = self.has_removal(line).filter(|_| !kept.cover(line));
        match (self.has_addition(line), line.removed_by, removal) {
            (Some(added), None, _) => LineRole::Added(added),
            // The text of the set lives on in another line.
            (_, Some(_), None) if line.rewritten_as.is_some() => LineRole::Absent,
            (Some(added), Some(by), None) if !(self.is_undo)(by) && !(self.has)(by) => {
                LineRole::Fought { added, by }
            }
            (Some(_), Some(_), _) => LineRole::Absent,
            (None, None, _) => LineRole::Stays,
            (None, Some(_), Some(removed)) => LineRole::Removed(removed),
            (None, Some(_), None) => LineRole::Absent,
        }
    }

    /// The groups of a file, in text order.
    pub(super) fn groups(&self, weave: &Weave) -> Vec<LineGroup> {
        let lines = weave.lines();
        let kept = KeptRewritings::of(lines, self.spares_kept);
        let mut groups: Vec<LineGroup> = Vec::new();
        // The lines that stay since the last line of the last group.
        let mut between: Vec<usize> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let role = self.role(line, &kept);
            let change = match role {
                LineRole::Stays => {
                    between.push(at);
                    continue;
                }
                LineRole::Absent => continue,
                LineRole::Added(change) | LineRole::Removed(change) => change,
                LineRole::Fought { added, .. } => added,
            };
            let joined = groups.last_mut().filter(|group| {
                let is_later =
                    |at: &usize| lines[*at].added_by > Some(change) && group.latest == change;
                between.iter().all(is_later)
            });
            let group = match joined {
                Some(group) => {
                    let foreign = between.first().and_then(|at| lines[*at].added_by);
                    group.contested_by = group.contested_by.or(foreign);
                    group
                }
                None => {
                    groups.push(LineGroup::starting_at(at, change));
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            group.add(at, role);
            group.last = at;
            group.latest = change;
            between.clear();
        }
        groups.retain(|group| !group.added.is_empty() || !group.removed.is_empty());
        for group in &mut groups {
            if !group.removed.is_empty() {
                // Both the lines that come back and the others' edit would replace the set's lines.
                group.contested_by = group.contested_by.or(group.fought_by);
            }
            self.check_edges(lines, group);
        }
        groups
    }

    /// Finds changes at the edges of a group that make the position of returning lines ambiguous.
    fn check_edges(&self, lines: &[WovenLine], group: &mut LineGroup) {
        if !group.added.is_empty() || group.contested_by.is_some() {
            return;
        }
        let others = |change: Option<ChangeId>| {
            change.filter(|it| *it > group.latest && !(self.has)(*it) && !(self.is_undo)(*it))
        };
        let left = || lines[..group.first].iter().rev();
        let right = || lines[group.last + 1..].iter();
        // Text that was inserted exactly there since.
        let inserted = |line: Option<&WovenLine>| {
            let line = line.filter(|line| line.is_pure);
            line.and_then(|line| others(line.owner()))
        };
        let inserted = inserted(left().find(|line| line.is_live()))
            .or_else(|| inserted(right().find(|line| line.is_live())));
        // A later removal of the text on both sides.
        let was_there = |line: &&WovenLine| line.removed_by.is_none_or(|it| it > group.latest);
        let removed = |line: Option<&WovenLine>| line.and_then(|line| others(line.removed_by));
        let (before, behind) = (
            removed(left().find(was_there)),
            removed(right().find(was_there)),
        );
        group.contested_by = inserted.or(before.filter(|before| Some(*before) == behind));
    }
}

/// The rewritings by formatters that the user keeps: the lines before them do not return.
struct KeptRewritings(HashSet<(ChangeId, u32)>);

impl KeptRewritings {
    fn of(lines: &[WovenLine], spares_kept: bool) -> Self {
        let kept = lines
            .iter()
            .filter(|line| spares_kept && line.is_live() && line.is_addition_kept);
        let rewritings = kept.filter_map(|line| line.added_by.zip(line.rewrites));
        Self(rewritings.collect())
    }

    fn cover(&self, line: &WovenLine) -> bool {
        let rewriting = line.removed_by.zip(line.rewritten_as);
        rewriting.is_some_and(|it| self.0.contains(&it))
    }
}

impl LineGroup {
    fn starting_at(first: usize, latest: ChangeId) -> Self {
        Self {
            added: Vec::new(),
            removed: Vec::new(),
            contested_by: None,
            fought_by: None,
            first,
            last: first,
            latest,
        }
    }

    fn add(&mut self, at: usize, role: LineRole) {
        match role {
            LineRole::Added(_) => self.added.push(at),
            LineRole::Removed(_) => self.removed.push(at),
            LineRole::Fought { by, .. } => self.fought_by = self.fought_by.or(Some(by)),
            LineRole::Stays | LineRole::Absent => {}
        }
    }

    /// The lines that the group changes.
    pub(super) fn changed(&self) -> impl Iterator<Item = usize> {
        self.added.iter().chain(&self.removed).copied()
    }
}

/// Returns the text without the changes of these groups.
pub(super) fn text_without(weave: &Weave, groups: &[&LineGroup]) -> Vec<u8> {
    let mut is_live: Vec<bool> = weave.lines().iter().map(WovenLine::is_live).collect();
    for group in groups {
        for at in &group.added {
            is_live[*at] = false;
        }
        for at in &group.removed {
            is_live[*at] = true;
        }
    }
    let lines = weave.lines().iter().zip(is_live);
    let lines = lines.filter(|(_, is_live)| *is_live);
    lines
        .flat_map(|(line, _)| line.bytes.iter().copied())
        .collect()
}

/// Whether a line without an ending is followed by another line without the changes of these
/// groups.
pub(super) fn joins_lines(weave: &Weave, groups: &[&LineGroup]) -> bool {
    let joined = text_without(weave, groups);
    let mut gone: Vec<usize> = groups
        .iter()
        .flat_map(|it| it.added.iter().copied())
        .collect();
    gone.sort_unstable();
    let returns = |at: &usize| groups.iter().any(|it| it.removed.binary_search(at).is_ok());
    let lines = weave.lines().iter().enumerate();
    let live = lines.filter(|(at, line)| {
        (line.is_live() && gone.binary_search(at).is_err()) || (!line.is_live() && returns(at))
    });
    let count = live.count();
    joined.split_inclusive(|byte| *byte == b'\n').count() != count
}
