//! The program that a task starts, with all values inserted.
//!
//! Start at `resolve`.

use base::AbsPath;

use crate::context::TaskContext;
use crate::definition::{
    ArgumentQuoting, ShellArgument, ShellProgram, TaskCommand, TaskDefinition, TaskOrigin,
};
use crate::error::{TaskError, VariableError};
use crate::quoting::{ShellFamily, ShellLine};
use crate::template::expand;

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskLaunch {
    /// The program: a name looked up in `PATH`, or a path.
    pub program: String,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The folder in which it starts.
    pub folder: AbsPath,
    /// Variables to add to the environment.
    pub variables: Vec<(String, String)>,
}

/// Inserts the values of variables into a task; `None` if the task only runs others.
///
/// # Errors
/// A variable is unknown, has no value, or has one that cannot be quoted where it is.
pub fn resolve(
    task: &TaskDefinition,
    context: &TaskContext,
) -> Result<Option<TaskLaunch>, TaskError> {
    launch(task, context).map_err(|reason| match &task.origin {
        TaskOrigin::File {
            path, line, name, ..
        } => TaskError::Variable {
            name,
            path: path.clone(),
            line: *line,
            task: task.label.clone(),
            reason,
        },
        // Detected tasks have no variables.
        TaskOrigin::Detected { tool, path } => TaskError::Variable {
            name: tool,
            path: path.clone(),
            line: 1,
            task: task.label.clone(),
            reason,
        },
    })
}

fn launch(
    task: &TaskDefinition,
    context: &TaskContext,
) -> Result<Option<TaskLaunch>, VariableError> {
    let dialect = task.dialect();
    let inserted = |template: &String| expand(template, dialect, context);
    let folder = match &task.folder {
        Some(folder) => context.root.join(inserted(folder)?),
        None => context.root.clone(),
    };
    let (program, arguments) = match &task.command {
        TaskCommand::Nothing => return Ok(None),
        TaskCommand::Process { program, arguments } => {
            let arguments: Result<Vec<String>, VariableError> =
                arguments.iter().map(inserted).collect();
            (program_below(&folder, inserted(program)?)?, arguments?)
        }
        TaskCommand::Shell {
            line,
            arguments,
            shell,
        } => {
            let default = ShellProgram {
                program: default_shell(&context.shell),
                arguments: Vec::new(),
            };
            let shell = shell.as_ref().unwrap_or(&default);
            let line = shell_line(line, arguments, &shell.program, task, context)?;
            let mut before = shell.arguments.clone();
            if before.is_empty() {
                before.push("-c".to_owned());
            }
            before.push(line);
            (shell.program.clone(), before)
        }
    };
    let variables = task.variables.iter();
    let variables: Result<Vec<(String, String)>, VariableError> = variables
        .map(|(name, value)| Ok((name.clone(), inserted(value)?)))
        .collect();
    Ok(Some(TaskLaunch {
        program,
        arguments,
        folder,
        variables: variables?,
    }))
}

/// Returns the path of a program such as `./gradlew`, which is relative to the folder of the task.
fn program_below(folder: &AbsPath, program: String) -> Result<String, VariableError> {
    if program.starts_with('/') || !program.contains('/') {
        return Ok(program);
    }
    let path = folder.join(&program);
    let text = path.as_path().to_str().map(str::to_owned);
    text.ok_or(VariableError::NotText(program))
}

/// Returns the shell of the user, or the one of the system if tasks are not written for that.
fn default_shell(shell: &str) -> String {
    match ShellFamily::of(shell) {
        ShellFamily::Posix => shell.to_owned(),
        ShellFamily::Fish | ShellFamily::Other => "/bin/sh".to_owned(),
    }
}

fn shell_line(
    line: &str,
    arguments: &[ShellArgument],
    shell: &str,
    task: &TaskDefinition,
    context: &TaskContext,
) -> Result<String, VariableError> {
    let dialect = task.dialect();
    let mut text = ShellLine::new(ShellFamily::of(shell));
    text.push_template(line, dialect, context)?;
    for (ix, argument) in arguments.iter().enumerate() {
        if ix > 0 || !line.is_empty() {
            text.push_text(" ");
        }
        let template = argument.text.as_str();
        let has_space = template.is_empty() || template.contains(char::is_whitespace);
        match argument.quoting {
            ArgumentQuoting::Bare if !has_space => {
                text.push_template(template, dialect, context)?;
            }
            ArgumentQuoting::Bare | ArgumentQuoting::Strong => {
                let value = expand(template, dialect, context)?;
                text.push_word(&value)
                    .ok_or_else(|| VariableError::Unquotable(template.to_owned()))?;
            }
            ArgumentQuoting::Weak => text.push_weak(template, dialect, context)?,
        }
    }
    Ok(text.into_text())
}
