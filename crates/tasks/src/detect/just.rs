//! Recipes of just.

use super::{DetectedProject, MAX_NAMES};
use crate::definition::{TaskDefinition, TaskGroup};

const FILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    for folder in &project.folders {
        let Some(file) = FILES.into_iter().find(|file| folder.has(file)) else {
            continue;
        };
        let Some(text) = project.read(&folder.path.join(file)) else {
            continue;
        };
        for recipe in recipes(&text) {
            let label = format!("just {recipe}");
            let mut task = folder.task("just", file, &label, &["just", recipe]);
            task.group = match recipe {
                "build" => Some(TaskGroup::Build),
                "test" => Some(TaskGroup::Test),
                _ => None,
            };
            tasks.push(task);
        }
    }
}

/// Returns the recipes that run without arguments and are not private.
fn recipes(text: &str) -> Vec<&str> {
    let mut recipes = Vec::new();
    let mut is_private = false;
    for line in text.lines() {
        if line.starts_with('[') {
            is_private |= line.contains("private");
            continue;
        }
        let was_private = std::mem::take(&mut is_private);
        let Some(recipe) = recipe(line).filter(|_| !was_private) else {
            continue;
        };
        if recipes.len() < MAX_NAMES {
            recipes.push(recipe);
        }
    }
    recipes
}

fn recipe(line: &str) -> Option<&str> {
    let line = line.strip_prefix('@').unwrap_or(line);
    let (head, rest) = line.split_once(':')?;
    let mut words = head.split_whitespace();
    let name = words.next()?;
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let is_name =
        name.starts_with(|it: char| it.is_ascii_alphabetic()) && name.chars().all(is_part);
    let is_keyword = matches!(name, "alias" | "export" | "import" | "mod" | "set");
    // A parameter with a default, or that takes any number of words, needs no argument.
    let runs_alone = words.all(|word| word.contains('=') || word.starts_with('*'));
    let is_recipe =
        is_name && !is_keyword && !rest.starts_with('=') && !head.starts_with(char::is_whitespace);
    (is_recipe && runs_alone).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::recipes;

    #[test]
    fn recipes_that_need_no_argument_are_listed() {
        let text = "version := \"1\"\nset shell := [\"sh\"]\nalias b := build\n# builds\nbuild: deps\n  cargo: x\n\
                    deps:\n@quiet:\n  x\n_hidden:\n[private]\nsecret:\n[linux]\nrelease:\ngive name:\n\
                    take name=\"x\" *rest:\n";
        let expected = ["build", "deps", "quiet", "release", "take"];
        assert_eq!(recipes(text), expected);
    }
}
