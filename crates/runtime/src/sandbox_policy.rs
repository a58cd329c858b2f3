//! The sandbox of sessions: the user's policy for a folder, and the extra grants of single
//! commands.
//!
//! The policy and the grants are stored in `permissions.json`, under `sandbox`.

mod hook_scanner;
mod read_policy;
mod sandboxed_commands;
mod saved_policy;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use agent::rules::rules_of;
use agent::sandbox::CommandSandbox;
use base::AbsPath;
use host::Dirs;
use host::environment::{Recipient, Variable, named_variables, variables};
use host::process::{Denial, ProcessExit, SandboxSpawner, SpawnedProcess};
use sandbox::{
    GitPrograms, HostRule, Network, Policy, SandboxLayer, ScanScope, UserEnvironment, WarmSandbox,
};

use crate::permissions::{self, Permissions};
pub use hook_scanner::HookScanner;
use read_policy::ReadPolicy;
use sandboxed_commands::{OneShotSandbox, ReadOnlySandbox, ReusedSandbox};
use saved_policy::SandboxSettings;
pub use words::describe;

/// The sandbox options of one run, in addition to the stored settings.
#[derive(Clone, Debug, Default)]
pub struct Confinement {
    /// Whether commands run with the user's rights, without a sandbox.
    pub is_off: bool,
    /// Layers of the sandbox to do without.
    pub without: Vec<SandboxLayer>,
    /// Hosts that commands may reach, such as `example.com`, `*.example.com` or `127.0.0.1:8080`.
    pub allowed_hosts: Vec<String>,
}

impl Confinement {
    /// Returns whether commands outside all projects run in a sandbox. Blocks on the disk.
    pub fn has_sandbox(&self, dirs: &Dirs) -> bool {
        // Without a project, only `off` applies.
        let (stored, _) = SandboxSettings::of(&Permissions::read(dirs), &dirs.config);
        !self.is_off && !stored.is_off()
    }
}

/// The folder a session works in, and the paths its sandbox needs.
#[derive(Clone, Debug)]
pub struct SessionRoot {
    /// The root of the session.
    pub root: AbsPath,
    /// The project that rules are stored for: the root, or the main repository of a worktree.
    pub project: AbsPath,
    /// The git folder of its own that it may commit to, where the folder is a worktree of its own.
    pub git_dir: Option<AbsPath>,
    /// Paths that must stay readable inside hidden folders: the user's main repository.
    pub readable: Vec<AbsPath>,
    /// Additional environment variables for its commands.
    pub variables: Vec<(OsString, OsString)>,
}

impl SessionRoot {
    /// Returns the session root for a folder of the user's own. The folder is also the project.
    pub fn for_user_folder(root: &AbsPath) -> Self {
        Self {
            root: root.clone(),
            project: root.clone(),
            git_dir: None,
            readable: Vec::new(),
            variables: Vec::new(),
        }
    }
}

/// Returns the sandbox for a session's commands, with sentences about unreadable settings; `None`
/// if the user turned it off.
pub(crate) fn sandbox(
    dirs: &Dirs,
    session_root: SessionRoot,
    confinement: &Confinement,
) -> (Option<Arc<SessionSandbox>>, Vec<String>) {
    let permissions = Permissions::read(dirs);
    let (settings, problems) = SandboxSettings::of(&permissions, &session_root.project);
    if confinement.is_off || settings.is_off() {
        return (None, problems);
    }
    let user = policy_user(dirs);
    let names: Vec<&str> = ::sandbox::names::closed().map(|name| name.path).collect();
    let mut policy = Policy::usual(session_root.root.clone(), &user, &names);
    let mut problems = problems;
    if let Err(error) = settings.apply(&mut policy, &user.home) {
        problems.push(permissions::with_advice(
            &permissions.problem(&["sandbox", "policy"], &error.to_string()),
        ));
    }
    policy.without.extend(confinement.without.iter().copied());
    let mut hosts: Vec<HostRule> = Vec::new();
    for host in &confinement.allowed_hosts {
        match host.parse() {
            Ok(host) => hosts.push(host),
            Err(bad) => problems.push(bad.to_string()),
        }
    }
    add_hosts(&mut policy, hosts);
    policy
        .protected
        .repositories
        .extend(session_root.git_dir.clone());
    policy.readable.extend(session_root.readable);
    // Language servers that Burin installed lie in a folder that is hidden otherwise.
    policy.readable.push(dirs.servers());
    problems.extend(user.warning(&policy.workspace));
    let programs = GitPrograms::of(&policy.workspace, Some(&user.home));
    problems.extend(programs.notices().map(str::to_owned));
    let session = SessionSandbox {
        scanner: Arc::new(hook_scanner(&policy, &user, dirs)),
        has_own_worktree: session_root.git_dir.is_some(),
        variables: session_root.variables,
        policy,
        warm: Mutex::default(),
        reading: Mutex::default(),
        settings: Mutex::new(settings),
    };
    (Some(Arc::new(session)), problems)
}

