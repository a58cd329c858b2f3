//! The sandbox of sessions: the person's policy for a folder, and what they let single commands do beyond it.
//!
//! What they decided lies in `permissions.json`, under `sandbox`.

mod bound;
mod kept;
mod lookout;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use agent::confine::Sandbox;
use agent::rules::rules_of;
use base::AbsPath;
use clap::Args;
use host::Dirs;
use host::environment::{Recipient, Variable, named, variables};
use host::process::{Bounds, Denial, End, Spawned};
use sandbox::{HostRule, Layer, Network, Person, Policy, Programs, Room, Scope};

use crate::permissions::{self, Permissions};
use bound::{Fresh, Warm};
use kept::Kept;
pub(crate) use lookout::Lookout;
use reading::Reading;

/// What the person says about the sandbox of one run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Confinement {
    /// Run commands with your rights, without a sandbox
    #[arg(long)]
    no_sandbox: bool,
    /// Do without this layer of the sandbox: namespaces, mounts, network, landlock, seccomp, no-new-privs or limits
    #[arg(long, value_name = "LAYER", value_parser = layer)]
    without: Vec<Layer>,
    /// Let commands reach this host, written `example.com`, `*.example.com` or `127.0.0.1:8080`
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
}

impl Confinement {
    /// What `--yes` does, for the person who gave it.
    pub(crate) fn warning(&self, dirs: &Dirs) -> String {
        let permissions = Permissions::read(dirs);
        // Without a project it says nothing but whether the sandbox is off.
        let (kept, _) = Kept::of(&permissions, &dirs.config);
        let commands = match self.no_sandbox || kept.is_off() {
            true => "commands run with your rights, without a sandbox",
            false => "commands run in the sandbox, which keeps them in the folder",
        };
        format!(
            "--yes allows what would be asked for: files are changed, and {commands}. Deny rules hold; secret and \
             protected files, files outside the folder and unclear permissions are still asked for, or refused where \
             no user is attached"
        )
    }
}

pub(crate) fn layer(name: &str) -> Result<Layer, String> {
    Layer::named(name).ok_or_else(|| {
        let names: Vec<&str> = Layer::ALL.iter().map(|layer| layer.name()).collect();
        format!("there is no such layer; there are {}", names.join(", "))
    })
}

/// What a session works in.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// The folder.
    pub(crate) root: AbsPath,
    /// The person's folder that rules are kept for: the root, or the checkout that a worktree belongs to.
    pub(crate) project: AbsPath,
    /// The git folder of its own that it may commit to, where the folder is a worktree of its own.
    pub(crate) git_dir: Option<AbsPath>,
    /// What else it has to see, although it may lie among what is hidden: the person's own repository.
    pub(crate) readable: Vec<AbsPath>,
    /// Variables that its commands find beside their own.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

impl Ground {
    /// The person's own folder.
    pub(crate) fn of_person(root: &AbsPath) -> Self {
        Self {
            root: root.clone(),
            project: root.clone(),
            git_dir: None,
            readable: Vec::new(),
            variables: Vec::new(),
        }
    }
}

