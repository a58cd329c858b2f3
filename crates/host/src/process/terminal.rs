//! A pseudo-terminal whose output is never lost.
//!
//! When the last process closes its side of a terminal, macOS drops the output that was not read
//! yet. Burin therefore holds that side open until the process has ended and its output was read.
//! Reads then do not end by themselves: a pipe tells the reader that nothing more will be written.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use pty_process::blocking::{Pts, Pty};
use rustix::event::{PollFd, PollFlags, poll};

use super::TerminalSize;

/// The side of the terminal that the process has, held open. Dropping it ends the reader as soon as
/// all output was read.
#[derive(Debug)]
pub(super) struct HeldTerminal {
    _side: Arc<OwnedFd>,
    _end: PipeWriter,
}

/// Reads what processes write to a terminal, until its `HeldTerminal` is dropped and nothing is left
/// to read.
pub(super) struct TerminalReader {
    master: Arc<Pty>,
    /// Closed after the last read only.
    _side: Arc<OwnedFd>,
    end: PipeReader,
}

/// Opens both sides of a terminal, then sets its size, which needs both.
pub(super) fn open_terminal(screen: TerminalSize) -> io::Result<(Pty, Pts)> {
    let (master, side) = pty_process::blocking::open().map_err(pty_error)?;
    master
        .resize(pty_process::Size::new(screen.rows, screen.columns))
        .map_err(pty_error)?;
    Ok((master, side))
}

pub(super) fn pty_error(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

impl HeldTerminal {
    /// Holds `side` open and returns the reader of `master`.
    pub(super) fn new(master: Arc<Pty>, side: OwnedFd) -> io::Result<(TerminalReader, Self)> {
        let (end, writer) = io::pipe()?;
        let side = Arc::new(side);
        let reader = TerminalReader {
            master,
            _side: Arc::clone(&side),
            end,
        };
        let held = Self {
            _side: side,
            _end: writer,
        };
        Ok((reader, held))
    }
}

impl Read for TerminalReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut waited = [
                PollFd::new(&*self.master, PollFlags::IN),
                PollFd::new(&self.end, PollFlags::IN),
            ];
            poll(&mut waited, None)?;
            let [output, end] = waited.map(|descriptor| descriptor.revents());
            if !output.is_empty() {
                return (&*self.master).read(buffer);
            }
            // Both were looked at in one call, so nothing was written before the end.
            if !end.is_empty() {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use crate::process::{LaunchRequest, ProcessExit, TerminalSize, spawn};
    use crate::temp::TempFolder;

    /// Runs in the gate, and under `cargo xtask soak`.
    const RUNS: [usize; 2] = [40, 1_000];

    #[test]
    fn output_of_a_command_that_ends_at_once_is_complete() {
        let folder = TempFolder::new().expect("a folder");
        let is_soak = std::env::var_os("BURIN_SOAK").is_some();
        for run in 0..RUNS[usize::from(is_soak)] {
            // Up to more than a terminal holds at once.
            let length = (run * 7919) % 9000 + 1;
            let text = format!("{run}:{}", "x".repeat(length));
            let heard = Arc::new(Mutex::new(Vec::new()));
            let sink = Arc::clone(&heard);
            let launch = LaunchRequest {
                program: "printf".into(),
                arguments: vec!["%s".into(), text.clone().into()],
                folder: folder.path().clone(),
                variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
                terminal: Some(TerminalSize {
                    rows: 24,
                    columns: 80,
                }),
                sandbox: None,
            };
            let sink = move |bytes: &[u8]| sink.lock().expect("no panic").extend_from_slice(bytes);
            let spawned = spawn(&launch, Box::new(sink)).expect("printf");
            let ended = spawned.exit_receiver().recv_blocking().expect("an end");
            assert_eq!(ended.exit, ProcessExit::Exited(0));
            let heard = heard.lock().expect("no panic");
            assert_eq!(String::from_utf8_lossy(&heard), text, "run {run}");
        }
    }
}
