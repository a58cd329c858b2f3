//! Shows agents' changes hunk by hunk, and stores which of them may land.
//!
//! A decision belongs to a hunk's change, not to its position: a hunk that changes must be decided
//! again.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use composer::SessionWork;
use composer::board::JobStatus;
use composer::change_history::SessionAuthors;
use composer::forecast::{ChangeGatherer, ChangedTrees, SessionChanges};
use composer::land::UnsavedBuffers;
use composer::review::{
    HunkChange, HunkDecision, HunkId, NoReviewSources, ReviewHunk, ReviewedSession,
};
use host::{Dirs, Files as _, RealFiles};
use serde_json::json;

use crate::run::show::print_json_line as json_line;
use crate::{Streams, print_notice, write_error};

use super::RepositoryArg;
use super::history::{of, place_of};
use super::job_worktrees::JobWorktrees;
use super::land::{repository, work_of};

/// The largest file of decisions that is read, in bytes.
const MAX_DECISIONS_BYTES: u64 = 16 << 20;
/// Lines of a hunk that are shown for each side.
const LINES: usize = 12;

#[derive(Args)]
pub(super) struct ReviewCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// The agents, such as a1 a2; all that have not landed without any
    jobs: Vec<String>,
    /// Accept these hunks, by their names or the beginnings of them
    #[arg(long, value_name = "HUNK", value_delimiter = ',')]
    accept: Vec<String>,
    /// Reject these hunks, so that they do not land
    #[arg(long, value_name = "HUNK", value_delimiter = ',')]
    reject: Vec<String>,
    /// Let all that is shown land
    #[arg(long, conflicts_with_all = ["accept", "reject"])]
    all: bool,
    /// Print an object as a line of JSON for each hunk
    #[arg(long)]
    json: bool,
}

/// The user's decisions, by hunk. Unbounded: grows with every decided hunk.
#[derive(Debug, Default)]
pub(super) struct Decisions(BTreeMap<HunkId, HunkDecision>);

/// The changes of some jobs.
pub(super) struct ReviewedChanges {
    /// The hunks with their decisions.
    pub(super) review: composer::review::Review,
    /// The changes as a whole, by job.
    pub(super) sessions: Vec<ReviewedSession>,
    /// Changes that were refused, as sentences.
    pub(super) refused: Vec<String>,
}

impl ReviewCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        let mut lines: Vec<&JobStatus> = Vec::new();
        for job in &self.jobs {
            lines.push(of(&past, job)?);
        }
        if self.jobs.is_empty() {
            let open = past.jobs.iter().filter(|line| is_reviewable(line));
            lines.extend(there(&trees, open.collect(), streams));
        }
        let mut looked = review_changes(&trees, &lines)?;
        let known =
            |sentence| format!("{sentence}; `burin-agent compose review` names those there are");
        let review = &mut looked.review;
        for (names, choice) in [
            (&self.accept, HunkDecision::Accepted),
            (&self.reject, HunkDecision::Rejected),
        ] {
            let found: Result<Vec<HunkId>, String> =
                names.iter().map(|name| review.find(name)).collect();
            review.decide(&found.map_err(known)?, Some(choice));
        }
        if self.all {
            let all: Vec<HunkId> = review.hunks().iter().map(|hunk| hunk.id).collect();
            review.decide(&all, Some(HunkDecision::Accepted));
        }
        let mut decisions = Decisions::read(&trees)?;
        decisions.merge_review(review);
        decisions.write(&trees)?;
        for hunk in looked.review.hunks() {
            let told = if self.json {
                json_line(streams, &as_json(&looked.review, hunk))
            } else {
                write!(streams.output, "{}", as_text(&looked.review, hunk))
            };
            told.map_err(write_error)?;
        }
        let refused = looked.refused.iter();
        refused.for_each(|sentence| print_notice(streams, sentence));
        Ok(ExitCode::SUCCESS)
    }
}

