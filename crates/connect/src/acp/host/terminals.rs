//! Commands that a hosted agent runs in terminals of ours: without a screen, just their output.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema as v1;
use base::AbsPath;
use host::environment::Recipient;
use host::process::{End, Environment, Group, Start};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};

/// How much output is kept where the agent does not say, in bytes.
const KEPT: usize = 1 << 20;

/// All terminals of one agent. Dropping it kills what runs in them.
#[derive(Default)]
pub(super) struct Terminals {
    all: HashMap<String, Terminal>,
    count: u64,
}

#[derive(Clone)]
struct Terminal {
    group: Arc<Group>,
    output: Arc<Mutex<Output>>,
}

/// The end of what a command printed.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    kept: usize,
    is_cut: bool,
}

impl Terminals {
    /// Starts a command; the answer is the terminal's id, the error a sentence.
    pub(super) fn create(
        &mut self,
        request: v1::CreateTerminalRequest,
        root: &AbsPath,
    ) -> Result<String, String> {
        // The agent's own environment may hold keys that are meant for the agent alone.
        let mut variables = host::environment::variables(Recipient::Foreign);
        let given = request.env.into_iter();
        variables.extend(given.map(|it| (it.name.into(), it.value.into())));
        let folder = request.cwd.unwrap_or_default();
        // A command without arguments is a line for the shell: agents send both.
        let (program, arguments) = match request.args.is_empty() {
            true => ("sh".to_owned(), vec!["-c".to_owned(), request.command]),
            false => (request.command, request.args),
        };
        let start = Start {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            folder: root.join(folder),
            environment: Environment::Only(variables),
        };
        let live = host::process::start(&start).map_err(|error| error.to_string())?;
        let kept = request
            .output_byte_limit
            .and_then(|limit| usize::try_from(limit).ok());
        let output = Arc::new(Mutex::new(Output {
            kept: kept.unwrap_or(KEPT).min(KEPT),
            ..Output::default()
        }));
        let broken = |error: std::io::Error| format!("its pipes do not work: {error}");
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
        self.all.insert(id.clone(), Terminal { group, output });
        Ok(id)
    }

    /// What a command printed so far, and how it ended.
    pub(super) fn output(&self, id: &v1::TerminalId) -> Result<v1::TerminalOutputResponse, String> {
        let terminal = self.find(id)?;
        let output = terminal
            .output
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&output.bytes).into_owned();
        let status = terminal.group.end().map(exit_status);
        Ok(v1::TerminalOutputResponse::new(text, output.is_cut).exit_status(status))
    }

    /// Waits for a command's end.
    pub(super) fn ended(
        &self,
        id: &v1::TerminalId,
    ) -> Result<impl Future<Output = v1::TerminalExitStatus> + Send + use<>, String> {
        let group = self.find(id)?.group.clone();
        Ok(async move { exit_status(group.ended().await) })
    }

    /// Kills a command; its output stays.
    pub(super) fn kill(&self, id: &v1::TerminalId) -> Result<(), String> {
        self.find(id)?.group.kill();
        Ok(())
    }

    /// Kills a command and forgets it.
    pub(super) fn release(&mut self, id: &v1::TerminalId) -> Result<(), String> {
        self.kill(id)?;
        self.all.remove(&*id.0);
        Ok(())
    }

    fn find(&self, id: &v1::TerminalId) -> Result<&Terminal, String> {
        self.all
            .get(&*id.0)
            .ok_or_else(|| format!("there is no terminal {id}"))
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        for terminal in self.all.values() {
            terminal.group.kill();
        }
    }
}

impl Output {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let over = self.bytes.len().saturating_sub(self.kept);
        if over > 0 {
            self.is_cut = true;
            // No letter is cut in two: bytes in the middle of one begin with the bits 10.
            let rest = self.bytes[over..].iter();
            let inside = rest.take_while(|byte| **byte & 0xC0 == 0x80).count();
            self.bytes.drain(..over + inside);
        }
    }
}

fn follow(mut from: impl AsyncRead + Unpin + Send + 'static, output: Arc<Mutex<Output>>) {
    tokio::spawn(async move {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut chunk).await {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.add(&chunk[..count]);
        }
    });
}

fn exit_status(end: End) -> v1::TerminalExitStatus {
    let status = v1::TerminalExitStatus::new();
    match end {
        End::Exited(code) => status.exit_code(u32::try_from(code).ok()),
        End::Signalled(signal) => status.signal(signal.to_string()),
        End::TimedOut => status.signal("KILL".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_no_letter_is_cut() {
        let check = |kept: usize, pieces: &[&str], expected: &str, is_cut: bool| {
            let mut output = Output {
                kept,
                ..Output::default()
            };
            for piece in pieces {
                output.add(piece.as_bytes());
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
