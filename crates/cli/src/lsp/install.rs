//! Installs language servers after the user confirmed the commands.

use std::process::ExitCode;

use clap::Args;
use host::RealFiles;
use language::FolderServers;

use crate::{Streams, error_text, write_error};

/// Install servers into a folder of Burin, after a question
#[derive(Args)]
pub(super) struct InstallAction {
    /// Ids of the servers, as `lsp list` shows them
    #[arg(required = true)]
    ids: Vec<String>,
    /// Install without asking
    #[arg(long)]
    yes: bool,
}

impl InstallAction {
    pub(super) fn run(
        &self,
        servers: &FolderServers,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let installed = servers.installed();
        let mut plans = Vec::new();
        for id in &self.ids {
            let server = servers.server(id).map_err(error_text)?;
            let plan = installed.plan(&RealFiles, server, servers.root());
            plans.push((id, plan.map_err(error_text)?));
        }
        for (id, plan) in &plans {
            let commands = plan.commands().join("\n    ");
            let text = format!("{id} is installed by\n    {commands}\n");
            print(&text, streams)?;
        }
        if !self.yes && !crate::agrees("Run these commands?", streams)? {
            return Ok(ExitCode::FAILURE);
        }
        for (id, plan) in &plans {
            let mut show = |line: &str| {
                // If standard error is closed, the progress cannot be shown.
                writeln!(streams.errors, "  {line}").ok();
            };
            let done = installed.install(&RealFiles, plan, &mut show);
            done.map_err(error_text)?;
            let server = servers.server(id).map_err(error_text)?;
            let text = match servers.program(server) {
                Some(program) => format!("{id} is installed: {}\n", program.path),
                None => format!("{id} was installed, but this folder cannot use it\n"),
            };
            print(&text, streams)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(text: &str, streams: &mut Streams<'_>) -> Result<(), String> {
    streams
        .output
        .write_all(text.as_bytes())
        .map_err(write_error)
}
