//! Groups the accepted hunks of jobs into landings.
//!
//! Each job's work is a landing of its own, except hunks selected from several candidates of one
//! best-of-N group: these form one landing, merged from one base and checked as a whole.

use git::land::Signature;
use git::merge::Changes;

use crate::Error;
use crate::job::{JobId, JobStatus};
use crate::land::{CommitMessage, LandingRequest};
use crate::review::{HunkId, HunkOverlap, HunkVerdict, Review};
use crate::work::CommitId;

/// Separates the session ids of a landing that combines several sessions.
const SESSION_SEPARATOR: char = '+';

/// The accepted work that is to land.
pub struct AcceptedWork<'a> {
    /// The review with the verdicts.
    pub review: &'a Review,
    /// The jobs whose work lands.
    pub jobs: &'a [&'a JobStatus],
    /// Whether the user selected single hunks of a job; the selected work of one best-of-N group
    /// lands together.
    pub is_selected: &'a dyn Fn(&JobStatus) -> bool,
    /// The subject of the commits; the title of the task if `None`.
    pub subject: Option<&'a str>,
}

/// The work of one landing.
pub(super) struct JobLanding {
    /// The jobs that did the work.
    pub(super) jobs: Vec<JobStatus>,
    /// The request; an error if the selected hunks exclude each other.
    pub(super) request: Result<LandingRequest, Error>,
}

/// Accepts every undecided hunk of jobs without an accepted hunk: a user who lands work without
/// reviewing it means all of it.
pub fn accept_unreviewed(review: &mut Review, jobs: &[&JobStatus]) {
    for job in jobs {
        if accepted_count(review, job) > 0 {
            continue;
        }
        let own = review.hunks().iter().filter(|hunk| hunk.session == job.job);
        let open = own.filter(|hunk| review.verdict(hunk.id) == HunkVerdict::Open);
        let open: Vec<HunkId> = open.map(|hunk| hunk.id).collect();
        review.decide(&open, HunkVerdict::Accepted);
    }
}

/// The number of accepted hunks of a job.
pub fn accepted_count(review: &Review, job: &JobStatus) -> usize {
    let accepted = review.accepted_hunks();
    accepted.filter(|hunk| hunk.session == job.job).count()
}

impl AcceptedWork<'_> {
    /// Splits the accepted work into landings whose commits have the author `author`.
    pub(super) fn landings(&self, author: &Signature) -> Result<Vec<JobLanding>, Error> {
        let mut landings = Vec::new();
        for jobs in self.groups() {
            let changes = match jobs.as_slice() {
                [only] => {
                    let base = CommitId(only.worktree()?.base.clone());
                    Ok((base, self.review.accepted(&only.job)))
                }
                several => combined_changes(self.review, several)
                    .map_err(|overlaps| Error::Overlapping(describe_overlaps(&overlaps))),
            };
            landings.push(JobLanding {
                request: changes.map(|changes| self.request(&jobs, changes, author)),
                jobs: jobs.into_iter().cloned().collect(),
            });
        }
        Ok(landings)
    }

    /// The jobs of each landing.
    fn groups(&self) -> Vec<Vec<&JobStatus>> {
        let mut groups: Vec<Vec<&JobStatus>> = Vec::new();
        for job in self.jobs.iter().copied() {
            let joins = |group: &&mut Vec<&JobStatus>| {
                let first = group.first();
                (self.is_selected)(job)
                    && job.group.is_some()
                    && first.is_some_and(|it| it.group == job.group && (self.is_selected)(it))
            };
            match groups.iter_mut().find(joins) {
                Some(group) => group.push(job),
                None => groups.push(vec![job]),
            }
        }
        groups
    }

    fn request(
        &self,
        jobs: &[&JobStatus],
        (base, changes): (CommitId, Changes),
        author: &Signature,
    ) -> LandingRequest {
        let sessions = jobs.iter();
        let sessions = sessions.map(|job| job.session.clone().unwrap_or_else(|| job.job.clone()));
        let ids: Vec<&str> = jobs.iter().map(|job| job.job.as_str()).collect();
        let task = jobs.first().map_or("", |job| job.task.title.as_str());
        let turns = jobs.iter().map(|job| job.turns).max();
        LandingRequest {
            session: sessions
                .collect::<Vec<_>>()
                .join(&SESSION_SEPARATOR.to_string()),
            title: format!("{} {task}", ids.join(" and ")),
            base,
            changes,
            branch: None,
            author: author.clone(),
            message: CommitMessage {
                subject: self.subject.unwrap_or(task).to_owned(),
                turns: (1..=turns.unwrap_or_default())
                    .map(|turn| turn.to_string())
                    .collect(),
                ..CommitMessage::default()
            },
        }
    }
}

/// Returns whether a landing of these sessions, joined by `SESSION_SEPARATOR`, contains work of a
/// job.
pub(super) fn contains(sessions: &str, job: &JobStatus) -> bool {
    sessions
        .split(SESSION_SEPARATOR)
        .any(|it| job.session.as_deref() == Some(it) || job.job == it)
}

/// Combines the hunks selected from several candidates of the same task.
fn combined_changes(
    review: &Review,
    jobs: &[&JobStatus],
) -> Result<(CommitId, Changes), Vec<HunkOverlap>> {
    let mut only = review.clone();
    let others = review.hunks().iter();
    let others = others.filter(|hunk| jobs.iter().all(|job| job.job != hunk.session));
    let others: Vec<HunkId> = others.map(|hunk| hunk.id).collect();
    only.decide(&others, HunkVerdict::Open);
    only.mix()
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

/// Returns the ids of jobs.
pub(super) fn ids(jobs: &[JobStatus]) -> Vec<JobId> {
    jobs.iter().map(|job| job.job.clone()).collect()
}
