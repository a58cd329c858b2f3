//! The commands of the tests of a window's folder.
//!
//! Invariant: nothing runs in a folder that the user does not trust.
//! Start at `services`. Nothing blocks the caller: a command has threads of its own.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_channel::{Receiver, Sender};
use base::AbsPath;
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt as _};
use host::environment::{self, Recipient, Variable};
use host::process::{LaunchRequest, ProcessExit, SpawnedProcess, spawn};
use host::{Dirs, RealFiles};
use runtime::trust::is_trusted;
use test_runner::{TestCommand, TestRunEnd};
use workbench::{OpenTests, TestOutput, TestRun, TestService, TestServiceError};

/// Number of messages that wait for the window; the command waits while there are more.
const WAITING: usize = 256;
/// Time that a stopped command has to end before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// Variables that keep colours out of the output.
const PLAIN: [(&str, &str); 3] = [
    ("NO_COLOR", "1"),
    ("FORCE_COLOR", "0"),
    ("CARGO_TERM_COLOR", "never"),
];

type Started = Result<TestRun, TestServiceError>;

/// Returns the function that makes the service for the tests of a folder.
pub(crate) fn services(dirs: Dirs) -> OpenTests {
    Arc::new(move |root| {
        Arc::new(FolderTestCommands {
            dirs: dirs.clone(),
            root: root.clone(),
        })
    })
}

/// The commands of the tests of one folder.
struct FolderTestCommands {
    dirs: Dirs,
    root: AbsPath,
}

impl TestService for FolderTestCommands {
    fn start(&self, command: TestCommand) -> BoxFuture<'static, Started> {
        let (dirs, root) = (self.dirs.clone(), self.root.clone());
        let (sender, receiver) = oneshot::channel();
        let started = thread::Builder::new()
            .name("tests".to_owned())
            .spawn(move || run(&command, &dirs, &root, sender));
        if let Err(error) = started {
            let reason = format!("cannot run the tests: {error}");
            return async move { Err(TestServiceError::Failed(reason)) }.boxed();
        }
        async move {
            receiver.await.unwrap_or_else(|_| {
                let reason = "cannot run the tests: the task ended early";
                Err(TestServiceError::Failed(reason.to_owned()))
            })
        }
        .boxed()
    }
}

/// Runs a command to its end. `started` receives the running command, or the reason why it does not run.
fn run(command: &TestCommand, dirs: &Dirs, root: &AbsPath, started: oneshot::Sender<Started>) {
    let (sender, output) = async_channel::bounded(WAITING);
    let spawned = if is_trusted(&RealFiles, dirs, root) {
        launch(command, sender.clone())
    } else {
        Err(TestServiceError::Untrusted)
    };
    let spawned = match spawned {
        Ok(spawned) => Arc::new(spawned),
        Err(error) => {
            started.send(Err(error)).ok();
            return;
        }
    };
    let ended = spawned.exit_receiver();
    let stop = stop_on_request(spawned);
    // If the window was closed, `send` fails and drops `stop`, which ends the command.
    started.send(Ok(TestRun { output, stop })).ok();
    let end = match ended.recv_blocking().map(|report| report.exit) {
        Ok(ProcessExit::Exited(code)) => TestRunEnd::Exited(code),
        Ok(ProcessExit::Signalled(signal)) => TestRunEnd::Signalled(signal),
        Ok(ProcessExit::TimedOut) => TestRunEnd::Stopped,
        Err(_) => TestRunEnd::NotStarted("the end of the command is unknown".to_owned()),
    };
    sender.send_blocking(TestOutput::Ended(end)).ok();
}

fn launch(
    command: &TestCommand,
    sender: Sender<TestOutput>,
) -> Result<SpawnedProcess, TestServiceError> {
    let launch = LaunchRequest {
        program: command.program.clone().into(),
        arguments: command.arguments.iter().map(Into::into).collect(),
        folder: command.folder.clone(),
        variables: variables(),
        terminal: None,
        sandbox: None,
    };
    let sink = move |bytes: &[u8]| {
        // Without a window, the output is dropped until the command ends.
        let chunk = TestOutput::Chunk(bytes.to_vec());
        sender.send_blocking(chunk).ok();
    };
    let spawned = spawn(&launch, Box::new(sink));
    spawned.map_err(|error| TestServiceError::Failed(error.to_string()))
}

