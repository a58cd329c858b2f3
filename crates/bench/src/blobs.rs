//! The blobs of a git repository, read one after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Larger files, in bytes, are not taken for text that a person edits.
const MOST_BYTES: usize = 256 * 1024;

/// Returns a git command that runs in a repository.
pub(crate) fn git(repository: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository);
    // A copied repository may belong to another user.
    command.args(["-c", "safe.directory=*"]);
    command
}

/// Reads blobs of one repository, one after the other.
pub(crate) struct Blobs {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Blobs {
    pub(crate) fn of(repository: &Path) -> Result<Self, String> {
        let mut process = git(repository)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start git: {error}"))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("git has no pipes".to_owned());
        };
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
        })
    }

    /// Returns the text of a blob; `None` if it is not in the copy, too long, or not text.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<String>, String> {
        let failed = |error: std::io::Error| format!("cannot read from git: {error}");
        writeln!(self.input, "{name}").map_err(failed)?;
        self.input.flush().map_err(failed)?;
        let mut header = String::new();
        self.output.read_line(&mut header).map_err(failed)?;
        let Some(size) = header
            .split_whitespace()
            .nth(2)
            .and_then(|size| size.parse().ok())
        else {
            // The blob is not in the copy.
            return Ok(None);
        };
        let mut bytes: Vec<u8> = vec![0; size];
        self.output.read_exact(&mut bytes).map_err(failed)?;
        self.output.read_exact(&mut [0]).map_err(failed)?;
        let text = String::from_utf8(bytes).ok();
        Ok(text.filter(|text| text.len() <= MOST_BYTES && !text.contains('\0')))
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