impl Decisions {
    pub(super) fn read(trees: &JobWorktrees) -> Result<Self, String> {
        let path = trees.folder().join("review.json");
        let kept: BTreeMap<String, bool> = match RealFiles.read(&path, MAX_DECISIONS_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                format!("{path} cannot be read: {error}; remove it to decide anew")
            })?,
            Err(error) if error.is_not_found() => BTreeMap::new(),
            Err(error) => return Err(error.to_string()),
        };
        let kept = kept.into_iter().filter_map(|(name, may_land)| {
            let choice = if may_land {
                HunkDecision::Accepted
            } else {
                HunkDecision::Rejected
            };
            Some((HunkId::parse(&name)?, choice))
        });
        Ok(Self(kept.collect()))
    }

    pub(super) fn write(&self, trees: &JobWorktrees) -> Result<(), String> {
        let kept = self.0.iter();
        let kept: BTreeMap<String, bool> = kept
            .map(|(id, choice)| (id.to_string(), *choice == HunkDecision::Accepted))
            .collect();
        let bytes = serde_json::to_vec(&kept).map_err(|error| error.to_string())?;
        let path = trees.folder().join("review.json");
        RealFiles
            .write_private(&path, &bytes)
            .map_err(|error| error.to_string())
    }

    /// Returns the decision about a hunk.
    pub(super) fn of(&self, hunk: HunkId) -> Option<HunkDecision> {
        self.0.get(&hunk).copied()
    }

    /// Copies the decisions of a review.
    pub(super) fn merge_review(&mut self, review: &composer::review::Review) {
        for hunk in review.hunks() {
            match review.decision(hunk.id) {
                Some(choice) => self.0.insert(hunk.id, choice),
                None => self.0.remove(&hunk.id),
            };
        }
    }
}

/// Whether a job's work can be looked at and has not landed.
pub(super) fn is_reviewable(line: &JobStatus) -> bool {
    let has_landed = matches!(line.state, composer::board::JobState::Landed { .. });
    line.place.is_some() && !has_landed
}

/// Returns the jobs whose worktrees can be read. Reports the others to the user, so that one broken
/// worktree does not block the rest.
pub(super) fn there<'a>(
    trees: &JobWorktrees,
    lines: Vec<&'a JobStatus>,
    streams: &mut Streams<'_>,
) -> Vec<&'a JobStatus> {
    let mut there = lines;
    there.retain(|line| {
        let held = place_of(line).and_then(|place| trees.acquire(&place.lease));
        match held {
            Ok(()) => true,
            Err(why) => {
                print_notice(streams, &format!("{}: {why}", line.job));
                false
            }
        }
    });
    there
}

/// Returns the jobs' current changes with their decisions. Blocks on the disk.
pub(super) fn review_changes(
    trees: &JobWorktrees,
    lines: &[&JobStatus],
) -> Result<ReviewedChanges, String> {
    let mut works = Vec::new();
    for line in lines {
        works.push(work_of_job(trees, line)?);
    }
    let repository = repository(trees.main_repo())?;
    let gathered = gather(trees)?
        .read(
            &repository,
            &works,
            &UnsavedBuffers::new(),
            &ChangedTrees::All,
        )
        .map_err(|error| error.to_string())?;
    if let Some(sentence) = gathered.unread.into_values().next() {
        return Err(sentence);
    }
    let refused = gathered.refused.iter().flat_map(|(job, all)| {
        let told = |it: &git::land::RefusedPath| format!("{job}: {}", describe_refusal(it));
        all.iter().map(told).collect::<Vec<_>>()
    });
    let sessions: Vec<ReviewedSession> = gathered.input.sessions.iter().map(reviewed).collect();
    let writers = writers(trees, lines)?;
    let review =
        composer::review::Review::build(&repository, &sessions, &writers, &NoReviewSources);
    let decisions = Decisions::read(trees)?;
    let review = review.map_err(|error| error.to_string())?;
    Ok(ReviewedChanges {
        review: review.with_stored_decisions(|id| decisions.of(id)),
        refused: refused.collect(),
        sessions,
    })
}

