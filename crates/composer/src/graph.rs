//! The dependency graph of tasks.
//!
//! Pure. A task is ready once all its dependencies are done; cycles are refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::Error;

/// Names of the dependencies of each task, by task name.
pub type TaskDependencies = BTreeMap<String, Vec<String>>;

/// Whether the dependencies of a task allow it to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// All dependencies are done.
    Ready,
    /// These dependencies are still in progress.
    Waits(Vec<String>),
    /// These dependencies failed and stay so unless resumed.
    Stuck(Vec<String>),
}

/// The state of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyState {
    /// It is done or has landed.
    Done,
    /// It is queued or in progress.
    Open,
    /// It failed, was stopped or is unknown.
    Broken,
}

/// Checks that all dependencies of `tasks` are known and free of cycles. `is_there` returns whether
/// a task outside `tasks` exists; such tasks are not searched for cycles.
pub fn check_dependencies(
    tasks: &TaskDependencies,
    is_there: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    for (task, needs) in tasks {
        for need in needs {
            if !tasks.contains_key(need) && !is_there(need) {
                return Err(Error::InvalidTask(format!(
                    "\"{task}\" needs \"{need}\", which does not exist; name an existing task"
                )));
            }
        }
    }
    let mut visited = BTreeSet::new();
    for task in tasks.keys() {
        let mut path = Vec::new();
        if let Some(cycle) = find_cycle(tasks, task, &mut path, &mut visited) {
            return Err(Error::InvalidTask(format!(
                "{}: these dependencies form a cycle; remove one of them",
                cycle.join(" needs ")
            )));
        }
    }
    Ok(())
}

/// Finds a cycle that is reachable from `task`; the first task is repeated at the end.
fn find_cycle(
    tasks: &TaskDependencies,
    task: &str,
    path: &mut Vec<String>,
    visited: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(at) = path.iter().position(|it| it == task) {
        let mut cycle = path[at..].to_vec();
        cycle.push(task.to_owned());
        return Some(cycle);
    }
    if visited.contains(task) {
        return None;
    }
    path.push(task.to_owned());
    let needs = tasks.get(task).into_iter().flatten();
    for need in needs {
        let found = find_cycle(tasks, need, path, visited);
        if found.is_some() {
            return found;
        }
    }
    path.pop();
    visited.insert(task.to_owned());
    None
}

/// Computes whether a task with these dependencies can start. One broken dependency makes the task
/// stuck, even if others are open. A task without dependencies is ready.
pub fn readiness(needs: &[String], state_of: impl Fn(&str) -> DependencyState) -> Readiness {
    let of = |which: DependencyState| -> Vec<String> {
        let all = needs.iter().filter(|need| state_of(need) == which);
        all.cloned().collect()
    };
    let broken = of(DependencyState::Broken);
    let open = of(DependencyState::Open);
    match (broken.is_empty(), open.is_empty()) {
        (false, _) => Readiness::Stuck(broken),
        (true, false) => Readiness::Waits(open),
        (true, true) => Readiness::Ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(text: &str) -> TaskDependencies {
        let tasks = text.split("; ").map(|task| {
            let (name, needs) = task.split_once(':').unwrap_or((task, ""));
            let needs = needs.split_whitespace().map(str::to_owned).collect();
            (name.to_owned(), needs)
        });
        tasks.collect()
    }

    #[test]
    fn cycles_and_unknown_dependencies_are_refused() {
        for (tasks, refusal) in [
            ("a; b:a; c:a b", None),
            ("a:old", None),
            ("a:missing", Some("\"a\" needs \"missing\"")),
            ("a:a", Some("a needs a:")),
            ("a:b; b:c; c:a", Some("a needs b needs c needs a:")),
            ("x; a:x b; b:x a", Some("a needs b needs a:")),
        ] {
            let checked = check_dependencies(&needs(tasks), |name| name == "old");
            match refusal {
                None => assert!(checked.is_ok(), "{tasks}: {checked:?}"),
                Some(refusal) => {
                    let sentence = checked.unwrap_err().to_string();
                    assert!(sentence.contains(refusal), "{tasks}: {sentence}");
                }
            }
        }
    }

    #[test]
    fn a_long_row_of_tasks_is_checked_quickly() {
        let mut tasks = TaskDependencies::new();
        for number in 0..300_u32 {
            let before = (0..number).map(|it| format!("{it:03}")).collect();
            tasks.insert(format!("{number:03}"), before);
        }
        assert!(check_dependencies(&tasks, |_| false).is_ok());
    }

    #[test]
    fn a_task_waits_until_all_that_it_needs_is_done() {
        let stands = |name: &str| match name {
            "done" => DependencyState::Done,
            "open" => DependencyState::Open,
            _ => DependencyState::Broken,
        };
        let list =
            |names: &str| -> Vec<String> { names.split_whitespace().map(str::to_owned).collect() };
        for (needs, expected) in [
            ("", Readiness::Ready),
            ("done", Readiness::Ready),
            ("done open", Readiness::Waits(list("open"))),
            ("open broken", Readiness::Stuck(list("broken"))),
        ] {
            assert_eq!(readiness(&list(needs), stands), expected, "{needs}");
        }
    }
}
