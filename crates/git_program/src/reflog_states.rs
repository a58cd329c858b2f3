//! Former states of HEAD, each with the way back, and with the commits that the branch would gain and lose.
//!
//! Pure but for `GitProgram::reflog_states`.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::log::{LogOrder, LogQuery, LogRow};
use crate::program::GitProgram;
use crate::records::is_object_id;
use crate::reflog::{ReflogEntry, UndoPlan, UndoStep};

/// Commits that are read to find those that a state has and HEAD lacks, or the reverse.
const MAX_COMMITS: usize = 2_000;
/// Commits of a list that are named.
const MAX_NAMED: usize = 3;

/// A former state of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflogState {
    /// The movement of HEAD that led to the state.
    pub entry: ReflogEntry,
    /// The way back to it.
    pub plan: UndoPlan,
    /// Commits that only the former state has, so that the branch gains them.
    pub gained: NamedCommits,
    /// Commits that the former state lacks, so that the branch loses them. They stay in the reflog.
    pub lost: NamedCommits,
}

/// Commits by their number and the subjects of the newest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedCommits {
    /// Their number, as far as commits were read.
    pub count: usize,
    /// The subjects of the newest of them.
    pub subjects: Vec<String>,
    /// Whether there may be more.
    pub is_cut: bool,
}

impl GitProgram {
    /// Returns up to `limit` former states of HEAD, the latest first. The present one is not among them.
    pub fn reflog_states(
        &self,
        limit: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<ReflogState>, Error> {
        let entries = self.reflog(limit, cancellation)?;
        let mut range: Vec<String> = Vec::new();
        for entry in &entries {
            if !range.contains(&entry.id) {
                range.push(entry.id.clone());
            }
        }
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let query = LogQuery {
            range,
            order: LogOrder::Topological,
            limit: Some(MAX_COMMITS),
            ..LogQuery::default()
        };
        let mut rows = Vec::new();
        self.log(&query, cancellation, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(states(&entries, &rows))
    }
}

/// Returns the states before the present one. `rows` have every commit before its parents.
fn states(entries: &[ReflogEntry], rows: &[LogRow]) -> Vec<ReflogState> {
    let Some(present) = entries.first() else {
        return Vec::new();
    };
    let graph = ReflogGraph::new(rows);
    let reached = graph.reached_from(&present.id);
    let former = entries.iter().enumerate().skip(1);
    let former = former.filter(|(_, entry)| is_object_id(entry.id.as_bytes()));
    let states = former.map(|(ix, entry)| {
        let step = way_back(&entries[..ix], &entry.id);
        let (mut gained, mut lost) = (NamedCommits::default(), NamedCommits::default());
        // A switch takes no commit from a branch.
        if matches!(step, UndoStep::ResetKeep(_)) {
            let before = graph.reached_from(&entry.id);
            gained = graph.only_in(&before, &reached);
            lost = graph.only_in(&reached, &before);
        }
        ReflogState {
            entry: entry.clone(),
            plan: UndoPlan {
                action: entry.description.clone(),
                step,
                head: present.id.clone(),
            },
            gained,
            lost,
        }
    });
    states.collect()
}

/// Returns the way back to a state that these movements followed, the latest first: the branch is moved, or if HEAD was
/// switched since, that switch is taken back.
fn way_back(since: &[ReflogEntry], id: &str) -> UndoStep {
    let switches = since
        .iter()
        .filter_map(|entry| switched(&entry.description));
    let switches: Vec<(&str, &str)> = switches.collect();
    let (Some((_, now)), Some((then, _))) = (switches.first(), switches.last()) else {
        return UndoStep::ResetKeep(id.to_owned());
    };
    if now == then {
        return UndoStep::ResetKeep(id.to_owned());
    }
    let is_just_before = since
        .last()
        .is_some_and(|next| switched(&next.description).is_some());
    if is_just_before && !is_object_id(then.as_bytes()) {
        return UndoStep::SwitchBranch((*then).to_owned());
    }
    UndoStep::SwitchDetached(id.to_owned())
}

/// Reads `checkout: moving from A to B`.
fn switched(description: &str) -> Option<(&str, &str)> {
    description
        .strip_prefix("checkout: moving from ")?
        .split_once(" to ")
}

/// The commits that were read, with their parents.
struct ReflogGraph<'r> {
    rows: &'r [LogRow],
    places: HashMap<&'r str, usize>,
}

impl<'r> ReflogGraph<'r> {
    fn new(rows: &'r [LogRow]) -> Self {
        let places = rows.iter().enumerate();
        let places = places.map(|(ix, row)| (row.id.as_str(), ix)).collect();
        Self { rows, places }
    }

