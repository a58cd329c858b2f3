//! Tasks that wait for each other.
//!
//! Pure. A task begins once all that it needs is done; tasks that would wait for each other for ever are refused.

use std::collections::{BTreeMap, BTreeSet};

/// A task's name and the names of those that it needs.
pub type Needs = BTreeMap<String, Vec<String>>;

/// How a task stands to those that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can begin.
    Ready,
    /// These are still to be done.
    Waits(Vec<String>),
    /// These will not be done any more, unless somebody has them go on.
    Stuck(Vec<String>),
}

/// How something that is needed stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// It is done, or has landed.
    Done,
    /// It is to be done, or under way.
    Open,
    /// It failed, was stopped or is not known.
    Broken,
}

/// Refuses tasks that need what there is not, or each other in a circle. `is_there` says what there is besides.
pub fn check(tasks: &Needs, is_there: impl Fn(&str) -> bool) -> Result<(), String> {
    for (task, needs) in tasks {
        for need in needs {
            if !tasks.contains_key(need) && !is_there(need) {
                return Err(format!(
                    "\"{task}\" needs \"{need}\", and there is no such task; name one of those that are there"
                ));
            }
        }
    }
    let mut settled = BTreeSet::new();
    for task in tasks.keys() {
        let mut way = Vec::new();
        if let Some(circle) = circle(tasks, task, &mut way, &mut settled) {
            return Err(format!(
                "{}: tasks that wait for each other in a circle never begin; take one of these needs away",
                circle.join(" needs ")
            ));
        }
    }
    Ok(())
}

/// The tasks in a circle that begins below `task`, the first one again at the end.
fn circle(
    tasks: &Needs,
    task: &str,
    way: &mut Vec<String>,
    settled: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(at) = way.iter().position(|it| it == task) {
        let mut circle = way[at..].to_vec();
        circle.push(task.to_owned());
        return Some(circle);
    }
    if settled.contains(task) {
        return None;
    }
    way.push(task.to_owned());
    let needs = tasks.get(task).into_iter().flatten();
    for need in needs {
        let found = circle(tasks, need, way, settled);
        if found.is_some() {
            return found;
        }
    }
    way.pop();
    settled.insert(task.to_owned());
    None
}

/// Whether a task that needs these can begin.
pub fn readiness(needs: &[String], stands: impl Fn(&str) -> Needed) -> Readiness {
    let of = |which: Needed| -> Vec<String> {
        let all = needs.iter().filter(|need| stands(need) == which);
        all.cloned().collect()
    };
    let broken = of(Needed::Broken);
    let open = of(Needed::Open);
    match (broken.is_empty(), open.is_empty()) {
        (false, _) => Readiness::Stuck(broken),
        (true, false) => Readiness::Waits(open),
        (true, true) => Readiness::Ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(text: &str) -> Needs {
        let tasks = text.split("; ").map(|task| {
            let (name, needs) = task.split_once(':').unwrap_or((task, ""));
            let needs = needs.split_whitespace().map(str::to_owned).collect();
            (name.to_owned(), needs)
        });
        tasks.collect()
    }

    #[test]
    fn circles_and_what_is_not_there_are_refused_with_their_names() {
        for (tasks, told) in [
            ("a; b:a; c:a b", None),
            ("a:old", None),
            ("a:missing", Some("\"a\" needs \"missing\"")),
            ("a:a", Some("a needs a:")),
            ("a:b; b:c; c:a", Some("a needs b needs c needs a:")),
            ("x; a:x b; b:x a", Some("a needs b needs a:")),
        ] {
            let checked = check(&needs(tasks), |name| name == "old");
            match told {
                None => assert_eq!(checked, Ok(()), "{tasks}"),
                Some(told) => {
                    let sentence = checked.unwrap_err();
                    assert!(sentence.contains(told), "{tasks}: {sentence}");
                }
            }
        }
    }

    #[test]
    fn a_long_row_of_tasks_is_checked_quickly() {
        let mut tasks = Needs::new();
        for number in 0..300_u32 {
            let before = (0..number).map(|it| format!("{it:03}")).collect();
            tasks.insert(format!("{number:03}"), before);
        }
        assert_eq!(check(&tasks, |_| false), Ok(()));
    }

    #[test]
    fn a_task_waits_until_all_that_it_needs_is_done() {
        let stands = |name: &str| match name {
            "done" => Needed::Done,
            "open" => Needed::Open,
            _ => Needed::Broken,
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
