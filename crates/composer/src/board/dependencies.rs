//! The dependency graph of the board's tasks.

use std::collections::HashMap;

use crate::graph::{self, DependencyState, Readiness, TaskDependencies};

use super::actor::Job;
use crate::Error;
use crate::job::{JobId, JobSpec, JobStatus};

/// Assigns the ids `a<first>`, `a<first+1>`, … to new tasks and resolves their dependencies, by
/// name or id, to job ids. `there` are the existing jobs. Fails if a name occurs twice, or a
/// dependency is unknown or cyclic.
pub(super) fn resolve_names(
    tasks: Vec<JobSpec>,
    there: &[JobId],
    first: u64,
) -> Result<Vec<(JobId, JobSpec)>, Error> {
    let mut jobs: HashMap<String, JobId> = HashMap::new();
    let numbered: Vec<(JobId, JobSpec)> = (first..)
        .zip(tasks)
        .map(|(number, task)| (format!("a{number}"), task))
        .collect();
    for (job, task) in numbered.iter().filter(|(_, task)| !task.name.is_empty()) {
        if jobs.insert(task.name.clone(), job.clone()).is_some() {
            return Err(Error::InvalidTask(format!(
                "two tasks are named \"{}\"; the name of a dependency must be unique",
                task.name
            )));
        }
    }
    let called = |job: &JobId, task: &JobSpec| {
        if task.name.is_empty() {
            job.clone()
        } else {
            task.name.clone()
        }
    };
    let needs: TaskDependencies = numbered
        .iter()
        .map(|(job, task)| (called(job, task), task.needs.clone()))
        .collect();
    graph::check_dependencies(&needs, |name| there.iter().any(|job| job == name))?;
    let resolved = numbered.into_iter().map(|(job, mut task)| {
        for need in &mut task.needs {
            if let Some(job) = jobs.get(need.as_str()) {
                need.clone_from(job);
            }
        }
        (job, task)
    });
    Ok(resolved.collect())
}

/// Whether a job's dependencies allow it to start.
pub(super) fn readiness_of(status: &JobStatus, jobs: &[Job]) -> Readiness {
    graph::readiness(&status.task.needs, |need| {
        let needed = jobs.iter().find(|job| job.status.job == need);
        match needed.map(|job| &job.status.state) {
            Some(state) if state.is_done() => DependencyState::Done,
            Some(state) if state.is_open() => DependencyState::Open,
            _ => DependencyState::Broken,
        }
    })
}
