//! Opens sandboxes, for one command or to be kept warm.
//!
//! A warm sandbox always has one supervisor ready: the next one is forked while the last command
//! runs.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use super::control_group::ControlGroup;
use super::plan::{self, SandboxPlan};
use super::supervisor_client::{
    SandboxResources, SupervisedCommand, SupervisorClient, disconnected, receive,
};
use super::{kernel, launch, packed_request, protocol};
use crate::{DenialLog, DeniedAccess, Policy, SandboxError, SandboxLayer, SpawnRequest};

/// Runs one command in a new sandbox.
pub(crate) fn start(
    policy: &Policy,
    request: SpawnRequest,
) -> Result<SupervisedCommand, SandboxError> {
    open(policy, false)?.run(policy, request)
}

/// Opens a sandbox; `is_warm` says that it is kept for several commands. Its first report is still to be received.
///
/// The disk is inspected while the kernel creates the namespaces; if the policy is then refused,
/// the new sandbox ends.
fn open(policy: &Policy, is_warm: bool) -> Result<SupervisorClient, SandboxError> {
    let missing = |step: &str, errno: i32| SandboxError::Missing {
        layer: SandboxLayer::Namespaces,
        step: step.to_owned(),
        cause: io::Error::from_raw_os_error(errno),
        advice: "raise the limits on processes and open files",
    };
    let ends = kernel::socket_pair().map_err(|errno| missing("a socket", errno))?;
    let [ours, theirs] = ends.map(launch::owned);
    let group = ControlGroup::new(policy);
    let counted = group.iter().flat_map(ControlGroup::counters);
    let mut files = vec![theirs.as_fd()];
    files.extend(counted.map(OwnedFd::as_fd));
    launch::open(plan::namespaces(policy), &files)
        .map_err(|errno| missing("the launcher", errno))?;
    // Held only by the sandbox, so that its end is noticed.
    drop(theirs);
    let mut plan = SandboxPlan::new(policy, is_warm)?;
    let made = std::mem::take(&mut plan.caches);
    let file = packed_request::memory_file(&plan.bytes);
    let file = file.map_err(|errno| missing("creating a file in memory", errno))?;
    let message = [protocol::PLAN, plan.bytes.len() as u32, 0];
    let sent = protocol::send(ours.as_raw_fd(), message, &[file.as_raw_fd()]);
    let client = SupervisorClient {
        socket: Arc::new(ours),
        process: None,
        plan: Arc::new(plan),
        denials: DenialLog::default(),
        resources: SandboxResources {
            _group: group,
            _caches: made,
            ..SandboxResources::default()
        },
    };
    match sent {
        Ok(()) => Ok(client),
        Err(errno) => Err(client.failed(errno)),
    }
}

/// The Linux implementation of `crate::WarmSandbox`.
#[derive(Debug)]
pub(crate) struct SupervisorPool {
    policy: Policy,
    /// The connection to process 1; its denials are those of the proxy.
    main: SupervisorClient,
    /// Supervisors that wait for a request, oldest first.
    ready: Mutex<VecDeque<ReadySupervisor>>,
}

#[derive(Debug)]
struct ReadySupervisor {
    socket: OwnedFd,
    process: OwnedFd,
}

impl SupervisorPool {
    /// Opens a warm sandbox and waits for its first supervisor. Fails if the policy is refused or
    /// the sandbox cannot be set up.
    pub(crate) fn open(policy: &Policy) -> Result<Self, SandboxError> {
        let mut main = open(policy, true)?;
        loop {
            let message = receive(&main.socket)
                .ok_or_else(|| disconnected("its first process was killed"))?;
            let [kind, stage, errno] = message.numbers;
            match kind {
                protocol::FAILED => return Err(plan::explain(&main.plan, stage, errno as i32)),
                _ => main.handle_ready(policy, message)?,
            }
            if main.process.is_some() {
                break;
            }
        }
        let pool = Self {
            policy: policy.clone(),
            main,
            ready: Mutex::default(),
        };
        // A sandbox that cannot fork a supervisor fails now.
        let first = pool.receive_supervisor()?;
        pool.ready
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(first);
        Ok(pool)
    }

    /// Starts a command in the sandbox through its next supervisor, and waits until it runs.
    pub(crate) fn start(
        pool: &Arc<Self>,
        request: SpawnRequest,
    ) -> Result<SupervisedCommand, SandboxError> {
        let ReadySupervisor { socket, process } = pool.take_supervisor()?;
        let client = SupervisorClient {
            socket: Arc::new(socket),
            process: Some(Arc::new(process)),
            plan: pool.main.plan.clone(),
            denials: DenialLog::default(),
            resources: SandboxResources {
                pool: Some(pool.clone()),
                sockets: pool.main.resources.sockets.clone(),
                ..SandboxResources::default()
            },
        };
        client.run(&pool.policy, request)
    }

    /// Takes a supervisor and has the next one forked.
    fn take_supervisor(&self) -> Result<ReadySupervisor, SandboxError> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = match ready.pop_front() {
            Some(waiting) => waiting,
            None => self.receive_supervisor()?,
        };
        let more = [protocol::NEW_SUPERVISOR, 0, 0];
        protocol::send(self.main.socket.as_raw_fd(), more, &[])
            .map_err(|errno| disconnected(&io::Error::from_raw_os_error(errno).to_string()))?;
        Ok(waiting)
    }

    /// Returns whether the protected names are unchanged since the sandbox was opened.
    pub(crate) fn is_current(&self) -> bool {
        self.main.plan.is_current()
    }

    /// Returns the sandbox-wide denials since the last call.
    pub(super) fn denials(&self) -> Vec<DeniedAccess> {
        self.main.denials.drain()
    }

    /// Waits for the next supervisor. Fails if the sandbox reports a failure or has ended.
    fn receive_supervisor(&self) -> Result<ReadySupervisor, SandboxError> {
        loop {
            let message = receive(&self.main.socket)
                .ok_or_else(|| disconnected("its first process has ended"))?;
            let [kind, stage, errno] = message.numbers;
            let mut files = message.files.into_iter();
            match (kind, files.next(), files.next()) {
                (protocol::FAILED, ..) => {
                    return Err(plan::explain(&self.main.plan, stage, errno as i32));
                }
                (protocol::SUPERVISOR, Some(socket), Some(process)) => {
                    return Ok(ReadySupervisor { socket, process });
                }
                _ => {}
            }
        }
    }
}

impl Drop for SupervisorPool {
    fn drop(&mut self) {
        if let Some(process) = &self.main.process {
            kernel::kill_pidfd(process.as_raw_fd(), libc::SIGKILL);
            while !kernel::wait_readable(process.as_raw_fd(), -1) {}
        }
    }
}
