//! Dependencies: their order, circles, limits.

use std::sync::Arc;

use base::AbsPath;

use super::{MAX_STEPS, TaskPlan};
use crate::definition::{DependencyOrder, TaskDefinition};
use crate::set::TaskSet;

/// Creates tasks that depend on others: `a: b c` at once, `a> b c` one after the other.
pub(crate) fn tasks(lines: &[&str]) -> TaskSet {
    let path = AbsPath::new("/p/x").expect("absolute");
    let tasks = lines.iter().map(|line| {
        let at = line.find([':', '>']).unwrap_or(line.len());
        let mut task = TaskDefinition::detected("x", &path, line[..at].to_owned());
        let rest = line.get(at + 1..).unwrap_or_default();
        task.dependencies = rest.split_whitespace().map(str::to_owned).collect();
        if line[at..].starts_with('>') {
            task.order = DependencyOrder::Sequence;
        }
        if !task.label.starts_with('_') {
            task.command = crate::definition::TaskCommand::Process {
                program: task.label.clone(),
                arguments: Vec::new(),
            };
        }
        Arc::new(task)
    });
    TaskSet {
        tasks: tasks.collect(),
        ..TaskSet::default()
    }
}

/// Returns each step with the steps that it waits for.
fn steps(lines: &[&str], label: &str) -> Result<Vec<String>, String> {
    let plan = TaskPlan::new(&tasks(lines), label).map_err(|error| error.to_string())?;
    let name = |ix: usize| plan.steps[ix].task.label.as_str();
    let steps = plan.steps.iter().map(|step| {
        let after: Vec<&str> = step.after.iter().map(|ix| name(*ix)).collect();
        format!("{}: {}", step.task.label, after.join(" "))
    });
    Ok(steps.map(|step| step.trim_end().to_owned()).collect())
}

#[test]
fn dependencies_come_before_the_task_and_once() {
    let diamond = ["a: b c", "b: d", "c: d", "d", "other"];
    let expected = ["d:", "b: d", "c: d", "a: b c"].map(str::to_owned);
    assert_eq!(steps(&diamond, "a"), Ok(expected.to_vec()));
}

#[test]
fn a_sequence_lets_each_wait_with_all_it_needs() {
    let sequence = ["a> b c", "b: x", "c: y x", "x", "y"];
    let expected = ["x:", "b: x", "y: b", "c: x b y", "a: b c"];
    let found = steps(&sequence, "a").expect("a plan");
    assert_eq!(found.len(), expected.len());
    for step in ["x:", "b: x", "y: b", "a: b c"] {
        assert!(found.contains(&step.to_owned()), "{step} in {found:?}");
    }
}

#[test]
fn circles_missing_tasks_and_floods_are_refused() {
    let failure = |lines: &[&str]| steps(lines, "a").expect_err("refused");
    let circle = failure(&["a: b", "b: c", "c: b"]);
    assert_eq!(
        circle,
        "tasks depend on each other: b \u{2192} c \u{2192} b"
    );
    assert!(failure(&["a: a"]).ends_with("a \u{2192} a"));
    let orders = failure(&["a: x y", "x> p q", "y> q p", "p", "q"]);
    assert!(
        orders.starts_with("tasks depend on each other: "),
        "{orders}"
    );
    let missing = failure(&["a: b"]);
    assert_eq!(missing, "\"a\" depends on \"b\", which does not exist");
    assert_eq!(steps(&["b"], "a"), Err("there is no task \"a\"".to_owned()));
    let many: Vec<String> = (0..2 * MAX_STEPS)
        .map(|ix| format!("s{ix}: s{}", ix + 1))
        .chain(["a: s0".to_owned()])
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(failure(&many), "\"a\" depends on more than 100 tasks");
}
