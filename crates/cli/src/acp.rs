//! The command `acp`: Burin's agent for other editors, over standard input and output.

use std::process::ExitCode;

use acp_server::ServerOptions;
use clap::Args;
use host::Dirs;

use crate::confinement::ConfinementArguments;
use crate::{Streams, error_text, print_notice};

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
    /// Allow calls that need permission, without asking. The sandbox and deny rules stay in force;
    /// secret and protected files, and files outside the folder, still need permission
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: ConfinementArguments,
}

impl AcpCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
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

    /// Serves an editor until it disconnects. Fails if the server cannot be opened, or if the
    /// connection breaks.
    async fn serve(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<(), String> {
        let options = ServerOptions {
            model: self.model.clone(),
            allows_asked: self.yes,
            confinement: self.confinement.to_confinement(),
        };
        let server = acp_server::Server::open(dirs, options).await;
        let server = server.map_err(error_text)?;
        for problem in server.problems() {
            print_notice(streams, problem);
        }
        if self.yes {
            print_notice(streams, &self.confinement.warning(dirs));
        }
        server.serve().await.map_err(error_text)
    }
}
