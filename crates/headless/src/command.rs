//! The commands of `burin-agent`, and where each is done.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use host::{Dirs, RealFiles};

use crate::{
    Streams, acp, agents, apply, ask, complete, compose, doctor, grep, index, mcp, models,
    permissions, recover, run, sandbox, sessions, stats, worktree, write,
};

/// Burin without a window.
#[derive(Parser)]
#[command(name = "burin-agent", version, about)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is to be done. Where a command has a type of its own, its help is what that type says.
#[derive(Subcommand)]
pub(crate) enum Command {
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
    Apply(apply::Apply),
    Ask(ask::Ask),
    Complete(complete::Complete),
    Run(Box<run::Run>),
    Compose(Box<compose::Compose>),
    Acp(acp::Acp),
    Agents(agents::Agents),
    Mcp(mcp::Mcp),
    Sandbox(sandbox::Sandbox),
    Sessions(sessions::Sessions),
    Stats(stats::Stats),
    Models(models::Models),
    Permissions(permissions::Command),
    Grep(grep::Grep),
    Index(index::Index),
    Search(index::Search),
    Worktree(worktree::Worktree),
}

impl Command {
    /// Does it. The error is a sentence.
    pub(crate) fn perform(
        self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        match self {
            Command::Doctor { json } => doctor::run(dirs, json, streams),
            Command::Write { path } => write::run(&RealFiles, dirs, &path, streams),
            Command::Recover { list } => recover::run(&RealFiles, dirs, list, streams),
            Command::Apply(apply) => apply.run(&RealFiles, dirs, streams),
            Command::Ask(ask) => ask.run(&RealFiles, dirs, streams),
            Command::Complete(complete) => complete.run(&RealFiles, dirs, streams),
            Command::Run(run) => run.run(
                run::Machine {
                    files: &RealFiles,
                    dirs,
                },
                streams,
            ),
            Command::Compose(compose) => compose.run(dirs, streams),
            Command::Acp(acp) => acp.run(dirs, streams),
            Command::Agents(agents) => agents.run(&RealFiles, streams),
            Command::Mcp(mcp) => mcp.run(dirs, streams),
            Command::Sandbox(sandbox) => sandbox.run(&RealFiles, dirs, streams),
            Command::Sessions(sessions) => sessions.run(dirs, streams),
            Command::Stats(stats) => stats.run(dirs, streams),
            Command::Models(models) => models.run(&RealFiles, dirs, streams),
            Command::Permissions(permissions) => permissions.run(dirs, streams),
            Command::Grep(grep) => grep.run(dirs, streams),
            Command::Index(index) => index.run(&RealFiles, dirs, streams),
            Command::Search(search) => search.run(&RealFiles, dirs, streams),
            Command::Worktree(worktree) => worktree.run(&RealFiles, dirs, streams),
        }
    }
}
