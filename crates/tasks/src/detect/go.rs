//! Modules of Go.

use super::{DetectedProject, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    for folder in project.folders.iter().filter(|it| it.has("go.mod")) {
        for (command, group) in [
            ("build", TaskGroup::Build),
            ("vet", TaskGroup::Build),
            ("test", TaskGroup::Test),
        ] {
            let label = format!("go {command}");
            let mut task = folder.task("go", "go.mod", &label, &["go", command, "./..."]);
            task.group = Some(group);
            task.is_default = command != "vet" && folder.relative.is_empty();
            task.matchers = matchers(&["$go"]);
            tasks.push(task);
        }
        if folder.has("main.go") {
            let mut task = folder.task("go", "go.mod", "go run", &["go", "run", "."]);
            task.matchers = matchers(&["$go"]);
            tasks.push(task);
        }
    }
}