/// Returns the environment of the user's own programs, without colours.
fn variables() -> Vec<Variable> {
    let mut variables = environment::variables(Recipient::Personal);
    variables.retain(|(name, _)| PLAIN.iter().all(|(plain, _)| name != plain));
    let plain = PLAIN.iter();
    variables.extend(plain.map(|(name, value)| (name.into(), value.into())));
    variables
}

/// Returns a function that ends the command with all its processes. Dropping the function ends it, too.
fn stop_on_request(spawned: Arc<SpawnedProcess>) -> Box<dyn FnOnce() + Send> {
    let (sender, requested): (Sender<()>, Receiver<()>) = async_channel::bounded(1);
    let waiting = thread::Builder::new()
        .name("stop tests".to_owned())
        .spawn(move || {
            // An error means that the function was dropped.
            requested.recv_blocking().ok();
            spawned.stop(GRACE);
        });
    if let Err(error) = waiting {
        log::error!("tests cannot be stopped: {error}");
    }
    Box::new(move || drop(sender))
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use host::TempFolder;
    use runtime::trust::set_trusted;

    use super::*;

    fn command(folder: &AbsPath, line: &str) -> TestCommand {
        TestCommand {
            program: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), line.to_owned()],
            folder: folder.clone(),
        }
    }

    /// Returns a service over a folder, with the folder's path.
    fn service(temporary: &TempFolder, is_trusted: bool) -> (Arc<dyn TestService>, AbsPath) {
        let dirs = Dirs::under(&temporary.path().join("own"));
        dirs.create().expect("folders");
        let root = temporary.path().join("root");
        std::fs::create_dir(&root).expect("a folder");
        if is_trusted {
            set_trusted(&RealFiles, &dirs, &root, true).expect("trust");
        }
        (services(dirs)(&root), root)
    }

    /// Returns the output and the end of a command.
    fn output(run: &TestRun) -> (String, TestRunEnd) {
        let mut text = Vec::new();
        loop {
            match run.output.recv_blocking().expect("a message") {
                TestOutput::Chunk(chunk) => text.extend(chunk),
                TestOutput::Ended(end) => {
                    return (String::from_utf8(text).expect("text"), end);
                }
            }
        }
    }

    #[test]
    fn a_trusted_folder_runs_commands_and_streams_their_output() {
        let temporary = TempFolder::new().expect("a folder");
        let (service, root) = service(&temporary, true);
        let line = "echo out; echo err >&2; echo $NO_COLOR; pwd; exit 3";
        let run = block_on(service.start(command(&root, line))).expect("a run");
        let (text, end) = output(&run);
        assert!(text.starts_with("out\nerr\n1\n"), "{text}");
        assert!(text.trim_end().ends_with("/root"), "{text}");
        assert_eq!(end, TestRunEnd::Exited(3));
        let missing = TestCommand {
            program: "no-such-program-here".to_owned(),
            ..command(&root, "")
        };
        let error = block_on(service.start(missing)).err().expect("an error");
        assert!(
            error.to_string().contains("no-such-program-here"),
            "{error}"
        );
    }

    #[test]
    fn an_untrusted_folder_runs_nothing() {
        let temporary = TempFolder::new().expect("a folder");
        let (service, root) = service(&temporary, false);
        let started = block_on(service.start(command(&root, "echo > ran")));
        assert_eq!(started.err(), Some(TestServiceError::Untrusted));
        assert!(!root.join("ran").as_path().exists());
    }

    #[test]
    fn a_stopped_command_ends() {
        let temporary = TempFolder::new().expect("a folder");
        let (service, root) = service(&temporary, true);
        let line = "echo up; while :; do read line < /dev/null; sleep 1; done";
        let run = block_on(service.start(command(&root, line))).expect("a run");
        assert!(matches!(
            run.output.recv_blocking(),
            Ok(TestOutput::Chunk(_))
        ));
        let TestRun { output, stop } = run;
        stop();
        let mut messages = std::iter::from_fn(|| output.recv_blocking().ok());
        assert!(messages.any(|it| matches!(it, TestOutput::Ended(_))));
    }
}
