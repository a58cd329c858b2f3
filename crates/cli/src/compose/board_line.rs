//! Formats the jobs of a board as text.

use base::{AbsPath, LineFeeds, printable};
use composer::job::{AwaitedInput, JobState, JobStatus};
use model::Cost;

/// Returns a one-line summary of a job. `message` is its agent's last message.
pub(super) fn job_summary(job: &JobStatus, message: Option<&str>) -> String {
    let what = match &job.state {
        JobState::Waiting { input } => match input {
            AwaitedInput::Permission { title, .. } => title.clone(),
            AwaitedInput::Answer { text, .. } => text.clone(),
        },
        JobState::Failed { why } | JobState::Conflict { why } => why.clone(),
        JobState::Landed { commit } => commit.chars().take(12).collect(),
        _ => match (job.activity.is_empty(), message) {
            (true, Some(message)) => message.lines().next().unwrap_or_default().to_owned(),
            (true, None) => job.task.title.clone(),
            (false, _) => job.activity.clone(),
        },
    };
    let worktree = job.worktree.as_ref();
    let lease = worktree.map_or("-", |worktree| worktree.lease.as_str());
    let what = printable(&what, LineFeeds::Escape);
    let text = format!(
        "{:<4} {:<6} {:<13} {what}",
        job.job,
        lease,
        job.state.label()
    );
    text.trim_end().to_owned()
}

/// Returns a summary of the jobs and the commands that can follow.
pub(super) fn summary<'a>(
    jobs: impl Iterator<Item = &'a JobStatus>,
    main_repo: &AbsPath,
) -> String {
    let mut text = String::from("\n");
    let mut is_any = false;
    for job in jobs {
        is_any = true;
        text.push_str(&job_details(job));
        text.push('\n');
    }
    if is_any {
        text.push_str(&format!(
            "\nNothing of it is in {main_repo} yet. Go on there with `burin-agent compose forecast`, `review` and `land`; `undo` and \
             `restore` take back in a worktree.\n"
        ));
    }
    text
}

/// Returns a job with its worktree, its branch and its cost.
pub(super) fn job_details(job: &JobStatus) -> String {
    let cost = match job.cost_nano {
        Some(nano) => Cost(nano).to_string(),
        None => "at an unknown price".to_owned(),
    };
    let (lease, branch) = match &job.worktree {
        Some(worktree) => (worktree.lease.as_str(), worktree.branch.as_str()),
        None => ("-", "-"),
    };
    format!(
        "{:<4} {lease:<6} {:<13} {branch:<14} {cost:<10} {:>6.1} s  {}",
        job.job,
        job.state.label(),
        job.worked_ms as f64 / 1000.0,
        job.task.title
    )
}
