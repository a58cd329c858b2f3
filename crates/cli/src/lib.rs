//! The command-line program `burin-agent`: Burin's engines without a window.
//!
//! Knows: `runtime`, `acp_server` and the engines below them. Must not know: windows. Nothing depends
//! on it but stories: it parses arguments and prints.
//! Invariant: text for users is made printable before it reaches a terminal.
//! Invariant: every failure is a sentence on standard error and a non-zero exit code.
//! Start at `run`; each command is a module.

mod acp;
mod agents;
mod apply;
mod ask;
mod automations;
mod command;
mod complete;
mod compose;
mod confinement;
mod cursor;
mod doctor;
mod external_agent;
mod grep;
mod index;
mod lsp;
mod machine;
mod mcp;
mod models;
mod package_files;
mod permissions;
mod quality;
mod questions;
mod recover;
mod run;
mod sandbox;
mod serve;
mod sessions;
mod stats;
mod trust;
mod visible;
mod worktree;
mod write;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use base::AbsPath;
use host::{Dirs, Files, RealFiles};

use command::AgentArguments;
pub use visible::Visible;

/// The input and output streams of a command.
pub struct Streams<'a> {
    /// The command's standard input.
    pub input: &'a mut dyn Read,
    /// The command's standard output.
    pub output: &'a mut dyn Write,
    /// The command's standard error.
    pub errors: &'a mut dyn Write,
}

/// Runs a command line, which begins with the program's name, and returns the exit code. Makes all
/// output for people printable. Prints errors to standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if package_files::is_asked(&arguments) {
        return package_files::print(AgentArguments::grouped(), streams);
    }
    let mut errors = Visible::new(&mut *streams.errors);
    let mut output = Visible::new(&mut *streams.output);
    let (arguments, is_for_programs) = match AgentArguments::read(arguments) {
        Ok(parsed) => parsed,
        Err(error) => return command::explain(&error, &mut output, &mut errors),
    };
    drop(output);
    let mut visible;
    let output: &mut dyn Write = if is_for_programs {
        &mut *streams.output
    } else {
        visible = Visible::new(&mut *streams.output);
        &mut visible
    };
    let streams = &mut Streams {
        input: &mut *streams.input,
        output,
        errors: &mut errors,
    };
    let dirs = Dirs::from_environment();
    let done = dirs
        .and_then(|dirs| dirs.check_format().map(|()| dirs))
        .map_err(|error| error.to_string())
        .and_then(|dirs| {
            // Before any process starts.
            runtime::models::setup::withhold_keys(&RealFiles, &dirs);
            arguments.command.perform(&dirs, streams)
        });
    match done {
        Ok(code) => code,
        Err(sentence) => {
            print_notice(streams, &sentence);
            ExitCode::FAILURE
        }
    }
}

/// Prints a notice for the user on standard error.
fn print_notice(streams: &mut Streams<'_>, sentence: &str) {
    // If standard error is closed, the message cannot be shown.
    writeln!(streams.errors, "burin-agent: {sentence}").ok();
}

/// Returns the real path of `named`, or of the working folder. Fails if it does not exist.
fn folder(named: Option<&Path>, files: &dyn Files) -> Result<AbsPath, String> {
    let here = std::env::current_dir();
    let here = here.map_err(|error| format!("cannot find the working directory: {error}"))?;
    let here = AbsPath::new(here).ok_or("the working directory is not an absolute path")?;
    let path = named.map_or(here.clone(), |named| here.join(named));
    files.canonicalize(&path).map_err(|error| error.to_string())
}

/// Asks a question that is answered by yes or no; anything but a yes, and the end of the input, is a no.
fn agrees(question: &str, streams: &mut Streams<'_>) -> Result<bool, String> {
    // If standard error is closed, the question cannot be asked.
    write!(streams.errors, "{question} [y/N]: ").ok();
    streams.errors.flush().ok();
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\n") {
        match streams.input.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => line.push(byte[0]),
            Err(error) => return Err(format!("cannot read the answer: {error}")),
        }
    }
    Ok(runtime::form::parse_bool(&String::from_utf8_lossy(&line)) == Some(true))
}

/// Returns the text of an error, which the command line prints as it is.
fn error_text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the sentence for output that could not be written.
fn write_error(error: std::io::Error) -> String {
    format!("cannot write the answer: {error}")
}

#[cfg(test)]
mod tests;
