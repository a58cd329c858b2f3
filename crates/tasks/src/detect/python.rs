//! pytest, run by the environment of the project.

use base::path_text;
use project::PythonEnvironment;

use super::{BuildFiles, DetectedFolder, DetectedProject, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

/// Files whose presence means that the tests run with pytest.
const MARKS: [&str; 2] = ["pytest.ini", "conftest.py"];
/// Files that may configure pytest, with the beginning of its section.
const SECTIONS: [(&str, &str); 3] = [
    ("pyproject.toml", "[tool.pytest"),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
];
/// Files of a package of Python.
const PACKAGES: [&str; 3] = ["pyproject.toml", "setup.py", "setup.cfg"];

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    for folder in &project.folders {
        let Some(file) = test_file(project, folder) else {
            continue;
        };
        let is_inner = MARKS.contains(&file) && has_outer(project, folder);
        if is_inner {
            continue;
        }
        let command = command(project, folder);
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut task = folder.task("pytest", file, "pytest", &words);
        task.group = Some(TaskGroup::Test);
        task.is_default = folder.relative.is_empty();
        task.matchers = matchers(&["$pytest"]);
        tasks.push(task);
    }
}

/// Returns the file from which it follows that the folder has tests of pytest.
fn test_file(project: &DetectedProject<'_>, folder: &DetectedFolder) -> Option<&'static str> {
    let configured = SECTIONS.into_iter().find(|(file, section)| {
        let text = folder.has(file).then(|| folder.path.join(file));
        let text = text.and_then(|path| project.read(&path));
        text.is_some_and(|text| text.contains(section))
    });
    let configured = configured.map(|(file, _)| file);
    let marked = || MARKS.into_iter().find(|file| folder.has(file));
    configured.or_else(marked).or_else(|| {
        let package = PACKAGES.into_iter().find(|file| folder.has(file))?;
        let tests = ["tests", "test"].into_iter();
        let mut tests = tests.filter_map(|name| project.folder(&folder.path.join(name)));
        tests.any(has_tests).then_some(package)
    })
}

fn has_tests(folder: &DetectedFolder) -> bool {
    let is_test = |file: &String| {
        file.ends_with("_test.py") || file.starts_with("test_") && file.ends_with(".py")
    };
    folder.files.iter().any(is_test)
}

/// Returns whether a folder above runs these tests as well.
fn has_outer(project: &DetectedProject<'_>, folder: &DetectedFolder) -> bool {
    let mut names = MARKS.into_iter().chain(PACKAGES);
    names.any(|name| project.is_below(folder, name))
}

/// Returns the command. An interpreter in the folder is named relative to it.
fn command(project: &DetectedProject<'_>, folder: &DetectedFolder) -> Vec<String> {
    let root = project
        .folders
        .first()
        .map_or(&folder.path, |root| &root.path);
    let reader = BuildFiles(project.files);
    let environment = PythonEnvironment::of_folder(&folder.path, root, &reader);
    let mut command = environment.module_command("pytest");
    if let PythonEnvironment::Interpreter(python) = &environment
        && let Some(relative) = python.relative_to(&folder.path)
    {
        command[0] = path_text(relative);
    }
    command
}
