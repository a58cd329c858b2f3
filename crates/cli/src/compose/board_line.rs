//! A board as text.

use base::{AbsPath, LineFeeds, printable};
use composer::board::{AwaitedInput, JobState, JobStatus};
use model::Cost;

/// Returns a one-line summary of a job. `said` is its agent's last message.
pub(super) fn job_summary(line: &JobStatus, said: Option<&str>) -> String {
    let what = match &line.state {
        JobState::Waiting { what } => match what {
            AwaitedInput::Leave { title, .. } => title.clone(),
            AwaitedInput::Answer { text, .. } => text.clone(),
        },
        JobState::Failed { why } | JobState::Conflict { why } => why.clone(),
        JobState::Landed { commit } => commit.chars().take(12).collect(),
        _ => match (line.doing.is_empty(), said) {
            (true, Some(said)) => said.lines().next().unwrap_or_default().to_owned(),
            (true, None) => line.task.title.clone(),
            (false, _) => line.doing.clone(),
        },
    };
    let tree = line
        .place
        .as_ref()
        .map_or("-", |place| place.lease.as_str());
    let what = printable(&what, LineFeeds::Escape);
    let text = format!(
        "{:<4} {:<6} {:<13} {what}",
        line.job,
        tree,
        line.state.label()
    );
    text.trim_end().to_owned()
}

/// Returns a summary of the jobs and the commands that can follow.
pub(super) fn summary<'a>(lines: impl Iterator<Item = &'a JobStatus>, hub: &AbsPath) -> String {
    let mut text = String::from("\n");
    let mut is_any = false;
    for line in lines {
        is_any = true;
        text.push_str(&job_details(line));
        text.push('\n');
    }
    if is_any {
        text.push_str(&format!(
            "\nNothing of it is in {hub} yet. Go on there with `burin-agent compose forecast`, `review` and `land`; `undo` and \
             `restore` take back in a worktree.\n"
        ));
    }
    text
}

/// Returns a job with its worktree, its branch and its cost.
pub(super) fn job_details(line: &JobStatus) -> String {
    let cost = match line.cost_nano {
        Some(nano) => Cost(nano).to_string(),
        None => "at a price that is not known".to_owned(),
    };
    let (lease, branch) = match &line.place {
        Some(place) => (place.lease.as_str(), place.branch.as_str()),
        None => ("-", "-"),
    };
    format!(
        "{:<4} {lease:<6} {:<13} {branch:<14} {cost:<10} {:>6.1} s  {}",
        line.job,
        line.state.label(),
        line.worked_ms as f64 / 1000.0,
        line.task.title
    )
}
