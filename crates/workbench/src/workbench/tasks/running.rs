//! Running tasks: their terminals, their output, their ends.
//!
//! Start at `begin`; `carry_out` does what a `TaskRun` asks for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::AbsPath;
use gpui_kit::{AppContext as _, Context, Entity, Subscription, Task, Window};
use tasks::{
    OutputReport, RunEffect, RunEvent, RunOutcome, StepId, StepOutcome, TaskDefinition, TaskLaunch,
    TaskOutput, TaskReveal, TaskRun,
};
use terminal_panel::{
    LaunchedTerminal, OutputObserver, ProgramCommand, TerminalRequest, TerminalStatus,
    TerminalView, TerminalViewEvent,
};
use ui::{ButtonStyle, Icon, Tone};

use super::super::{Workbench, editor_terminals, terminals};
use super::findings::findings;
use super::prepare::PreparedTask;
use super::{MAX_RECENT, NOTICE, TaskDock, start};
use crate::language_servers::{FindingSource, Findings};
use crate::notices::Notice;
use crate::pickers::tasks::{TaskChoice, TaskRow};
use crate::question::QuestionSpec;

/// Time between two looks at the problems in the output of a task, at least.
const PAUSE: Duration = Duration::from_millis(150);

/// The number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunId(pub(super) u64);

/// A run of a task with its terminals.
pub(super) struct ActiveRun {
    run: TaskRun,
    root: AbsPath,
    launches: BTreeMap<String, TaskLaunch>,
    steps: BTreeMap<StepId, RunningStep>,
    /// Whether the task starts again when the run is over.
    restarts: bool,
}

/// A step whose program was started.
struct RunningStep {
    view: Entity<TerminalView>,
    output: Arc<Mutex<TaskOutput>>,
    /// The time of the start.
    started: Duration,
    /// Whether the end of the program was noted.
    has_ended: bool,
    /// Reads the rest of the output after the end.
    ending: Option<Task<()>>,
    _events: Subscription,
    _reports: Task<()>,
}

/// Returns the run of a task.
pub(super) fn of_label(dock: &TaskDock, label: &str) -> Option<RunId> {
    let mut runs = dock.runs.iter();
    let found = runs.find(|(_, active)| active.run.label() == label && active.run.is_running());
    found.map(|(id, _)| *id)
}

/// Returns the rows of the list of running tasks.
pub(super) fn rows(dock: &TaskDock) -> Vec<TaskRow> {
    let running = dock
        .runs
        .iter()
        .filter(|(_, active)| active.run.is_running());
    let rows = running.map(|(id, active)| TaskRow {
        title: active.run.label().to_owned(),
        detail: String::new(),
        end: "running".to_owned(),
        icon: Icon::Stop,
        choice: TaskChoice::Stop(id.0),
        place: None,
    });
    rows.collect()
}

/// Stops the programs of a run.
pub(super) fn stop(
    workbench: &mut Workbench,
    id: RunId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    handle(workbench, id, RunEvent::Stop, window, cx);
}

