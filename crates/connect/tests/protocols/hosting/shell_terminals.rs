//! Terminals of a host without a sandbox, for agents under test.

use std::sync::Arc;
use std::time::Duration;

use connect::Error;
use connect::acp::host::{TerminalCommand, TerminalProcess, TerminalRunner};
use host::environment::{Recipient, variables};
use host::process::{ExitReport, LaunchRequest, OutputSink, SpawnedProcess, spawn};
use tokio::sync::watch;

/// Runs commands with the rights of the test.
pub(super) struct ShellTerminals;

struct ShellProcess {
    spawned: Arc<SpawnedProcess>,
    exit: watch::Receiver<Option<ExitReport>>,
}

impl TerminalRunner for ShellTerminals {
    fn start(
        &self,
        command: TerminalCommand,
        output: OutputSink,
    ) -> Result<Arc<dyn TerminalProcess>, Error> {
        let mut environment = variables(Recipient::Foreign);
        environment.extend(command.variables);
        let launch = LaunchRequest {
            program: command.program.into(),
            arguments: command.arguments.into_iter().map(Into::into).collect(),
            folder: command.folder,
            variables: environment,
            terminal: None,
            sandbox: None,
        };
        let spawned = spawn(&launch, output).map_err(|error| Error::Start(error.to_string()))?;
        let ended = spawned.exit_receiver();
        let (sender, exit) = watch::channel(None);
        std::thread::spawn(move || sender.send_replace(ended.recv_blocking().ok()));
        Ok(Arc::new(ShellProcess {
            spawned: Arc::new(spawned),
            exit,
        }))
    }
}

impl TerminalProcess for ShellProcess {
    fn exit(&self) -> watch::Receiver<Option<ExitReport>> {
        self.exit.clone()
    }

    fn kill(&self) {
        let spawned = self.spawned.clone();
        std::thread::spawn(move || spawned.stop(Duration::ZERO));
    }
}
