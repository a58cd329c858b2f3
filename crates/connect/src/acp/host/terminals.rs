//! Commands that a hosted agent runs in our terminals: without a screen, only their output.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema as v1;
use base::AbsPath;
use host::environment::Recipient;
use host::process::{ProcessEnvironment, ProcessExit, ProcessGroup, StartRequest};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};

use crate::error::Error;

/// Maximum size of the output that is kept, in bytes; agents can request less.
const MAX_OUTPUT_LEN: usize = 1 << 20;

/// The terminals of one agent. Dropping it kills their commands.
#[derive(Default)]
pub(super) struct Terminals {
    all: HashMap<String, HostedTerminal>,
    count: u64,
}

#[derive(Clone)]
struct HostedTerminal {
    group: Arc<ProcessGroup>,
    output: Arc<Mutex<OutputTail>>,
}

/// The end of a command's output.
#[derive(Default)]
struct OutputTail {
    bytes: Vec<u8>,
    max_len: usize,
    is_cut: bool,
}

impl Terminals {
    /// Starts a command and returns the terminal's id. The command's environment is the allow-list
    /// for foreign code, with the variables of the request.
    pub(super) fn create(
        &mut self,
        request: v1::CreateTerminalRequest,
        root: &AbsPath,
    ) -> Result<String, Error> {
        // The agent's own environment may contain keys that are meant only for the agent.
        let mut variables = host::environment::variables(Recipient::Foreign);
        let given = request.env.into_iter();
        variables.extend(given.map(|it| (it.name.into(), it.value.into())));
        let folder = request.cwd.unwrap_or_default();
        // A command without arguments is a shell line: agents send both forms.
        let (program, arguments) = if request.args.is_empty() {
            ("sh".to_owned(), vec!["-c".to_owned(), request.command])
        } else {
            (request.command, request.args)
        };
        let start = StartRequest {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            folder: root.join(folder),
            environment: ProcessEnvironment::Only(variables),
        };
        let live = host::process::start(&start).map_err(|error| Error::Start(error.to_string()))?;
        let limit = request
            .output_byte_limit
            .and_then(|limit| usize::try_from(limit).ok());
        let output = Arc::new(Mutex::new(OutputTail {
            max_len: limit.unwrap_or(MAX_OUTPUT_LEN).min(MAX_OUTPUT_LEN),
            ..OutputTail::default()
        }));
        let broken =
            |error: std::io::Error| Error::Start(format!("its pipes do not work: {error}"));
        follow(
            ChildStdout::from_std(live.output).map_err(broken)?,
            output.clone(),
        );
        follow(
            ChildStderr::from_std(live.errors).map_err(broken)?,
            output.clone(),
        );
        self.count += 1;
        let id = format!("term-{}", self.count);
        let group = Arc::new(live.group);
        self.all
            .insert(id.clone(), HostedTerminal { group, output });
        Ok(id)
    }

    /// Returns a command's output so far, and its exit status if it has ended. Fails for unknown
    /// terminals, as do the other methods.
    pub(super) fn output(&self, id: &v1::TerminalId) -> Result<v1::TerminalOutputResponse, Error> {
        let terminal = self.find(id)?;
        let output = terminal
            .output
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&output.bytes).into_owned();
        let status = terminal.group.exit().map(exit_status);
        Ok(v1::TerminalOutputResponse::new(text, output.is_cut).exit_status(status))
    }

    /// Returns a future of a command's exit status, which does not borrow the terminals.
    pub(super) fn wait_for_exit(
        &self,
        id: &v1::TerminalId,
    ) -> Result<impl Future<Output = v1::TerminalExitStatus> + Send + use<>, Error> {
        let group = self.find(id)?.group.clone();
        Ok(async move { exit_status(group.wait().await) })
    }

    /// Kills a command; its output remains available.
    pub(super) fn kill(&self, id: &v1::TerminalId) -> Result<(), Error> {
        self.find(id)?.group.kill();
        Ok(())
    }

    /// Kills a command and removes its terminal.
    pub(super) fn release(&mut self, id: &v1::TerminalId) -> Result<(), Error> {
        self.kill(id)?;
        self.all.remove(&*id.0);
        Ok(())
    }

    /// Returns a terminal by its id; fails with `Refused` if there is none.
    fn find(&self, id: &v1::TerminalId) -> Result<&HostedTerminal, Error> {
        self.all
            .get(&*id.0)
            .ok_or_else(|| Error::Refused(format!("there is no terminal {id}")))
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        for terminal in self.all.values() {
            terminal.group.kill();
        }
    }
}

impl OutputTail {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let over = self.bytes.len().saturating_sub(self.max_len);
        if over > 0 {
            self.is_cut = true;
            // Characters are not split: continuation bytes begin with the bits 10.
            let rest = self.bytes[over..].iter();
            let inside = rest.take_while(|byte| **byte & 0xC0 == 0x80).count();
            self.bytes.drain(..over + inside);
        }
    }
}

fn follow(mut from: impl AsyncRead + Unpin + Send + 'static, output: Arc<Mutex<OutputTail>>) {
    tokio::spawn(async move {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut chunk).await {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.add(&chunk[..count]);
        }
    });
}

fn exit_status(end: ProcessExit) -> v1::TerminalExitStatus {
    let status = v1::TerminalExitStatus::new();
    match end {
        ProcessExit::Exited(code) => status.exit_code(u32::try_from(code).ok()),
        ProcessExit::Signalled(signal) => status.signal(signal.to_string()),
        ProcessExit::TimedOut => status.signal("KILL".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_tail_never_splits_a_character() {
        let check = |max_len: usize, parts: &[&str], expected: &str, is_cut: bool| {
            let mut output = OutputTail {
                max_len,
                ..OutputTail::default()
            };
            for part in parts {
                output.add(part.as_bytes());
            }
            let text = String::from_utf8(output.bytes).expect("whole letters");
            assert_eq!((text.as_str(), output.is_cut), (expected, is_cut));
        };
        check(10, &["one", "two"], "onetwo", false);
        check(4, &["one", "two"], "etwo", true);
        check(3, &["aöö"], "ö", true);
        check(0, &["x"], "", true);
    }
}
