//! The tasks of a window: lists them, runs them in terminals, and shows the problems in their output.
//!
//! A task starts in three steps: `prepare` reads the project in the background, `consent` asks the user, and `running`
//! carries out the effects of a `TaskRun`.
//! Invariant: no program of a task starts in a folder that the user does not trust, or from a file of tasks that changed
//! since the user allowed it.
//! Start at `start`.

mod consent;
mod findings;
mod listing;
mod prepare;
mod running;

use std::collections::BTreeMap;
use std::sync::Arc;

use gpui_kit::{AppContext as _, Context, Div, InteractiveElement as _, Stateful, Task, Window};
use tasks::{TaskGroup, TaskSet};
use ui::ActivePlatform as _;

use super::Workbench;
use super::program::open_or_create;
use crate::actions::tasks::{
    OpenTaskFile, RunBuildTask, RunLastTask, RunTask, RunTaskAtCaret, RunTestTask, StopTask,
};
use crate::open_options::{GoToPosition, OpenOptions};
use crate::pickers::tasks::{TaskChoice, TaskPicker, TaskRow};
use crate::target::LineColumn;
use listing::TaskFilter;
use running::{ActiveRun, RunId};

/// Key of notifications about tasks.
const NOTICE: &str = "tasks";
/// Labels of tasks that are remembered.
const MAX_RECENT: usize = 50;

/// A new file of tasks.
const NEW_FILE: &str = "// Tasks of this project; docs/tasks.md explains them. Files of Visual Studio Code and Zed are read as well.
{
    \"version\": \"2.0.0\",
    \"tasks\": [
        // {
        //     \"label\": \"check this file\",
        //     \"command\": \"cat $file | wc -l\",
        //     \"group\": \"test\",
        //     \"problemMatcher\": \"$gcc\"
        // }
    ]
}
";

/// The tasks of a window.
#[derive(Default)]
pub(super) struct TaskDock {
    runs: BTreeMap<RunId, ActiveRun>,
    next_run: u64,
    /// Labels of tasks that ran, the latest first.
    recent: Vec<String>,
    /// The task that runs once the folder is trusted.
    waiting: Option<String>,
    /// Reads the project and asks the user before a task starts.
    starting: Option<Task<()>>,
    /// Show the problems of each task.
    showing: BTreeMap<String, Task<()>>,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &RunTask, window, cx| {
            show_tasks(this, TaskFilter::All, window, cx);
        }))
        .on_action(cx.listener(|this, _: &RunTaskAtCaret, window, cx| {
            show_tasks(this, TaskFilter::AtCaret, window, cx);
        }))
        .on_action(cx.listener(|this, _: &RunBuildTask, window, cx| {
            run_group(this, TaskGroup::Build, window, cx);
        }))
        .on_action(cx.listener(|this, _: &RunTestTask, window, cx| {
            run_group(this, TaskGroup::Test, window, cx);
        }))
        .on_action(cx.listener(run_last))
        .on_action(cx.listener(stop_task))
        .on_action(cx.listener(open_task_file))
}

/// Forgets the tasks of another folder. Their programs go on in their terminals.
pub(super) fn follow_folder(workbench: &mut Workbench) {
    let dock = &mut workbench.tasks;
    dock.recent.clear();
    dock.waiting = None;
    dock.starting = None;
}

/// Runs the task that waited for trust in the folder.
pub(super) fn trust_changed(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(label) = workbench.tasks.waiting.take() {
        start(workbench, label, window, cx);
    }
}

