//! Scripts of `package.json`, run by the package manager of the folder.

use project::PackageManager;
use serde_json::Value;

use super::{BuildFiles, DetectedProject, MAX_NAMES, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    let Some(root) = project.folders.first().map(|folder| &folder.path) else {
        return;
    };
    let with_scripts = project.folders.iter().filter(|it| it.has("package.json"));
    for folder in with_scripts {
        let text = project.read(&folder.path.join("package.json"));
        let manifest: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
        let Some(manifest) = manifest else {
            continue;
        };
        let reader = BuildFiles(project.files);
        let manager = PackageManager::of_folder(&folder.path, root, &reader).program();
        let scripts = manifest.get("scripts").and_then(Value::as_object);
        for (name, script) in scripts.into_iter().flatten().take(MAX_NAMES) {
            let label = format!("{manager} run {name}");
            let mut task = folder.task(
                "npm",
                "package.json",
                &label,
                &[manager, "run", name.as_str()],
            );
            set_traits(&mut task, name, script.as_str().unwrap_or_default());
            tasks.push(task);
        }
    }
}

/// Sets the group and the matchers by the name and the command of a script.
fn set_traits(task: &mut TaskDefinition, name: &str, script: &str) {
    task.group = match name {
        "build" | "compile" => Some(TaskGroup::Build),
        "test" => Some(TaskGroup::Test),
        _ => None,
    };
    task.is_default = task.folder.is_none() && matches!(name, "build" | "test");
    let mut names = Vec::new();
    let words: Vec<&str> = script.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    if has("tsc") || has("vue-tsc") {
        let watches = has("--watch") || has("-w");
        task.is_background = watches;
        names.push(if watches { "$tsc-watch" } else { "$tsc" });
    }
    if has("eslint") {
        names.push("$eslint-stylish");
    }
    task.matchers = matchers(&names);
}
