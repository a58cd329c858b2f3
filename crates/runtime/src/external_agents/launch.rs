//! The launch of an external agent: its environment, its MCP servers and its sandbox.

use std::path::Path;
use std::sync::Arc;

use ::sandbox::HostRule;
use base::AbsPath;
use connect::acp::host::{AgentLaunch, SessionStart, SignIn, StopTimeouts, TerminalRunner};
use connect::mcp::{Approval, Approvals, ServerEntry, ServerOrigin};
use host::process::SandboxSpawner;
use host::{Dirs, FileKind, Files, RealFiles};

use super::directory::{ExternalAgent, in_home, install_folder};
use crate::Error;
use crate::mcp_pool::{self, Consents};
use crate::sandbox_policy::{AgentGrants, SessionSandbox};

/// Folders whose changes are not reported.
const PASSED_OVER: [&str; 3] = [".git", "node_modules", "target"];

/// The parts of a launch that differ between two launches of the same agent.
#[derive(Clone)]
pub struct LaunchRequest {
    /// The folder it works in, with symlinks resolved.
    pub root: AbsPath,
    /// The session to work in.
    pub session: SessionStart,
    /// The MCP servers it should use.
    pub servers: Vec<ServerEntry>,
    /// The sign-in to perform before anything else.
    pub sign_in: Option<SignIn>,
    /// The sandbox of its process; without one it has the user's rights.
    pub sandbox: Option<Arc<dyn SandboxSpawner>>,
    /// Runs the commands that it runs in our terminals.
    pub terminals: Arc<dyn TerminalRunner>,
}

/// Whether changes in a folder of this name, or below it, are ignored.
fn is_ignored(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| PASSED_OVER.contains(&name))
}

/// Returns the MCP servers for an external agent: those that our own sessions in `project` would
/// use, and a sentence for each problem. Blocks on the disk.
pub fn servers(dirs: &Dirs, project: &AbsPath) -> (Vec<ServerEntry>, Vec<String>) {
    let (mut entries, problems) = mcp_pool::gather(&RealFiles, dirs, project);
    let consents = Consents::new(Arc::new(RealFiles), &dirs.state);
    entries.retain(|entry| {
        let may =
            entry.origin == ServerOrigin::User || consents.approval(entry) == Approval::Allowed;
        may && !entry.is_disabled && entry.reach.is_ok()
    });
    (entries, problems)
}

impl ExternalAgent {
    /// Returns the launch of this agent.
    ///
    /// # Errors
    /// It is not installed.
    pub fn launch(&self, dirs: &Dirs, request: LaunchRequest) -> Result<AgentLaunch, Error> {
        let command = self.command.clone().ok_or_else(|| Error::NotInstalled {
            agent: self.name.clone(),
            advice: self.advice(dirs),
        })?;
        // An agent whose sign-in method takes parameters must know in advance that we have them.
        let auth_meta = request.sign_in.iter().flat_map(|it| it.meta.keys());
        Ok(AgentLaunch {
            name: self.name.clone(),
            program: command.program,
            arguments: command.arguments,
            environment: self.environment.clone(),
            root: request.root,
            session: request.session,
            servers: request.servers,
            auth_meta: auth_meta.map(|key| (key.clone(), true.into())).collect(),
            sign_in: request.sign_in,
            terminals: Some(request.terminals),
            signs_in_by_terminal: true,
            sandbox: request.sandbox,
            stop: StopTimeouts::default(),
            files: Arc::new(RealFiles),
            ignore: Arc::new(|path, _| is_ignored(path)),
            recovery: dirs.recovery(),
        })
    }

    /// Returns the sandbox of this agent within that of a session: it may also write its own folders
    /// and reach its own hosts. Creates missing folders. Blocks on the disk.
    ///
    /// # Errors
    /// A host of the settings is invalid.
    pub(crate) fn sandbox(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        session: &SessionSandbox,
    ) -> Result<Arc<dyn SandboxSpawner>, Error> {
        let folders = self.folders.iter().filter_map(|folder| {
            let folder = in_home(folder)?;
            match files.create_folder(&folder) {
                Ok(()) => Some(folder),
                Err(error) => {
                    log::warn!("{} works without its folder: {error}", self.name);
                    None
                }
            }
        });
        let is_file = |path: &AbsPath| {
            let stat = files.stat(path);
            stat.is_ok_and(|stat| stat.kind == FileKind::File)
        };
        let own_files = self.files.iter().filter_map(|file| in_home(file));
        let mut hosts = Vec::new();
        for host in &self.hosts {
            hosts.push(host.parse::<HostRule>().map_err(|bad| {
                Error::Sandbox(format!("the hosts of {} are invalid: {bad}", self.name))
            })?);
        }
        let program = self.command.iter().filter_map(|command| {
            let program = AbsPath::new(&command.program)?;
            files.canonicalize(&program).ok()
        });
        let installed = install_folder(dirs, &self.id);
        let installed = files.exists(&installed).then_some(installed);
        Ok(session.agent_bounds(AgentGrants {
            writable: folders.chain(own_files.filter(is_file)).collect(),
            readable: program.chain(installed).collect(),
            hosts,
        }))
    }
}
