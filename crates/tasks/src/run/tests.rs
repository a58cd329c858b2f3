//! Runs: what starts when, failures, watching tasks, stopping.

use std::sync::Arc;

use super::{RunEffect, RunEvent, RunOutcome, StepOutcome, TaskRun};
use crate::builtin;
use crate::output::OutputReport;
use crate::plan::tests::tasks;
use crate::plan::{StepId, TaskPlan};
use crate::set::TaskSet;

fn run(set: &TaskSet) -> TaskRun {
    TaskRun::new(TaskPlan::new(set, "a").expect("a plan"))
}

/// Returns the step of a task.
fn step(run: &TaskRun, label: &str) -> StepId {
    let steps = (0..100).map(StepId);
    let mut steps = steps.filter(|step| run.task(*step).is_some_and(|task| task.label == label));
    steps.next().expect("a step")
}

/// Writes effects as short lines.
fn shown(run: &TaskRun, effects: &[RunEffect]) -> Vec<String> {
    let name = |step: &StepId| run.task(*step).expect("a task").label.clone();
    let effects = effects.iter().map(|effect| match effect {
        RunEffect::Launch(step) => format!("launch {}", name(step)),
        RunEffect::Stop(step) => format!("stop {}", name(step)),
        RunEffect::ShowProblems(step) => format!("problems of {}", name(step)),
        RunEffect::Skipped(step, because) => {
            format!("skip {} because of {}", name(step), name(because))
        }
        RunEffect::Finished(RunOutcome::Succeeded) => "succeeded".to_owned(),
        RunEffect::Finished(RunOutcome::Failed(step, _)) => format!("failed at {}", name(step)),
        RunEffect::Finished(RunOutcome::Stopped) => "stopped".to_owned(),
    });
    effects.collect()
}

/// Ends the program of a task with a code.
fn end(run: &mut TaskRun, label: &str, code: i32) -> Vec<String> {
    let event = RunEvent::Ended(step(run, label), StepOutcome::Exited(code));
    let effects = run.handle(event);
    shown(run, &effects)
}

fn start(run: &mut TaskRun) -> Vec<String> {
    let effects = run.start();
    shown(run, &effects)
}

#[test]
fn steps_start_when_all_before_them_succeeded() {
    let mut run = run(&tasks(&["a: b c", "b: d", "c", "d"]));
    assert_eq!(start(&mut run), ["launch d", "launch c"]);
    assert_eq!(end(&mut run, "c", 0), [] as [&str; 0]);
    assert_eq!(end(&mut run, "d", 0), ["launch b"]);
    assert_eq!(end(&mut run, "b", 0), ["launch a"]);
    assert!(run.is_running());
    assert_eq!(end(&mut run, "a", 0), ["succeeded"]);
    // An end that is reported twice changes nothing.
    assert_eq!(end(&mut run, "a", 1), [] as [&str; 0]);
    assert!(!run.is_running());
}

#[test]
fn a_sequence_runs_one_step_at_a_time() {
    let mut run = run(&tasks(&["a> b c", "b", "c: d", "d"]));
    assert_eq!(start(&mut run), ["launch b"]);
    assert_eq!(end(&mut run, "b", 0), ["launch d"]);
    assert_eq!(end(&mut run, "d", 0), ["launch c"]);
    assert_eq!(end(&mut run, "c", 0), ["launch a"]);
}

#[test]
fn a_failure_skips_what_depends_on_it() {
    let mut run = run(&tasks(&["a: b c", "b: d", "c", "d"]));
    start(&mut run);
    assert_eq!(
        end(&mut run, "d", 2),
        ["skip b because of d", "skip a because of b"]
    );
    // What runs already goes on, and the run ends with it.
    assert_eq!(end(&mut run, "c", 0), ["failed at d"]);
}

#[test]
fn tasks_without_a_command_only_join_others() {
    let mut all = run(&tasks(&["a: _b", "_b: c", "c"]));
    assert_eq!(start(&mut all), ["launch c"]);
    assert_eq!(end(&mut all, "c", 0), ["launch a"]);
    let mut empty = run(&tasks(&["a: _b", "_b"]));
    assert_eq!(start(&mut empty), ["launch a"]);
}

/// Lets the task `b` run in the background, with or without a pattern of its end.
fn watching(matcher: Option<&str>) -> TaskSet {
    let mut set = tasks(&["a: b", "b"]);
    let task = Arc::make_mut(&mut set.tasks[1]);
    task.is_background = true;
    task.matchers = matcher.and_then(builtin::matchers).unwrap_or_default();
    set
}

#[test]
fn a_watching_task_is_ready_after_its_first_round() {
    let mut run = run(&watching(Some("$tsc-watch")));
    assert_eq!(start(&mut run), ["launch b"]);
    let b = step(&run, "b");
    let mut output = |report| {
        let effects = run.handle(RunEvent::Output(b, report));
        shown(&run, &effects)
    };
    let problems = OutputReport {
        problems_changed: true,
        round_ended: false,
    };
    let ended = OutputReport {
        problems_changed: true,
        round_ended: true,
    };
    assert_eq!(output(problems), ["problems of b"]);
    assert_eq!(output(ended), ["problems of b", "launch a"]);
    assert_eq!(output(ended), ["problems of b"]);
    assert_eq!(end(&mut run, "a", 0), ["succeeded"]);
    assert!(run.is_running(), "it watches on");
}

#[test]
fn a_watching_task_without_patterns_is_ready_at_once() {
    let mut run = run(&watching(None));
    assert_eq!(start(&mut run), ["launch b", "launch a"]);
    assert_eq!(end(&mut run, "b", 1), [] as [&str; 0]);
    assert_eq!(end(&mut run, "a", 0), ["failed at b"]);
}

#[test]
fn stopping_ends_programs_and_starts_none() {
    let mut run = run(&tasks(&["a: b c", "b", "c"]));
    start(&mut run);
    let effects = run.handle(RunEvent::Stop);
    assert_eq!(shown(&run, &effects), ["stop b", "stop c"]);
    assert_eq!(end(&mut run, "b", 143), [] as [&str; 0]);
    let killed = RunEvent::Ended(step(&run, "c"), StepOutcome::Killed);
    let effects = run.handle(killed);
    assert_eq!(shown(&run, &effects), ["stopped"]);
    assert_eq!(run.label(), "a");
}