/// The sandbox for a session's commands, with sentences about what could not be read; `None` where the person wants
/// none.
pub(crate) fn sandbox(
    dirs: &Dirs,
    ground: Ground,
    said: &Confinement,
) -> (Option<Arc<dyn Sandbox>>, Vec<String>) {
    let permissions = Permissions::read(dirs);
    let (kept, problems) = Kept::of(&permissions, &ground.project);
    if said.no_sandbox || kept.is_off() {
        return (None, problems);
    }
    let person = person(dirs);
    let names: Vec<&str> = ::sandbox::names::closed().map(|name| name.path).collect();
    let mut policy = Policy::usual(ground.root.clone(), &person, &names);
    let mut problems = problems;
    if let Err(sentence) = kept.apply(&mut policy, &person.home) {
        problems.push(permissions::advised(
            &permissions.problem(&["sandbox", "policy"], &sentence),
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
    let programs = Programs::of(&policy.workspace, Some(&person.home));
    problems.extend(programs.notices().map(str::to_owned));
    let yard = Yard {
        lookout: Arc::new(lookout(&policy, &person, dirs)),
        has_own_ground: ground.git_dir.is_some(),
        variables: ground.variables,
        policy,
        room: Mutex::default(),
        reading: Mutex::default(),
        kept: Mutex::new(kept),
    };
    (Some(Arc::new(yard)), problems)
}

/// The environment of commands: what the allow-list passes on, and the variables that the person names for them in
/// `permissions.json`, under `sandbox.environment`.
pub(crate) fn command_variables(dirs: &Dirs) -> Vec<Variable> {
    // Whatever cannot be read is told where the sandbox is made.
    let (kept, _) = Kept::of(&Permissions::read(dirs), &dirs.config);
    let mut all = variables(Recipient::Foreign);
    all.extend(named(kept.environment()));
    all
}

/// Looks over what commands under a policy can write.
pub(crate) fn lookout(policy: &Policy, person: &Person, dirs: &Dirs) -> Lookout {
    let writable = policy.writable.iter().filter(|path| {
        let stat = host::Files::stat(&host::RealFiles, path);
        stat.is_ok_and(|stat| stat.kind == host::FileKind::Folder)
    });
    let scope = Scope {
        roots: [&policy.workspace]
            .into_iter()
            .chain(writable)
            .cloned()
            .collect(),
        git_folders: policy.protected.repositories.clone(),
        home: Some(person.home.clone()),
    };
    Lookout::over(scope, dirs.state.join("aside"))
}

/// Whose machine it is.
pub(crate) fn person(dirs: &Dirs) -> Person {
    let home = std::env::var_os("HOME").and_then(AbsPath::new);
    Person {
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
struct Yard {
    policy: Policy,
    lookout: Arc<Lookout>,
    has_own_ground: bool,
    variables: Vec<(OsString, OsString)>,
    /// Kept up from the first command on.
    room: Mutex<Option<Arc<Room>>>,
    /// The room of commands that only read, as long as what it hides is the same.
    reading: Mutex<Option<(Reading, Arc<Room>)>>,
    kept: Mutex<Kept>,
}

impl Sandbox for Yard {
    fn bounds(&self, granted: &[Denial]) -> Result<Arc<dyn Bounds>, String> {
        let variables = self.variables.clone();
        let lookout = self.lookout.clone();
        if !granted.is_empty() {
            let policy = widened(&self.policy, granted);
            lookout.add(&policy.writable);
            return Ok(Arc::new(Fresh {
                policy,
                lookout,
                variables,
            }));
        }
        let mut room = lock(&self.room);
        let room = match &*room {
            Some(room) if room.is_current() => room.clone(),
            // There is none, or something protected came into being since, such as a first repository.
            _ => {
                let opened = Room::open(&self.policy).map_err(|refused| refused.to_string())?;
                room.insert(Arc::new(opened)).clone()
            }
        };
        Ok(Arc::new(Warm {
            room,
            lookout,
            variables,
        }))
    }

    fn reading(&self) -> Result<Arc<dyn Bounds>, String> {
        let without = &self.policy.without;
        if [Layer::Mounts, Layer::Namespaces]
            .iter()
            .any(|layer| without.contains(layer))
        {
            // The person does without what would hide files.
            return self.bounds(&[]);
        }
        let wanted = Reading::of(&self.policy)?;
        let mut kept = lock(&self.reading);
        let room = match &*kept {
            Some((reading, room)) if *reading == wanted => room.clone(),
            _ => {
                let room = Room::open(&wanted.policy).map_err(|refused| refused.to_string())?;
                kept.insert((wanted, Arc::new(room))).1.clone()
            }
        };
        Ok(Arc::new(Warm {
            room,
            lookout: self.lookout.clone(),
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

    fn has_own_ground(&self) -> bool {
        self.has_own_ground
    }
}

/// A policy that lets these things through.
fn widened(policy: &Policy, granted: &[Denial]) -> Policy {
    let mut wide = policy.clone();
    let mut hosts: BTreeMap<&str, BTreeSet<u16>> = BTreeMap::new();
    for denial in granted {
        match denial {
            Denial::Write(path) => wide.writable.push(there(path)),
            Denial::Read(path) => wide.readable.push(path.clone()),
            Denial::Host(host, port) => {
                hosts.entry(host).or_default().insert(*port);
            }
            // No leave gives a system call that nobody is given.
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

/// What has to be writable so that a path can be changed: itself, or the nearest folder that there is.
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
pub(crate) fn wait(spawned: &Spawned, most: Duration) -> Option<End> {
    let (sender, receiver) = mpsc::channel();
    let ended = spawned.ended();
    std::thread::spawn(move || {
        // Whoever waited long enough does not want to know.
        sender.send(ended.recv_blocking()).ok();
    });
    match receiver.recv_timeout(most) {
        Ok(Ok(ended)) => Some(ended.end),
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
