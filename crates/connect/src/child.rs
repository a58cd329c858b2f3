//! A server or an agent as a child process, with tokio pipes and the end of its error output: with
//! the user's rights, or in a sandbox.

mod sandboxed;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::process::{
    LiveProcess, ProcessEnvironment, ProcessExit, ProcessGroup, SandboxSpawner, StartRequest,
};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use sandboxed::SandboxedChild;

use crate::error::Error;
use crate::variables::Variables;

/// Size of the error output that is kept, in bytes.
const MAX_TAIL_LEN: usize = 4096;

/// Time a process has to exit after its input was closed, and again after it was terminated.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The command line of a child process.
#[derive(Clone, Debug)]
pub(crate) struct ChildCommand {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: AbsPath,
    /// The complete environment of the process.
    pub(crate) environment: Variables,
}

/// A running child process, without its pipes. Dropping it kills the process and its descendants.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    tree: ChildTree,
    tail: StderrTail,
}

/// A process with its descendants.
#[derive(Debug)]
enum ChildTree {
    Own(ProcessGroup),
    Sandboxed(SandboxedChild),
}

/// The pipes of a child.
pub(crate) struct Pipes {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
}

/// The end of a child's error output.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl ChildProcess {
    /// Starts the process in a process group of its own and reads its error output. Must be called
    /// on a tokio runtime. Fails if the program is missing or cannot run.
    pub(crate) fn start(command: &ChildCommand) -> Result<(Self, Pipes), Error> {
        Self::start_in(command, None)
    }

    /// Starts the process like `start`, inside a sandbox if there is one. Fails also if the sandbox
    /// cannot be set up; the process never runs outside of it then.
    pub(crate) fn start_in(
        command: &ChildCommand,
        sandbox: Option<&dyn SandboxSpawner>,
    ) -> Result<(Self, Pipes), Error> {
        let variables = command.environment.iter();
        let variables =
            variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let start = StartRequest {
            program: command.program.clone().into(),
            arguments: command.arguments.iter().map(OsString::from).collect(),
            folder: command.folder.clone(),
            environment: ProcessEnvironment::Only(variables.collect()),
        };
        let (input, output, errors, tree) = match sandbox {
            Some(sandbox) => {
                let (streams, child) = SandboxedChild::start(start, sandbox)?;
                let [input, output, errors] = streams;
                (
                    input.into(),
                    output.into(),
                    errors.into(),
                    ChildTree::Sandboxed(child),
                )
            }
            None => {
                let live = host::process::start(&start);
                let LiveProcess {
                    input,
                    output,
                    errors,
                    group,
                } = live.map_err(|error| Error::Start(error.to_string()))?;
                (input, output, errors, ChildTree::Own(group))
            }
        };
        let broken =
            |error: std::io::Error| Error::Start(format!("its pipes do not work: {error}"));
        let pipes = Pipes {
            input: ChildStdin::from_std(input).map_err(broken)?,
            output: ChildStdout::from_std(output).map_err(broken)?,
        };
        let tail = StderrTail::default();
        tail.follow(ChildStderr::from_std(errors).map_err(broken)?);
        Ok((Self { tree, tail }, pipes))
    }

    /// Kills the process and its descendants.
    pub(crate) fn kill(&self) {
        match &self.tree {
            ChildTree::Own(group) => group.kill(),
            ChildTree::Sandboxed(child) => child.kill(),
        }
    }

    /// Waits until the process and its descendants have ended.
    async fn wait(&self) -> ProcessExit {
        match &self.tree {
            ChildTree::Own(group) => group.wait().await,
            ChildTree::Sandboxed(child) => child.wait().await,
        }
    }

    /// Waits for the process to exit after its input was closed; terminates its group if it does not,
    /// and kills it if that does not help either.
    pub(crate) async fn shut_down(&self) {
        if tokio::time::timeout(EXIT_TIMEOUT, self.wait())
            .await
            .is_ok()
        {
            return;
        }
        match &self.tree {
            ChildTree::Own(group) => group.terminate(),
            ChildTree::Sandboxed(child) => child.terminate(),
        }
        if tokio::time::timeout(EXIT_TIMEOUT, self.wait())
            .await
            .is_err()
        {
            self.kill();
        }
    }

    /// Describes its exit and its last error output, as a sentence with `subject` as its subject;
    /// waits up to half a second for the exit.
    pub(crate) async fn exit_summary(&self, subject: &str) -> String {
        let timeout = Duration::from_millis(500);
        let exit = tokio::time::timeout(timeout, self.wait()).await;
        let how = match exit {
            Ok(ProcessExit::Exited(code)) => format!("ended with code {code}"),
            Ok(ProcessExit::Signalled(signal)) => format!("was ended by signal {signal}"),
            Ok(ProcessExit::TimedOut) => "took too long".to_owned(),
            Err(_) => "closed its output".to_owned(),
        };
        // Its last output may still be in the pipe.
        tokio::time::sleep(Duration::from_millis(20)).await;
        match self.tail.text() {
            text if text.is_empty() => format!("{subject} {how} without a word"),
            text => format!("{subject} {how}; it last said: {text}"),
        }
    }

    /// Returns the end of the process's error output so far, at most 4 KiB.
    pub(crate) fn tail(&self) -> String {
        self.tail.text()
    }
}

impl StderrTail {
    /// Returns the output as text, with invalid UTF-8 replaced.
    pub(crate) fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous()).into_owned();
        text.trim().to_owned()
    }

    fn follow(&self, mut errors: ChildStderr) {
        let tail = self.clone();
        tokio::spawn(async move {
            let mut chunk = vec![0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut chunk).await {
                tail.add(&chunk[..count]);
            }
        });
    }

    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let over = kept.len().saturating_sub(MAX_TAIL_LEN);
        kept.drain(..over);
    }
}
