//! Reads one task.

use super::FileReader;
use super::node::JsonNode;
use crate::definition::{
    ArgumentQuoting, DependencyOrder, ShellArgument, ShellProgram, TaskCommand, TaskDefinition,
    TaskDialect, TaskGroup, TaskOrigin, TaskReveal,
};

impl FileReader<'_> {
    /// Reads a task; `root` is the file, whose options serve all tasks.
    pub(super) fn read_entry(
        &mut self,
        node: &JsonNode<'_>,
        root: &JsonNode<'_>,
    ) -> Option<TaskDefinition> {
        if !node.is_object() {
            self.problem(node, "a task is an object");
            return None;
        }
        let command = self.read_command(node, root)?;
        let Some(label) = self.read_label(node, &command) else {
            self.problem(node, "the task has no \"label\"");
            return None;
        };
        let options = node.child("options").or_else(|| root.child("options"));
        let mut variables = Vec::new();
        for holder in options.iter().chain([node]) {
            variables.extend(self.read_variables(holder));
        }
        let of_options = options.and_then(|options| self.template(&options, "cwd"));
        let path = match self.text(node, "type").as_deref() {
            Some("npm") => self.text(node, "path"),
            _ => None,
        };
        let folder = self.template(node, "cwd").or(of_options).or(path);
        let (group, is_default) = self.read_group(node);
        let task = TaskDefinition {
            origin: TaskOrigin::File {
                path: self.file.path.clone(),
                line: self.line(node),
                name: self.file.name,
                dialect: self.dialect,
            },
            label,
            folder,
            variables,
            group,
            is_default,
            reveal: self.read_reveal(node, root),
            is_hidden: self.is_hidden(node),
            dependencies: self.read_dependencies(node),
            order: self.read_order(node),
            is_background: self.flag(node, "isBackground"),
            matchers: self.read_matchers(node),
            command,
        };
        if task.command == TaskCommand::Nothing && task.dependencies.is_empty() {
            self.problem(node, "the task has neither a \"command\" nor \"dependsOn\"");
            return None;
        }
        Some(task)
    }

    fn read_label(&mut self, node: &JsonNode<'_>, command: &TaskCommand) -> Option<String> {
        let label = self
            .text(node, "label")
            .or_else(|| self.text(node, "taskName"));
        let label = label.or_else(|| match command {
            TaskCommand::Process { program, arguments } => {
                Some(format!("{program} {}", arguments.join(" ")))
            }
            _ => None,
        });
        let label = label.map(|label| label.trim().to_owned());
        label.filter(|label| !label.is_empty())
    }

    /// Reads the command; `None` if it is invalid.
    fn read_command(&mut self, node: &JsonNode<'_>, root: &JsonNode<'_>) -> Option<TaskCommand> {
        let kind = self.text(node, "type");
        let kind = kind.or_else(|| self.text(root, "type"));
        let default = match self.dialect {
            TaskDialect::VsCode => "process",
            _ => "shell",
        };
        match kind.as_deref().unwrap_or(default) {
            "shell" => self.read_shell(node, root),
            "process" => self.read_process(node),
            "npm" => self.read_script(node),
            "cargo" => {
                let Some(command) = self.template(node, "command") else {
                    self.problem(node, "the task has no \"command\"");
                    return None;
                };
                let mut arguments = vec![command];
                arguments.extend(self.read_texts(node, "args"));
                Some(TaskCommand::Process {
                    program: "cargo".to_owned(),
                    arguments,
                })
            }
            other => {
                let message = format!(
                    "tasks of the type \"{other}\" come from an extension; \"shell\", \"process\", \"npm\" and \"cargo\" are known"
                );
                self.problem(node, message);
                None
            }
        }
    }

    fn read_process(&mut self, node: &JsonNode<'_>) -> Option<TaskCommand> {
        if node.child("command").is_none() {
            return Some(TaskCommand::Nothing);
        }
        let program = self.template(node, "command")?;
        let arguments = self.read_texts(node, "args");
        Some(TaskCommand::Process { program, arguments })
    }

    fn read_script(&mut self, node: &JsonNode<'_>) -> Option<TaskCommand> {
        let Some(script) = self.text(node, "script") else {
            self.problem(node, "the task has no \"script\"");
            return None;
        };
        let folder = self.text(node, "path").unwrap_or_default();
        Some(TaskCommand::Process {
            program: self.package_manager(&folder).to_owned(),
            arguments: vec!["run".to_owned(), script],
        })
    }

    fn read_shell(&mut self, node: &JsonNode<'_>, root: &JsonNode<'_>) -> Option<TaskCommand> {
        let Some(command) = node.child("command") else {
            return Some(TaskCommand::Nothing);
        };
        let (line, quoted) = match command.as_text() {
            Some(line) => {
                self.check_template(&command, line);
                (line.to_owned(), None)
            }
            // A quoted command is a word.
            None => (String::new(), Some(self.read_argument(&command)?)),
        };
        let mut arguments = Vec::from_iter(quoted);
        for argument in self.list(node, "args") {
            arguments.extend(self.read_argument(&argument));
        }
        let shell = self.read_shell_program(node, root);
        Some(TaskCommand::Shell {
            line,
            arguments,
            shell,
        })
    }

    fn read_argument(&mut self, node: &JsonNode<'_>) -> Option<ShellArgument> {
        if let Some(text) = node.as_text() {
            self.check_template(node, text);
            return Some(ShellArgument {
                text: text.to_owned(),
                quoting: ArgumentQuoting::Bare,
            });
        }
        let Some(text) = self.template(node, "value") else {
            self.problem(node, "an argument is a string, or has a \"value\"");
            return None;
        };
        let quoting = match self.text(node, "quoting").as_deref() {
            Some("weak") => ArgumentQuoting::Weak,
            Some("strong" | "escape") | None => ArgumentQuoting::Strong,
            Some(_) => {
                let message = "\"quoting\" is \"escape\", \"strong\" or \"weak\"";
                self.problem(node, message);
                ArgumentQuoting::Strong
            }
        };
        Some(ShellArgument { text, quoting })
    }

    /// Reads the shell of a task: that of Visual Studio Code's options, or that of Zed.
    fn read_shell_program(
        &mut self,
        node: &JsonNode<'_>,
        root: &JsonNode<'_>,
    ) -> Option<ShellProgram> {
        let options = node.child("options").or_else(|| root.child("options"));
        let of_options = options.and_then(|options| options.child("shell"));
        let shell = of_options.or_else(|| node.child("shell"))?;
        if shell.as_text() == Some("system") {
            return None;
        }
        let shell = shell.child("with_arguments").unwrap_or(shell);
        let program = self
            .text(&shell, "executable")
            .or_else(|| self.text(&shell, "program"));
        let Some(program) = program else {
            self.problem(&shell, "the shell has no \"executable\"");
            return None;
        };
        Some(ShellProgram {
            program,
            arguments: self.read_texts(&shell, "args"),
        })
    }

    /// Reads a list of strings, in which variables are replaced.
    fn read_texts(&mut self, node: &JsonNode<'_>, key: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for element in self.list(node, key) {
            match element.as_text() {
                Some(text) => {
                    self.check_template(&element, text);
                    texts.push(text.to_owned());
                }
                None => self.problem(&element, format!("\"{key}\" contains strings only")),
            }
        }
        texts
    }

    fn read_variables(&mut self, node: &JsonNode<'_>) -> Vec<(String, String)> {
        let Some(env) = node.child("env") else {
            return Vec::new();
        };
        let mut variables = Vec::new();
        for (name, value) in env.members() {
            match value.as_text() {
                Some(text) => {
                    self.check_template(&value, text);
                    variables.push((name.to_owned(), text.to_owned()));
                }
                None => self.problem(&value, format!("the value of \"{name}\" is not a string")),
            }
        }
        variables
    }

    fn read_group(&mut self, node: &JsonNode<'_>) -> (Option<TaskGroup>, bool) {
        let Some(group) = node.child("group") else {
            return (None, false);
        };
        let (kind, is_default) = match group.as_text() {
            Some(kind) => (Some(kind.to_owned()), false),
            // The default may be a pattern of files.
            None => {
                let is_default = group.child("isDefault");
                let is_default = is_default.is_some_and(|it| it.as_flag() != Some(false));
                (self.text(&group, "kind"), is_default)
            }
        };
        let kind = match kind.as_deref() {
            Some("build") => Some(TaskGroup::Build),
            Some("test") => Some(TaskGroup::Test),
            _ => None,
        };
        (kind, is_default)
    }

    fn read_reveal(&mut self, node: &JsonNode<'_>, root: &JsonNode<'_>) -> TaskReveal {
        let own = node.child("reveal");
        let presentation = node
            .child("presentation")
            .or_else(|| root.child("presentation"));
        let reveal = own.or_else(|| presentation?.child("reveal"));
        let Some(reveal) = reveal else {
            return TaskReveal::Always;
        };
        match reveal.as_text() {
            Some("always" | "no_focus") => TaskReveal::Always,
            Some("silent") => TaskReveal::Silent,
            Some("never") => TaskReveal::Never,
            _ => {
                let message = "\"reveal\" is \"always\", \"silent\" or \"never\"";
                self.problem(&reveal, message);
                TaskReveal::Always
            }
        }
    }

    /// Returns whether lists omit the task. In Zed's files, `hide` is about the terminal.
    fn is_hidden(&mut self, node: &JsonNode<'_>) -> bool {
        self.dialect != TaskDialect::Zed && self.flag(node, "hide")
    }

    fn read_dependencies(&mut self, node: &JsonNode<'_>) -> Vec<String> {
        let mut labels = Vec::new();
        for dependency in self.one_or_more(node, "dependsOn") {
            match dependency.as_text() {
                Some(label) => labels.push(label.to_owned()),
                None => self.problem(&dependency, "\"dependsOn\" contains labels only"),
            }
        }
        labels
    }

    fn read_order(&mut self, node: &JsonNode<'_>) -> DependencyOrder {
        match self.text(node, "dependsOrder").as_deref() {
            Some("sequence") => DependencyOrder::Sequence,
            Some("parallel") | None => DependencyOrder::Parallel,
            Some(_) => {
                self.problem(node, "\"dependsOrder\" is \"parallel\" or \"sequence\"");
                DependencyOrder::Parallel
            }
        }
    }
}
