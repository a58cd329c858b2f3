//! What of agents' work is to land, and what of it lands as one.
//!
//! Each agent's work is a landing of its own, but for what was picked of several that did the same task: that is one
//! landing, merged from one base and checked as a whole.

use composer::CommitId;
use composer::board::{JobId, Line};
use composer::review::{Choice, HunkId, Overlap, Review};
use git::merge::Changes;

use super::past::place_of;

/// Stands between the sessions of a landing that several have a part in.
const AND: char = '+';

/// Work that lands as one.
pub(super) struct Load {
    /// Whose it is.
    pub(super) lines: Vec<Line>,
    /// The sessions that did it, for the commit.
    pub(super) session: String,
    /// A few words for people.
    pub(super) title: String,
    /// The first line of its commit.
    pub(super) subject: String,
    /// The turns that made it.
    pub(super) turns: Vec<String>,
    /// The commit that it began from.
    pub(super) base: CommitId,
    /// What it is.
    pub(super) changes: Changes,
}

/// Work that cannot land as it was picked.
pub(super) struct Unfit {
    /// Whose it is.
    pub(super) jobs: Vec<JobId>,
    /// Why, in sentences.
    pub(super) why: String,
}

/// Accepts all that nobody rejected of the jobs of which nothing was accepted: who lands work without having gone over
/// it means all of it.
pub(super) fn fill(review: &mut Review, lines: &[&Line]) {
    for line in lines {
        if accepted(review, line) > 0 {
            continue;
        }
        let own = review.hunks().iter();
        let own = own.filter(|hunk| hunk.session == line.job && review.choice(hunk.id).is_none());
        let open: Vec<HunkId> = own.map(|hunk| hunk.id).collect();
        review.decide(&open, Some(Choice::Accepted));
    }
}

/// What was accepted of these jobs, by landing. Those of one contest land together where `is_picked`.
pub(super) fn loads(
    review: &Review,
    lines: &[&Line],
    is_picked: impl Fn(&Line) -> bool,
) -> Result<Vec<Result<Load, Unfit>>, String> {
    let mut loads = Vec::new();
    let mut groups: Vec<Vec<&Line>> = Vec::new();
    for line in lines.iter().copied() {
        let is_with = |group: &&mut Vec<&Line>| {
            let first = group.first();
            is_picked(line)
                && line.group.is_some()
                && first.is_some_and(|it| it.group == line.group && is_picked(it))
        };
        match groups.iter_mut().find(is_with) {
            Some(group) => group.push(line),
            None => groups.push(vec![line]),
        }
    }
    for group in groups {
        loads.push(match group.as_slice() {
            [only] => Ok(load(
                &[*only],
                CommitId(place_of(only)?.base.clone()),
                review.accepted(&only.job),
            )),
            several => mixed(review, several).map_err(|overlaps| Unfit {
                jobs: several.iter().map(|line| line.job.clone()).collect(),
                why: told(&overlaps),
            }),
        });
    }
    Ok(loads)
}

/// How many hunks of a job were accepted.
pub(super) fn accepted(review: &Review, line: &Line) -> usize {
    let accepted = review.accepted_hunks();
    accepted.filter(|hunk| hunk.session == line.job).count()
}

/// Whether a landing of these sessions has work of a job in it.
pub(super) fn is_of(sessions: &str, line: &Line) -> bool {
    sessions
        .split(AND)
        .any(|it| line.session.as_deref() == Some(it) || line.job == it)
}

/// What was picked of several that did the same task, as one.
fn mixed(review: &Review, lines: &[&Line]) -> Result<Load, Vec<Overlap>> {
    let mut only = review.clone();
    let others = review.hunks().iter();
    let others = others.filter(|hunk| lines.iter().all(|line| line.job != hunk.session));
    let others: Vec<HunkId> = others.map(|hunk| hunk.id).collect();
    only.decide(&others, None);
    let (base, changes) = only.mix()?;
    Ok(load(lines, base, changes))
}

fn load(lines: &[&Line], base: CommitId, changes: Changes) -> Load {
    let sessions = lines.iter();
    let sessions = sessions.map(|line| line.session.clone().unwrap_or_else(|| line.job.clone()));
    let jobs: Vec<JobId> = lines.iter().map(|line| line.job.clone()).collect();
    let subject = lines.first().map(|line| line.task.title.clone());
    let subject = subject.unwrap_or_default();
    let turns = lines.iter().map(|line| line.turns).max();
    Load {
        session: sessions.collect::<Vec<_>>().join(&AND.to_string()),
        title: format!("{} {subject}", jobs.join(" and ")),
        lines: lines.iter().map(|line| (*line).clone()).collect(),
        subject,
        turns: (1..=turns.unwrap_or_default())
            .map(|turn| turn.to_string())
            .collect(),
        base,
        changes,
    }
}

fn told(overlaps: &[Overlap]) -> String {
    let mut sentences: Vec<&str> = Vec::new();
    for overlap in overlaps {
        if !sentences.contains(&overlap.sentence.as_str()) {
            sentences.push(&overlap.sentence);
        }
    }
    sentences.join(" ")
}
