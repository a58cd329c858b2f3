//! Checks that are tasks of the project: resolved in the checked tree, run where commands run, with the problems that
//! their matchers find.
//!
//! Invariant: no program starts in a project that the user does not trust, or by a file of tasks whose text in the checked
//! tree the user did not allow.
//! Invariant: a task that may not run, or that would never end, fails the check.
//! Start at `run`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use base::{AbsPath, LineFeeds, Platform, path_text, printable};
use composer::land::{Check, CheckError, CheckKind};
use host::environment::{self, Recipient};
use host::process::ProcessExit;
use host::{Files, RealFiles};
use tasks::{
    RunEffect, RunEvent, RunOutcome, StepOutcome, TaskContext, TaskDefinition, TaskError,
    TaskLaunch, TaskOutput, TaskPlan, TaskProblem, TaskRun, TaskSet,
};

use super::{CheckProgram, CheckedTree, TASK, TOO_LONG};
use crate::sandbox_policy;
use crate::task_permission;
use crate::trust;

/// The problems that a sentence names.
const MAX_LISTED: usize = 10;
/// The largest length of a problem in a sentence, in bytes.
const MAX_PROBLEM: usize = 500;
/// The shell of tasks that name none, as for commands.
const SHELL: &str = "bash";

/// The reason why a task does not run.
#[derive(Debug, thiserror::Error)]
enum TaskRefusal {
    /// The user does not trust the project.
    #[error("the project is not trusted")]
    Untrusted,
    /// The file of tasks is new, or differs from the one that the user allowed.
    #[error("{0} is new or changed: run one of its tasks in a window and allow it there")]
    Unconfirmed(&'static str),
    /// It never ends.
    #[error("\u{201c}{0}\u{201d} runs until it is stopped")]
    Background(String),
    /// It cannot be resolved.
    #[error(transparent)]
    Unresolved(#[from] TaskError),
}

/// A task with those that it depends on, and the program of each.
type Launches = Vec<(Arc<TaskDefinition>, Option<TaskLaunch>)>;

/// A run of a task.
struct TaskCheck<'a> {
    tree: &'a CheckedTree<'a>,
    launches: Launches,
    /// In the order of the output, by step.
    problems: Vec<TaskProblem>,
    /// The end of the output of the last program that failed.
    output: String,
    is_late: bool,
    notices: Vec<String>,
}

/// Runs the task with a label, after the tasks that it depends on. Returns its result, and the problems of the sandbox.
pub(super) fn run(tree: &CheckedTree<'_>, label: &str) -> Result<(Check, Vec<String>), CheckError> {
    let (plan, launches) = match prepare(tree, label) {
        Ok(prepared) => prepared,
        Err(refusal) => {
            let why = format!("the task \u{201c}{label}\u{201d} does not run: {refusal}");
            return Ok((result(label, Some(why)), Vec::new()));
        }
    };
    let mut check = TaskCheck {
        tree,
        launches,
        problems: Vec::new(),
        output: String::new(),
        is_late: false,
        notices: Vec::new(),
    };
    let mut run = TaskRun::new(plan);
    let outcome = check.carry_out(&mut run)?;
    let failed = match &outcome {
        RunOutcome::Succeeded => None,
        RunOutcome::Failed(step, _) => Some(run.task(*step).map(|task| task.label.clone())),
        RunOutcome::Stopped => Some(None),
    };
    let detail = failed.map(|failed| check.detail(label, failed.as_deref()));
    Ok((result(label, detail), check.notices))
}

/// Returns the result of a check; `failure` is its detail.
fn result(label: &str, failure: Option<String>) -> Check {
    Check {
        name: format!("{TASK}{label}"),
        is_passed: failure.is_none(),
        detail: failure.unwrap_or_default(),
        kind: CheckKind::Task,
    }
}

/// Resolves a task in the checked tree, if it may run.
fn prepare(tree: &CheckedTree<'_>, label: &str) -> Result<(TaskPlan, Launches), TaskRefusal> {
    let set = TaskSet::read(&RealFiles, tree.folder, Platform::CURRENT);
    let plan = TaskPlan::new(&set, label)?;
    let all = plan.tasks();
    permit(tree, &set, &all)?;
    if let Some(endless) = all.iter().find(|task| task.is_background) {
        return Err(TaskRefusal::Background(endless.label.clone()));
    }
    let context = context(tree);
    let launches = all.into_iter().map(|task| {
        let launch = tasks::resolve(&task, &context)?;
        Ok((task, launch))
    });
    let launches: Result<Vec<_>, TaskError> = launches.collect();
    Ok((plan, launches?))
}

/// Fails unless the user trusts the project and allowed the files that define the tasks.
fn permit(
    tree: &CheckedTree<'_>,
    set: &TaskSet,
    all: &[Arc<TaskDefinition>],
) -> Result<(), TaskRefusal> {
    if !trust::is_trusted(&RealFiles, tree.dirs, tree.project) {
        return Err(TaskRefusal::Untrusted);
    }
    let files = set.files_of(all);
    let is_new =
        |file: &&tasks::TaskFile| !task_permission::is_allowed(tree.dirs, tree.project, file);
    match files.iter().find(is_new) {
        Some(file) => Err(TaskRefusal::Unconfirmed(file.name)),
        None => Ok(()),
    }
}

/// Returns the values of variables: there is no window with an open file.
fn context(tree: &CheckedTree<'_>) -> TaskContext {
    let variables = environment::variables(Recipient::Foreign).into_iter();
    let variables = variables.filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        Some((name, value))
    });
    TaskContext {
        root: tree.folder.clone(),
        file: None,
        caret: None,
        home: Some(sandbox_policy::policy_user(tree.dirs).home),
        environment: variables.collect(),
        answers: Vec::new(),
        shell: SHELL.to_owned(),
    }
}

