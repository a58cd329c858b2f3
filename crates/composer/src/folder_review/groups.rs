//! The places of a file that a set of changes touches, and whether others changed them since.
//!
//! Pure. A place is contested if text of others lies within it, so that the set cannot be taken out
//! of it without a guess; this includes a line in which a formatter joined both.
//! Start at `ChangeSet::groups`.

use crate::change_history::ChangeId;

use super::line_roles::{ChangeSet, LineRole};
use super::weave::{Weave, WovenLine};

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

impl ChangeSet<'_> {
    /// The groups of a file, in text order.
    pub(super) fn groups(&self, weave: &Weave) -> Vec<LineGroup> {
        let lines = weave.lines();
        let mut groups: Vec<LineGroup> = Vec::new();
        // The lines that stay since the last line of the last group.
        let mut between: Vec<usize> = Vec::new();
        for (at, role) in self.roles(lines).into_iter().enumerate() {
            let change = match role {
                LineRole::Stays => {
                    between.push(at);
                    continue;
                }
                LineRole::Absent => continue,
                LineRole::Added(change) | LineRole::Removed(change) => change,
                LineRole::Fought { added, .. } | LineRole::Joined { added, .. } => added,
                LineRole::JoinedRemoved { removed, .. } => removed,
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
            line.and_then(|line| line.writers().find_map(|change| others(Some(change))))
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
            LineRole::Joined { by, .. } => {
                self.added.push(at);
                self.contested_by = self.contested_by.or(Some(by));
            }
            LineRole::JoinedRemoved { by, .. } => {
                self.removed.push(at);
                self.contested_by = self.contested_by.or(Some(by));
            }
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
