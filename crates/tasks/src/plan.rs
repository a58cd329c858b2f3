//! The order of a task and of everything that it depends on.
//!
//! Start at `TaskPlan::new`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::definition::{DependencyOrder, TaskDefinition};
use crate::error::TaskError;
use crate::set::TaskSet;

/// Steps of a plan, at most.
const MAX_STEPS: usize = 100;

/// A step of a plan: one task, which runs once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub(crate) usize);

/// A task with everything that runs before it.
#[derive(Clone, Debug)]
pub struct TaskPlan {
    /// The last step is the task itself.
    pub(crate) steps: Vec<PlanStep>,
}

#[derive(Clone, Debug)]
pub(crate) struct PlanStep {
    pub(crate) task: Arc<TaskDefinition>,
    /// The steps that must have succeeded before it starts.
    pub(crate) after: BTreeSet<usize>,
}

impl TaskPlan {
    /// Plans the task with a label.
    ///
    /// # Errors
    /// A task is missing, tasks depend on each other, or there are too many.
    pub fn new(set: &TaskSet, label: &str) -> Result<Self, TaskError> {
        let task = set.task(label);
        let task = task.ok_or_else(|| TaskError::Unknown(label.to_owned()))?;
        let mut planning = Planning {
            set,
            steps: Vec::new(),
            known: BTreeMap::new(),
            open: Vec::new(),
        };
        planning.visit(task)?;
        planning.add_sequences();
        let plan = Self {
            steps: planning.steps,
        };
        match plan.circle() {
            Some(circle) => Err(TaskError::Cycle(circle)),
            None => Ok(plan),
        }
    }

    /// Returns the tasks, those that others depend on first.
    pub fn tasks(&self) -> Vec<Arc<TaskDefinition>> {
        self.steps.iter().map(|step| step.task.clone()).collect()
    }

    /// Returns the labels of steps that wait for each other, because of the order of their dependencies.
    fn circle(&self) -> Option<Vec<String>> {
        let mut done = BTreeSet::new();
        loop {
            let ready = self.steps.iter().enumerate();
            let ready: Vec<usize> = ready
                .filter(|(ix, step)| !done.contains(ix) && step.after.is_subset(&done))
                .map(|(ix, _)| ix)
                .collect();
            if ready.is_empty() {
                break;
            }
            done.extend(ready);
        }
        let waiting = self.steps.iter().enumerate();
        let waiting: Vec<String> = waiting
            .filter(|(ix, _)| !done.contains(ix))
            .map(|(_, step)| step.task.label.clone())
            .collect();
        (!waiting.is_empty()).then_some(waiting)
    }
}

/// A plan under construction.
struct Planning<'a> {
    set: &'a TaskSet,
    steps: Vec<PlanStep>,
    /// The steps by label.
    known: BTreeMap<&'a str, usize>,
    /// The tasks whose dependencies are being visited.
    open: Vec<&'a str>,
}

impl<'a> Planning<'a> {
    /// Adds a task behind its dependencies and returns its step.
    fn visit(&mut self, task: &'a Arc<TaskDefinition>) -> Result<usize, TaskError> {
        let label = task.label.as_str();
        if let Some(known) = self.known.get(label) {
            return Ok(*known);
        }
        if let Some(at) = self.open.iter().position(|open| *open == label) {
            let circle = self.open[at..].iter().chain([&label]);
            let circle = circle.map(|label| (*label).to_owned()).collect();
            return Err(TaskError::Cycle(circle));
        }
        if self.open.len() + self.steps.len() >= MAX_STEPS {
            let first = self.open.first().copied().unwrap_or(label);
            return Err(TaskError::TooManySteps {
                task: first.to_owned(),
                limit: MAX_STEPS,
            });
        }
        self.open.push(label);
        let mut after = BTreeSet::new();
        for dependency in &task.dependencies {
            let found = self.set.task(dependency);
            let found = found.ok_or_else(|| TaskError::UnknownDependency {
                task: label.to_owned(),
                dependency: dependency.clone(),
            })?;
            after.insert(self.visit(found)?);
        }
        self.open.pop();
        let step = self.steps.len();
        self.known.insert(label, step);
        self.steps.push(PlanStep {
            task: Arc::clone(task),
            after,
        });
        Ok(step)
    }

    /// Lets each dependency of an ordered task, with all that it needs, wait for the one before it.
    fn add_sequences(&mut self) {
        let needs: Vec<BTreeSet<usize>> =
            (0..self.steps.len()).map(|step| self.needs(step)).collect();
        let tasks: Vec<_> = self.steps.iter().map(|step| step.task.clone()).collect();
        let ordered = tasks
            .iter()
            .filter(|task| task.order == DependencyOrder::Sequence);
        for task in ordered {
            let labels = task.dependencies.iter();
            let dependencies: Vec<usize> = labels
                .filter_map(|label| self.known.get(label.as_str()).copied())
                .collect();
            for pair in dependencies.windows(2) {
                let [first, second] = pair else {
                    continue;
                };
                for step in needs[*second].difference(&needs[*first]) {
                    self.steps[*step].after.insert(*first);
                }
            }
        }
    }

    /// Returns a step with all steps that it needs.
    fn needs(&self, step: usize) -> BTreeSet<usize> {
        let mut needs = BTreeSet::from([step]);
        // Steps come after those that they depend on.
        for ix in (0..=step).rev() {
            if needs.contains(&ix) {
                needs.extend(self.steps[ix].after.iter().copied());
            }
        }
        needs
    }
}

#[cfg(test)]
pub(crate) mod tests;
