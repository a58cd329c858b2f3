//! Scripts of `package.json`, run by the package manager whose lock file is there.

use base::AbsPath;
use host::Files;
use serde_json::Value;

use super::{DetectedProject, MAX_NAMES, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

/// Lock files with their package managers.
const LOCKS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

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
        let manager = named_manager(&manifest)
            .unwrap_or_else(|| package_manager(project.files, &folder.path, root));
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

/// Returns the package manager that a manifest names, such as `pnpm@9.1.0`.
fn named_manager(manifest: &Value) -> Option<&'static str> {
    let named = manifest.get("packageManager")?.as_str()?;
    let name = named.split('@').next()?;
    let known = ["npm", "pnpm", "yarn", "bun"];
    known.into_iter().find(|known| *known == name)
}

/// Returns the package manager of a folder, by the lock files in it and above it up to the project.
pub(crate) fn package_manager(files: &dyn Files, folder: &AbsPath, root: &AbsPath) -> &'static str {
    let mut next = Some(folder.clone());
    while let Some(folder) = next.filter(|folder| folder.is_within(root)) {
        let lock = LOCKS
            .into_iter()
            .find(|(lock, _)| files.exists(&folder.join(lock)));
        if let Some((_, manager)) = lock {
            return manager;
        }
        next = folder.parent();
    }
    "npm"
}
