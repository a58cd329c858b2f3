//! The command `agents`: lists the external agents that can be hosted.

use std::process::ExitCode;

use clap::Args;
use connect::acp::host::catalog::{self, AgentEntry};
use host::Files;
use runtime::mcp_pool;
use serde_json::json;

use crate::{Streams, write_error};

/// List the external agents that can be hosted, and how to install the others
#[derive(Args)]
pub(crate) struct AgentsCommand {
    /// Print an array of objects
    #[arg(long)]
    json: bool,
}

impl AgentsCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let variables = mcp_pool::environment();
        let command = |entry: &AgentEntry| {
            let found = entry.find(files, &variables)?;
            let words = std::iter::once(found.program).chain(found.arguments);
            Some(words.collect::<Vec<_>>().join(" "))
        };
        let all = catalog::known_agents();
        let text: String = if self.json {
            let all = all.iter().map(|entry| {
                    json!({
                        "id": entry.id, "name": entry.name, "command": command(entry), "install": entry.install
                    })
                });
            format!("{}\n", serde_json::Value::Array(all.collect()))
        } else {
            let line = |entry: &AgentEntry| match command(entry) {
                Some(command) => format!("{:<10} {}: {command}\n", entry.id, entry.name),
                None => format!(
                    "{:<10} {} is not here. {}\n",
                    entry.id, entry.name, entry.install
                ),
            };
            let mut text: String = all.iter().map(line).collect();
            text.push_str("use one with `burin-agent run --agent ID \"task\"`\n");
            text
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}