/// Creates a reader of worktrees that caches unchanged files.
pub(super) fn gather(trees: &JobWorktrees) -> Result<ChangeGatherer, String> {
    let memory = trees.folder().join("forecast");
    let gather = ChangeGatherer::new(trees.main_repo(), &memory, Arc::new(RealFiles));
    gather.map_err(|error| error.to_string())
}

/// A job's work, called as the board calls it.
pub(super) fn work_of_job(trees: &JobWorktrees, line: &JobStatus) -> Result<SessionWork, String> {
    let mut work = work_of(trees, line, place_of(line)?)?;
    work.session.clone_from(&line.job);
    work.title.clone_from(&line.task.title);
    Ok(work)
}

/// Returns the reviewable changes of a session.
pub(super) fn reviewed(session: &SessionChanges) -> ReviewedSession {
    ReviewedSession {
        session: session.name.clone(),
        base: session.base.clone(),
        changes: session.changes.clone(),
    }
}

/// A name that is not taken, in a sentence.
pub(super) fn describe_refusal(one: &git::land::RefusedPath) -> String {
    format!("{} cannot land: {}", one.path, one.reason)
}

/// Returns the authors of the changes in the jobs' worktrees.
pub(super) fn writers(
    trees: &JobWorktrees,
    lines: &[&JobStatus],
) -> Result<SessionAuthors, String> {
    let mut writers = SessionAuthors::default();
    for line in lines {
        let authored = trees.authored(place_of(line)?)?;
        writers.0.insert(line.job.clone(), authored);
    }
    Ok(writers)
}

fn as_json(review: &composer::review::Review, hunk: &ReviewHunk) -> serde_json::Value {
    let (removed, added) = review.changed_lines(hunk);
    let row = match &hunk.part {
        HunkChange::Lines { before, .. } => before.start,
        _ => 0,
    };
    json!({
        "hunk": hunk.id.to_string(),
        "job": hunk.session,
        "path": hunk.path.to_path(),
        "symbol": hunk.symbol,
        "row": row,
        "removed": removed,
        "added": added,
        "note": hunk.note(),
        "risk": hunk.reason().map(composer::review::RiskReason::describe),
        "by": hunk.authors,
        "accepted": review.decision(hunk.id).map(|choice| choice == HunkDecision::Accepted),
    })
}

fn as_text(review: &composer::review::Review, hunk: &ReviewHunk) -> String {
    let mark = match review.decision(hunk.id) {
        Some(HunkDecision::Accepted) => "accepted",
        Some(HunkDecision::Rejected) => "rejected",
        None => "open",
    };
    let (name, job, path) = (review.short(hunk.id), &hunk.session, &hunk.path);
    let (row, by) = (hunk.row() + 1, hunk.authors.join(", "));
    let mut text = format!("{name}  {job:<4} {mark:<8}  {path}:{row}");
    let symbol = hunk.symbol.iter().map(|symbol| format!("in {symbol}"));
    let risk = hunk.reason().map(|reason| reason.describe().to_owned());
    for about in symbol.chain(hunk.note()).chain(risk) {
        text.push_str(&format!("  {about}"));
    }
    text.push_str(&format!("  by {by}\n"));
    let (removed, added) = review.changed_lines(hunk);
    for (sign, lines) in [('-', &removed), ('+', &added)] {
        for line in lines.iter().take(LINES) {
            let line = line.trim_end_matches(['\n', '\r']);
            text.push_str(&format!("    {sign} {line}\n"));
        }
        if lines.len() > LINES {
            let more = lines.len() - LINES;
            text.push_str(&format!("    {sign} … {more} more lines\n"));
        }
    }
    text
}
