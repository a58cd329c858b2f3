//! A server or an agent as a child process: its pipes for tokio, the end of what it complained about.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::process::{End, Environment, Group, Live, Start};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::variables::Variables;

/// How much of the complaints is kept, in bytes.
const TAIL: usize = 4096;

/// How long a process may take to end once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

/// How to start a child.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: AbsPath,
    /// All that it finds in its environment.
    pub(crate) environment: Variables,
}

/// A child under way, without its pipes. Dropping it kills it with its group.
#[derive(Debug)]
pub(crate) struct Child {
    group: Group,
    tail: Tail,
}

/// The pipes of a child.
pub(crate) struct Pipes {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
}

/// The end of what a child complained about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Child {
    /// Starts it. The error is a sentence.
    pub(crate) fn start(command: &Command) -> Result<(Self, Pipes), String> {
        let variables = command.environment.iter();
        let variables =
            variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let start = Start {
            program: command.program.clone().into(),
            arguments: command.arguments.iter().map(OsString::from).collect(),
            folder: command.folder.clone(),
            environment: Environment::Only(variables.collect()),
        };
        let Live {
            input,
            output,
            errors,
            group,
        } = host::process::start(&start).map_err(|error| error.to_string())?;
        let broken = |error: std::io::Error| format!("its pipes do not work: {error}");
        let pipes = Pipes {
            input: ChildStdin::from_std(input).map_err(broken)?,
            output: ChildStdout::from_std(output).map_err(broken)?,
        };
        let tail = Tail::default();
        tail.follow(ChildStderr::from_std(errors).map_err(broken)?);
        Ok((Self { group, tail }, pipes))
    }

    /// Kills it with its group.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }

    /// Lets it end by itself, its input being closed, then asks, then kills.
    pub(crate) async fn leave(&self) {
        if tokio::time::timeout(GRACE, self.group.ended())
            .await
            .is_ok()
        {
            return;
        }
        self.group.ask_to_end();
        if tokio::time::timeout(GRACE, self.group.ended())
            .await
            .is_err()
        {
            self.group.kill();
        }
    }

    /// How it ended and what it said last, as a sentence about `who`; waits a moment for both.
    pub(crate) async fn obituary(&self, who: &str) -> String {
        let patience = Duration::from_millis(500);
        let end = tokio::time::timeout(patience, self.group.ended()).await;
        let how = match end {
            Ok(End::Exited(code)) => format!("ended with code {code}"),
            Ok(End::Signalled(signal)) => format!("was ended by signal {signal}"),
            Ok(End::TimedOut) => "took too long".to_owned(),
            Err(_) => "closed its output".to_owned(),
        };
        // What it wrote last may still be in the pipe.
        tokio::time::sleep(Duration::from_millis(20)).await;
        match self.tail.text() {
            text if text.is_empty() => format!("{who} {how} without a word"),
            text => format!("{who} {how}; it last said: {text}"),
        }
    }

    /// The end of what it complained about.
    pub(crate) fn tail(&self) -> String {
        self.tail.text()
    }
}

impl Tail {
    /// Its text, with foreign bytes replaced.
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
        let over = kept.len().saturating_sub(TAIL);
        kept.drain(..over);
    }
}