/// Returns the environment of commands: the allow-listed variables, and those that the user names
/// in `permissions.json`, under `sandbox.environment`.
pub(crate) fn command_variables(dirs: &Dirs) -> Vec<Variable> {
    // Unreadable settings are reported when the sandbox is created.
    let (settings, _) = SandboxSettings::of(&Permissions::read(dirs), &dirs.config);
    let mut all = variables(Recipient::Foreign);
    all.extend(named_variables(settings.environment()));
    all
}

/// Creates the scanner of the folders that commands under a policy can write. Leaves out writable
/// paths that are not folders. `user` provides the home folder.
pub fn hook_scanner(policy: &Policy, user: &UserEnvironment, dirs: &Dirs) -> HookScanner {
    let writable = policy.writable.iter().filter(|path| {
        let stat = host::Files::stat(&host::RealFiles, path);
        stat.is_ok_and(|stat| stat.kind == host::FileKind::Folder)
    });
    let scope = ScanScope {
        roots: [&policy.workspace]
            .into_iter()
            .chain(writable)
            .cloned()
            .collect(),
        git_folders: policy.protected.repositories.clone(),
        home: Some(user.home.clone()),
    };
    HookScanner::for_scope(scope, dirs.state.join("aside"))
}

/// Returns the user's folders, for the sandbox policy.
pub fn policy_user(dirs: &Dirs) -> UserEnvironment {
    let home = std::env::var_os("HOME").and_then(AbsPath::new);
    UserEnvironment {
        home: home.unwrap_or_else(|| dirs.config.clone()),
        own: [&dirs.config, &dirs.state, &dirs.cache]
            .into_iter()
            .cloned()
            .collect(),
        environment: Vec::new(),
    }
}

fn add_hosts(policy: &mut Policy, more: impl IntoIterator<Item = HostRule>) {
    let mut hosts = match &policy.network {
        Network::None => Vec::new(),
        Network::Hosts(hosts) => hosts.clone(),
    };
    hosts.extend(more);
    if !hosts.is_empty() {
        policy.network = Network::Hosts(hosts);
    }
}

/// The sandbox of one session.
pub(crate) struct SessionSandbox {
    policy: Policy,
    scanner: Arc<HookScanner>,
    has_own_worktree: bool,
    variables: Vec<(OsString, OsString)>,
    /// The warm sandbox, from the first command on.
    warm: Mutex<Option<Arc<WarmSandbox>>>,
    /// The warm sandbox of read-only commands; valid while the hidden paths are the same.
    reading: Mutex<Option<(ReadPolicy, Arc<WarmSandbox>)>>,
    settings: Mutex<SandboxSettings>,
}

/// The accesses that an external agent needs for itself, besides those of its session.
pub(crate) struct AgentGrants {
    /// Its own folders and files.
    pub(crate) writable: Vec<AbsPath>,
    /// Its program.
    pub(crate) readable: Vec<AbsPath>,
    /// The hosts of its provider.
    pub(crate) hosts: Vec<HostRule>,
}

fn unavailable(reason: impl ToString) -> agent::Error {
    agent::Error::SandboxUnavailable(reason.to_string())
}

impl SessionSandbox {
    /// Returns the bounds of an external agent that works in this session's folder.
    pub(crate) fn agent_bounds(&self, grants: AgentGrants) -> Arc<dyn SandboxSpawner> {
        let mut policy = self.policy.clone();
        // Its own folders hold the keys that it signs in with. They are secret for others only.
        let is_own = |path: &AbsPath| grants.writable.iter().any(|own| path.is_within(own));
        policy.hidden.retain(|path| !is_own(path));
        policy.writable.extend(grants.writable.iter().cloned());
        policy.readable.extend(grants.readable);
        add_hosts(&mut policy, grants.hosts);
        Arc::new(OneShotSandbox {
            policy,
            scanner: self.scanner.clone(),
            variables: self.variables.clone(),
        })
    }

