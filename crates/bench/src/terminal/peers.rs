//! Programs that print into a terminal: a session of ours, tmux, and a reader that drops the output.
//!
//! The child prints a file and then asks for the state of the terminal, which answers once it has processed all of it. The
//! child itself measures the time up to the answer, so that the starts of the programs do not count.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use ::terminal::{TerminalSession, TerminalSpec};
use base::AbsPath;
use host::RealClock;
use host::environment::{Recipient, Variable, variables};
use host::process::{LaunchRequest, spawn};
use tempfile::TempDir;

use super::{SCROLLBACK, SIZE, emulator_options};
use crate::index::place;

/// Prints the file `$1` and writes the times before and after to the file `$2`.
const SCRIPT: &str = "stty -icanon -echo min 1 time 0
begin=$EPOCHREALTIME
cat \"$1\"
printf '\\033[5n'
IFS= read -r -d n answer
end=$EPOCHREALTIME
printf '%s %s' \"$begin\" \"$end\" > \"$2.part\"
mv \"$2.part\" \"$2\"";
/// The request that the script sends, and the answer of a terminal.
const REQUEST: &[u8] = b"\x1b[5n";
const ANSWER: &[u8] = b"\x1b[0n";
/// Timeout for the answer of a terminal. The benchmark fails when it expires.
const PATIENCE: Duration = Duration::from_secs(120);
/// Interval at which the result is looked for.
const INTERVAL: Duration = Duration::from_millis(5);

/// A folder with a file to print.
pub(super) struct PrintedFile {
    folder: TempDir,
    root: AbsPath,
}

impl PrintedFile {
    pub(super) fn new(bytes: &[u8]) -> Result<Self, String> {
        let failed = |error: std::io::Error| error.to_string();
        let folder = TempDir::new().map_err(failed)?;
        std::fs::write(folder.path().join("payload"), bytes).map_err(failed)?;
        let settings = format!("set -g status off\nset -g history-limit {SCROLLBACK}\n");
        std::fs::write(folder.path().join("tmux.conf"), settings).map_err(failed)?;
        let root = place(folder.path())?;
        Ok(Self { folder, root })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self) -> Vec<OsString> {
        vec![
            "-c".into(),
            SCRIPT.into(),
            "bash".into(),
            self.path("payload").into(),
            self.path("times").into(),
        ]
    }

    fn variables(&self) -> Vec<Variable> {
        let mut all = variables(Recipient::Foreign);
        let own: [(&str, OsString); 3] = [
            ("TERM", "xterm-256color".into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("TMUX_TMPDIR", self.folder.path().into()),
        ];
        all.retain(|(name, _)| own.iter().all(|(set, _)| name != set));
        all.extend(own.map(|(name, value)| (name.into(), value)));
        all
    }

    /// Waits for the times that the script writes; returns the milliseconds between them.
    fn taken(&self, who: &str) -> Result<f64, String> {
        let path = self.path("times");
        let start = Instant::now();
        while !path.exists() {
            if start.elapsed() > PATIENCE {
                return Err(format!("{who} did not print all of the file"));
            }
            std::thread::sleep(INTERVAL);
        }
        let text = read(&path)?;
        std::fs::remove_file(&path).map_err(|error| error.to_string())?;
        let times = text.split(' ').map(str::parse::<f64>);
        let times: Vec<f64> = times.filter_map(Result::ok).collect();
        match times[..] {
            [begin, end] => Ok((end - begin) * 1e3),
            _ => Err(format!(
                "bash told the times \"{text}\"; version 5 or later is needed"
            )),
        }
    }

    /// Prints into a session of ours.
    pub(super) fn ours(&self) -> Result<f64, String> {
        let spec = TerminalSpec {
            program: "bash".into(),
            arguments: self.script(),
            folder: self.root.clone(),
            variables: self.variables(),
            integration: None,
            sandbox: None,
            emulator: emulator_options(SCROLLBACK),
            restored: None,
            output: None,
        };
        let clock = Arc::new(RealClock::default());
        let session = TerminalSession::start(spec, clock, Arc::new(|| {}));
        let session = session.map_err(|error| error.to_string())?;
        let taken = self.taken("the session");
        drop(session);
        taken
    }

    /// Prints into a pty whose output is read and dropped.
    pub(super) fn read_only(&self) -> Result<f64, String> {
        let launch = self.launch("bash", self.script());
        let (sender, asked) = channel();
        let process = spawn(&launch, answering(sender)).map_err(|error| error.to_string())?;
        let is_asked = asked.recv_timeout(PATIENCE).is_ok();
        if !is_asked || !process.write(ANSWER.to_vec()) {
            return Err("the child did not print all of the file".to_owned());
        }
        self.taken("the reader")
    }

    /// Prints into a window of tmux, which is drawn in a pty whose output is read and dropped.
    pub(super) fn tmux(&self) -> Result<f64, String> {
        let options = ["-L", "bench", "-f"].map(OsString::from);
        let mut arguments: Vec<OsString> = options.into();
        arguments.push(self.path("tmux.conf").into());
        arguments.extend(["new-session", "bash"].map(OsString::from));
        arguments.extend(self.script());
        let launch = self.launch("tmux", arguments);
        let process = spawn(&launch, Box::new(|_| {})).map_err(|_| {
            "the peer tmux is missing; install it with: apt-get install tmux".to_owned()
        })?;
        let taken = self.taken("tmux");
        drop(process);
        taken
    }

    fn launch(&self, program: &str, arguments: Vec<OsString>) -> LaunchRequest {
        LaunchRequest {
            program: program.into(),
            arguments,
            folder: self.root.clone(),
            variables: self.variables(),
            terminal: Some(SIZE),
            sandbox: None,
        }
    }
}

/// Returns a sink that drops output and sends once when the request comes.
fn answering(sender: Sender<()>) -> host::process::OutputSink {
    let mut last = Vec::new();
    Box::new(move |bytes| {
        let kept = bytes.len().min(REQUEST.len());
        last.extend_from_slice(&bytes[bytes.len() - kept..]);
        let surplus = last.len().saturating_sub(REQUEST.len());
        last.drain(..surplus);
        if last == REQUEST {
            // The receiver is gone after the first request.
            sender.send(()).ok();
        }
    })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}
