//! The checks that merged work must pass before it lands: commands the user configured for a
//! repository, run in the sandbox on a copy of the merged tree.

use std::sync::Arc;
use std::time::Duration;

use agent::sandbox::CommandSandbox as _;
use base::AbsPath;
use composer::land::{Check, CheckError, CheckRunner, CheckSource, LandingCandidate};
use host::process::{LaunchRequest, ProcessExit, spawn};
use host::{Dirs, Files as _, RealFiles, TempFolder};

use crate::sandbox_policy::{self, Confinement, SessionRoot};

/// The largest file of commands that is read, in bytes.
const MAX_CHECKS_BYTES: u64 = 1 << 16;
/// The timeout of one check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1800);
/// The bytes kept of a check's output: its tail.
const MAX_OUTPUT_BYTES: usize = 16 << 10;

/// The check commands of a repository, in the folder of its board.
pub struct CheckCommands {
    dirs: Dirs,
    path: AbsPath,
}

/// Runs the check commands that were read.
struct CommandChecks {
    dirs: Dirs,
    commands: Vec<String>,
}

impl CheckCommands {
    /// `folder` is the folder of the repository's board.
    pub fn new(dirs: &Dirs, folder: &AbsPath) -> Self {
        Self {
            dirs: dirs.clone(),
            path: folder.join("checks.json"),
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
    fn load(&self) -> Result<Box<dyn CheckRunner + Send>, CheckError> {
        let path = &self.path;
        let commands = match RealFiles.read(path, MAX_CHECKS_BYTES) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| {
                CheckError(format!(
                    "{path} is not a list of commands ({error}); replace it with --check"
                ))
            })?,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(check_error(error)),
        };
        Ok(Box::new(CommandChecks {
            dirs: self.dirs.clone(),
            commands,
        }))
    }
}

impl CommandChecks {
    /// Runs one command in `folder`, sandboxed if the sandbox is on. Returns its result; a failed
    /// check has the end of the output as its detail. Returns an error if the command cannot be
    /// started.
    fn run(&self, command: &str, folder: &AbsPath) -> Result<Check, CheckError> {
        let root = SessionRoot::for_user_folder(folder);
        let (sandbox, problems) =
            sandbox_policy::sandbox(&self.dirs, root, &Confinement::default());
        problems.iter().for_each(|problem| log::warn!("{problem}"));
        let bounds = match sandbox {
            Some(sandbox) => Some(sandbox.bounds(&[]).map_err(check_error)?),
            None => None,
        };
        let launch = LaunchRequest {
            program: "bash".into(),
            arguments: vec!["-c".into(), command.into()],
            folder: folder.clone(),
            variables: sandbox_policy::command_variables(&self.dirs),
            terminal: None,
            sandbox: bounds,
        };
        let output: Arc<std::sync::Mutex<Vec<u8>>> = Arc::default();
        let sink_output = output.clone();
        let sink = Box::new(move |bytes: &[u8]| {
            let mut kept = sandbox_policy::lock(&sink_output);
            kept.extend_from_slice(bytes);
            let over = kept.len().saturating_sub(MAX_OUTPUT_BYTES);
            kept.drain(..over);
        });
        let spawned = spawn(&launch, sink).map_err(check_error)?;
        let ended = sandbox_policy::wait(&spawned, CHECK_TIMEOUT);
        let text = String::from_utf8_lossy(&sandbox_policy::lock(&output)).into_owned();
        let (is_passed, detail) = match ended {
            Some(ProcessExit::Exited(0)) => (true, String::new()),
            Some(_) => (false, text),
            None => (false, format!("{text}\nit took longer than half an hour")),
        };
        Ok(Check {
            name: command.to_owned(),
            is_passed,
            detail,
        })
    }
}

impl CheckRunner for CommandChecks {
    fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        if self.commands.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = TempFolder::new().map_err(check_error)?;
        let folder = scratch.path().join("merged");
        RealFiles.create_folder(&folder).map_err(check_error)?;
        candidate.write_to(&folder).map_err(check_error)?;
        let checked = self.commands.iter().map(|it| self.run(it, &folder));
        checked.collect()
    }
}

fn check_error(error: impl std::fmt::Display) -> CheckError {
    CheckError(error.to_string())
}
