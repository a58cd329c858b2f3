//! Stub for systems without a sandbox implementation: every command is refused.

use std::convert::Infallible;
use std::sync::Arc;

use base::AbsPath;

use crate::{CommandOutcome, Policy, SandboxError, SpawnRequest};

fn refused() -> SandboxError {
    SandboxError::System {
        reason:
            "the sandbox is available on Linux only; work on a Linux machine, or approve the command \
                 to run outside"
                .to_owned(),
    }
}

pub(crate) fn prepare() {}

/// Refuses every command with `SandboxError::System`.
pub(crate) fn start(_: &Policy, _: SpawnRequest) -> Result<SupervisedCommand, SandboxError> {
    Err(refused())
}

#[derive(Debug)]
pub(crate) struct SupervisorPool(Infallible);

impl SupervisorPool {
    /// Refuses every policy with `SandboxError::System`.
    pub(crate) fn open(_: &Policy) -> Result<Self, SandboxError> {
        Err(refused())
    }

    /// Never called: a pool cannot exist here.
    pub(crate) fn start(
        pool: &Arc<Self>,
        _: SpawnRequest,
    ) -> Result<SupervisedCommand, SandboxError> {
        match pool.0 {}
    }

    /// Never called: a pool cannot exist here.
    pub(crate) fn is_current(&self) -> bool {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(crate) struct SupervisedCommand(Infallible);

impl SupervisedCommand {
    /// Never called: a command cannot exist here.
    pub(crate) fn id(&self) -> u32 {
        match self.0 {}
    }

    pub(crate) fn fixed(&self) -> Vec<AbsPath> {
        match self.0 {}
    }

    pub(crate) fn wait(self) -> CommandOutcome {
        match self.0 {}
    }

    pub(crate) fn kill_handle(&self) -> SupervisorHandle {
        match self.0 {}
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SupervisorHandle(Infallible);

impl SupervisorHandle {
    pub(crate) fn kill(&self) {
        match self.0 {}
    }

    pub(crate) fn signal(&self, _: i32) {
        match self.0 {}
    }
}
