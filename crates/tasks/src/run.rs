//! A task that runs with everything that it depends on, as a state machine without a clock.
//!
//! The owner starts programs for `RunEffect::Launch` and reports their ends.
//! Invariant: a step starts once, after all steps that it needs succeeded; otherwise it is skipped.
//! Start at `TaskRun::start` and `handle`.

use std::sync::Arc;

use crate::definition::{TaskCommand, TaskDefinition};
use crate::output::OutputReport;
use crate::plan::{StepId, TaskPlan};

/// A run of a task.
#[derive(Clone, Debug)]
pub struct TaskRun {
    plan: TaskPlan,
    states: Vec<StepState>,
    is_stopped: bool,
    /// Whether the end was reported.
    is_finished: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum StepState {
    Waiting,
    Running,
    /// A task that watches files finished its first round and goes on.
    Ready,
    Succeeded,
    Failed(StepOutcome),
    Skipped,
}

/// An event for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// The program of a step ended, or could not be started.
    Ended(StepId, StepOutcome),
    /// The program of a step printed something.
    Output(StepId, OutputReport),
    /// The user stops the run.
    Stop,
}

/// The end of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The program exited with this code.
    Exited(i32),
    /// The program was killed.
    Killed,
    /// The program could not be started, for this reason.
    NotStarted(String),
}

/// An action that the owner of a run carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEffect {
    /// Start the program of a step in a terminal.
    Launch(StepId),
    /// Stop the program of a step; its end is reported as usual.
    Stop(StepId),
    /// Show the problems of a step, which changed.
    ShowProblems(StepId),
    /// Tell the user that a step does not run, because another one failed.
    Skipped(StepId, StepId),
    /// The run is over. Steps that watch files may go on.
    Finished(RunOutcome),
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// All steps succeeded.
    Succeeded,
    /// This step failed.
    Failed(StepId, StepOutcome),
    /// The user stopped it.
    Stopped,
}

impl StepOutcome {
    fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

impl TaskRun {
    /// Creates a run of a plan.
    pub fn new(plan: TaskPlan) -> Self {
        Self {
            states: vec![StepState::Waiting; plan.steps.len()],
            plan,
            is_stopped: false,
            is_finished: false,
        }
    }

    /// Returns the task of a step.
    pub fn task(&self, step: StepId) -> Option<&Arc<TaskDefinition>> {
        self.plan.steps.get(step.0).map(|step| &step.task)
    }

    /// Returns the label of the task that the user started.
    pub fn label(&self) -> &str {
        self.plan.steps.last().map_or("", |step| &step.task.label)
    }

    /// Returns whether a program of it runs.
    pub fn is_running(&self) -> bool {
        let mut states = self.states.iter();
        states.any(|state| matches!(state, StepState::Running | StepState::Ready))
    }

    /// Starts the run.
    pub fn start(&mut self) -> Vec<RunEffect> {
        let mut effects = Vec::new();
        self.advance(&mut effects);
        effects
    }

    /// Handles an event and returns its effects.
    pub fn handle(&mut self, event: RunEvent) -> Vec<RunEffect> {
        let mut effects = Vec::new();
        match event {
            RunEvent::Output(step, report) => {
                if report.problems_changed {
                    effects.push(RunEffect::ShowProblems(step));
                }
                if let Some(state) = self.states.get_mut(step.0)
                    && *state == StepState::Running
                    && report.round_ended
                    && self.plan.steps[step.0].task.is_background
                {
                    *state = StepState::Ready;
                }
            }
            RunEvent::Ended(step, outcome) => {
                if let Some(state) = self.states.get_mut(step.0)
                    && matches!(state, StepState::Running | StepState::Ready)
                {
                    *state = if outcome.is_success() {
                        StepState::Succeeded
                    } else {
                        StepState::Failed(outcome)
                    };
                }
            }
            RunEvent::Stop => self.stop(&mut effects),
        }
        self.advance(&mut effects);
        effects
    }

    fn stop(&mut self, effects: &mut Vec<RunEffect>) {
        self.is_stopped = true;
        for (ix, state) in self.states.iter_mut().enumerate() {
            match state {
                StepState::Waiting => *state = StepState::Skipped,
                StepState::Running | StepState::Ready => effects.push(RunEffect::Stop(StepId(ix))),
                StepState::Succeeded | StepState::Failed(_) | StepState::Skipped => {}
            }
        }
    }

    /// Starts and skips steps until only running ones are left to wait for.
    fn advance(&mut self, effects: &mut Vec<RunEffect>) {
        // A step that ends at once may come before the ones that waited for it, or after others.
        while let Some((ix, next)) = self.next_step() {
            match next {
                NextStep::Skip(because) => {
                    self.states[ix] = StepState::Skipped;
                    effects.push(RunEffect::Skipped(StepId(ix), StepId(because)));
                }
                NextStep::Launch => {
                    let task = &self.plan.steps[ix].task;
                    self.states[ix] = match task.command {
                        TaskCommand::Nothing => StepState::Succeeded,
                        _ if is_ready_at_once(task) => StepState::Ready,
                        _ => StepState::Running,
                    };
                    if task.command != TaskCommand::Nothing {
                        effects.push(RunEffect::Launch(StepId(ix)));
                    }
                }
            }
        }
        if let Some(outcome) = self.outcome().filter(|_| !self.is_finished) {
            self.is_finished = true;
            effects.push(RunEffect::Finished(outcome));
        }
    }

    fn next_step(&self) -> Option<(usize, NextStep)> {
        let waiting = self.states.iter().enumerate();
        let mut waiting = waiting.filter(|(_, state)| **state == StepState::Waiting);
        waiting.find_map(|(ix, _)| {
            let after = &self.plan.steps[ix].after;
            let failed = after.iter().find(|step| {
                matches!(
                    self.states[**step],
                    StepState::Failed(_) | StepState::Skipped
                )
            });
            if let Some(failed) = failed {
                return Some((ix, NextStep::Skip(*failed)));
            }
            let is_done = |step: &usize| {
                matches!(self.states[*step], StepState::Ready | StepState::Succeeded)
            };
            after.iter().all(is_done).then_some((ix, NextStep::Launch))
        })
    }

    /// Returns the end of the run; `None` while a step runs that does not watch files.
    fn outcome(&self) -> Option<RunOutcome> {
        let is_open = |state: &StepState| matches!(state, StepState::Waiting | StepState::Running);
        let watches = self.states.last() == Some(&StepState::Ready);
        if self.states.iter().any(is_open) || watches {
            return None;
        }
        if self.is_stopped {
            return Some(RunOutcome::Stopped);
        }
        let failed = self.states.iter().enumerate().find_map(|(ix, state)| {
            let StepState::Failed(outcome) = state else {
                return None;
            };
            Some(RunOutcome::Failed(StepId(ix), outcome.clone()))
        });
        Some(failed.unwrap_or(RunOutcome::Succeeded))
    }
}

enum NextStep {
    Launch,
    Skip(usize),
}

/// Returns whether nothing in the output tells when a task that runs in the background is ready.
fn is_ready_at_once(task: &TaskDefinition) -> bool {
    let mut matchers = task.matchers.iter();
    let has_end = matchers.any(|matcher| {
        let background = matcher.background.as_ref();
        background.is_some_and(|background| background.ends.is_some())
    });
    task.is_background && !has_end
}

#[cfg(test)]
mod tests;
