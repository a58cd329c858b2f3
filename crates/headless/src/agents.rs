//! The command `agents`: which agents of others there are.

use std::process::ExitCode;

use clap::Args;
use connect::acp::host::catalog::{self, AgentEntry};
use host::Files;
use serde_json::json;

use crate::{Streams, foreign, unwritten};

/// List the agents of others that can be hosted, and how to get the rest
#[derive(Args)]
pub(crate) struct Agents {
    /// Print an array of objects
    #[arg(long)]
    json: bool,
}

impl Agents {
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let variables = foreign::environment();
        let command = |entry: &AgentEntry| {
            let found = entry.find(files, &variables)?;
            let words = std::iter::once(found.program).chain(found.arguments);
            Some(words.collect::<Vec<_>>().join(" "))
        };
        let all = catalog::known();
        let text: String = match self.json {
            true => {
                let all = all.iter().map(|entry| {
                    json!({
                        "id": entry.id, "name": entry.name, "command": command(entry), "install": entry.install
                    })
                });
                format!("{}\n", serde_json::Value::Array(all.collect()))
            }
            false => {
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
            }
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}
