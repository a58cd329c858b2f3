//! Access to the environment and to programs that print keys.

use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use zeroize::Zeroizing;

use super::keychain;
use super::secret::Secret;
use crate::error::Error;

/// Maximum output of a program in bytes. A key is short.
const MAX_OUTPUT_BYTES: u64 = 64 << 10;

/// Output of a program; wiped when dropped.
pub struct ProgramOutput(Zeroizing<Vec<u8>>);

impl ProgramOutput {
    /// Wraps the output of a program.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Returns the whole output.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the first line, which is the key, without surrounding blanks. Returns an empty key
    /// if there is no output.
    pub(super) fn first_line(&self) -> Secret {
        let line = self.bytes().split(|byte| *byte == b'\n').next();
        Secret::new(String::from_utf8_lossy(line.unwrap_or_default()).into_owned())
    }
}

/// Access to the sources of keys. Tests provide their own.
pub trait SecretSource: Send + Sync {
    /// Returns an environment variable; `None` if it is unset or not UTF-8.
    fn environment(&self, name: &str) -> Option<String>;

    /// Returns the key of a provider in the system keychain, which may ask the user to unlock it;
    /// `Ok(None)` if it has none. Without an implementation there is no keychain.
    ///
    /// # Errors
    /// The keychain refused the key, or holds something else; the error does not contain it.
    fn keychain<'a>(&'a self, _provider: &'a str) -> BoxFuture<'a, Result<Option<Secret>, Error>> {
        std::future::ready(Ok(None)).boxed()
    }

    /// Runs a program with its arguments and returns its output. Kills the program after `timeout`.
    /// A timeout and a failing exit code are errors. Errors never contain parts of the output.
    fn run<'a>(
        &'a self,
        command: &'a [String],
        timeout: Duration,
    ) -> BoxFuture<'a, Result<ProgramOutput, Error>>;
}

/// The real environment, keychain and programs. Requires tokio's runtime.
#[derive(Clone, Debug)]
pub struct SystemSecrets {
    /// Returns a variable that may hold a key; may block for some seconds.
    pub variable: fn(&str) -> Option<String>,
    /// The complete environment of programs that print keys.
    pub environment: Vec<(OsString, OsString)>,
}

impl SecretSource for SystemSecrets {
    fn environment(&self, name: &str) -> Option<String> {
        (self.variable)(name)
    }

    fn keychain<'a>(&'a self, provider: &'a str) -> BoxFuture<'a, Result<Option<Secret>, Error>> {
        keychain::find(self, provider).boxed()
    }

    fn run<'a>(
        &'a self,
        command: &'a [String],
        timeout: Duration,
    ) -> BoxFuture<'a, Result<ProgramOutput, Error>> {
        async move {
            let environment = &self.environment;
            match tokio::time::timeout(timeout, run(command, environment)).await {
                Ok(result) => result,
                // The process is killed when the future that owns it is dropped.
                Err(_) => failed(format!("no answer within {} s", timeout.as_secs())),
            }
        }
        .boxed()
    }
}

/// Runs a program with only these environment variables, and returns the first `MAX_OUTPUT_BYTES`
/// of its standard output. Has no time limit; dropping the future kills the program. Fails if
/// `command` is empty, the program cannot be started or read, or it exits with an error.
async fn run(
    command: &[String],
    environment: &[(OsString, OsString)],
) -> Result<ProgramOutput, Error> {
    let Some((program, arguments)) = command.split_first() else {
        return failed("no program given".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| Error::Program(format!("cannot start it: {}", error.kind())))?;
    let mut bytes = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        let read = pipe.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes).await;
        read.map_err(|error| {
            Error::Program(format!("its output cannot be read: {}", error.kind()))
        })?;
    }
    let output = ProgramOutput::new(bytes);
    let status = child.wait().await;
    let status =
        status.map_err(|error| Error::Program(format!("cannot wait for it: {}", error.kind())))?;
    if status.success() {
        Ok(output)
    } else {
        failed(format!("it exited with {status}"))
    }
}

/// Returns `Error::Program` with this cause.
fn failed(cause: String) -> Result<ProgramOutput, Error> {
    Err(Error::Program(cause))
}