/// Runs a task, after everything that the user must decide was asked.
pub(super) fn start(
    workbench: &mut Workbench,
    label: String,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(source) = prepare::StateSource::of(workbench, cx) else {
        return tell_no_folder(workbench, window, cx);
    };
    if let Some(run) = running::of_label(&workbench.tasks, &label) {
        return running::ask_to_restart(workbench, run, window, cx);
    }
    let preparing = prepare::prepare(workbench, source, label, cx);
    workbench.tasks.starting = Some(cx.spawn_in(window, async move |this, cx| {
        let prepared = preparing.await;
        let Some(prepared) = consent::confirmed(&this, prepared, cx).await else {
            return;
        };
        let begun = this.update_in(cx, |this, window, cx| {
            running::begin(this, &prepared, window, cx);
        });
        // The window may have been closed.
        begun.ok();
    }));
}

impl Workbench {
    /// Carries out the choice of a row in the list of tasks.
    pub(crate) fn choose_task(
        &mut self,
        row: TaskRow,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match row.choice {
            TaskChoice::Run(label) => start(self, label, window, cx),
            TaskChoice::Stop(run) => running::stop(self, RunId(run), window, cx),
            TaskChoice::Open => {
                if let Some((path, line)) = row.place {
                    let place = GoToPosition::Place(LineColumn::new(line, 1));
                    let options = OpenOptions::lasting().at(Some(place));
                    self.open_path(path, options, window, cx);
                }
            }
        }
    }
}

fn tell_no_folder(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    workbench.tell(NOTICE, "Open a folder to run its tasks.", window, cx);
}

fn show_tasks(
    workbench: &mut Workbench,
    filter: TaskFilter,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(read) = listing::reader(workbench, filter, cx) else {
        return tell_no_folder(workbench, window, cx);
    };
    let nothing = match filter {
        TaskFilter::All => "This folder has no tasks: create a file of tasks",
        TaskFilter::Group(_) => "This folder has no tasks of this group",
        TaskFilter::AtCaret => "No task of this folder uses the caret",
    };
    let picker = TaskPicker::new(cx.weak_entity(), "Run a task", nothing, read);
    workbench.pick(picker, window, cx);
}

/// Runs the only task of a group, or lists those of the group.
fn run_group(
    workbench: &mut Workbench,
    group: TaskGroup,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(root) = workbench.root(cx) else {
        return tell_no_folder(workbench, window, cx);
    };
    let files = workbench.services.files.clone();
    let platform = cx.platform();
    let reading = cx.background_spawn(async move {
        let set = TaskSet::read(files.as_ref(), &root, platform);
        let of_group = set.group(group);
        let labels = of_group.iter().map(|task| task.label.clone());
        labels.collect::<Vec<String>>()
    });
    workbench.tasks.starting = Some(cx.spawn_in(window, async move |this, cx| {
        let labels = reading.await;
        let shown = this.update_in(cx, |this, window, cx| match labels.as_slice() {
            [label] => {
                let label = label.clone();
                // The present task must end before another one takes its place.
                cx.defer_in(window, move |this, window, cx| {
                    start(this, label, window, cx)
                });
            }
            _ => show_tasks(this, TaskFilter::Group(group), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    }));
}

fn run_last(
    workbench: &mut Workbench,
    _: &RunLastTask,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match workbench.tasks.recent.first().cloned() {
        Some(label) => start(workbench, label, window, cx),
        None => show_tasks(workbench, TaskFilter::All, window, cx),
    }
}

fn stop_task(
    workbench: &mut Workbench,
    _: &StopTask,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let rows = running::rows(&workbench.tasks);
    if let [row] = rows.as_slice() {
        return workbench.choose_task(row.clone(), window, cx);
    }
    let read = Arc::new(move || rows.clone());
    let picker = TaskPicker::new(cx.weak_entity(), "Stop a task", "No task runs", read);
    workbench.pick(picker, window, cx);
}

fn open_task_file(
    workbench: &mut Workbench,
    _: &OpenTaskFile,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match workbench.root(cx) {
        Some(root) => {
            let path = root.join(".burin/tasks.jsonc");
            open_or_create(workbench, path, NEW_FILE, window, cx);
        }
        None => tell_no_folder(workbench, window, cx),
    }
}
