//! The engines without a window: what the program `burin-agent` does.
//!
//! Knows: `agent`, `autocomplete`, `connect`, `host`, `index`, `ledger`, `patch`, `project`, `router`, `sandbox`. Must not know: windows, how anything is drawn.
//! Invariant: text for people is printable before it reaches a terminal; only answers for programs stay as they are.
//! Invariant: every failure is a sentence on standard error and an exit code that is not 0.
//! Start at `run`; each command is a module.

mod acp;
mod agents;
mod apply;
mod ask;
mod command;
mod complete;
pub mod compose;
mod confined;
mod crew;
mod doctor;
mod foreign;
mod form;
mod grep;
mod guest;
mod house;
mod index;
mod indexes;
pub mod live_sessions;
mod mcp;
mod models;
mod permissions;
mod questions;
mod recover;
mod run;
mod sandbox;
mod sandboxed_hooks;
mod second_look;
mod sessions;
mod stats;
mod visible;
pub mod workshop;
mod worktree;
mod write;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use base::AbsPath;
use host::{Dirs, Files, RealFiles};

use command::Arguments;
pub use second_look::second_look;
pub use visible::Visible;

/// Where a command reads and writes.
pub struct Streams<'a> {
    /// What is fed to it.
    pub input: &'a mut dyn Read,
    /// What it answers.
    pub output: &'a mut dyn Write,
    /// Where it complains.
    pub errors: &'a mut dyn Write,
}

/// Answers git, where that has started the program to be told what changed in a lease. To be called first thing in
/// `main`: git waits.
pub fn answer_git() -> Option<ExitCode> {
    ANSWERS_GIT.store(true, Ordering::Relaxed);
    ::worktree::answer_git()
}

/// Whether this program answers git.
static ANSWERS_GIT: AtomicBool = AtomicBool::new(false);

/// How leases are made by this program.
pub(crate) fn lease_settings() -> ::worktree::Settings {
    match ANSWERS_GIT.load(Ordering::Relaxed) {
        true => ::worktree::Settings::of_program(),
        false => ::worktree::Settings::usual(),
    }
}

/// Makes sandboxes cheap and keeps what this program comes to know out of them. To be called first thing in `main`,
/// before there are threads.
pub fn prepare_sandbox() {
    ::sandbox::prepare();
}

/// Runs a command line, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> ExitCode {
    let mut errors = Visible::new(&mut *streams.errors);
    let mut output = Visible::new(&mut *streams.output);
    let (arguments, is_for_programs) = match Arguments::read(arguments) {
        Ok(parsed) => parsed,
        Err(error) => return command::explain(&error, &mut output, &mut errors),
    };
    drop(output);
    let mut visible;
    let output: &mut dyn Write = match is_for_programs {
        true => &mut *streams.output,
        false => {
            visible = Visible::new(&mut *streams.output);
            &mut visible
        }
    };
    let streams = &mut Streams {
        input: &mut *streams.input,
        output,
        errors: &mut errors,
    };
    let done = Dirs::from_environment()
        .map_err(|error| error.to_string())
        .and_then(|dirs| {
            // Also says which variables hold keys, before anything is started.
            models::setup::providers(&RealFiles, &dirs);
            arguments.command.perform(&dirs, streams)
        });
    match done {
        Ok(code) => code,
        Err(sentence) => {
            // Where standard error is closed there is nobody to tell.
            writeln!(streams.errors, "burin-agent: {sentence}").ok();
            ExitCode::FAILURE
        }
    }
}

/// Tells the person something beside the answer.
fn tell(streams: &mut Streams<'_>, sentence: &str) {
    // Where standard error is closed there is nobody to tell.
    writeln!(streams.errors, "burin-agent: {sentence}").ok();
}

/// The folder that is meant: a real path without links.
fn folder(named: Option<&Path>, files: &dyn Files) -> Result<AbsPath, String> {
    let here = std::env::current_dir();
    let here = here.map_err(|error| format!("cannot tell where I am: {error}"))?;
    let here = AbsPath::new(here).ok_or("the working directory is no absolute path")?;
    let path = named.map_or(here.clone(), |named| here.join(named));
    files.canonicalize(&path).map_err(|error| error.to_string())
}

/// An answer that could not be written, as a sentence.
fn unwritten(error: std::io::Error) -> String {
    format!("cannot write the answer: {error}")
}

#[cfg(test)]
mod tests;
