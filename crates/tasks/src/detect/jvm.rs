//! Projects of Gradle and Maven, run by their wrappers if they have some.

use super::{DetectedProject, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

const GRADLE: [&str; 4] = [
    "settings.gradle",
    "settings.gradle.kts",
    "build.gradle",
    "build.gradle.kts",
];

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    for folder in &project.folders {
        let gradle = GRADLE.into_iter().find(|file| folder.has(file));
        let is_inner = GRADLE
            .into_iter()
            .any(|file| project.is_below(folder, file));
        if let Some(file) = gradle.filter(|_| !is_inner) {
            let program = if folder.has("gradlew") {
                "./gradlew"
            } else {
                "gradle"
            };
            for (goal, group) in [
                ("build", Some(TaskGroup::Build)),
                ("test", Some(TaskGroup::Test)),
                ("run", None),
            ] {
                let label = format!("gradle {goal}");
                let mut task = folder.task("gradle", file, &label, &[program, goal]);
                task.group = group;
                task.matchers = matchers(&["$gradle"]);
                tasks.push(task);
            }
        }
        if folder.has("pom.xml") && !project.is_below(folder, "pom.xml") {
            let program = if folder.has("mvnw") { "./mvnw" } else { "mvn" };
            for (goal, group) in [
                ("compile", Some(TaskGroup::Build)),
                ("test", Some(TaskGroup::Test)),
                ("package", Some(TaskGroup::Build)),
            ] {
                let label = format!("mvn {goal}");
                let mut task = folder.task("maven", "pom.xml", &label, &[program, goal]);
                task.group = group;
                task.matchers = matchers(&["$maven"]);
                tasks.push(task);
            }
        }
    }
}
