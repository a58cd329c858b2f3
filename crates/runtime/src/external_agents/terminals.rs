//! The terminals in which external agents run commands: in the sandbox of the session's own commands, and among the
//! terminals of agents, where users watch them, type into them and give them back.
//!
//! Invariant: a command runs in the sandbox of its session, or not at all, unless the user turned the sandbox off. The
//! sandbox lacks the agent's own folders, which hold its keys.
//! Start at `HostedTerminals`.

use std::ffi::OsString;
use std::sync::Arc;

use agent::command_feed::{CommandFeeds, ControlChange};
use agent::sandbox::CommandSandbox;
use agent::tools::{HostedCommand, HostedCommandRequest};
use connect::acp::host::{TerminalCommand, TerminalProcess, TerminalRunner};
use host::Dirs;
use host::process::{ExitReport, OutputSink};
use tokio::sync::{mpsc, watch};

use crate::sandbox_policy;

/// The conditions of the commands of an external agent.
#[derive(Clone)]
pub(crate) struct CommandConditions {
    pub(crate) feeds: Arc<CommandFeeds>,
    /// `None` only if the user turned the sandbox off.
    pub(crate) sandbox: Option<Arc<dyn CommandSandbox>>,
    /// The environment of commands.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

/// The terminals of one session.
pub(crate) struct HostedTerminals {
    pub(crate) session: String,
    pub(crate) conditions: CommandConditions,
    /// Receives the changes of the control of commands. Unbounded: a user makes few.
    pub(crate) changes: mpsc::UnboundedSender<ControlChange>,
}

struct HostedProcess(HostedCommand);

/// Returns terminals with the rights of the user, for an agent that works outside of the sandbox. Blocks on the disk.
pub fn unconfined(dirs: &Dirs) -> Arc<dyn TerminalRunner> {
    // Nothing records the changes.
    let (changes, _) = mpsc::unbounded_channel();
    Arc::new(HostedTerminals {
        session: String::new(),
        conditions: CommandConditions {
            feeds: Arc::default(),
            sandbox: None,
            variables: sandbox_policy::command_variables(dirs),
        },
        changes,
    })
}

impl TerminalRunner for HostedTerminals {
    fn start(
        &self,
        command: TerminalCommand,
        output: OutputSink,
    ) -> Result<Arc<dyn TerminalProcess>, connect::Error> {
        let CommandConditions {
            feeds,
            sandbox,
            variables,
        } = &self.conditions;
        let bounds = match sandbox {
            Some(sandbox) => {
                let bounds = sandbox.bounds(&[]);
                Some(bounds.map_err(|error| connect::Error::Start(error.to_string()))?)
            }
            None => None,
        };
        let request = HostedCommandRequest {
            session: self.session.clone(),
            terminal: command.terminal,
            line: command.line,
            program: command.program.into(),
            arguments: command.arguments.into_iter().map(Into::into).collect(),
            folder: command.folder,
            variables: variables.clone(),
            own_variables: command.variables,
            sandbox: bounds,
            changes: self.changes.clone(),
        };
        match HostedCommand::start(request, feeds, output) {
            Ok(command) => Ok(Arc::new(HostedProcess(command))),
            Err(error) => Err(connect::Error::Start(error.to_string())),
        }
    }
}

impl TerminalProcess for HostedProcess {
    fn exit(&self) -> watch::Receiver<Option<ExitReport>> {
        self.0.exit()
    }

    fn kill(&self) {
        self.0.kill();
    }
}

#[cfg(test)]
mod tests;