    /// Returns for each commit whether it can be reached from a commit. As every commit precedes its parents, one pass is
    /// enough.
    fn reached_from(&self, id: &str) -> Vec<bool> {
        let mut reached = vec![false; self.rows.len()];
        let Some(start) = self.places.get(id).copied() else {
            return reached;
        };
        reached[start] = true;
        for ix in start..self.rows.len() {
            if !reached[ix] {
                continue;
            }
            for parent in &self.rows[ix].parents {
                if let Some(place) = self.places.get(parent.as_str()) {
                    reached[*place] = true;
                }
            }
        }
        reached
    }

    /// Returns the commits of one set that another lacks.
    fn only_in(&self, one: &[bool], other: &[bool]) -> NamedCommits {
        let pairs = one.iter().zip(other);
        let only = self.rows.iter().zip(pairs);
        let only = only.filter(|(_, (one, other))| **one && !**other);
        let subjects: Vec<&str> = only.map(|(row, _)| row.subject.as_str()).collect();
        let named = subjects.iter().take(MAX_NAMED);
        NamedCommits {
            count: subjects.len(),
            subjects: named.map(|subject| (*subject).to_owned()).collect(),
            is_cut: !subjects.is_empty() && self.rows.len() == MAX_COMMITS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{UndoStep, states};
    use crate::log::LogRow;
    use crate::reflog::parse_reflog;

    fn id(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    /// A commit with the id and the subject of a digit.
    fn row(digit: char, parents: &str) -> LogRow {
        LogRow {
            id: id(digit),
            parents: parents.chars().map(id).collect(),
            author: String::new(),
            address: String::new(),
            seconds: 0,
            refs: Vec::new(),
            subject: digit.to_string(),
        }
    }

    /// Returns the ways back and the numbers of gained and lost commits; the reflog is given as digits of commits with
    /// descriptions, the latest first.
    fn ways(reflog: &[(char, &str)], rows: &[LogRow]) -> Vec<(UndoStep, usize, usize)> {
        let output: String = reflog
            .iter()
            .map(|(digit, description)| format!("{}\0HEAD@{{1}}\0{description}\0", id(*digit)))
            .collect();
        let states = states(&parse_reflog(output.as_bytes()), rows);
        let ways = states.into_iter();
        ways.map(|state| (state.plan.step, state.gained.count, state.lost.count))
            .collect()
    }

    #[test]
    fn a_branch_gains_and_loses_commits() {
        // 3 was replaced by 4, both on 2 on 1.
        let rows = [row('4', "2"), row('3', "2"), row('2', "1"), row('1', "")];
        let reflog = [
            ('4', "commit (amend): four"),
            ('3', "commit: three"),
            ('2', "commit: two"),
        ];
        let keep = |digit| UndoStep::ResetKeep(id(digit));
        assert_eq!(ways(&reflog, &rows), [(keep('3'), 1, 1), (keep('2'), 0, 1)]);
    }

    #[test]
    fn states_of_another_branch_are_switched_to() {
        let rows = [row('3', "2"), row('2', "1"), row('1', "")];
        let reflog = [
            ('3', "commit: three"),
            ('2', "checkout: moving from main to topic"),
            ('2', "commit: two"),
            ('1', "commit (initial): one"),
        ];
        let expected = [
            (UndoStep::ResetKeep(id('2')), 0, 1),
            (UndoStep::SwitchBranch("main".to_owned()), 0, 0),
            (UndoStep::SwitchDetached(id('1')), 0, 0),
        ];
        assert_eq!(ways(&reflog, &rows), expected);
    }

    #[test]
    fn a_branch_that_was_left_and_entered_again_is_moved() {
        let rows = [row('2', "1"), row('1', "")];
        let reflog = [
            ('2', "checkout: moving from topic to main"),
            ('1', "checkout: moving from main to topic"),
            ('2', "commit: two"),
            ('1', "commit (initial): one"),
        ];
        let steps: Vec<UndoStep> = ways(&reflog, &rows).into_iter().map(|it| it.0).collect();
        let expected = [
            UndoStep::SwitchBranch("topic".to_owned()),
            UndoStep::ResetKeep(id('2')),
            UndoStep::ResetKeep(id('1')),
        ];
        assert_eq!(steps, expected);
        assert!(ways(&[], &rows).is_empty());
    }
}
