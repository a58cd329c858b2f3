//! The checks that merged work must pass before it lands: commands and tasks the user configured for
//! a repository, run in the sandbox on a copy of the merged tree, and language servers that find no
//! new errors, if the settings say so.

mod task_checks;

use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::sandbox::CommandSandbox as _;
use base::AbsPath;
use composer::land::{
    Check, CheckError, CheckKind, CheckRunner, CheckSource, LandingCandidate, NewErrors,
};
use composer::worktrees::JobWorktrees;
use host::process::{LaunchRequest, ProcessExit, spawn};
use host::{Dirs, Files as _, RealFiles, TempFolder};

use super::new_errors::{self, NewErrorsCheck};
use crate::Error;
use crate::language_servers;
use crate::sandbox_policy::{self, Confinement, SessionRoot};

/// The largest file of commands that is read, in bytes.
const MAX_CHECKS_BYTES: u64 = 1 << 16;
/// The timeout of one check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1800);
/// The clause about a check that reached its timeout.
const TOO_LONG: &str = "took longer than half an hour";
/// The bytes kept of a check's output: its tail.
const MAX_OUTPUT_BYTES: usize = 16 << 10;

/// The checks of a repository; its commands are in the folder of its board.
pub struct CheckCommands {
    dirs: Dirs,
    main_repo: AbsPath,
    path: AbsPath,
}

/// Runs the checks that were read.
struct LandingChecks {
    dirs: Dirs,
    main_repo: AbsPath,
    commands: Vec<String>,
    /// Whether new errors are refused; an error if the settings do not say so for certain.
    finds_errors: Result<bool, Error>,
    /// Problems of the sandboxes in which the checks ran, each once.
    notices: Mutex<Vec<String>>,
}

impl CheckCommands {
    /// Returns the checks of the repository that has these worktrees.
    pub fn new(dirs: &Dirs, worktrees: &JobWorktrees) -> Self {
        Self {
            dirs: dirs.clone(),
            main_repo: worktrees.main_repo().clone(),
            path: worktrees.folder().join("checks.json"),
        }
    }

    /// Reads the commands and the tasks, which begin with `task:`. Blocks on the disk.
    pub(crate) fn commands(&self) -> Result<Vec<String>, CheckError> {
        let path = &self.path;
        match RealFiles.read(path, MAX_CHECKS_BYTES) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| {
                CheckError(format!(
                    "{path} is not a list of commands ({error}); replace it with --check"
                ))
            }),
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(check_error(error)),
        }
    }

    /// Replaces the commands and leaves out blank ones. An empty list removes all checks. Blocks on
    /// the disk.
    pub fn save(&self, commands: &[String]) -> Result<(), host::Error> {
        let commands: Vec<&String> = commands.iter().filter(|it| !it.trim().is_empty()).collect();
        let text = serde_json::json!(commands).to_string();
        RealFiles.write_private(&self.path, text.as_bytes())
    }
}

impl CheckSource for CheckCommands {
    fn load(&self, new_errors: NewErrors) -> Result<Box<dyn CheckRunner + Send>, CheckError> {
        let commands = self.commands()?;
        let finds_errors = match new_errors {
            NewErrors::Refused => language_servers::checks_landings(&self.dirs, &self.main_repo),
            NewErrors::Allowed => Ok(false),
        };
        Ok(Box::new(LandingChecks {
            dirs: self.dirs.clone(),
            main_repo: self.main_repo.clone(),
            commands,
            finds_errors,
            notices: Mutex::default(),
        }))
    }
}

/// The name of a check that is a task begins with this.
const TASK: &str = "task:";

/// A tree that is checked.
pub(crate) struct CheckedTree<'a> {
    pub(crate) dirs: &'a Dirs,
    /// The user's folder, whose trust and permissions count.
    pub(crate) project: &'a AbsPath,
    /// The folder in which checks run: the project, or a copy of the merged tree.
    pub(crate) folder: &'a AbsPath,
}

/// A program of a check.
struct CheckProgram {
    program: OsString,
    arguments: Vec<OsString>,
    folder: AbsPath,
    /// Variables beside those of all commands.
    variables: Vec<(OsString, OsString)>,
}

/// The end of a program of a check.
struct ProgramEnd {
    /// `None` if it took too long.
    exit: Option<ProcessExit>,
    /// The end of its output.
    output: String,
    /// Problems of its sandbox.
    notices: Vec<String>,
}

