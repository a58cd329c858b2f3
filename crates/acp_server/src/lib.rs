//! Burin's own agent for other editors, over the Agent Client Protocol.
//!
//! Its sessions are those of the window and the command line: the same tools, rules and ledger.
//! Knows: `runtime`, `connect`, `agent`. Must not know: argument parsing, windows.
//! Invariant: standard output carries the protocol alone.
//! Limitation: tools read files from disk and not the editor's unsaved text, because they read many
//! files and the protocol returns one at a time, with the editor's own line endings. Text that the
//! user attaches to a prompt is included.
//! Start at `Server::open`; `engine` handles the editor's requests, and `update_mapper` maps a
//! session's events to the protocol.

mod engine;
mod error;
mod follow;
mod opening;
mod options;
mod permissions;
mod prompt;
mod replay;
mod session;
mod update_mapper;

use std::sync::Arc;

use agent::context::TrustedFolders;
use connect::acp::agent::serve;
use host::Dirs;
use runtime::agent_services::AgentServices;
use runtime::sandbox_policy::Confinement;

use engine::AcpEngine;
use opening::SessionOpener;

pub use error::Error;

/// The options of a server.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The model of new sessions; `None` means the model in the settings.
    pub model: Option<String>,
    /// Whether calls that need permission are allowed without asking.
    pub allows_asked: bool,
    /// The sandbox options of all sessions.
    pub confinement: Confinement,
}

/// Burin's agent, ready to serve an editor.
pub struct Server {
    services: AgentServices,
    engine: Arc<AcpEngine>,
}

impl Server {
    /// Opens the services of sessions on tokio's current runtime and trusts every folder. Takes up
    /// to a few seconds. Call `serve` to serve an editor.
    pub async fn open(dirs: &Dirs, options: ServerOptions) -> Result<Self, Error> {
        let model = options.model.as_deref();
        // A user who lets an editor start an agent in a folder trusts the folder's contents.
        let services = AgentServices::open_with(dirs, TrustedFolders::all(), None, model).await?;
        let opener = SessionOpener {
            factory: services.factory().clone(),
            dirs: dirs.clone(),
            models: services.models().to_vec(),
            default: services.default_model().to_owned(),
            allows_asked: options.allows_asked,
            confinement: options.confinement,
        };
        let engine = Arc::new(AcpEngine::new(opener));
        Ok(Self { services, engine })
    }

    /// Returns the problems of the settings, as sentences.
    pub fn problems(&self) -> &[String] {
        self.services.problems()
    }

    /// Serves the editor at standard input and output until the editor closes the input, then
    /// stores all usage. Fails if the connection breaks or the usage cannot be stored.
    pub async fn serve(self) -> Result<(), Error> {
        let served = serve(self.engine, tokio::io::stdin(), tokio::io::stdout()).await;
        self.services.wait_idle().await?;
        served.map_err(|cause| Error::Connection(cause.to_string()))
    }
}

#[cfg(test)]
mod tests;
