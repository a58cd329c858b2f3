//! The sandbox of sessions: the user's policy for a folder, and the extra grants of single
//! commands.
//!
//! The policy and the grants are stored in `permissions.json`, under `sandbox`.

mod hook_scanner;
mod read_policy;
mod sandboxed_commands;
mod saved_policy;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use agent::rules::rules_of;
use agent::sandbox::CommandSandbox;
use base::AbsPath;
use clap::Args;
use host::Dirs;
use host::environment::{Recipient, Variable, named_variables, variables};
use host::process::{Denial, ProcessExit, SandboxSpawner, SpawnedProcess};
use sandbox::{
    GitPrograms, HostRule, Network, Policy, SandboxLayer, ScanScope, UserEnvironment, WarmSandbox,
};

use crate::permissions::{self, Permissions};
pub(crate) use hook_scanner::HookScanner;
use read_policy::ReadPolicy;
use sandboxed_commands::{OneShotSandbox, ReusedSandbox};
use saved_policy::SandboxSettings;

/// The sandbox options of one run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Confinement {
    /// Run commands with your rights, without a sandbox
    #[arg(long)]
    no_sandbox: bool,
    /// Do without this layer of the sandbox: namespaces, mounts, network, landlock, seccomp, no-new-privs or limits
    #[arg(long, value_name = "LAYER", value_parser = layer)]
    without: Vec<SandboxLayer>,
    /// Let commands reach this host, written `example.com`, `*.example.com` or `127.0.0.1:8080`
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
}

impl Confinement {
    /// Returns the warning that explains `--yes`.
    pub(crate) fn warning(&self, dirs: &Dirs) -> String {
        let permissions = Permissions::read(dirs);
        // Without a project, only `off` applies.
        let (kept, _) = SandboxSettings::of(&permissions, &dirs.config);
        let commands = if self.no_sandbox || kept.is_off() {
            "commands run with your rights, without a sandbox"
        } else {
            "commands run in the sandbox, which keeps them in the folder"
        };
        format!(
            "--yes allows calls that would need permission: files are changed, and {commands}. \
             Deny rules hold; secret and protected files, files outside the folder and unclear \
             permissions still need permission, or are refused if no user is attached"
        )
    }
}

pub(crate) fn layer(name: &str) -> Result<SandboxLayer, String> {
    SandboxLayer::named(name).ok_or_else(|| {
        let names: Vec<&str> = SandboxLayer::ALL.iter().map(|layer| layer.name()).collect();
        format!("there is no such layer; there are {}", names.join(", "))
    })
}

