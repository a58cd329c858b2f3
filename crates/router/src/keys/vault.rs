//! The world that keys are in: the environment, and programs that tell them.

use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::secret::Secret;

/// The most that a program may print. A key is short.
const MOST_OUTPUT: u64 = 64 << 10;

/// What a program printed.
pub struct Output(Zeroizing<Vec<u8>>);

impl Output {
    /// Keeps what a program printed.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Its first line, which is the key.
    pub(super) fn first_line(&self) -> Secret {
        let line = self.0.split(|byte| *byte == b'\n').next();
        Secret::new(String::from_utf8_lossy(line.unwrap_or_default()).into_owned())
    }
}

/// Where keys are looked for. Tests have a world of their own.
pub trait Vault: Send + Sync {
    /// A variable of the environment; `None` if it is not set or no text.
    fn environment(&self, name: &str) -> Option<String>;

    /// Runs a program with this input. Fails with a phrase that holds nothing of what the program wrote.
    fn run<'a>(
        &'a self,
        words: &'a [String],
        input: Option<Secret>,
        patience: Duration,
    ) -> BoxFuture<'a, Result<Output, String>>;
}

/// The system that we run on. Needs tokio's runtime.
#[derive(Clone, Debug)]
pub struct SystemVault {
    /// The whole environment of the programs that tell keys.
    pub environment: Vec<(OsString, OsString)>,
}

impl Vault for SystemVault {
    fn environment(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn run<'a>(
        &'a self,
        words: &'a [String],
        input: Option<Secret>,
        patience: Duration,
    ) -> BoxFuture<'a, Result<Output, String>> {
        async move {
            let environment = &self.environment;
            match tokio::time::timeout(patience, run(words, environment, input)).await {
                Ok(ended) => ended,
                // The program dies with the future that held it.
                Err(_) => Err(format!("no answer within {} s", patience.as_secs())),
            }
        }
        .boxed()
    }
}

async fn run(
    words: &[String],
    environment: &[(OsString, OsString)],
    input: Option<Secret>,
) -> Result<Output, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("no program is named".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot start it: {}", error.kind()))?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        let written = pipe.write_all(input.expose().as_bytes()).await;
        written.map_err(|error| format!("it takes no input: {}", error.kind()))?;
    }
    let mut bytes = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        let read = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes).await;
        read.map_err(|error| format!("its output cannot be read: {}", error.kind()))?;
    }
    let output = Output::new(bytes);
    let status = child.wait().await;
    let status = status.map_err(|error| format!("it was lost: {}", error.kind()))?;
    match status.success() {
        true => Ok(output),
        false => Err(format!("it ended with {status}")),
    }
}
