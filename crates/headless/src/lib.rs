//! The engines without a window: what the program `burin-agent` does.
//!
//! Knows: `agent`, `connect`, `host`, `ledger`, `patch`, `project`, `router`. Must not know: windows, how anything is drawn.
//! Invariant: every failure is a sentence on standard error and an exit code that is not 0.
//! Start at `run`; each command is a module.

mod acp;
mod agents;
mod apply;
mod ask;
mod crew;
mod doctor;
mod foreign;
mod form;
mod grep;
mod guest;
pub mod house;
mod mcp;
mod models;
mod recover;
mod run;
mod sessions;
mod stats;
pub mod workshop;
mod write;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use base::AbsPath;
use clap::{Parser, Subcommand};
use host::{Dirs, Files, RealFiles};

/// Burin without a window.
#[derive(Parser)]
#[command(name = "burin-agent", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what this machine offers, and what is wrong with it
    Doctor {
        /// Print an array of {name, value, verdict, advice}
        #[arg(long)]
        json: bool,
    },
    /// Save standard input to a file the way the editor saves
    Write {
        /// The file; it is created when missing
        path: OsString,
    },
    /// Bring back what a crash left behind
    Recover {
        /// Only say what there is: touch nothing
        #[arg(long)]
        list: bool,
    },
    /// Apply the edits of a model to the files of a folder
    Apply(apply::Apply),
    /// Ask a model a question
    Ask(ask::Ask),
    /// Have an agent do a task
    Run(Box<run::Run>),
    // Without a line of its own, so that its help is the whole text.
    Acp(acp::Acp),
    /// Say which agents of others can be hosted, and how to get the rest
    Agents(agents::Agents),
    /// Say which MCP servers there are, and whether those of a project may run
    Mcp(mcp::Mcp),
    /// Say which sessions there were, and what happened in them
    Sessions(sessions::Sessions),
    /// Say how calls of tools end, and what models used
    Stats(stats::Stats),
    /// Say which models can be asked, and what they cost
    Models(models::Models),
    /// Search the files of a folder as the editor's project search does
    Grep(grep::Grep),
}

/// Where a command reads and writes.
pub struct Streams<'a> {
    /// What is fed to it.
    pub input: &'a mut dyn Read,
    /// What it answers.
    pub output: &'a mut dyn Write,
    /// Where it complains.
    pub errors: &'a mut dyn Write,
}

/// Runs a command line, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error, streams),
    };
    let done = Dirs::from_environment()
        .map_err(|error| error.to_string())
        .and_then(|dirs| match arguments.command {
            Command::Doctor { json } => doctor::run(&dirs, json, streams),
            Command::Write { path } => write::run(&RealFiles, &dirs, &path, streams),
            Command::Recover { list } => recover::run(&RealFiles, &dirs, list, streams),
            Command::Apply(apply) => apply.run(&RealFiles, &dirs, streams),
            Command::Ask(ask) => ask.run(&RealFiles, &dirs, streams),
            Command::Run(run) => run.run(
                run::Machine {
                    files: &RealFiles,
                    dirs: &dirs,
                },
                streams,
            ),
            Command::Acp(acp) => acp.run(&dirs, streams),
            Command::Agents(agents) => agents.run(&RealFiles, streams),
            Command::Mcp(mcp) => mcp.run(&dirs, streams),
            Command::Sessions(sessions) => sessions.run(&dirs, streams),
            Command::Stats(stats) => stats.run(&dirs, streams),
            Command::Models(models) => models.run(&RealFiles, &dirs, streams),
            Command::Grep(grep) => grep.run(streams),
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

fn explain(error: &clap::Error, streams: &mut Streams<'_>) -> ExitCode {
    let text = error.render().to_string();
    let stream = match error.use_stderr() {
        true => &mut streams.errors,
        false => &mut streams.output,
    };
    stream.write_all(text.as_bytes()).ok();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
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
