//! The command `compose review`: shows agents' changes hunk by hunk, and stores the user's decisions.

use std::process::ExitCode;

use clap::Args;
use composer::board::JobStatus;
use composer::review::{HunkChange, HunkDecision, HunkId, ReviewHunk};
use host::Dirs;
use runtime::compose::JobWorktrees;
use runtime::compose::history::{of, place_of};
use runtime::compose::review::{Decisions, is_reviewable, review_changes};
use serde_json::json;

use crate::run::show::print_json_line as json_line;
use crate::{Streams, print_notice, write_error};

use super::RepositoryArg;

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
