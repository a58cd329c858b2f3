//! Real edits out of git histories.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::truth::Edit;

/// The longest file that takes part, in bytes.
const MAX_FILE: usize = 256 * 1024;

/// The repositories of `BURIN_REPOS`, separated by colons.
pub(super) fn repositories() -> Result<Vec<PathBuf>, String> {
    let Some(list) = std::env::var_os("BURIN_REPOS") else {
        return Err(
            "set BURIN_REPOS to git repositories with full histories, separated by colons, such as \
             clones of BurntSushi/ripgrep, tokio-rs/tokio, pytest-dev/pytest, vitejs/vite and \
             gohugoio/hugo"
                .to_owned(),
        );
    };
    let repositories: Vec<PathBuf> = std::env::split_paths(&list).collect();
    for repository in &repositories {
        if !repository.is_dir() {
            return Err(format!("there is no repository {}", repository.display()));
        }
    }
    Ok(repositories)
}

/// Two versions of one file.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) path: String,
    old: String,
    new: String,
}

/// Changes of single files, newest first.
pub(super) fn pairs(repository: &Path) -> Result<Vec<Pair>, String> {
    let output = git(repository)
        .args([
            "log",
            "--no-merges",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--diff-filter=M",
            "--format=",
        ])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut seen = HashSet::new();
    let pairs = text.lines().filter_map(|line| {
        // `:100644 100644 OLD NEW M<tab>PATH`
        let (head, path) = line.strip_prefix(':')?.split_once('\t')?;
        let mut words = head.split(' ');
        let is_file = words.next()?.starts_with("100") && words.next()?.starts_with("100");
        let (old, new) = (words.next()?.to_owned(), words.next()?.to_owned());
        let is_plain = is_file && !path.starts_with('"');
        is_plain.then(|| Pair {
            path: path.to_owned(),
            old,
            new,
        })
    });
    Ok(pairs.filter(|pair| seen.insert(pair.clone())).collect())
}

fn git(repository: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository);
    // A copied repository may belong to another user.
    command.args(["-c", "safe.directory=*"]);
    command
}

/// Reads blobs of one repository, one after the other.
pub(super) struct Blobs {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Blobs {
    pub(super) fn of(repository: &Path) -> Result<Self, String> {
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

    /// The edit, where both versions are text of a fit size.
    pub(super) fn edit(&mut self, pair: &Pair) -> Result<Option<Edit>, String> {
        let (old, new) = (self.read(&pair.old)?, self.read(&pair.new)?);
        Ok(old.zip(new).map(|(old, new)| Edit {
            path: pair.path.clone(),
            old,
            new,
        }))
    }

    fn read(&mut self, name: &str) -> Result<Option<String>, String> {
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
            // Not in the copy.
            return Ok(None);
        };
        let mut bytes: Vec<u8> = vec![0; size];
        self.output.read_exact(&mut bytes).map_err(failed)?;
        self.output.read_exact(&mut [0]).map_err(failed)?;
        let text = String::from_utf8(bytes).ok();
        Ok(text.filter(|text| text.len() <= MAX_FILE && !text.contains('\0')))
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
