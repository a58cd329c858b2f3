//! The checks that merged work must pass before it lands: commands the user configured for a
//! repository, run in the sandbox on a copy of the merged tree.

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use composer::land::{Check, CheckRunner, LandingCandidate};
use host::process::{LaunchRequest, ProcessExit, spawn};
use host::{Dirs, Files as _, RealFiles, TempFolder};

use crate::sandbox_policy::{self, Confinement, SessionRoot};

/// The largest file of commands that is read, in bytes.
const MAX_CHECKS_BYTES: u64 = 1 << 16;
/// The timeout of one check.
const LONGEST: Duration = Duration::from_secs(1800);
/// The bytes kept of a check's output: its tail.
const KEPT: usize = 16 << 10;

/// The user's checks for a repository.
pub struct OwnChecks {
    dirs: Dirs,
    commands: Vec<String>,
}

impl OwnChecks {
    /// Reads the checks in the folder of a repository's board.
    pub fn read(dirs: &Dirs, folder: &AbsPath) -> Result<Self, String> {
        let path = path(folder);
        let commands = match RealFiles.read(&path, MAX_CHECKS_BYTES) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| {
                format!("{path} is no list of commands ({error}); write it anew with --check")
            })?,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error.to_string()),
        };
        Ok(Self {
            dirs: dirs.clone(),
            commands,
        })
    }

    /// The same; an error where there are none.
    pub fn read_required(dirs: &Dirs, folder: &AbsPath) -> Result<Self, String> {
        let own = Self::read(dirs, folder)?;
        if own.commands.is_empty() {
            Err(
                "this repository has no checks yet: name them with `burin-agent compose land --check COMMAND`"
                    .to_owned(),
            )
        } else {
            Ok(own)
        }
    }

    /// Has these run from now on.
    pub fn save(folder: &AbsPath, commands: &[String]) -> Result<(), String> {
        let commands: Vec<&String> = commands.iter().filter(|it| !it.trim().is_empty()).collect();
        let text = serde_json::json!(commands).to_string();
        let written = RealFiles.write_private(&path(folder), text.as_bytes());
        written.map_err(|error| error.to_string())
    }

    fn run(&self, command: &str, folder: &AbsPath) -> Result<Check, String> {
        let ground = SessionRoot::for_user_folder(folder);
        let (sandbox, problems) =
            sandbox_policy::sandbox(&self.dirs, ground, &Confinement::default());
        problems.iter().for_each(|problem| log::warn!("{problem}"));
        let bounds = match sandbox {
            Some(sandbox) => Some(sandbox.bounds(&[])?),
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
        let heard = output.clone();
        let sink = Box::new(move |bytes: &[u8]| {
            let mut kept = sandbox_policy::lock(&heard);
            kept.extend_from_slice(bytes);
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        });
        let spawned = spawn(&launch, sink).map_err(|error| error.to_string())?;
        let ended = sandbox_policy::wait(&spawned, LONGEST);
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

impl CheckRunner for OwnChecks {
    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, String> {
        if self.commands.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = TempFolder::new().map_err(|error| error.to_string())?;
        let folder = scratch.path().join("merged");
        RealFiles
            .create_folder(&folder)
            .map_err(|error| error.to_string())?;
        candidate
            .write_to(&folder)
            .map_err(|error| error.to_string())?;
        let checked = self.commands.iter().map(|it| self.run(it, &folder));
        checked.collect()
    }
}

fn path(folder: &AbsPath) -> AbsPath {
    folder.join("checks.json")
}
