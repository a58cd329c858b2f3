//! All tasks of a project.
//!
//! Start at `TaskSet::read`.

use std::collections::HashSet;
use std::sync::Arc;

use base::{AbsPath, Platform};
use host::Files;
use settings::ConfigProblem;

use crate::definition::{TaskDefinition, TaskDialect, TaskGroup, TaskOrigin};
use crate::detect;
use crate::read;
use crate::task_file::{TaskFile, TaskFileProblem, TaskInput};
use crate::template;

/// The files of tasks below the folder of a project, the most important first.
pub(crate) const TASK_FILES: [(&str, TaskDialect); 4] = [
    (".burin/tasks.jsonc", TaskDialect::Burin),
    (".burin/tasks.json", TaskDialect::Burin),
    (".vscode/tasks.json", TaskDialect::VsCode),
    (".zed/tasks.json", TaskDialect::Zed),
];

/// Bytes of a file of tasks that are read, at most.
const MAX_FILE: u64 = 256 << 10;

/// The tasks of a project: those of its files, then detected ones.
#[derive(Clone, Debug, Default)]
pub struct TaskSet {
    /// The tasks. Labels are unique.
    pub tasks: Vec<Arc<TaskDefinition>>,
    /// The questions whose answers tasks use.
    pub inputs: Vec<TaskInput>,
    /// The files of tasks.
    pub files: Vec<TaskFile>,
    /// Everything invalid in these files.
    pub problems: Vec<TaskFileProblem>,
}

impl TaskSet {
    /// Reads the files of tasks below `root` and detects the tasks of build tools. Blocks on the disk.
    pub fn read(files: &dyn Files, root: &AbsPath, platform: Platform) -> Self {
        let mut set = Self::default();
        let mut labels = HashSet::new();
        for (name, dialect) in TASK_FILES {
            let path = root.join(name);
            let bytes = match files.read(&path, MAX_FILE) {
                Ok(bytes) => bytes,
                Err(error) if error.is_not_found() => continue,
                Err(error) => {
                    set.add_problem(&path, name, error.to_string());
                    continue;
                }
            };
            let Ok(text) = String::from_utf8(bytes) else {
                set.add_problem(&path, name, "the file is not valid UTF-8".to_owned());
                continue;
            };
            let file = TaskFile { path, name, text };
            let read = read::read_file(&file, dialect, platform, files, root);
            for mut task in read.tasks {
                if labels.contains(&task.label) {
                    task.label = format!("{} ({name})", task.label);
                }
                if labels.insert(task.label.clone()) {
                    set.tasks.push(Arc::new(task));
                }
            }
            set.inputs.extend(read.inputs);
            set.problems.extend(read.problems);
            set.files.push(file);
        }
        for task in detect::detect(files, root) {
            if labels.insert(task.label.clone()) {
                set.tasks.push(Arc::new(task));
            }
        }
        set
    }

    fn add_problem(&mut self, path: &AbsPath, name: &str, message: String) {
        self.problems.push(TaskFileProblem {
            path: path.clone(),
            problem: ConfigProblem {
                source: name.to_owned(),
                line: 1,
                column: 1,
                message,
            },
        });
    }

    /// Returns the task with a label.
    pub fn task(&self, label: &str) -> Option<&Arc<TaskDefinition>> {
        self.tasks.iter().find(|task| task.label == label)
    }

    /// Returns the tasks of a group that run by one key: the default ones, or else all that lists show.
    pub fn group(&self, group: TaskGroup) -> Vec<Arc<TaskDefinition>> {
        let tasks = self.tasks.iter();
        let of_group: Vec<_> = tasks
            .filter(|task| task.group == Some(group) && !task.is_hidden)
            .cloned()
            .collect();
        let defaults = of_group.iter().filter(|task| task.is_default);
        let defaults: Vec<_> = defaults.cloned().collect();
        if defaults.is_empty() {
            of_group
        } else {
            defaults
        }
    }

    /// Returns the tasks about the place of the caret.
    pub fn at_caret(&self) -> Vec<Arc<TaskDefinition>> {
        let needs_caret = |task: &&Arc<TaskDefinition>| {
            let templates = task.templates().into_iter();
            let dialect = task.dialect();
            let mut needs = templates.map(|it| template::needs_caret(it, dialect));
            !task.is_hidden && needs.any(|needs| needs)
        };
        self.tasks.iter().filter(needs_caret).cloned().collect()
    }

    /// Returns the questions to ask before tasks run, each once.
    pub fn questions(&self, tasks: &[Arc<TaskDefinition>]) -> Vec<TaskInput> {
        let mut wanted: Vec<&str> = Vec::new();
        for task in tasks {
            let dialect = task.dialect();
            let templates = task.templates().into_iter();
            for id in templates.flat_map(|it| template::input_ids(it, dialect)) {
                if !wanted.contains(&id) {
                    wanted.push(id);
                }
            }
        }
        let known = wanted.iter();
        let known = known.filter_map(|id| self.inputs.iter().find(|input| input.id == *id));
        known.cloned().collect()
    }

    /// Returns the files that define any of these tasks.
    pub fn files_of(&self, tasks: &[Arc<TaskDefinition>]) -> Vec<TaskFile> {
        let defines = |file: &&TaskFile| {
            tasks.iter().any(|task| match &task.origin {
                TaskOrigin::File { path, .. } => *path == file.path,
                TaskOrigin::Detected { .. } => false,
            })
        };
        self.files.iter().filter(defines).cloned().collect()
    }

    /// Returns the commands of all tasks of a file, one in a line, as the user reads them before allowing the file.
    pub fn commands_of(&self, file: &TaskFile) -> String {
        let of_file = |task: &&Arc<TaskDefinition>| match &task.origin {
            TaskOrigin::File { path, .. } => *path == file.path,
            TaskOrigin::Detected { .. } => false,
        };
        let tasks = self.tasks.iter().filter(of_file);
        let lines = tasks.map(|task| format!("{}: {}", task.label, task.shown_command()));
        lines.collect::<Vec<_>>().join("\n")
    }
}
