//! The commands of a recipe, and their execution. Arguments are passed one by one, never through a shell.

use std::collections::VecDeque;
use std::ffi::OsString;

use base::AbsPath;
use futures::executor::block_on;
use host::Files;
use host::environment::Variable;
use host::process::{self, LaunchRequest, ProcessExit};

use crate::Error;
use crate::path_lookup;
use crate::recipe::InstallRecipe;

/// Lines of output that an error shows.
const LAST_LINES: usize = 12;
/// The longest line of output that is kept, in bytes.
const MAX_LINE: usize = 1 << 12;

/// One command of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstallStep {
    program: AbsPath,
    arguments: Vec<String>,
    folder: AbsPath,
}

/// Returns the commands that install a recipe into `folder`, or, for a toolchain's components, for the
/// project in `folder`.
pub(super) fn steps(
    files: &dyn Files,
    variables: &[Variable],
    id: &str,
    recipe: &InstallRecipe,
    folder: &AbsPath,
) -> Result<Vec<InstallStep>, Error> {
    let find = |names: &[&str], tool: &'static str| {
        let mut programs = names.iter();
        let found =
            programs.find_map(|name| path_lookup::in_path(files, variables, name, &|_| true));
        let id = id.to_owned();
        found.ok_or(Error::ToolMissing { id, tool })
    };
    let step = |program: &AbsPath, arguments: &[&str], packages: &[String]| InstallStep {
        program: program.clone(),
        arguments: arguments
            .iter()
            .map(|&text| text.to_owned())
            .chain(packages.iter().cloned())
            .collect(),
        folder: folder.clone(),
    };
    let target = folder.as_path().to_string_lossy();
    let python = folder.join("bin/python");
    let python_path = python.as_path().to_string_lossy();
    Ok(match recipe {
        InstallRecipe::Npm(packages) => {
            let npm = find(&["npm"], "npm, which comes with Node.js")?;
            let options = ["install", "--prefix", &target];
            let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--"];
            vec![step(&npm, &[&options[..], &quiet].concat(), packages)]
        }
        InstallRecipe::Pypi(packages) => {
            if let Ok(uv) = find(&["uv"], "uv") {
                let install = ["pip", "install", "--python", &python_path];
                let install = [&install[..], &["--only-binary", ":all:", "--"]].concat();
                let clear = ["venv", "--allow-existing", &target];
                return Ok(vec![step(&uv, &clear, &[]), step(&uv, &install, packages)]);
            }
            let system = find(&["python3"], "uv or python3")?;
            let pip = ["-m", "pip", "install", "--no-input"];
            let options = [
                "--disable-pip-version-check",
                "--only-binary",
                ":all:",
                "--",
            ];
            vec![
                step(&system, &["-m", "venv", &target], &[]),
                step(&python, &[&pip[..], &options].concat(), packages),
            ]
        }
        InstallRecipe::Crate { name, version } => {
            let cargo = find(&["cargo"], "cargo")?;
            let mut arguments = vec!["install", "--locked", "--root", &target];
            if let Some(version) = version {
                arguments.extend(["--version", version]);
            }
            vec![step(&cargo, &arguments, std::slice::from_ref(name))]
        }
        InstallRecipe::Rustup(components) => {
            let rustup = find(&["rustup"], "rustup")?;
            vec![step(&rustup, &["component", "add"], components)]
        }
    })
}

impl InstallStep {
    /// Returns the command as it would be typed in a shell.
    pub(super) fn shell_text(&self) -> String {
        let program = self.program.as_path().to_string_lossy();
        let words = std::iter::once(&*program).chain(self.arguments.iter().map(String::as_str));
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// Runs the command and passes on its lines.
    ///
    /// # Errors
    /// It cannot start, or it fails; the error has its last lines.
    pub(super) fn run(
        &self,
        id: &str,
        variables: &[Variable],
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let launch = LaunchRequest {
            program: self.program.as_path().into(),
            arguments: self.arguments.iter().map(OsString::from).collect(),
            folder: self.folder.clone(),
            variables: variables.to_vec(),
            terminal: None,
            sandbox: None,
        };
        let (sender, lines) = async_channel::unbounded::<String>();
        let mut pending = Vec::new();
        let sink = move |bytes: &[u8]| {
            for line in split_lines(&mut pending, bytes) {
                // The receiver outlives the process.
                sender.try_send(line).ok();
            }
        };
        let process = process::spawn(&launch, Box::new(sink))?;
        let mut last = VecDeque::new();
        while let Ok(line) = lines.recv_blocking() {
            progress(&line);
            if last.len() == LAST_LINES {
                last.pop_front();
            }
            last.push_back(line);
        }
        let report = block_on(process.exit_receiver().recv());
        let end = match report.map(|report| report.exit) {
            Ok(ProcessExit::Exited(0)) => return Ok(()),
            Ok(ProcessExit::Exited(code)) => format!("failed with exit code {code}"),
            Ok(ProcessExit::Signalled(signal)) => format!("was killed by signal {signal}"),
            Ok(ProcessExit::TimedOut) | Err(_) => "was stopped".to_owned(),
        };
        Err(Error::InstallFailed {
            id: id.to_owned(),
            step: self.shell_text(),
            end,
            output: last.iter().map(|line| format!("\n  {line}")).collect(),
        })
    }
}

/// Returns the whole lines of `pending` and `bytes`, and keeps the rest in `pending`. A line of more than
/// `MAX_LINE` bytes is cut.
fn split_lines(pending: &mut Vec<u8>, bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    for &byte in bytes {
        match byte {
            b'\n' | b'\r' => {
                let line = String::from_utf8_lossy(pending).trim_end().to_owned();
                pending.clear();
                if !line.is_empty() {
                    lines.push(line);
                }
            }
            _ if pending.len() < MAX_LINE => pending.push(byte),
            _ => {}
        }
    }
    lines
}

/// Returns a word as a shell would need it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=@:+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
