//! Burin's own agent in the editors of others: `burin-agent acp`, over standard input and output.
//!
//! Its sessions are those of `run`: the same tools, rules and ledger.
//! Invariant: standard output carries the protocol alone; the rest goes to standard error.
//! Limitation: what the editor has not saved is not asked for while the agent reads, since tools read many files and
//! an editor tells one at a time, in line ends of its own. What the person puts into the prompt comes with its text.
//! Start at `Acp::run`; what the editor asks is answered in `engine`, what a session tells is put into the
//! protocol's words in `teller`.

mod asking;
mod engine;
mod follow;
mod live;
mod opening;
mod options;
mod prompt;
mod replay;
mod teller;

use std::process::ExitCode;
use std::sync::Arc;

use agent::context::Trust;
use clap::Args;
use connect::acp::agent::serve;
use host::Dirs;

use crate::confined::Confinement;
use crate::workshop::Workshop;
use crate::{Streams, tell};
use engine::Burin;
use opening::Shop;

/// Be the agent of another editor, over standard input and output
///
/// Speaks version 1 of the Agent Client Protocol, as Zed, the JetBrains editors and others do: tell the editor to run
/// `burin-agent acp`. Sessions are kept where those of `run` are, so `sessions list` names them and the editor can
/// load them. What needs leave is asked in the editor; commands run in a sandbox, where they can change the project
/// and nothing else.
///
/// Exit codes: 0 the editor closed the input; 1 it could not start, or the line to the editor broke.
#[derive(Args)]
pub(crate) struct Acp {
    /// With which model sessions begin: `auto`, `demo`, or one written provider/model; the settings' models.default
    /// without it
    #[arg(long)]
    model: Option<String>,
    /// Allow what would be asked for: files are changed and commands run, in the sandbox. Deny rules hold; secret and
    /// protected files and files outside the folder are still asked for
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: Confinement,
}

impl Acp {
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let served = runtime.block_on(self.serve(dirs, streams));
        // Whoever waits for a line of the input on a thread would hold up the end.
        runtime.shutdown_background();
        served.map(|()| ExitCode::SUCCESS)
    }

    async fn serve(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<(), String> {
        // Who lets an editor start an agent in a folder trusts what stands there.
        let workshop = Workshop::open_with(dirs, Trust::all(), None, self.model.as_deref()).await?;
        for problem in workshop.problems() {
            tell(streams, problem);
        }
        if self.yes {
            tell(streams, &self.confinement.warning(dirs));
        }
        let shop = Shop {
            crew: workshop.crew().clone(),
            dirs: dirs.clone(),
            models: workshop.models().to_vec(),
            default: workshop.default_model().to_owned(),
            allows_asked: self.yes,
            confinement: self.confinement.clone(),
        };
        let engine = Arc::new(Burin::new(shop));
        let served = serve(engine, tokio::io::stdin(), tokio::io::stdout()).await;
        workshop.settle().await?;
        served
    }
}

#[cfg(test)]
mod tests;