impl TaskCheck<'_> {
    /// Runs the programs of a task, one after the other.
    fn carry_out(&mut self, run: &mut TaskRun) -> Result<RunOutcome, CheckError> {
        let mut effects = VecDeque::from(run.start());
        while let Some(effect) = effects.pop_front() {
            match effect {
                RunEffect::Launch(step) => {
                    let outcome = match run.task(step).cloned() {
                        Some(task) => self.launch(&task)?,
                        None => StepOutcome::Killed,
                    };
                    effects.extend(run.handle(RunEvent::Ended(step, outcome)));
                }
                RunEffect::Finished(outcome) => return Ok(outcome),
                RunEffect::Stop(_) | RunEffect::ShowProblems(_) | RunEffect::Skipped(..) => {}
            }
        }
        // A task whose end is unknown did not pass.
        Ok(RunOutcome::Stopped)
    }

    /// Runs the program of a task and keeps the problems in its output.
    fn launch(&mut self, task: &Arc<TaskDefinition>) -> Result<StepOutcome, CheckError> {
        let known = self.launches.iter();
        let mut known = known.filter(|(known, _)| known.label == task.label);
        let Some(launch) = known.find_map(|(_, launch)| launch.clone()) else {
            return Ok(StepOutcome::Exited(0));
        };
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let found = TaskOutput::new(&task.matchers, &launch.folder, self.tree.folder, files);
        let found = Arc::new(Mutex::new(found));
        let observed = found.clone();
        let end = self.tree.run_program(program(launch), move |bytes| {
            sandbox_policy::lock(&observed).feed(bytes);
        })?;
        let mut found = sandbox_policy::lock(&found);
        found.finish();
        self.problems.extend_from_slice(found.problems());
        for notice in end.notices {
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        let outcome = match end.exit {
            Some(ProcessExit::Exited(code)) => StepOutcome::Exited(code),
            Some(_) => StepOutcome::Killed,
            None => {
                self.is_late = true;
                StepOutcome::Killed
            }
        };
        if outcome != StepOutcome::Exited(0) {
            self.output = end.output;
        }
        Ok(outcome)
    }

    /// Returns a line with a clause about the failure, then the output of the program that failed.
    fn detail(&self, label: &str, failed: Option<&str>) -> String {
        let inner = failed.filter(|failed| *failed != label);
        let inner = inner.map(|inner| format!(" in \u{201c}{inner}\u{201d}"));
        let inner = inner.unwrap_or_default();
        let mut clause = if self.is_late {
            format!("the task \u{201c}{label}\u{201d} {TOO_LONG}{inner}")
        } else {
            format!("the task \u{201c}{label}\u{201d} fails{inner}")
        };
        if !self.problems.is_empty() {
            clause.push_str(&format!(
                ": {}",
                problem_list(&self.problems, self.tree.folder)
            ));
        }
        format!("{clause}\n{}", self.output)
    }
}

/// Returns the program of a check for that of a task.
fn program(launch: TaskLaunch) -> CheckProgram {
    let variables = launch.variables.into_iter();
    CheckProgram {
        program: launch.program.into(),
        arguments: launch.arguments.into_iter().map(Into::into).collect(),
        folder: launch.folder,
        variables: variables
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
    }
}

/// Returns problems in one line, errors first.
fn problem_list(problems: &[TaskProblem], root: &AbsPath) -> String {
    let mut sorted: Vec<&TaskProblem> = problems.iter().collect();
    sorted.sort_by_key(|problem| problem.severity);
    let listed = sorted.iter().take(MAX_LISTED);
    let listed: Vec<String> = listed.map(|problem| problem_text(problem, root)).collect();
    let listed = listed.join("; ");
    match problems.len().saturating_sub(MAX_LISTED) {
        0 => listed,
        more => format!("{listed}; and {more} more"),
    }
}

/// Returns a problem as `file:line:column message`, in one line of limited length.
fn problem_text(problem: &TaskProblem, root: &AbsPath) -> String {
    let path = problem.path.relative_to(root).map(path_text);
    let path = path.unwrap_or_else(|| problem.path.to_string());
    let start = problem.range.start;
    let column = start.column.map(|column| format!(":{}", column + 1));
    let column = column.unwrap_or_default();
    let message: Vec<&str> = problem.message.split_whitespace().collect();
    let text = format!("{path}:{}{column} {}", start.line + 1, message.join(" "));
    let mut text = printable(&text, LineFeeds::Escape).into_owned();
    if text.len() > MAX_PROBLEM {
        text.truncate(text.floor_char_boundary(MAX_PROBLEM));
        text.push('\u{2026}');
    }
    text
}

#[cfg(test)]
mod tests;