impl CheckedTree<'_> {
    /// Runs a check: a command, or the task named after `task:`. Returns its result, and the problems of its sandbox. A
    /// task that may not run fails. Returns an error if a program cannot be started. Blocks until it ends.
    pub(crate) fn run(&self, check: &str) -> Result<(Check, Vec<String>), CheckError> {
        match check.strip_prefix(TASK) {
            Some(label) => task_checks::run(self, label.trim()),
            None => self.run_command(check),
        }
    }

    /// Runs one command. A failed check has the end of the output as its detail.
    pub(crate) fn run_command(&self, command: &str) -> Result<(Check, Vec<String>), CheckError> {
        let program = CheckProgram {
            program: "bash".into(),
            arguments: vec!["-c".into(), command.into()],
            folder: self.folder.clone(),
            variables: Vec::new(),
        };
        let end = self.run_program(program, |_| {})?;
        let (is_passed, detail) = match end.exit {
            Some(ProcessExit::Exited(0)) => (true, String::new()),
            Some(_) => (false, end.output),
            None => (false, format!("{}\nit {TOO_LONG}", end.output)),
        };
        let check = Check {
            name: command.to_owned(),
            is_passed,
            detail,
            kind: CheckKind::Command,
        };
        Ok((check, end.notices))
    }

    /// Runs a program, sandboxed if the sandbox is on, and passes its output to `observe`.
    fn run_program(
        &self,
        program: CheckProgram,
        mut observe: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<ProgramEnd, CheckError> {
        let root = SessionRoot::for_user_folder(self.folder);
        let (sandbox, notices) = sandbox_policy::sandbox(self.dirs, root, &Confinement::default());
        let bounds = match sandbox {
            Some(sandbox) => Some(sandbox.bounds(&[]).map_err(check_error)?),
            None => None,
        };
        let mut variables = sandbox_policy::command_variables(self.dirs);
        variables.extend(program.variables);
        let launch = LaunchRequest {
            program: program.program,
            arguments: program.arguments,
            folder: program.folder,
            variables,
            terminal: None,
            sandbox: bounds,
        };
        let output: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink_output = output.clone();
        let sink = Box::new(move |bytes: &[u8]| {
            observe(bytes);
            let mut kept = sandbox_policy::lock(&sink_output);
            kept.extend_from_slice(bytes);
            let over = kept.len().saturating_sub(MAX_OUTPUT_BYTES);
            kept.drain(..over);
        });
        let spawned = spawn(&launch, sink).map_err(check_error)?;
        let exit = sandbox_policy::wait(&spawned, CHECK_TIMEOUT);
        let output = String::from_utf8_lossy(&sandbox_policy::lock(&output)).into_owned();
        Ok(ProgramEnd {
            exit,
            output,
            notices,
        })
    }
}

impl LandingChecks {
    fn add_notices(&self, more: Vec<String>) {
        let mut notices = sandbox_policy::lock(&self.notices);
        for notice in more {
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        }
    }
}

impl CheckRunner for LandingChecks {
    fn is_empty(&self) -> bool {
        self.commands.is_empty() && matches!(self.finds_errors, Ok(false))
    }

    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let temporary = TempFolder::new().map_err(check_error)?;
        let scratch = RealFiles.canonicalize(temporary.path());
        let scratch = scratch.map_err(check_error)?;
        let folder = scratch.join("merged");
        RealFiles.create_folder(&folder).map_err(check_error)?;
        candidate.write_to(&folder).map_err(check_error)?;
        let mut checked = Vec::new();
        // Before the commands, which may change files.
        match &self.finds_errors {
            Ok(is_wanted) => {
                let check = NewErrorsCheck::new(&self.dirs, candidate, &scratch);
                let result = is_wanted.then(|| check.run(&folder)).transpose();
                self.add_notices(check.into_notices());
                checked.extend(result?.flatten());
            }
            Err(error) => checked.push(new_errors::unchecked(&error.to_string())),
        }
        for command in &self.commands {
            let tree = CheckedTree {
                dirs: &self.dirs,
                project: &self.main_repo,
                folder: &folder,
            };
            let (check, problems) = tree.run(command)?;
            self.add_notices(problems);
            checked.push(check);
        }
        Ok(checked)
    }

    fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *sandbox_policy::lock(&self.notices))
    }
}

pub(super) fn check_error(error: impl std::fmt::Display) -> CheckError {
    CheckError(error.to_string())
}

#[cfg(test)]
mod tests;