    /// Returns whether the layers are on that hide files and keep read-only commands from changing any.
    pub(crate) fn hides_files(&self) -> bool {
        let needed = [SandboxLayer::Mounts, SandboxLayer::Namespaces];
        !needed
            .iter()
            .any(|layer| self.policy.without.contains(layer))
    }
}

impl CommandSandbox for SessionSandbox {
    fn bounds(&self, granted: &[Denial]) -> Result<Arc<dyn SandboxSpawner>, agent::Error> {
        let variables = self.variables.clone();
        let scanner = self.scanner.clone();
        if !granted.is_empty() {
            let policy = widen_policy(&self.policy, granted);
            scanner.add(&policy.writable);
            return Ok(Arc::new(OneShotSandbox {
                policy,
                scanner,
                variables,
            }));
        }
        let mut warm = lock(&self.warm);
        let warm = match &*warm {
            Some(warm) if warm.is_current() => warm.clone(),
            // There is none, or a protected path was created since, such as a first repository.
            _ => {
                let opened = WarmSandbox::open(&self.policy).map_err(unavailable)?;
                warm.insert(Arc::new(opened)).clone()
            }
        };
        Ok(Arc::new(ReusedSandbox {
            sandbox: warm,
            scanner,
            variables,
        }))
    }

    fn read_only_bounds(&self) -> Result<Arc<dyn SandboxSpawner>, agent::Error> {
        if !self.hides_files() {
            // The user turned off the layers that hide files.
            return self.bounds(&[]);
        }
        let wanted = ReadPolicy::of(&self.policy).map_err(unavailable)?;
        let mut settings = lock(&self.reading);
        let warm = match &*settings {
            Some((reading, warm)) if *reading == wanted => warm.clone(),
            _ => {
                let warm = WarmSandbox::open(&wanted.policy).map_err(unavailable)?;
                settings.insert((wanted, Arc::new(warm))).1.clone()
            }
        };
        Ok(Arc::new(ReadOnlySandbox {
            sandbox: warm,
            variables: self.variables.clone(),
        }))
    }

    fn rules(&self, command: &str) -> Vec<String> {
        rules_of(command)
    }

    fn granted(&self, command: &str) -> Vec<Denial> {
        lock(&self.settings).granted(command)
    }

    fn grant(&self, command: &str, more: &[Denial]) -> Result<(), agent::Error> {
        let saved = lock(&self.settings).grant(command, more);
        saved.map_err(|error| agent::Error::PermissionNotSaved(error.to_string()))
    }

    fn has_own_worktree(&self) -> bool {
        self.has_own_worktree
    }
}

/// Returns the policy, widened by these grants.
fn widen_policy(policy: &Policy, granted: &[Denial]) -> Policy {
    let mut wide = policy.clone();
    let mut hosts: BTreeMap<&str, BTreeSet<u16>> = BTreeMap::new();
    for denial in granted {
        match denial {
            Denial::Write(path) => wide.writable.push(there(path)),
            Denial::Read(path) => wide.readable.push(path.clone()),
            Denial::Host(host, port) => {
                hosts.entry(host).or_default().insert(*port);
            }
            // These denials cannot be granted: no command may do either.
            Denial::Connect(_) | Denial::Call(_) => {}
        }
    }
    let hosts = hosts.into_iter().map(|(host, ports)| HostRule {
        host: host.to_owned(),
        ports: ports.into_iter().collect(),
    });
    add_hosts(&mut wide, hosts);
    wide
}

/// Returns the path that must be writable to change `path`: itself, or its nearest existing
/// ancestor.
fn there(path: &AbsPath) -> AbsPath {
    let mut at = path.clone();
    while !host::Files::exists(&host::RealFiles, &at) {
        match at.parent() {
            Some(parent) => at = parent,
            None => return path.clone(),
        }
    }
    at
}

/// Waits for the end of a process and returns its exit. Ends a process that takes longer than
/// `most`, and returns `None`. Blocks.
pub(crate) fn wait(spawned: &SpawnedProcess, most: Duration) -> Option<ProcessExit> {
    let (sender, receiver) = mpsc::channel();
    let ended = spawned.exit_receiver();
    std::thread::spawn(move || {
        // The receiver is gone after its timeout.
        sender.send(ended.recv_blocking()).ok();
    });
    match receiver.recv_timeout(most) {
        Ok(Ok(ended)) => Some(ended.exit),
        _ => {
            spawned.stop(Duration::ZERO);
            None
        }
    }
}

/// Locks a mutex, even if another holder has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