/// The folder a session works in, and the paths its sandbox needs.
#[derive(Clone, Debug)]
pub(crate) struct SessionRoot {
    /// The root of the session.
    pub(crate) root: AbsPath,
    /// The project that rules are stored for: the root, or the main repository of a worktree.
    pub(crate) project: AbsPath,
    /// The git folder of its own that it may commit to, where the folder is a worktree of its own.
    pub(crate) git_dir: Option<AbsPath>,
    /// Paths that must stay readable inside hidden folders: the user's main repository.
    pub(crate) readable: Vec<AbsPath>,
    /// Additional environment variables for its commands.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

impl SessionRoot {
    /// Returns the root for a folder of the user's own.
    pub(crate) fn for_user_folder(root: &AbsPath) -> Self {
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
    ground: SessionRoot,
    said: &Confinement,
) -> (Option<Arc<dyn CommandSandbox>>, Vec<String>) {
    let permissions = Permissions::read(dirs);
    let (kept, problems) = SandboxSettings::of(&permissions, &ground.project);
    if said.no_sandbox || kept.is_off() {
        return (None, problems);
    }
    let person = policy_user(dirs);
    let names: Vec<&str> = ::sandbox::names::closed().map(|name| name.path).collect();
    let mut policy = Policy::usual(ground.root.clone(), &person, &names);
    let mut problems = problems;
    if let Err(error) = kept.apply(&mut policy, &person.home) {
        problems.push(permissions::with_advice(
            &permissions.problem(&["sandbox", "policy"], &error.to_string()),
        ));
    }
    policy.without.extend(said.without.iter().copied());
    let mut hosts: Vec<HostRule> = Vec::new();
    for host in &said.allow_host {
        match host.parse() {
            Ok(host) => hosts.push(host),
            Err(bad) => problems.push(bad.to_string()),
        }
    }
    add_hosts(&mut policy, hosts);
    policy.protected.repositories.extend(ground.git_dir.clone());
    policy.readable.extend(ground.readable);
    problems.extend(person.warning(&policy.workspace));
    let programs = GitPrograms::of(&policy.workspace, Some(&person.home));
    problems.extend(programs.notices().map(str::to_owned));
    let yard = SessionSandbox {
        scanner: Arc::new(hook_scanner(&policy, &person, dirs)),
        has_own_ground: ground.git_dir.is_some(),
        variables: ground.variables,
        policy,
        warm: Mutex::default(),
        reading: Mutex::default(),
        kept: Mutex::new(kept),
    };
    (Some(Arc::new(yard)), problems)
}

/// Returns the environment of commands: the allow-listed variables, and those that the user names
/// in `permissions.json`, under `sandbox.environment`.
pub(crate) fn command_variables(dirs: &Dirs) -> Vec<Variable> {
    // Unreadable settings are reported when the sandbox is created.
    let (kept, _) = SandboxSettings::of(&Permissions::read(dirs), &dirs.config);
    let mut all = variables(Recipient::Foreign);
    all.extend(named_variables(kept.environment()));
    all
}

/// Creates the scanner of the paths that commands under a policy can write.
pub(crate) fn hook_scanner(policy: &Policy, person: &UserEnvironment, dirs: &Dirs) -> HookScanner {
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
        home: Some(person.home.clone()),
    };
    HookScanner::for_scope(scope, dirs.state.join("aside"))
}

/// Returns the user's folders, for the sandbox policy.
pub(crate) fn policy_user(dirs: &Dirs) -> UserEnvironment {
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
struct SessionSandbox {
    policy: Policy,
    scanner: Arc<HookScanner>,
    has_own_ground: bool,
    variables: Vec<(OsString, OsString)>,
    /// The warm sandbox, kept from the first command on.
    warm: Mutex<Option<Arc<WarmSandbox>>>,
    /// The warm sandbox of read-only commands; valid while the hidden paths are the same.
    reading: Mutex<Option<(ReadPolicy, Arc<WarmSandbox>)>>,
    kept: Mutex<SandboxSettings>,
}

impl CommandSandbox for SessionSandbox {
    fn bounds(&self, granted: &[Denial]) -> Result<Arc<dyn SandboxSpawner>, String> {
        let variables = self.variables.clone();
        let lookout = self.scanner.clone();
        if !granted.is_empty() {
            let policy = widen_policy(&self.policy, granted);
            lookout.add(&policy.writable);
            return Ok(Arc::new(OneShotSandbox {
                policy,
                scanner: lookout,
                variables,
            }));
        }
        let mut room = lock(&self.warm);
        let room = match &*room {
            Some(room) if room.is_current() => room.clone(),
            // There is none, or a protected path was created since, such as a first repository.
            _ => {
                let opened =
                    WarmSandbox::open(&self.policy).map_err(|refused| refused.to_string())?;
                room.insert(Arc::new(opened)).clone()
            }
        };
        Ok(Arc::new(ReusedSandbox {
            sandbox: room,
            scanner: lookout,
            variables,
        }))
    }

    fn read_only_bounds(&self) -> Result<Arc<dyn SandboxSpawner>, String> {
        let without = &self.policy.without;
        if [SandboxLayer::Mounts, SandboxLayer::Namespaces]
            .iter()
            .any(|layer| without.contains(layer))
        {
            // The user turned off the layers that hide files.
            return self.bounds(&[]);
        }
        let wanted = ReadPolicy::of(&self.policy)?;
        let mut kept = lock(&self.reading);
        let room = match &*kept {
            Some((reading, room)) if *reading == wanted => room.clone(),
            _ => {
                let room =
                    WarmSandbox::open(&wanted.policy).map_err(|refused| refused.to_string())?;
                kept.insert((wanted, Arc::new(room))).1.clone()
            }
        };
        Ok(Arc::new(ReusedSandbox {
            sandbox: room,
            scanner: self.scanner.clone(),
            variables: self.variables.clone(),
        }))
    }

    fn rules(&self, command: &str) -> Vec<String> {
        rules_of(command)
    }

    fn granted(&self, command: &str) -> Vec<Denial> {
        lock(&self.kept).granted(command)
    }

    fn grant(&self, command: &str, more: &[Denial]) -> Result<(), String> {
        lock(&self.kept).grant(command, more)
    }

    fn has_own_worktree(&self) -> bool {
        self.has_own_ground
    }
}

/// A policy that lets these things through.
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

/// Waits for the end of a process; one that takes longer is ended, and `None` is answered. Blocks.
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
