//! Runs hooks in the sandbox of their session, because agents in worktrees may change the scripts
//! that hooks call.
//!
//! Knows: `agent::hooks`, sandboxed processes. Must not know: which hooks there are.

use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::hooks::{HookOutput, HookRunner};
use agent::sandbox::CommandSandbox;
use base::AbsPath;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use host::environment::Variable;
use host::process::{LaunchRequest, ProcessExit, SpawnedProcess, spawn};

use crate::{Error, sandbox_policy};

/// The maximum number of bytes kept of a hook's output.
const MAX_OUTPUT: usize = 256 * 1024;
/// The maximum number of bytes of a hook's input, which is passed in arguments.
const MAX_INPUT: usize = 1 << 20;
/// Bytes of input in one argument; Linux allows 128 KiB.
const INPUT_CHUNK: usize = 64 * 1024;

/// Feeds the input, because a sandboxed process has no input pipe, and separates the two outputs,
/// which share one pipe: standard error follows a separator. Arguments: the folder, the hook, the
/// separator, pieces of the input.
const SCRIPT: &str = r#"
CLAUDE_PROJECT_DIR=$1; export CLAUDE_PROJECT_DIR
hook=$2; separator=$3; shift 3
exec 3>&1
errors=$({ printf %s "$@" | (eval "$hook"); } 2>&1 1>&3 3>&-)
code=$?
printf '%s%s' "$separator" "$errors"
exit $code
"#;

/// Runs hooks in the sandbox of a session.
pub(crate) struct SandboxedHooks {
    sandbox: Arc<dyn CommandSandbox>,
    variables: Vec<Variable>,
}

impl SandboxedHooks {
    /// Hooks find `variables` in their environment.
    pub(crate) fn new(sandbox: Arc<dyn CommandSandbox>, variables: Vec<Variable>) -> Self {
        Self { sandbox, variables }
    }
}

impl HookRunner for SandboxedHooks {
    fn run(
        &self,
        command: &str,
        folder: &AbsPath,
        input: Vec<u8>,
        patience: Duration,
    ) -> BoxFuture<'static, Result<HookOutput, agent::Error>> {
        let (sandbox, variables) = (self.sandbox.clone(), self.variables.clone());
        let (command, folder) = (command.to_owned(), folder.clone());
        async move {
            let started = tokio::task::spawn_blocking(move || {
                RunningHook::start((sandbox.as_ref(), variables), &command, &folder, &input)
            });
            let started = started.await;
            let started = started.map_err(|error| format!("could not be run: {error}"));
            let running = started.and_then(|running| running.map_err(|error| error.to_string()));
            let running = running.map_err(agent::Error::HookNotRun)?;
            Ok(running.finish(patience).await)
        }
        .boxed()
    }
}

/// A hook that runs. Dropping it ends the process.
struct RunningHook {
    spawned: SpawnedProcess,
    output: Arc<Mutex<Vec<u8>>>,
    separator: String,
}

impl RunningHook {
    /// Starts a hook in the sandbox and passes it `input`. Returns an error if `input` is not UTF-8
    /// or exceeds `MAX_INPUT` bytes, or if the sandbox or the process cannot be started.
    fn start(
        (sandbox, variables): (&dyn CommandSandbox, Vec<Variable>),
        command: &str,
        folder: &AbsPath,
        input: &[u8],
    ) -> Result<Self, Error> {
        let input = std::str::from_utf8(input)
            .map_err(|error| could_not_run(format!("its input is not text: {error}")))?;
        if input.len() > MAX_INPUT {
            return Err(could_not_run(format!(
                "its input of {} bytes is larger than {MAX_INPUT}",
                input.len()
            )));
        }
        let separator = separator(command, input);
        let mut arguments = vec!["-c".into(), SCRIPT.into(), "sh".into()];
        arguments.push(folder.as_path().as_os_str().to_owned());
        arguments.extend([command.into(), (&separator).into()]);
        arguments.extend(argument_chunks(input).map(Into::into));
        let launch = LaunchRequest {
            program: "sh".into(),
            arguments,
            folder: folder.clone(),
            variables,
            terminal: None,
            sandbox: Some(sandbox.bounds(&[]).map_err(Error::sandbox)?),
        };
        let output: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = output.clone();
        let sink = Box::new(move |bytes: &[u8]| {
            let mut kept = sandbox_policy::lock(&sink);
            let room = MAX_OUTPUT.saturating_sub(kept.len());
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        });
        let spawned = spawn(&launch, sink).map_err(could_not_run)?;
        Ok(Self {
            spawned,
            output,
            separator,
        })
    }

    async fn finish(self, patience: Duration) -> HookOutput {
        let ended = self.spawned.exit_receiver();
        let ended = tokio::time::timeout(patience, ended.recv()).await;
        let code = match ended.map(|ended| ended.map(|it| it.exit)) {
            Ok(Ok(ProcessExit::Exited(code))) => Some(code),
            Ok(Ok(ProcessExit::Signalled(signal))) => Some(128 + signal),
            Ok(Ok(ProcessExit::TimedOut) | Err(_)) | Err(_) => None,
        };
        let text = String::from_utf8_lossy(&sandbox_policy::lock(&self.output)).into_owned();
        let (output, errors) = text.rsplit_once(&self.separator).unwrap_or((&text, ""));
        HookOutput {
            code,
            output: output.to_owned(),
            errors: errors.to_owned(),
        }
    }
}

/// Returns the error of a hook that did not start; the hook's name precedes it.
fn could_not_run(cause: impl Display) -> Error {
    Error::Sandbox(format!("could not be run: {cause}"))
}

/// Returns a line that occurs neither in the hook nor in its input.
fn separator(command: &str, input: &str) -> String {
    let mut number = 0_u32;
    loop {
        let separator = format!("\n--- errors of the hook {number} ---\n");
        if !command.contains(&separator) && !input.contains(&separator) {
            return separator;
        }
        number += 1;
    }
}

/// The input in pieces that fit into one argument each.
fn argument_chunks(input: &str) -> impl Iterator<Item = &str> {
    let mut rest = input;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(INPUT_CHUNK);
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
