//! Shows agents' changes hunk by hunk, and stores which of them may land.

use std::process::ExitCode;

use clap::Args;
use composer::decisions::VerdictStore;
use composer::job::JobStatus;
use composer::job_review::JobReview;
use composer::review::{HunkChange, HunkId, HunkVerdict, Review, ReviewHunk, RiskReason};
use composer::worktrees::JobWorktrees;
use host::Dirs;
use serde_json::json;

use crate::run::show::print_json_line as json_line;
use crate::{Streams, error_text, print_notice, write_error};

use super::RepositoryArg;
use super::history::job;

/// Maximum number of lines of a hunk that are shown for each side.
const MAX_LINES: usize = 12;

#[derive(Args)]
pub(super) struct ReviewCommand {
    #[command(flatten)]
    repository: RepositoryArg,
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

impl ReviewCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        let mut jobs: Vec<&JobStatus> = Vec::new();
        for id in &self.jobs {
            jobs.push(job(&saved, id)?);
        }
        if self.jobs.is_empty() {
            let open = saved.jobs.iter().filter(|job| job.is_reviewable());
            jobs.extend(available(&worktrees, open.collect(), streams));
        }
        let mut loaded = JobReview::load(&worktrees, &jobs).map_err(error_text)?;
        self.decide(&mut loaded.review)?;
        let mut store = VerdictStore::read(&worktrees).map_err(error_text)?;
        store.merge_review(&loaded.review);
        store.write(&worktrees).map_err(error_text)?;
        for hunk in loaded.review.hunks() {
            let printed = if self.json {
                json_line(streams, &as_json(&loaded.review, hunk))
            } else {
                write!(streams.output, "{}", as_text(&loaded.review, hunk))
            };
            printed.map_err(write_error)?;
        }
        for refused in &loaded.refused {
            print_notice(streams, refused);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Sets the verdicts of the options on the hunks of a review: those to accept, those to reject,
    /// then all as accepted if asked for. Fails at the first name that fits no hunk or several.
    fn decide(&self, review: &mut Review) -> Result<(), String> {
        for (names, verdict) in [
            (&self.accept, HunkVerdict::Accepted),
            (&self.reject, HunkVerdict::Rejected),
        ] {
            let hunks: Result<Vec<HunkId>, _> =
                names.iter().map(|name| review.find(name)).collect();
            let hunks = hunks.map_err(|error| {
                format!("{error}; `burin-agent compose review` lists the existing ones")
            })?;
            review.decide(&hunks, verdict);
        }
        if self.all {
            let all: Vec<HunkId> = review.hunks().iter().map(|hunk| hunk.id).collect();
            review.decide(&all, HunkVerdict::Accepted);
        }
        Ok(())
    }
}

/// The jobs whose worktrees can be read. The others are reported to the user, so that one broken
/// worktree does not block the rest.
pub(super) fn available<'a>(
    worktrees: &JobWorktrees,
    mut jobs: Vec<&'a JobStatus>,
    streams: &mut Streams<'_>,
) -> Vec<&'a JobStatus> {
    jobs.retain(|job| {
        let acquired = job
            .worktree()
            .and_then(|worktree| worktrees.acquire(&worktree.lease));
        match acquired {
            Ok(()) => true,
            Err(why) => {
                print_notice(streams, &format!("{}: {why}", job.job));
                false
            }
        }
    });
    jobs
}

fn as_json(review: &Review, hunk: &ReviewHunk) -> serde_json::Value {
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
        "risk": hunk.reason().map(RiskReason::describe),
        "by": hunk.authors,
        "accepted": match review.verdict(hunk.id) {
            HunkVerdict::Open => None,
            verdict => Some(verdict == HunkVerdict::Accepted),
        },
    })
}

fn as_text(review: &Review, hunk: &ReviewHunk) -> String {
    let mark = match review.verdict(hunk.id) {
        HunkVerdict::Open => "open",
        HunkVerdict::Accepted => "accepted",
        HunkVerdict::Rejected => "rejected",
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
        for line in lines.iter().take(MAX_LINES) {
            let line = line.trim_end_matches(['\n', '\r']);
            text.push_str(&format!("    {sign} {line}\n"));
        }
        if lines.len() > MAX_LINES {
            let more = lines.len() - MAX_LINES;
            text.push_str(&format!("    {sign} … {more} more lines\n"));
        }
    }
    text
}
