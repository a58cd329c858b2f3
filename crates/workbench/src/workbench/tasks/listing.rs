//! The rows of the list of tasks.

use std::sync::Arc;

use gpui_kit::Context;
use tasks::{TaskDefinition, TaskFileProblem, TaskGroup, TaskOrigin, TaskSet};
use ui::{ActivePlatform as _, Icon};

use super::super::Workbench;
use crate::pickers::tasks::{ReadTaskRows, TaskChoice, TaskRow};

/// The tasks that a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskFilter {
    /// All but hidden ones.
    All,
    /// Those of a group.
    Group(TaskGroup),
    /// Those that use the caret.
    AtCaret,
}

/// Returns the function that reads the rows; `None` without a folder.
pub(super) fn reader(
    workbench: &Workbench,
    filter: TaskFilter,
    cx: &Context<Workbench>,
) -> Option<ReadTaskRows> {
    let root = workbench.root(cx)?;
    let files = workbench.services.files.clone();
    let recent = workbench.tasks.recent.clone();
    let platform = cx.platform();
    Some(Arc::new(move || {
        let set = TaskSet::read(files.as_ref(), &root, platform);
        rows(&set, filter, &recent)
    }))
}

/// Returns the rows: recent tasks, then those of files, then detected ones, then the problems of files.
fn rows(set: &TaskSet, filter: TaskFilter, recent: &[String]) -> Vec<TaskRow> {
    let mut tasks: Vec<Arc<TaskDefinition>> = match filter {
        TaskFilter::All => set.tasks.clone(),
        TaskFilter::Group(group) => set.group(group),
        TaskFilter::AtCaret => set.at_caret(),
    };
    tasks.retain(|task| !task.is_hidden);
    let used = |task: &Arc<TaskDefinition>| recent.iter().position(|label| *label == task.label);
    tasks.sort_by_key(|task| used(task).unwrap_or(usize::MAX));
    let tasks = tasks.iter().map(|task| task_row(task));
    tasks.chain(set.problems.iter().map(problem_row)).collect()
}

fn task_row(task: &TaskDefinition) -> TaskRow {
    let (end, place) = match &task.origin {
        TaskOrigin::File {
            path, line, name, ..
        } => (*name, (path.clone(), *line)),
        TaskOrigin::Detected { tool, path } => (*tool, (path.clone(), 1)),
    };
    let written = task.written();
    TaskRow {
        title: task.label.clone(),
        detail: if written == task.label {
            String::new()
        } else {
            written
        },
        end: end.to_owned(),
        icon: Icon::Terminal,
        choice: TaskChoice::Run(task.label.clone()),
        place: Some(place),
    }
}

fn problem_row(problem: &TaskFileProblem) -> TaskRow {
    let TaskFileProblem { path, problem } = problem;
    TaskRow {
        title: problem.message.clone(),
        detail: String::new(),
        end: format!("{}:{}", problem.source, problem.line),
        icon: Icon::CircleAlert,
        choice: TaskChoice::Open,
        place: Some((path.clone(), problem.line)),
    }
}
