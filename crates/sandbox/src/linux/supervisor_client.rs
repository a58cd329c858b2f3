//! The program's connection to a supervisor: receives its reports, and kills its command.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use base::AbsPath;

use super::caches::CacheFolders;
use super::control_group::ControlGroup;
use super::plan::{self, SandboxPlan};
use super::supervisor_pool::SupervisorPool;
use super::watch::Tripwire;
use super::{kernel, launch, packed_request, protocol, watch};
use crate::net::Proxy;
use crate::{
    CommandExit, CommandOutcome, DenialLog, Network, Policy, SandboxError, SandboxLayer,
    SpawnRequest,
};

/// A message and its descriptors.
pub(super) struct ReceivedMessage {
    pub(super) numbers: [u32; 3],
    pub(super) files: Vec<OwnedFd>,
}

/// Receives a message; returns `None` if the other end is closed.
pub(super) fn receive(socket: &OwnedFd) -> Option<ReceivedMessage> {
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    let received = kernel::receive(socket.as_raw_fd(), &mut bytes, &mut files);
    let (1.., count) = received.ok()? else {
        return None;
    };
    Some(ReceivedMessage {
        numbers: [0, 1, 2].map(|ix| protocol::number(&bytes, ix)),
        files: files[..count]
            .iter()
            .map(|file| launch::owned(*file))
            .collect(),
    })
}

pub(super) fn disconnected(reason: &str) -> SandboxError {
    SandboxError::Gone {
        reason: reason.to_owned(),
    }
}

/// A supervisor that waits for a request or runs one.
#[derive(Debug)]
pub(super) struct SupervisorClient {
    pub(super) socket: Arc<OwnedFd>,
    /// The pidfd of the supervisor, once it is known.
    pub(super) process: Option<Arc<OwnedFd>>,
    pub(super) plan: Arc<SandboxPlan>,
    pub(super) denials: DenialLog,
    /// Resources that end with the command.
    pub(super) resources: SandboxResources,
}

/// Resources released when a command has ended.
#[derive(Debug, Default)]
pub(super) struct SandboxResources {
    pub(super) pool: Option<Arc<SupervisorPool>>,
    pub(super) _group: Option<ControlGroup>,
    pub(super) proxy: Option<Proxy>,
    pub(super) tripwire: Option<Tripwire>,
    /// Cache folders that are removed with the sandbox.
    pub(super) _caches: CacheFolders,
    /// Lists the sockets of the sandbox.
    pub(super) sockets: Option<Arc<OwnedFd>>,
}

impl SupervisorClient {
    /// Sends the request and waits until the command runs.
    pub(super) fn run(
        mut self,
        policy: &Policy,
        request: SpawnRequest,
    ) -> Result<SupervisedCommand, SandboxError> {
        let packed = packed_request::PackedRequest::new(policy, &request);
        let streams = &request.streams;
        packed
            .send(&self.socket, streams)
            .map_err(|errno| self.failed(errno))?;
        loop {
            let message = receive(&self.socket)
                .ok_or_else(|| disconnected("its first process was killed"))?;
            let [kind, stage, errno] = message.numbers;
            match kind {
                protocol::FAILED => return Err(refusal(&self.plan, &request, stage, errno as i32)),
                protocol::STARTED => break,
                _ => self.handle_ready(policy, message)?,
            }
        }
        let process = self.process.clone();
        let process = process.ok_or_else(|| disconnected("its first process is unknown"))?;
        let kill_handle = SupervisorHandle {
            process,
            socket: self.socket.clone(),
        };
        Ok(SupervisedCommand {
            client: self,
            kill_handle,
            without: policy.without.clone(),
            is_over: false,
        })
    }

    /// Explains a failed send: the request is too long, or the supervisor is gone.
    pub(super) fn failed(&self, errno: i32) -> SandboxError {
        // Earlier messages explain the failure better than the closed socket.
        while let Some(message) = receive(&self.socket) {
            if message.numbers[0] == protocol::FAILED {
                return plan::explain(&self.plan, message.numbers[1], message.numbers[2] as i32);
            }
        }
        disconnected(&io::Error::from_raw_os_error(errno).to_string())
    }

    /// Takes the descriptors that arrive while a sandbox or supervisor is set up.
    pub(super) fn handle_ready(
        &mut self,
        policy: &Policy,
        message: ReceivedMessage,
    ) -> Result<(), SandboxError> {
        let [protocol::READY, with, _] = message.numbers else {
            return Ok(());
        };
        let mut files = message.files.into_iter();
        let mut next = |what: u32| if with & what == 0 { None } else { files.next() };
        if let Some(listener) = next(protocol::WITH_PROXY) {
            self.resources.proxy = self.proxy(policy, listener)?;
        }
        if let Some(listener) = next(protocol::WITH_PORT)
            && let Some(proxy) = &mut self.resources.proxy
        {
            proxy.forward(listener.into()).map_err(no_proxy)?;
        }
        if let Some(sockets) = next(protocol::WITH_SOCKETS) {
            self.resources.sockets = Some(Arc::new(sockets));
        }
        if let Some(questions) = next(protocol::WITH_NOTIFICATIONS) {
            let sockets = self.resources.sockets.clone();
            watch::answer(questions, self.plan.clone(), self.denials.clone(), sockets);
        }
        if let Some(process) = next(protocol::WITH_PROCESS).map(Arc::new) {
            if self.resources.pool.is_none() {
                self.resources.tripwire = Tripwire::set(&self.plan, &process, &self.denials);
            }
            self.process = Some(process);
        }
        Ok(())
    }

