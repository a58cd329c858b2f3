//! Tests of the macOS implementation on Linux, with a stand-in for the system's launcher.
//!
//! The stand-in reads the profile with the evaluator's reader and, under Landlock, lets the command
//! write only where a rule of the profile allows it. Denials inside such a folder are tested by the
//! evaluator.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "what is tested is what really happens to files and processes"
)]

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::AbsPath;

use super::launch::Launcher;
use super::pool::start_with;
use super::{SupervisedCommand, SupervisorHandle, SupervisorPool};
use crate::{CommandExit, CommandOutcome, Policy, SandboxError, SpawnRequest, UserEnvironment};

mod life;
mod stand_in;

/// A folder with a workspace, and a stand-in for the launcher.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("home/work")).expect("a workspace");
        fs::write(folder.path().join("home/notes"), "mine").expect("a file");
        stand_in::write(folder.path());
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn path(&self, name: &str) -> AbsPath {
        let real = fs::canonicalize(self.folder.path()).expect("a real path");
        AbsPath::new(real.join(name)).expect("absolute")
    }

    fn launcher(&self) -> Launcher {
        Launcher {
            program: self.at("launcher"),
            // A log without lines.
            log: "/bin/true".into(),
        }
    }

    fn policy(&self) -> Policy {
        let user = UserEnvironment {
            home: self.path("home"),
            own: Vec::new(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        };
        Policy::usual(self.path("home/work"), &user, &[".vscode"])
    }

    fn start(&self, policy: &Policy, script: &str) -> Result<Started, SandboxError> {
        let (request, output) = request(&policy.workspace, script);
        let command = start_with(&self.launcher(), policy, request)?;
        Ok(Started { command, output })
    }

    fn run(&self, policy: &Policy, script: &str) -> Outcome {
        self.start(policy, script)
            .unwrap_or_else(|refused| panic!("{refused}"))
            .finish()
    }
}

struct Started {
    command: SupervisedCommand,
    output: [std::io::PipeReader; 2],
}

impl Started {
    fn finish(self) -> Outcome {
        let Self {
            command,
            output: [mut output, mut errors],
        } = self;
        let outcome = command.wait();
        let mut text = [String::new(), String::new()];
        output.read_to_string(&mut text[0]).expect("text");
        errors.read_to_string(&mut text[1]).expect("text");
        let [output, errors] = text;
        Outcome {
            output,
            errors,
            outcome,
        }
    }
}

#[derive(Debug)]
struct Outcome {
    output: String,
    errors: String,
    outcome: CommandOutcome,
}

fn request(folder: &AbsPath, script: &str) -> (SpawnRequest, [std::io::PipeReader; 2]) {
    let (output, output_writer) = std::io::pipe().expect("a pipe");
    let (errors, errors_writer) = std::io::pipe().expect("a pipe");
    let nothing: OwnedFd = File::open("/dev/null").expect("nothing").into();
    let request = SpawnRequest {
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.clone(),
        environment: Vec::new(),
        streams: [nothing, output_writer.into(), errors_writer.into()],
        terminal: false,
    };
    (request, [output, errors])
}

/// Returns whether a process runs whose command line contains a text.
fn is_running(text: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let lines =
        processes.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    let mut lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.any(|line| line.contains(text) && !line.contains("printf"))
}

fn exists(path: impl AsRef<Path>) -> bool {
    path.as_ref().symlink_metadata().is_ok()
}
