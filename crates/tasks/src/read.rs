//! Reads a file of tasks in any of the known forms.
//!
//! Invariant: an invalid part becomes a problem with its place; the other tasks stay.
//! Start at `read_file`. `entry` reads a task, `matchers` reads problem matchers.

mod entry;
mod matchers;
mod node;

use base::{AbsPath, Platform};
use host::Files;
use project::PackageManager;
use serde_json::Value;
use settings::{ConfigProblem, Jsonc};

use crate::definition::{TaskDefinition, TaskDialect};
use crate::detect::BuildFiles;
use crate::task_file::{InputKind, TaskFile, TaskFileProblem, TaskInput};
use crate::template;
use node::JsonNode;

/// Tasks of a file that are read, at most.
const MAX_TASKS: usize = 500;
/// Inputs of a file that are read, at most.
const MAX_INPUTS: usize = 500;
/// Problems of a file that are noted, at most: the place of each is searched in the text.
const MAX_PROBLEMS: usize = 200;

/// The contents of a file.
#[derive(Debug, Default)]
pub(crate) struct ReadTasks {
    pub(crate) tasks: Vec<TaskDefinition>,
    pub(crate) inputs: Vec<TaskInput>,
    pub(crate) problems: Vec<TaskFileProblem>,
}

/// The file that is being read.
struct FileReader<'a> {
    file: &'a TaskFile,
    jsonc: &'a Jsonc,
    dialect: TaskDialect,
    /// The key of values for this system, such as `linux`.
    system: &'static str,
    files: &'a dyn Files,
    root: &'a AbsPath,
    inputs: Vec<TaskInput>,
    /// The regular expressions that were compiled.
    expressions: usize,
    problems: Vec<TaskFileProblem>,
}

/// Reads a file; `files` and `root` find the package manager of scripts.
pub(crate) fn read_file(
    file: &TaskFile,
    dialect: TaskDialect,
    platform: Platform,
    files: &dyn Files,
    root: &AbsPath,
) -> ReadTasks {
    let jsonc = match Jsonc::parse(file.name, &file.text) {
        Ok(jsonc) => jsonc,
        Err(problem) => return ReadTasks::failed(file, problem),
    };
    let value = jsonc.value();
    let mut reader = FileReader {
        file,
        jsonc: &jsonc,
        dialect,
        system: match platform {
            Platform::Linux => "linux",
            Platform::MacOs => "osx",
        },
        files,
        root,
        inputs: Vec::new(),
        expressions: 0,
        problems: Vec::new(),
    };
    let tasks = reader.read(&value);
    ReadTasks {
        tasks,
        inputs: reader.inputs,
        problems: reader.problems,
    }
}

impl ReadTasks {
    fn failed(file: &TaskFile, problem: ConfigProblem) -> Self {
        let problem = TaskFileProblem {
            path: file.path.clone(),
            problem,
        };
        Self {
            problems: vec![problem],
            ..Self::default()
        }
    }
}