    /// Starts the proxy on `listener`; `None` if the policy grants no list of hosts. Fails if it
    /// cannot be started.
    fn proxy(&self, policy: &Policy, listener: OwnedFd) -> Result<Option<Proxy>, SandboxError> {
        let Network::Hosts(rules) = &policy.network else {
            return Ok(None);
        };
        let proxy = Proxy::start(listener.into(), rules, self.denials.clone());
        proxy.map(Some).map_err(no_proxy)
    }
}

fn no_proxy(cause: io::Error) -> SandboxError {
    SandboxError::Missing {
        layer: SandboxLayer::Network,
        step: "starting the proxy".to_owned(),
        cause,
        advice: "raise the limits on threads and open files",
    }
}

fn refusal(plan: &SandboxPlan, request: &SpawnRequest, stage: u32, errno: i32) -> SandboxError {
    let cause = io::Error::from_raw_os_error(errno);
    match stage {
        protocol::stage::PROGRAM => SandboxError::Program {
            program: request.program.to_string_lossy().into_owned(),
            cause,
        },
        protocol::stage::FOLDER => SandboxError::Folder {
            folder: request.folder.clone(),
            reason: format!("seen from inside the sandbox, {cause}"),
        },
        protocol::stage::TERMINAL => SandboxError::Policy {
            reason: format!("its input cannot become its terminal: {cause}"),
        },
        _ => plan::explain(plan, stage, errno),
    }
}

/// The Linux implementation of `crate::RunningCommand`.
#[derive(Debug)]
pub(crate) struct SupervisedCommand {
    client: SupervisorClient,
    kill_handle: SupervisorHandle,
    without: BTreeSet<SandboxLayer>,
    is_over: bool,
}

impl SupervisedCommand {
    /// Returns the process id of the supervisor; 0 if it is not known any more.
    pub(crate) fn id(&self) -> u32 {
        process_number(self.kill_handle.process.as_raw_fd()).unwrap_or_default()
    }

    pub(crate) fn fixed(&self) -> Vec<AbsPath> {
        let fixed = self.client.plan.fixed.iter();
        fixed.filter_map(AbsPath::new).collect()
    }

    pub(crate) fn wait(mut self) -> CommandOutcome {
        let (status, is_alone) = loop {
            match receive(&self.client.socket).map(|message| message.numbers) {
                Some([protocol::ENDED, status, alone]) => break (status as i32, alone != 0),
                Some(_) => {}
                None => break (libc::SIGKILL, false),
            }
        };
        if !is_alone {
            self.kill_handle.wait_until_dead();
        }
        self.is_over = true;
        let end = match status & 0x7f {
            0 => CommandExit::Exit(status >> 8 & 0xff),
            signal => CommandExit::Signal(signal),
        };
        let mut denials = self.client.denials.drain();
        if let Some(pool) = &self.client.resources.pool {
            // Host denials belong to the warm sandbox, not to one command; the next command that
            // ends reports them.
            denials.extend(pool.denials());
        }
        CommandOutcome {
            exit: end,
            denials,
            without: std::mem::take(&mut self.without),
        }
    }

    pub(crate) fn kill_handle(&self) -> SupervisorHandle {
        self.kill_handle.clone()
    }
}

impl Drop for SupervisedCommand {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill_handle.kill();
        }
    }
}

/// The Linux implementation of `crate::KillHandle`.
#[derive(Clone, Debug)]
pub(crate) struct SupervisorHandle {
    process: Arc<OwnedFd>,
    socket: Arc<OwnedFd>,
}

impl SupervisorHandle {
    pub(crate) fn kill(&self) {
        kernel::kill_pidfd(self.process.as_raw_fd(), libc::SIGKILL);
        self.wait_until_dead();
    }

    pub(crate) fn signal(&self, signal: i32) {
        let message = [protocol::SIGNAL, signal as u32, 0];
        // A command that has ended takes no signals.
        protocol::send(self.socket.as_raw_fd(), message, &[]).unwrap_or_default();
    }

    /// Waits until the supervisor is dead; the kernel ends process 1 of a namespace only after all
    /// others in it.
    fn wait_until_dead(&self) {
        while !kernel::wait_readable(self.process.as_raw_fd(), -1) {}
    }
}

/// Returns the process id behind a pidfd; `None` if the process is gone or the id is unknown here.
#[expect(
    clippy::disallowed_methods,
    reason = "/proc describes a descriptor; it is not a user's file"
)]
fn process_number(descriptor: RawFd) -> Option<u32> {
    let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    line.trim().parse().ok()
}
