//! Finds the tasks of build tools by their files.
//!
//! Invariant: a bounded number of folders and files of bounded size is read, whatever the project contains.
//! Start at `detect`; each tool has a module.

mod cargo;
mod cmake;
mod go;
mod just;
mod jvm;
mod make;
mod node;
mod python;

use std::collections::VecDeque;
use std::sync::Arc;

use base::{AbsPath, path_text};
use host::{FileKind, Files};
use project::ManifestReader;

use crate::builtin;
use crate::definition::{TaskCommand, TaskDefinition};
use crate::matcher::ProblemMatcher;

/// Folders below the project that are listed, at most.
const MAX_FOLDERS: usize = 300;
/// Levels of folders that are listed.
const MAX_DEPTH: usize = 4;
/// Bytes of a tool's file that are read, at most.
const MAX_FILE: u64 = 512 << 10;
/// Detected tasks, at most.
const MAX_TASKS: usize = 1_000;
/// Names that one file gives, at most.
const MAX_NAMES: usize = 200;

/// Folders that contain no projects of their own.
const SKIPPED: [&str; 12] = [
    "node_modules",
    "target",
    "vendor",
    "build",
    "dist",
    "out",
    "venv",
    "__pycache__",
    "bower_components",
    "third_party",
    "testdata",
    "fixtures",
];

/// Reads the files of build tools, up to their maximum size.
pub(crate) struct BuildFiles<'a>(pub(crate) &'a dyn Files);

impl ManifestReader for BuildFiles<'_> {
    fn read(&self, path: &AbsPath) -> Option<String> {
        let bytes = self.0.read(path, MAX_FILE).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn exists(&self, path: &AbsPath) -> bool {
        self.0.exists(path)
    }
}

/// A listed folder of the project.
struct DetectedFolder {
    path: AbsPath,
    /// The path relative to the project; empty for the project itself.
    relative: String,
    files: Vec<String>,
    folders: Vec<String>,
}

/// The listed folders of a project, the outer ones first.
struct DetectedProject<'a> {
    files: &'a dyn Files,
    folders: Vec<DetectedFolder>,
}

impl DetectedFolder {
    fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file == name)
    }

    /// Returns the label of a task, with the folder unless it is the project's.
    fn label(&self, label: &str) -> String {
        match self.relative.as_str() {
            "" => label.to_owned(),
            relative => format!("{label} ({relative})"),
        }
    }

    /// Creates a task that runs a program in the folder. `file` defines it.
    fn task(
        &self,
        tool: &'static str,
        file: &str,
        label: &str,
        command: &[&str],
    ) -> TaskDefinition {
        let mut task = TaskDefinition::detected(tool, &self.path.join(file), self.label(label));
        if let Some((program, arguments)) = command.split_first() {
            task.command = TaskCommand::Process {
                program: (*program).to_owned(),
                arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
            };
        }
        if !self.relative.is_empty() {
            task.folder = Some(self.relative.clone());
        }
        task
    }
}

impl DetectedProject<'_> {
    /// Lists the folders of a project, without hidden and skipped ones.
    fn list<'a>(files: &'a dyn Files, root: &AbsPath) -> DetectedProject<'a> {
        let mut waiting = VecDeque::from([(root.clone(), 0)]);
        let mut folders = Vec::new();
        while let Some((path, depth)) = waiting.pop_front() {
            if folders.len() >= MAX_FOLDERS {
                break;
            }
            let Ok(listing) = files.list(&path) else {
                continue;
            };
            let relative = path.relative_to(root).map(path_text).unwrap_or_default();
            let mut folder = DetectedFolder {
                path,
                relative,
                files: Vec::new(),
                folders: Vec::new(),
            };
            for entry in listing.entries {
                let name = entry.path.name();
                match entry.kind {
                    FileKind::File => folder.files.push(name),
                    // A link may lead out of the project, or around in a circle.
                    FileKind::Folder if !entry.is_link => {
                        let is_skipped = name.starts_with('.') || SKIPPED.contains(&name.as_str());
                        folder.folders.push(name);
                        if !is_skipped && depth < MAX_DEPTH {
                            waiting.push_back((entry.path, depth + 1));
                        }
                    }
                    _ => {}
                }
            }
            folders.push(folder);
        }
        DetectedProject { files, folders }
    }

    /// Reads a file as text; `None` if it is missing or too large.
    fn read(&self, path: &AbsPath) -> Option<String> {
        BuildFiles(self.files).read(path)
    }

    /// Returns a listed folder by its path.
    fn folder(&self, path: &AbsPath) -> Option<&DetectedFolder> {
        self.folders.iter().find(|folder| folder.path == *path)
    }

    /// Returns whether a folder above has a file of this name.
    fn is_below(&self, folder: &DetectedFolder, name: &str) -> bool {
        let mut above = self
            .folders
            .iter()
            .filter(|other| other.path != folder.path && folder.path.is_within(&other.path));
        above.any(|other| other.has(name))
    }
}

/// Returns the tasks of the build tools of a project.
pub(crate) fn detect(files: &dyn Files, root: &AbsPath) -> Vec<TaskDefinition> {
    let project = DetectedProject::list(files, root);
    let mut tasks = Vec::new();
    let detectors = [
        cargo::detect,
        node::detect,
        make::detect,
        just::detect,
        python::detect,
        go::detect,
        cmake::detect,
        jvm::detect,
    ];
    for detector in detectors {
        detector(&project, &mut tasks);
    }
    tasks.truncate(MAX_TASKS);
    tasks
}

/// Returns the built-in matchers with these names.
fn matchers(names: &[&str]) -> Vec<Arc<ProblemMatcher>> {
    let matchers = names.iter().filter_map(|name| builtin::matchers(name));
    matchers.flatten().collect()
}

#[cfg(test)]
mod tests;
