//! Programs of the system that packaging starts.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::error::Error;

/// Returns a command whose output does not depend on the user's language and time zone.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
    command
}

/// The texts that a program printed.
pub(crate) struct PrintedTexts {
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Runs a command and returns its standard output. `advice` says how to get a missing program.
pub(crate) fn output(command: &mut Command, advice: &'static str) -> Result<String, Error> {
    Ok(printed(command, advice)?.output)
}

/// Runs a command and returns everything that it printed. `advice` says how to get a missing program.
pub(crate) fn printed(command: &mut Command, advice: &'static str) -> Result<PrintedTexts, Error> {
    let done = command.output().map_err(missing(command, advice))?;
    let printed = PrintedTexts {
        output: String::from_utf8_lossy(&done.stdout).into_owned(),
        errors: String::from_utf8_lossy(&done.stderr).into_owned(),
    };
    if done.status.success() {
        return Ok(printed);
    }
    let text = format!("{} {}", printed.errors.trim(), printed.output.trim());
    Err(failed(command, done.status, text.trim()))
}

/// Runs a command that prints to the terminal.
pub(crate) fn run(command: &mut Command, advice: &'static str) -> Result<(), Error> {
    let status = command.status().map_err(missing(command, advice))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(command, status, ""))
    }
}

fn missing(command: &Command, advice: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    let program = command.get_program().display().to_string();
    move |error| Error::ToolMissing {
        program,
        error,
        advice,
    }
}

fn failed(command: &Command, status: ExitStatus, text: &str) -> Error {
    let output = if text.is_empty() {
        status.to_string()
    } else {
        text.to_owned()
    };
    Error::ToolFailed {
        program: command.get_program().display().to_string(),
        output,
    }
}

/// Returns the path of a program in the folders of `PATH`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(program));
    candidates.find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::{command, find, output};

    #[test]
    fn output_and_failures_of_programs_are_reported() {
        let text = output(command("sh").args(["-c", "echo $TZ"]), "none").expect("sh");
        assert_eq!(text, "UTC\n");
        let failed = output(command("sh").args(["-c", "echo why >&2; exit 3"]), "none");
        assert_eq!(failed.expect_err("a failure").to_string(), "sh failed: why");
        let missing = output(&mut command("no-such-program"), "Install it");
        let missing = missing.expect_err("a missing program").to_string();
        assert!(
            missing.starts_with("cannot start no-such-program: "),
            "{missing}"
        );
        assert!(missing.ends_with(". Install it"), "{missing}");
        assert!(find("sh").is_some() && find("no-such-program").is_none());
    }
}
