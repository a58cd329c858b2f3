//! Commands that a hosted agent runs in our terminals. The host's runner starts, confines and shows them; here are the ids
//! and the output that the agent asks for.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema as v1;
use base::AbsPath;
use host::process::{ExitReport, OutputSink, ProcessExit};
use tokio::sync::watch;

use crate::error::Error;

/// Maximum size of the output that is kept, in bytes; agents can request less.
const MAX_OUTPUT_LEN: usize = 1 << 20;

/// A command that an agent runs in a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalCommand {
    /// The id of the terminal in the agent's process.
    pub terminal: String,
    /// The program: a name looked up in `PATH`, or a path.
    pub program: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The command as the user reads it; untrusted text.
    pub line: String,
    /// The folder in which it starts.
    pub folder: AbsPath,
    /// The variables of the request. The runner adds them to those for code from third parties; the environment of the
    /// agent may have keys that are meant only for the agent.
    pub variables: Vec<(OsString, OsString)>,
}

/// Runs the commands of an agent, confined and shown as the host decides.
pub trait TerminalRunner: Send + Sync {
    /// Starts a command. `output` receives its output without control sequences. Called on a tokio runtime.
    ///
    /// # Errors
    /// `Error::Start`: it cannot be started, or not in the sandbox.
    fn start(
        &self,
        command: TerminalCommand,
        output: OutputSink,
    ) -> Result<Arc<dyn TerminalProcess>, Error>;
}

/// A command that a runner started. Dropping the last reference ends it.
pub trait TerminalProcess: Send + Sync {
    /// Returns the exit, which comes once the command has ended and its output was delivered.
    fn exit(&self) -> watch::Receiver<Option<ExitReport>>;

    /// Kills the command and its descendants, without waiting for that.
    fn kill(&self);
}

/// The terminals of one agent. Dropping it kills their commands.
#[derive(Default)]
pub(super) struct Terminals {
    all: HashMap<String, HostedTerminal>,
    count: u64,
}

struct HostedTerminal {
    process: Arc<dyn TerminalProcess>,
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
    /// Starts a command with `runner` and returns the terminal's id.
    pub(super) fn create(
        &mut self,
        request: v1::CreateTerminalRequest,
        root: &AbsPath,
        runner: &dyn TerminalRunner,
    ) -> Result<String, Error> {
        let limit = request.output_byte_limit;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        let output = Arc::new(Mutex::new(OutputTail {
            max_len: limit.unwrap_or(MAX_OUTPUT_LEN).min(MAX_OUTPUT_LEN),
            ..OutputTail::default()
        }));
        self.count += 1;
        let id = format!("term-{}", self.count);
        let kept = output.clone();
        let sink = Box::new(move |bytes: &[u8]| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.add(bytes);
        });
        let process = runner.start(command(&id, request, root), sink)?;
        let terminal = HostedTerminal { process, output };
        self.all.insert(id.clone(), terminal);
        Ok(id)
    }

    /// Returns a command's output so far, and its exit status if it has ended. Fails for unknown
    /// terminals, as do the other methods.
    pub(super) fn output(&self, id: &v1::TerminalId) -> Result<v1::TerminalOutputResponse, Error> {
        let terminal = self.find(id)?;
        // Before the output, which is complete then.
        let exit = *terminal.process.exit().borrow();
        let output = terminal
            .output
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&output.bytes).into_owned();
        let status = exit.map(|report| exit_status(report.exit));
        Ok(v1::TerminalOutputResponse::new(text, output.is_cut).exit_status(status))
    }

    /// Returns a future of a command's exit status, which does not borrow the terminals.
    pub(super) fn wait_for_exit(
        &self,
        id: &v1::TerminalId,
    ) -> Result<impl Future<Output = v1::TerminalExitStatus> + Send + use<>, Error> {
        let mut exit = self.find(id)?.process.exit();
        Ok(async move {
            let ended = exit.wait_for(Option::is_some).await;
            let report = ended.ok().and_then(|report| *report);
            // A runner that lost the command knows no exit.
            exit_status(report.map_or(ProcessExit::Signalled(0), |report| report.exit))
        })
    }

    /// Kills a command; its output remains available.
    pub(super) fn kill(&self, id: &v1::TerminalId) -> Result<(), Error> {
        self.find(id)?.process.kill();
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
            terminal.process.kill();
        }
    }
}

/// Returns the command of a request.
fn command(id: &str, request: v1::CreateTerminalRequest, root: &AbsPath) -> TerminalCommand {
    let words = std::iter::once(&request.command).chain(&request.args);
    let line = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    // A command without arguments is a shell line: agents send both forms.
    let (program, arguments) = if request.args.is_empty() {
        ("sh".to_owned(), vec!["-c".to_owned(), request.command])
    } else {
        (request.command, request.args)
    };
    let variables = request.env.into_iter();
    TerminalCommand {
        terminal: id.to_owned(),
        program,
        arguments,
        line,
        folder: root.join(request.cwd.unwrap_or_default()),
        variables: variables
            .map(|it| (it.name.into(), it.value.into()))
            .collect(),
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
