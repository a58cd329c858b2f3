//! The board's tasks as a graph.

use std::collections::HashMap;

use crate::graph::{self, Needed, Needs, Readiness};

use super::actor::Job;
use super::{JobId, Line, Task};

/// The jobs that new tasks become, with what they need as jobs; `first` is the number of the first.
pub(super) fn names(
    tasks: Vec<Task>,
    there: &[JobId],
    first: u64,
) -> Result<Vec<(JobId, Task)>, String> {
    let mut jobs: HashMap<String, JobId> = HashMap::new();
    let numbered: Vec<(JobId, Task)> = (first..)
        .zip(tasks)
        .map(|(number, task)| (format!("a{number}"), task))
        .collect();
    for (job, task) in numbered.iter().filter(|(_, task)| !task.name.is_empty()) {
        if jobs.insert(task.name.clone(), job.clone()).is_some() {
            return Err(format!(
                "two tasks are called \"{}\"; what is needed must have a name of its own",
                task.name
            ));
        }
    }
    let called = |job: &JobId, task: &Task| match task.name.is_empty() {
        true => job.clone(),
        false => task.name.clone(),
    };
    let needs: Needs = numbered
        .iter()
        .map(|(job, task)| (called(job, task), task.needs.clone()))
        .collect();
    graph::check(&needs, |name| there.iter().any(|job| job == name))?;
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

/// Whether a job can begin.
pub(super) fn readiness_of(line: &Line, jobs: &[Job]) -> Readiness {
    graph::readiness(&line.task.needs, |need| {
        let needed = jobs.iter().find(|job| job.line.job == need);
        match needed.map(|job| &job.line.state) {
            Some(state) if state.is_done() => Needed::Done,
            Some(state) if state.is_open() => Needed::Open,
            _ => Needed::Broken,
        }
    })
}
