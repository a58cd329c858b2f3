//! Looks up jobs of a stored board and their worktrees.

use composer::board::{JobStatus, JobWorktree, SavedBoard};

/// Returns the job with this name.
pub fn of<'a>(past: &'a SavedBoard, job: &str) -> Result<&'a JobStatus, String> {
    let line = past.jobs.iter().find(|line| line.job == job);
    line.ok_or_else(|| {
        format!("there is no job \"{job}\": `burin-agent compose list` names those there are")
    })
}

/// Returns the worktree of a job.
pub fn place_of(line: &JobStatus) -> Result<&JobWorktree, String> {
    let place = line.place.as_ref();
    place.ok_or_else(|| format!("{} has no worktree", line.job))
}