impl FileReader<'_> {
    fn read(&mut self, value: &Value) -> Vec<TaskDefinition> {
        let root = JsonNode::root(value, self.system);
        let entries = match root.as_list() {
            Some(entries) => entries,
            None if root.is_object() => self.read_object(&root),
            None => {
                self.problem(&root, "the file contains neither an object nor a list");
                Vec::new()
            }
        };
        if entries.len() > MAX_TASKS {
            self.problem(&root, format!("only the first {MAX_TASKS} tasks are read"));
        }
        let mut tasks: Vec<TaskDefinition> = Vec::new();
        for entry in entries.iter().take(MAX_TASKS) {
            let Some(task) = self.read_entry(entry, &root) else {
                continue;
            };
            if tasks.iter().any(|other| other.label == task.label) {
                let message = format!("another task of this file is named \"{}\"", task.label);
                self.problem(entry, message);
            }
            tasks.push(task);
        }
        tasks
    }

    /// Reads everything beside the tasks, and returns the entries of tasks.
    fn read_object<'v>(&mut self, root: &JsonNode<'v>) -> Vec<JsonNode<'v>> {
        if let Some(version) = root.child("version")
            && version.as_text() != Some("2.0.0")
        {
            self.problem(&version, "only version \"2.0.0\" is known");
        }
        for input in self.list(root, "inputs").iter().take(MAX_INPUTS) {
            if let Some(input) = self.read_input(input) {
                self.inputs.push(input);
            }
        }
        self.list(root, "tasks")
    }

    fn read_input(&mut self, node: &JsonNode<'_>) -> Option<TaskInput> {
        let Some(id) = self.text(node, "id") else {
            self.problem(node, "the input has no \"id\"");
            return None;
        };
        let kind = match self.text(node, "type").as_deref() {
            Some("promptString") => InputKind::Text,
            Some("pickString") => InputKind::Choice(self.choices(node)),
            other => {
                let other = other.unwrap_or_default();
                let message = format!(
                    "inputs of the type \"{other}\" are not known; \"promptString\" and \"pickString\" are"
                );
                self.problem(node, message);
                return None;
            }
        };
        let description = self.text(node, "description");
        Some(TaskInput {
            description: description.unwrap_or_else(|| id.clone()),
            default: self.text(node, "default").unwrap_or_default(),
            id,
            kind,
        })
    }

    fn choices(&mut self, node: &JsonNode<'_>) -> Vec<(String, String)> {
        let mut choices = Vec::new();
        for option in self.list(node, "options") {
            match option.as_text() {
                Some(text) => choices.push((text.to_owned(), text.to_owned())),
                None => {
                    let value = self.text(&option, "value");
                    let Some(value) = value else {
                        self.problem(&option, "an option is a string, or has a \"value\"");
                        continue;
                    };
                    let label = self.text(&option, "label");
                    choices.push((label.unwrap_or_else(|| value.clone()), value));
                }
            }
        }
        choices
    }

    /// Notes a problem at a node.
    fn problem(&mut self, node: &JsonNode<'_>, message: impl Into<String>) {
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let path: Vec<&str> = node.path().iter().map(String::as_str).collect();
        self.problems.push(TaskFileProblem {
            path: self.file.path.clone(),
            problem: self.jsonc.problem(&path, message),
        });
    }

    /// Returns the line of a node, counted from 1.
    fn line(&self, node: &JsonNode<'_>) -> u32 {
        let path: Vec<&str> = node.path().iter().map(String::as_str).collect();
        self.jsonc.problem(&path, "").line
    }

    /// Returns a string; notes a problem if the value is another one.
    fn text(&mut self, node: &JsonNode<'_>, key: &str) -> Option<String> {
        let child = node.child(key)?;
        let text = child.as_text().map(str::to_owned);
        if text.is_none() {
            self.problem(&child, format!("\"{key}\" is not a string"));
        }
        text
    }

    /// Returns a string in which variables are replaced; notes unknown variables.
    fn template(&mut self, node: &JsonNode<'_>, key: &str) -> Option<String> {
        let text = self.text(node, key)?;
        if let Some(child) = node.child(key) {
            self.check_template(&child, &text);
        }
        Some(text)
    }

    fn check_template(&mut self, node: &JsonNode<'_>, text: &str) {
        for unknown in template::unknown_variables(text, self.dialect, &self.inputs) {
            self.problem(node, unknown.to_string());
        }
    }

    /// Returns the elements of a list; notes a problem if the value is another one.
    fn list<'v>(&mut self, node: &JsonNode<'v>, key: &str) -> Vec<JsonNode<'v>> {
        let Some(child) = node.child(key) else {
            return Vec::new();
        };
        child.as_list().unwrap_or_else(|| {
            self.problem(&child, format!("\"{key}\" is not a list"));
            Vec::new()
        })
    }

    /// Returns the elements of a list, or a single value.
    fn one_or_more<'v>(&self, node: &JsonNode<'v>, key: &str) -> Vec<JsonNode<'v>> {
        let child = node.child(key);
        let child = child.into_iter();
        let elements = child.flat_map(|child| child.as_list().unwrap_or_else(|| vec![child]));
        elements.collect()
    }

    /// Returns a truth value; notes a problem if the value is another one.
    fn flag(&mut self, node: &JsonNode<'_>, key: &str) -> bool {
        let Some(child) = node.child(key) else {
            return false;
        };
        child.as_flag().unwrap_or_else(|| {
            self.problem(&child, format!("\"{key}\" is neither true nor false"));
            false
        })
    }

    /// Returns the program that runs the scripts of a folder.
    fn package_manager(&self, folder: &str) -> &'static str {
        let reader = BuildFiles(self.files);
        PackageManager::of_folder(&self.root.join(folder), self.root, &reader).program()
    }
}

#[cfg(test)]
mod tests;
