//! Groups the accepted hunks into landings.
//!
//! Each agent's work is a landing of its own, except hunks selected from several agents that did
//! the same task: these form one landing, merged from one base and checked as a whole.

use composer::CommitId;
use composer::board::{JobId, JobStatus};
use composer::review::{HunkDecision, HunkId, HunkOverlap, Review};
use git::merge::Changes;

use super::history::place_of;

/// Separates the session ids of a landing that combines several sessions.
const AND: char = '+';

/// Work that lands as one.
pub struct MergeRequest {
    /// The jobs that did the work.
    pub lines: Vec<JobStatus>,
    /// The sessions that did it, for the commit.
    pub session: String,
    /// A few words for people.
    pub title: String,
    /// The first line of its commit.
    pub subject: String,
    /// The turns that made it.
    pub turns: Vec<String>,
    /// The commit that the work started from.
    pub base: CommitId,
    /// The changes to merge.
    pub changes: Changes,
}

/// Work that cannot land as it was picked.
pub struct SelectionError {
    /// The jobs whose work cannot land.
    pub jobs: Vec<JobId>,
    /// The reasons, as sentences.
    pub why: String,
}

/// Accepts every undecided hunk of jobs without an accepted hunk: a user who lands work without
/// reviewing it means all of it.
pub fn fill(review: &mut Review, lines: &[&JobStatus]) {
    for line in lines {
        if accepted(review, line) > 0 {
            continue;
        }
        let own = review.hunks().iter();
        let own = own.filter(|hunk| hunk.session == line.job && review.decision(hunk.id).is_none());
        let open: Vec<HunkId> = own.map(|hunk| hunk.id).collect();
        review.decide(&open, Some(HunkDecision::Accepted));
    }
}

/// Returns the accepted work of these jobs, one entry per landing. Jobs of one best-of group land
/// together if `is_picked`.
pub fn loads(
    review: &Review,
    lines: &[&JobStatus],
    is_picked: impl Fn(&JobStatus) -> bool,
) -> Result<Vec<Result<MergeRequest, SelectionError>>, String> {
    let mut loads = Vec::new();
    let mut groups: Vec<Vec<&JobStatus>> = Vec::new();
    for line in lines.iter().copied() {
        let is_with = |group: &&mut Vec<&JobStatus>| {
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
            several => combined_request(review, several).map_err(|overlaps| SelectionError {
                jobs: several.iter().map(|line| line.job.clone()).collect(),
                why: describe_overlaps(&overlaps),
            }),
        });
    }
    Ok(loads)
}

/// Returns the number of accepted hunks of a job.
pub fn accepted(review: &Review, line: &JobStatus) -> usize {
    let accepted = review.accepted_hunks();
    accepted.filter(|hunk| hunk.session == line.job).count()
}

/// Whether a landing of these sessions has work of a job in it.
pub fn is_of(sessions: &str, line: &JobStatus) -> bool {
    sessions
        .split(AND)
        .any(|it| line.session.as_deref() == Some(it) || line.job == it)
}

/// Combines the hunks selected from several agents that did the same task.
fn combined_request(
    review: &Review,
    lines: &[&JobStatus],
) -> Result<MergeRequest, Vec<HunkOverlap>> {
    let mut only = review.clone();
    let others = review.hunks().iter();
    let others = others.filter(|hunk| lines.iter().all(|line| line.job != hunk.session));
    let others: Vec<HunkId> = others.map(|hunk| hunk.id).collect();
    only.decide(&others, None);
    let (base, changes) = only.mix()?;
    Ok(load(lines, base, changes))
}

fn load(lines: &[&JobStatus], base: CommitId, changes: Changes) -> MergeRequest {
    let sessions = lines.iter();
    let sessions = sessions.map(|line| line.session.clone().unwrap_or_else(|| line.job.clone()));
    let jobs: Vec<JobId> = lines.iter().map(|line| line.job.clone()).collect();
    let subject = lines.first().map(|line| line.task.title.clone());
    let subject = subject.unwrap_or_default();
    let turns = lines.iter().map(|line| line.turns).max();
    MergeRequest {
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

fn describe_overlaps(overlaps: &[HunkOverlap]) -> String {
    let mut sentences: Vec<&str> = Vec::new();
    for overlap in overlaps {
        if !sentences.contains(&overlap.sentence.as_str()) {
            sentences.push(&overlap.sentence);
        }
    }
    sentences.join(" ")
}
