//! The command `agents`: lists the external agents that can be hosted.

use std::process::ExitCode;

use clap::Args;
use host::{Dirs, Files};
use runtime::external_agents::{ExternalAgent, directory, install};
use serde_json::json;

use crate::{Streams, error_text, print_notice, write_error};

/// List the external agents that can be hosted, and how to install the others
#[derive(Args)]
pub(crate) struct AgentsCommand {
    /// Print an array of objects
    #[arg(long)]
    json: bool,
    /// Install this agent by the command that the list shows
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    install: Option<String>,
}

impl AgentsCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        if let Some(id) = &self.install {
            let installed = install::install(dirs, id).map_err(error_text)?;
            let line = line(&installed, dirs);
            streams
                .output
                .write_all(line.as_bytes())
                .map_err(write_error)?;
            return Ok(ExitCode::SUCCESS);
        }
        let (all, problems) = directory::list(files, dirs);
        for problem in &problems {
            print_notice(streams, problem);
        }
        let text: String = if self.json {
            let all = all.iter().map(|agent| {
                json!({
                    "id": agent.id, "name": agent.name, "command": command(agent),
                    "install": agent.advice(dirs), "sign_in": agent.sign_in
                })
            });
            format!("{}\n", serde_json::Value::Array(all.collect()))
        } else {
            let mut text: String = all.iter().map(|agent| line(agent, dirs)).collect();
            text.push_str(
                "use one with `burin-agent run --agent ID \"task\"`, or in a worktree with `burin-agent compose \
                 --agent ID \"task\"`\n",
            );
            text
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the command line of an agent; `None` if it is not installed.
fn command(agent: &ExternalAgent) -> Option<String> {
    let command = agent.command.as_ref()?;
    let words = std::iter::once(&command.program).chain(&command.arguments);
    Some(words.cloned().collect::<Vec<_>>().join(" "))
}

/// Returns the line of the list about an agent.
fn line(agent: &ExternalAgent, dirs: &Dirs) -> String {
    match command(agent) {
        Some(command) => format!("{:<10} {}: {command}\n", agent.id, agent.name),
        None => format!(
            "{:<10} {} is not installed. {}\n",
            agent.id,
            agent.name,
            agent.advice(dirs)
        ),
    }
}
