//! Burin's own agent for other editors: `burin-agent acp`, over standard input and output.
//!
//! Its sessions are those of `run`: the same tools, rules and ledger.
//! Invariant: standard output carries the protocol alone; the rest goes to standard error.
//! Limitation: tools read files from disk and not the editor's unsaved text, because they read many
//! files and the protocol returns one at a time, with the editor's own line endings. Text that the
//! user attaches to a prompt is included.
//! Start at `Acp::run`; `engine` handles the editor's requests, and `teller` maps a session's
//! events to the protocol.

mod engine;
mod follow;
mod opening;
mod options;
mod permissions;
mod prompt;
mod replay;
mod session;
mod update_mapper;

use std::process::ExitCode;
use std::sync::Arc;

use agent::context::TrustedFolders;
use clap::Args;
use connect::acp::agent::serve;
use host::Dirs;

use crate::agent_services::AgentServices;
use crate::sandbox_policy::Confinement;
use crate::{Streams, print_notice};
use engine::AcpEngine;
use opening::SessionOpener;

/// Run as an agent of another editor, over standard input and output
///
/// Speaks version 1 of the Agent Client Protocol, as Zed, the JetBrains editors and others do:
/// configure the editor to run `burin-agent acp`. Sessions are stored with those of `run`, so
/// `sessions list` names them and the editor can load them. The editor asks for permissions;
/// commands run in a sandbox, where they can change the project and nothing else.
///
/// Exit codes: 0 the editor closed the input; 1 it could not start, or the connection to the editor
/// broke.
#[derive(Args)]
pub(crate) struct AcpCommand {
    /// Model for new sessions: `auto`, `demo`, or one written provider/model; the settings'
    /// models.default without it
    #[arg(long)]
    model: Option<String>,
    /// Allow calls that would need permission: files are changed and commands run, in the sandbox.
    /// Deny rules hold; secret and protected files and files outside the folder still need
    /// permission
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: Confinement,
}

impl AcpCommand {
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let served = runtime.block_on(self.serve(dirs, streams));
        // A thread that still waits for a line of the input must not delay the exit.
        runtime.shutdown_background();
        served.map(|()| ExitCode::SUCCESS)
    }

    async fn serve(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<(), String> {
        // A user who lets an editor start an agent in a folder trusts the folder's contents.
        let workshop =
            AgentServices::open_with(dirs, TrustedFolders::all(), None, self.model.as_deref())
                .await?;
        for problem in workshop.problems() {
            print_notice(streams, problem);
        }
        if self.yes {
            print_notice(streams, &self.confinement.warning(dirs));
        }
        let shop = SessionOpener {
            factory: workshop.factory().clone(),
            dirs: dirs.clone(),
            models: workshop.models().to_vec(),
            default: workshop.default_model().to_owned(),
            allows_asked: self.yes,
            confinement: self.confinement.clone(),
        };
        let engine = Arc::new(AcpEngine::new(shop));
        let served = serve(engine, tokio::io::stdin(), tokio::io::stdout()).await;
        workshop.wait_idle().await?;
        served.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