/// Asks whether to stop a run and to start its task again.
pub(super) fn ask_to_restart(
    workbench: &mut Workbench,
    id: RunId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(active) = workbench.tasks.runs.get(&id) else {
        return;
    };
    let spec = QuestionSpec {
        title: format!(
            "\u{201c}{}\u{201d} is running. Start it again?",
            active.run.label()
        )
        .into(),
        detail: "Its programs are stopped first.".into(),
        answers: vec![
            ("Start again".into(), ButtonStyle::Primary),
            ("Let it run".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    };
    let answer = workbench.ask(spec, window, cx);
    workbench.tasks.starting = Some(cx.spawn_in(window, async move |this, cx| {
        if answer.await != Ok(0) {
            return;
        }
        let stopped = this.update_in(cx, |this, window, cx| {
            if let Some(active) = this.tasks.runs.get_mut(&id) {
                active.restarts = true;
            }
            stop(this, id, window, cx);
        });
        // The window may have been closed.
        stopped.ok();
    }));
}

/// Starts the run of a task that the user allowed.
pub(super) fn begin(
    workbench: &mut Workbench,
    prepared: &PreparedTask,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let mut launches = BTreeMap::new();
    for task in prepared.plan.tasks() {
        match tasks::resolve(&task, &prepared.context) {
            Ok(Some(launch)) => drop(launches.insert(task.label.clone(), launch)),
            Ok(None) => {}
            Err(error) => return workbench.report_error(error.to_string(), window, cx),
        }
    }
    let dock = &mut workbench.tasks;
    dock.recent.retain(|label| *label != prepared.label);
    dock.recent.insert(0, prepared.label.clone());
    dock.recent.truncate(MAX_RECENT);
    let id = RunId(dock.next_run);
    dock.next_run += 1;
    let mut run = TaskRun::new(prepared.plan.clone());
    let effects = run.start();
    let active = ActiveRun {
        run,
        root: prepared.context.root.clone(),
        launches,
        steps: BTreeMap::new(),
        restarts: false,
    };
    dock.runs.insert(id, active);
    carry_out(workbench, id, effects, window, cx);
}

/// Passes an event to a run, and forgets it once all of its programs ended.
fn handle(
    workbench: &mut Workbench,
    id: RunId,
    event: RunEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(active) = workbench.tasks.runs.get_mut(&id) else {
        return;
    };
    let effects = active.run.handle(event);
    carry_out(workbench, id, effects, window, cx);
}

fn carry_out(
    workbench: &mut Workbench,
    id: RunId,
    effects: Vec<RunEffect>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    for effect in effects {
        match effect {
            RunEffect::Launch(step) => launch(workbench, id, step, window, cx),
            RunEffect::Stop(step) => {
                let active = workbench.tasks.runs.get(&id);
                let view = active.and_then(|active| active.steps.get(&step));
                if let Some(view) = view.map(|step| step.view.clone()) {
                    view.update(cx, |view, cx| view.stop(cx));
                }
            }
            RunEffect::ShowProblems(step) => show_problems(workbench, id, step, window, cx),
            RunEffect::Skipped(step, because) => {
                let label = |step| label_of(workbench, id, step);
                let sentence = format!(
                    "\u{201c}{}\u{201d} does not run, because \u{201c}{}\u{201d} failed",
                    label(step),
                    label(because)
                );
                workbench.report(Notice::new(Tone::Warning, sentence), window, cx);
            }
            RunEffect::Finished(outcome) => finish(workbench, id, &outcome, window, cx),
        }
    }
    let active = workbench.tasks.runs.get(&id);
    if active.is_some_and(|active| !active.run.is_running()) {
        let over = workbench.tasks.runs.remove(&id);
        if let Some(active) = over.filter(|active| active.restarts) {
            let label = active.run.label().to_owned();
            cx.defer_in(window, move |this, window, cx| {
                start(this, label, window, cx)
            });
        }
    }
}

fn task_of(workbench: &Workbench, id: RunId, step: StepId) -> Option<Arc<TaskDefinition>> {
    workbench.tasks.runs.get(&id)?.run.task(step).cloned()
}

fn label_of(workbench: &Workbench, id: RunId, step: StepId) -> String {
    task_of(workbench, id, step).map_or_else(String::new, |task| task.label.clone())
}

/// Starts the program of a step in its terminal.
fn launch(
    workbench: &mut Workbench,
    id: RunId,
    step: StepId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let task = task_of(workbench, id, step);
    let active = workbench.tasks.runs.get(&id);
    let known = task.zip(active).and_then(|(task, active)| {
        let launch = active.launches.get(&task.label)?.clone();
        Some((task, launch, active.root.clone()))
    });
    let Some((task, launch, root)) = known else {
        base::never!("a step without a program was started");
        return;
    };
    let Some(panel) = terminals::panel(workbench, window, cx) else {
        let reason = "this window cannot open terminals".to_owned();
        let event = RunEvent::Ended(step, StepOutcome::NotStarted(reason));
        return handle(workbench, id, event, window, cx);
    };
    // The problems of the last run are out of date.
    workbench.tasks.showing.remove(&task.label);
    set_findings(workbench, &task.label, Findings::new(), cx);
    let files = workbench.services.files.clone();
    let output = TaskOutput::new(&task.matchers, &launch.folder, &root, files);
    let output = Arc::new(Mutex::new(output));
    let (observer, reports) = observe(id, step, &output, window, cx);
    let request = TerminalRequest {
        folder: Some(launch.folder),
        program: Some(ProgramCommand {
            name: launch.program,
            arguments: launch.arguments,
            variables: launch.variables,
        }),
        title: Some(task.label.clone()),
        output: Some(observer),
        ..TerminalRequest::default()
    };
    let launched = panel.update(cx, |panel, cx| panel.launch(request, window, cx));
    let LaunchedTerminal { view, replaced } = launched;
    if let Some(old) = replaced {
        editor_terminals::replace(workbench, &old, view.clone(), window, cx);
    }
    if task.reveal == TaskReveal::Always {
        reveal(workbench, &view, cx);
    }
    let events = cx.subscribe_in(
        &view,
        window,
        move |this, view, event: &TerminalViewEvent, window, cx| {
            if *event == TerminalViewEvent::Changed {
                note_end(this, id, step, view, window, cx);
            }
        },
    );
    let running = RunningStep {
        view: view.clone(),
        output,
        started: workbench.services.clock.elapsed(),
        has_ended: false,
        ending: None,
        _events: events,
        _reports: reports,
    };
    if let Some(active) = workbench.tasks.runs.get_mut(&id) {
        active.steps.insert(step, running);
    }
    // The program may have failed to start at once.
    note_end(workbench, id, step, &view, window, cx);
}

fn reveal(workbench: &mut Workbench, view: &Entity<TerminalView>, cx: &mut Context<Workbench>) {
    if editor_terminals::reveal(workbench, view, cx) {
        return;
    }
    if let Some(panel) = workbench.terminals().cloned() {
        panel.update(cx, |panel, cx| panel.show(view, cx));
        terminals::reveal(workbench, cx);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an observer that searches the output for problems on the thread that reads it, and the task that passes
/// its reports to the run.
fn observe(
    id: RunId,
    step: StepId,
    output: &Arc<Mutex<TaskOutput>>,
    window: &Window,
    cx: &mut Context<Workbench>,
) -> (OutputObserver, Task<()>) {
    let pending = Arc::new(Mutex::new(OutputReport::default()));
    let (wake, wakes) = async_channel::bounded(1);
    let observer = {
        let (output, pending) = (Arc::clone(output), Arc::clone(&pending));
        OutputObserver::new(move |bytes| {
            let report = lock(&output).feed(bytes);
            if report != OutputReport::default() {
                lock(&pending).add(report);
                // A full channel wakes the window as well; it may have been closed.
                wake.try_send(()).ok();
            }
        })
    };
    let task = cx.spawn_in(window, async move |this, cx| {
        while wakes.recv().await.is_ok() {
            let report = std::mem::take(&mut *lock(&pending));
            let handled = this.update_in(cx, |this, window, cx| {
                handle(this, id, RunEvent::Output(step, report), window, cx);
            });
            // The window may have been closed.
            if handled.is_err() {
                return;
            }
            cx.background_executor().timer(PAUSE).await;
        }
    });
    (observer, task)
}

/// Notes the end of a step's program, and reads the rest of its output in the background.
fn note_end(
    workbench: &mut Workbench,
    id: RunId,
    step: StepId,
    view: &Entity<TerminalView>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let now = workbench.services.clock.elapsed();
    let Some(outcome) = outcome_of(view.read(cx)) else {
        return;
    };
    let active = workbench.tasks.runs.get_mut(&id);
    let Some(running) = active.and_then(|active| active.steps.get_mut(&step)) else {
        return;
    };
    if std::mem::replace(&mut running.has_ended, true) {
        return;
    }
    let note = note(&outcome, now.saturating_sub(running.started));
    let output = Arc::clone(&running.output);
    let rest = cx.background_spawn(async move { lock(&output).finish() });
    running.ending = Some(cx.spawn_in(window, async move |this, cx| {
        let report = rest.await;
        let handled = this.update_in(cx, |this, window, cx| {
            handle(this, id, RunEvent::Output(step, report), window, cx);
            handle(this, id, RunEvent::Ended(step, outcome), window, cx);
        });
        // The window may have been closed.
        handled.ok();
    }));
    if let Some(panel) = workbench.terminals().cloned() {
        panel.update(cx, |panel, cx| panel.set_note(view, Some(note.into()), cx));
    }
}

/// Returns the end of a terminal's program; `None` while it runs.
fn outcome_of(view: &TerminalView) -> Option<StepOutcome> {
    match view.status() {
        TerminalStatus::Starting | TerminalStatus::Running => None,
        TerminalStatus::Ended(Some(code)) => Some(StepOutcome::Exited(code)),
        TerminalStatus::Ended(None) => Some(StepOutcome::Killed),
        TerminalStatus::Failed => Some(match view.failure() {
            Some(reason) => StepOutcome::NotStarted(reason.to_string()),
            // The user closed the terminal.
            None => StepOutcome::Killed,
        }),
    }
}

/// Returns the note for the tab of an ended task.
fn note(outcome: &StepOutcome, time: Duration) -> String {
    let seconds = time.as_secs();
    let time = match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    };
    match outcome {
        StepOutcome::Exited(code) => format!("exit {code} after {time}"),
        StepOutcome::Killed => format!("stopped after {time}"),
        StepOutcome::NotStarted(_) => "not started".to_owned(),
    }
}

fn finish(
    workbench: &mut Workbench,
    id: RunId,
    outcome: &RunOutcome,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let RunOutcome::Failed(step, end) = outcome else {
        return;
    };
    let Some(task) = task_of(workbench, id, *step) else {
        return;
    };
    let active = workbench.tasks.runs.get(&id);
    let view = active.and_then(|active| active.steps.get(step));
    let view = view.map(|step| step.view.clone());
    if let Some(view) = view.as_ref().filter(|_| task.reveal == TaskReveal::Silent) {
        reveal(workbench, view, cx);
    }
    let is_shown = match &view {
        Some(view) => is_visible(workbench, view, cx),
        None => workbench.are_terminals_visible(),
    };
    let is_seen = is_shown && task.reveal != TaskReveal::Never;
    let sentence = match end {
        StepOutcome::NotStarted(reason) => {
            format!("\u{201c}{}\u{201d} does not run: {reason}", task.label)
        }
        _ if is_seen => return,
        StepOutcome::Exited(code) => {
            format!("\u{201c}{}\u{201d} failed with code {code}", task.label)
        }
        StepOutcome::Killed => format!("\u{201c}{}\u{201d} was stopped", task.label),
    };
    workbench.report_error(sentence, window, cx);
}

/// Returns whether a pane shows the terminal, or whether the panel that has it is visible.
fn is_visible(workbench: &Workbench, view: &Entity<TerminalView>, cx: &Context<Workbench>) -> bool {
    let panel = workbench.terminals();
    if panel.is_some_and(|panel| panel.read(cx).is_in_editor(view)) {
        return editor_terminals::is_shown(workbench, view);
    }
    workbench.are_terminals_visible()
}

/// Shows the problems of a step, which are read in the background.
fn show_problems(
    workbench: &mut Workbench,
    id: RunId,
    step: StepId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(task) = task_of(workbench, id, step) else {
        return;
    };
    let active = workbench.tasks.runs.get(&id);
    let Some(output) = active.and_then(|active| active.steps.get(&step)) else {
        return;
    };
    let output = Arc::clone(&output.output);
    let reading = cx.background_spawn(async move {
        let output = lock(&output);
        (findings(output.problems()), output.omitted())
    });
    let label = task.label.clone();
    let showing = cx.spawn_in(window, async move |this, cx| {
        let (findings, omitted) = reading.await;
        let shown = this.update_in(cx, |this, window, cx| {
            set_findings(this, &label, findings, cx);
            if omitted > 0 {
                let sentence =
                    format!("{omitted} further problems of \u{201c}{label}\u{201d} are not listed");
                this.tell(NOTICE, sentence, window, cx);
            }
        });
        // The window may have been closed.
        shown.ok();
    });
    workbench.tasks.showing.insert(task.label.clone(), showing);
}

fn set_findings(
    workbench: &mut Workbench,
    label: &str,
    findings: Findings,
    cx: &mut Context<Workbench>,
) {
    if let Some(servers) = workbench.language_servers(cx) {
        servers.update(cx, |servers, cx| {
            servers.set_findings(FindingSource::Task(label.to_owned()), findings, cx);
        });
    }
}
