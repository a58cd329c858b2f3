//! Tests with real commands in real sandboxes. If root runs them, some run again as an ordinary
//! user.

#![expect(
    clippy::disallowed_methods,
    reason = "what is tested is what really happens to files and processes"
)]

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use base::AbsPath;

use crate::{
    CommandExit, CommandOutcome, DeniedAccess, PathAccess, Policy, SandboxError, SandboxLayer,
    SpawnRequest, UserEnvironment, WarmSandbox,
};

mod life;
mod read_only;
mod walls;

/// The variable with the folder for test homes, for users who cannot write to `/var`.
const HOMES: &str = "BURIN_TEST_HOMES";

/// A home folder with a workspace in it.
struct Home {
    folder: tempfile::TempDir,
}

fn path(path: impl AsRef<Path>) -> AbsPath {
    AbsPath::new(path).expect("an absolute path")
}

impl Home {
    fn new() -> Self {
        // Not in /tmp, which is private to every sandbox.
        let homes = std::env::var_os(HOMES).unwrap_or("/var".into());
        let folder = tempfile::tempdir_in(homes).expect("a folder");
        fs::create_dir_all(folder.path().join("work")).expect("a workspace");
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn work(&self) -> AbsPath {
        path(self.path().join("work"))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    fn policy(&self) -> Policy {
        let person = UserEnvironment {
            home: path(self.path()),
            own: Vec::new(),
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        };
        Policy::usual(self.work(), &person, &[".vscode", ".envrc"])
    }
}

/// The output and the outcome of a command.
#[derive(Debug)]
struct Outcome {
    text: String,
    finished: CommandOutcome,
}

fn shell(folder: &AbsPath, script: &str) -> (SpawnRequest, std::io::PipeReader) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let nothing = || -> OwnedFd { File::open("/dev/null").expect("nothing").into() };
    let writer = OwnedFd::from(writer);
    let request = SpawnRequest {
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.clone(),
        environment: Vec::new(),
        streams: [nothing(), writer.try_clone().expect("a copy"), writer],
        terminal: false,
    };
    (request, reader)
}

fn run(policy: &Policy, script: &str) -> Outcome {
    let (request, mut reader) = shell(&policy.workspace, script);
    let running = crate::start(policy, request).unwrap_or_else(|refused| panic!("{refused}"));
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    let finished = running.wait();
    Outcome { text, finished }
}

fn run_in(warm: &WarmSandbox, folder: &AbsPath, script: &str) -> Outcome {
    let (request, mut reader) = shell(folder, script);
    let running = warm
        .start(request)
        .unwrap_or_else(|refused| panic!("{refused}"));
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    let finished = running.wait();
    Outcome { text, finished }
}

/// Runs a script and returns whether it succeeded.
#[track_caller]
fn check(policy: &Policy, script: &str, code: i32) -> Outcome {
    let outcome = run(policy, script);
    assert_eq!(
        outcome.finished.exit,
        CommandExit::Exit(code),
        "{script}: {outcome:?}"
    );
    outcome
}
