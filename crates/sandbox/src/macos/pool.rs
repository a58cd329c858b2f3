//! A sandbox that several commands share, and one for a single command.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use super::command::SupervisedCommand;
use super::denials::{self, DenialTag};
use super::launch::{self, Launcher};
use super::private_folder::PrivateFolder;
use crate::net::{Proxy, reaches_hosts};
use crate::{DenialLog, Policy, SandboxError, SandboxLayer, SpawnRequest};

/// The resources that the commands of a sandbox share. They end with the last of them.
#[derive(Debug)]
pub(super) struct SandboxResources {
    pub(super) private: PrivateFolder,
    /// The proxy and its port, if hosts are granted.
    pub(super) proxy: Option<(Proxy, u16)>,
    /// Of all commands together: the first that ends reports what was denied until then.
    pub(super) denials: DenialLog,
    pub(super) tag: DenialTag,
}

impl SandboxResources {
    /// Creates the private folder and starts the proxy on a free port.
    pub(super) fn open(policy: &Policy, launcher: &Launcher) -> Result<Self, SandboxError> {
        denials::listen(&launcher.log);
        let private = PrivateFolder::new()?;
        let denials = DenialLog::default();
        let tag = DenialTag::register(&private.name(), denials.clone());
        let is_confined = !policy.without.contains(&SandboxLayer::Network);
        let proxy = match reaches_hosts(&policy.network) {
            Some(hosts) if is_confined => {
                let listen = || -> io::Result<(Proxy, u16)> {
                    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                    let port = listener.local_addr()?.port();
                    Ok((Proxy::start(listener, hosts, denials.clone())?, port))
                };
                Some(listen().map_err(|cause| SandboxError::Missing {
                    layer: SandboxLayer::Network,
                    step: "starting the proxy".to_owned(),
                    cause,
                    advice: "raise the limits on threads and open files",
                })?)
            }
            _ => None,
        };
        Ok(Self {
            private,
            proxy,
            denials,
            tag,
        })
    }
}

/// Runs one command in a sandbox of its own.
pub(crate) fn start(
    policy: &Policy,
    request: SpawnRequest,
) -> Result<SupervisedCommand, SandboxError> {
    start_with(&Launcher::system(), policy, request)
}

pub(super) fn start_with(
    launcher: &Launcher,
    policy: &Policy,
    request: SpawnRequest,
) -> Result<SupervisedCommand, SandboxError> {
    let resources = Arc::new(SandboxResources::open(policy, launcher)?);
    launch::run(launcher, policy, resources, request)
}

/// The macOS implementation of `crate::WarmSandbox`: the commands share the private folder and the
/// proxy. Each has a profile of its own.
#[derive(Debug)]
pub(crate) struct SupervisorPool {
    launcher: Launcher,
    policy: Policy,
    resources: Arc<SandboxResources>,
}

impl SupervisorPool {
    pub(crate) fn open(policy: &Policy) -> Result<Self, SandboxError> {
        Self::open_with(Launcher::system(), policy)
    }

    /// Opens the sandbox, and runs a command that does nothing, so that a profile which the system
    /// refuses is known now.
    pub(super) fn open_with(launcher: Launcher, policy: &Policy) -> Result<Self, SandboxError> {
        let resources = Arc::new(SandboxResources::open(policy, &launcher)?);
        launch::probe(&launcher, policy, resources.clone())?;
        let policy = policy.clone();
        Ok(Self {
            launcher,
            policy,
            resources,
        })
    }

    pub(crate) fn start(
        pool: &Arc<Self>,
        request: SpawnRequest,
    ) -> Result<SupervisedCommand, SandboxError> {
        launch::run(
            &pool.launcher,
            &pool.policy,
            pool.resources.clone(),
            request,
        )
    }

    /// Returns true: each command's profile is made when it starts.
    pub(crate) fn is_current(&self) -> bool {
        true
    }
}
