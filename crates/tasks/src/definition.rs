//! A task as its file or its tool defines it, before variables are inserted.

use std::sync::Arc;

use base::AbsPath;

use crate::matcher::ProblemMatcher;

/// A task of a project.
#[derive(Clone, Debug)]
pub struct TaskDefinition {
    /// The name, unique in a `TaskSet`.
    pub label: String,
    /// The file or the tool that defines it.
    pub origin: TaskOrigin,
    /// The program or the line of a shell.
    pub command: TaskCommand,
    /// The folder in which it runs, a template; `None` is the folder of the project.
    pub folder: Option<String>,
    /// Variables of its environment; the values are templates.
    pub variables: Vec<(String, String)>,
    /// The group.
    pub group: Option<TaskGroup>,
    /// Whether it is the default task of its group.
    pub is_default: bool,
    /// Whether its terminal is shown when it starts.
    pub reveal: TaskReveal,
    /// Whether lists omit it: other tasks depend on it.
    pub is_hidden: bool,
    /// Labels of the tasks that run before it.
    pub dependencies: Vec<String>,
    /// The order of these tasks.
    pub order: DependencyOrder,
    /// Whether it runs until the user stops it.
    pub is_background: bool,
    /// Find problems in its output.
    pub matchers: Vec<Arc<ProblemMatcher>>,
}

/// The definition of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOrigin {
    /// An entry of a file of tasks.
    File {
        /// The file.
        path: AbsPath,
        /// The line of the entry, counted from 1.
        line: u32,
        /// The name of the file relative to the project.
        name: &'static str,
        /// The form of the file.
        dialect: TaskDialect,
    },
    /// A file of a build tool.
    Detected {
        /// The tool, such as `cargo`.
        tool: &'static str,
        /// The file.
        path: AbsPath,
    },
}

/// The form of a file of tasks, which decides what is a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskDialect {
    /// Burin's own files: `$file` and `${file}`.
    Burin,
    /// Files of Visual Studio Code: `${file}`.
    VsCode,
    /// Files of Zed: `$ZED_FILE`.
    Zed,
    /// Detected tasks: no variables.
    Literal,
}

/// The command of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskCommand {
    /// None: the task only runs others.
    Nothing,
    /// A program with its arguments; all are templates.
    Process {
        /// The program: a name looked up in `PATH`, or a path.
        program: String,
        /// The arguments.
        arguments: Vec<String>,
    },
    /// A line for a shell.
    Shell {
        /// The line, a template.
        line: String,
        /// Arguments that follow the line.
        arguments: Vec<ShellArgument>,
        /// The shell; `None` is the default one.
        shell: Option<ShellProgram>,
    },
}

/// An argument that follows the line of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellArgument {
    /// The text, a template.
    pub text: String,
    /// The way in which the shell reads it.
    pub quoting: ArgumentQuoting,
}

/// The way in which a shell reads an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentQuoting {
    /// One word if it contains white space, otherwise as it is.
    Bare,
    /// One word, literally.
    Strong,
    /// One word, in which the shell inserts its variables.
    Weak,
}

/// A shell with the arguments before its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellProgram {
    /// The program.
    pub program: String,
    /// The arguments, such as `-c`; none means `-c`.
    pub arguments: Vec<String>,
}

/// A group of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskGroup {
    /// Tasks that build.
    Build,
    /// Tasks that test.
    Test,
}

/// The conditions under which the terminal of a task is shown when it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskReveal {
    /// Always.
    #[default]
    Always,
    /// Only if it fails.
    Silent,
    /// Never.
    Never,
}

/// The order in which the dependencies of a task run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DependencyOrder {
    /// All at once.
    #[default]
    Parallel,
    /// One after the other.
    Sequence,
}

impl TaskDefinition {
    /// Creates a task that a tool's file defines.
    pub(crate) fn detected(tool: &'static str, path: &AbsPath, label: String) -> Self {
        Self {
            label,
            origin: TaskOrigin::Detected {
                tool,
                path: path.clone(),
            },
            command: TaskCommand::Nothing,
            folder: None,
            variables: Vec::new(),
            group: None,
            is_default: false,
            reveal: TaskReveal::Always,
            is_hidden: false,
            dependencies: Vec::new(),
            order: DependencyOrder::Parallel,
            is_background: false,
            matchers: Vec::new(),
        }
    }

    /// Returns the form in which its templates are written.
    pub fn dialect(&self) -> TaskDialect {
        match &self.origin {
            TaskOrigin::File { dialect, .. } => *dialect,
            TaskOrigin::Detected { .. } => TaskDialect::Literal,
        }
    }

    /// Returns the command as it is written, before variables are inserted.
    pub fn written(&self) -> String {
        match &self.command {
            TaskCommand::Nothing => self.dependencies.join(", "),
            TaskCommand::Process { program, arguments } => joined(program, arguments.iter()),
            TaskCommand::Shell {
                line, arguments, ..
            } => joined(line, arguments.iter().map(|argument| &argument.text)),
        }
    }

    /// Returns everything that decides what runs, as the user reads it: variables, folder, shell and command.
    pub(crate) fn shown_command(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.variables {
            text.push_str(&format!("{name}={value} "));
        }
        if let TaskCommand::Shell {
            shell: Some(shell), ..
        } = &self.command
        {
            text.push_str(&joined(&shell.program, shell.arguments.iter()));
            text.push(' ');
        }
        text.push_str(&self.written());
        if let Some(folder) = &self.folder {
            text.push_str(&format!(" (in {folder})"));
        }
        text
    }

    /// Returns its templates.
    pub(crate) fn templates(&self) -> Vec<&str> {
        let mut templates: Vec<&str> = match &self.command {
            TaskCommand::Nothing => Vec::new(),
            TaskCommand::Process { program, arguments } => {
                let arguments = arguments.iter().map(String::as_str);
                std::iter::once(program.as_str()).chain(arguments).collect()
            }
            TaskCommand::Shell {
                line, arguments, ..
            } => {
                let arguments = arguments.iter().map(|argument| argument.text.as_str());
                std::iter::once(line.as_str()).chain(arguments).collect()
            }
        };
        templates.extend(self.folder.as_deref());
        templates.extend(self.variables.iter().map(|(_, value)| value.as_str()));
        templates
    }
}

fn joined<'a>(first: &str, arguments: impl Iterator<Item = &'a String>) -> String {
    let mut text = first.to_owned();
    for argument in arguments {
        text.push(' ');
        text.push_str(argument);
    }
    text
}
