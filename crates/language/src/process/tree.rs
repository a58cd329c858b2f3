//! The process of a server with its descendants: with the rights of the user, or inside a sandbox.
//!
//! Start at `start`.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use host::environment;
use host::process::{
    self, LiveProcess, ProcessEnvironment, ProcessExit, ProcessGroup, SandboxSpawner,
    SandboxedCommand, SandboxedProcess, StartRequest,
};

use super::MemoryProbe;
use crate::Error;
use crate::confinement::ServerSandbox;

/// A process and its descendants. Cheap to clone.
#[derive(Clone)]
pub(super) enum ServerTree {
    Own(Arc<ProcessGroup>),
    Sandboxed(Arc<dyn SandboxedProcess>),
}

/// A process that was started, with its pipes.
pub(super) struct StartedServer {
    pub(super) input: Box<dyn Write + Send>,
    pub(super) output: Box<dyn Read + Send>,
    pub(super) errors: Box<dyn Read + Send>,
    pub(super) tree: ServerTree,
}

/// Starts a process.
///
/// # Errors
/// The program cannot be executed, or the sandbox is not available.
pub(super) fn start(
    request: StartRequest,
    sandbox: &ServerSandbox,
) -> Result<StartedServer, Error> {
    match sandbox {
        ServerSandbox::Off => start_own(&request),
        ServerSandbox::On(spawner) => start_sandboxed(request, spawner.as_ref()),
        ServerSandbox::Unavailable(reason) => Err(Error::SandboxUnavailable(reason.clone())),
    }
}

fn start_own(request: &StartRequest) -> Result<StartedServer, Error> {
    let LiveProcess {
        input,
        output,
        errors,
        group,
    } = process::start(request)?;
    Ok(StartedServer {
        input: Box::new(input),
        output: Box::new(output),
        errors: Box::new(errors),
        tree: ServerTree::Own(Arc::new(group)),
    })
}

fn start_sandboxed(
    request: StartRequest,
    spawner: &dyn SandboxSpawner,
) -> Result<StartedServer, Error> {
    let pipe = || io::pipe().map_err(|error| Error::SandboxUnavailable(error.to_string()));
    let ((input_end, input), (output, output_end), (errors, errors_end)) =
        (pipe()?, pipe()?, pipe()?);
    let variables = match request.environment {
        ProcessEnvironment::Only(variables) => variables,
        ProcessEnvironment::Allowed(recipient) => environment::variables(recipient),
    };
    let started = spawner.start(SandboxedCommand {
        program: request.program,
        arguments: request.arguments,
        folder: request.folder,
        variables,
        streams: [input_end.into(), output_end.into(), errors_end.into()],
        has_terminal: false,
    });
    let started = started.map_err(|error| Error::SandboxUnavailable(error.to_string()))?;
    Ok(StartedServer {
        input: Box::new(input),
        output: Box::new(output),
        errors: Box::new(errors),
        tree: ServerTree::Sandboxed(Arc::from(started)),
    })
}

impl ServerTree {
    /// Waits until the process and its descendants are gone. Call it once.
    pub(super) fn wait(&self) -> ProcessExit {
        match self {
            Self::Own(group) => block_on(group.wait()),
            Self::Sandboxed(process) => process.wait().0,
        }
    }

    /// Returns a function that measures the memory, which is not known inside a sandbox.
    pub(super) fn memory_probe(&self) -> MemoryProbe {
        match self {
            Self::Own(group) => {
                let group = Arc::downgrade(group);
                Arc::new(move || group.upgrade()?.memory())
            }
            Self::Sandboxed(_) => Arc::new(|| None),
        }
    }

    /// Kills the process and its descendants.
    pub(super) fn kill(&self) {
        match self {
            Self::Own(group) => group.kill(),
            Self::Sandboxed(process) => process.stop(Duration::ZERO),
        }
    }
}
