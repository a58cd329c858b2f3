//! Decisions about the sandbox in the permissions file.
//!
//! ```json
//! { "sandbox": { "off": false,
//!                "environment": ["DATABASE_URL"],
//!                "policy": { "hosts": [{ "host": "*.crates.io" }] },
//!                "commands": { "Bash(cargo fetch:*)": ["host index.crates.io:443"] } },
//!   "projects": { "/home/me/project": { "commands": { "Bash(npm ci)": ["host registry.npmjs.org:443"] } } } }
//! ```

use std::collections::BTreeMap;

use agent::rules::rules_of;
use base::AbsPath;
use host::process::Denial;
use sandbox::{Policy, PolicyFile, PolicyFileError};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::permissions::{self, Permissions};

/// The sandbox section of `permissions.json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct SandboxFile {
    off: bool,
    /// Additional variable names for commands' environments.
    environment: Vec<String>,
    policy: PolicyFile,
    commands: Commands,
}

/// The extra grants of commands, by the rule that matches the command.
type Commands = BTreeMap<String, Vec<String>>;

/// The sandbox settings of a project, with the grants added since.
pub(super) struct SandboxSettings {
    path: AbsPath,
    project: AbsPath,
    written: SandboxFile,
}

impl SandboxSettings {
    /// Returns the settings for a project, with sentences about unreadable parts. A file that does
    /// not parse gives no settings here: the permission policy reports it.
    pub(super) fn of(permissions: &Permissions, project: &AbsPath) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut report = |path: &[&str], error: serde_json::Error| {
            let message = format!("the decisions about the sandbox cannot be read: {error}");
            problems.push(permissions::with_advice(
                &permissions.problem(path, &message),
            ));
        };
        let mut written = match permissions.get("sandbox").map(SandboxFile::deserialize) {
            None => SandboxFile::default(),
            Some(Ok(written)) => written,
            Some(Err(error)) => {
                report(&["sandbox"], error);
                SandboxFile::default()
            }
        };
        let name = project.to_string();
        let projects = permissions.get("projects");
        let own = projects
            .as_ref()
            .and_then(|it| it.get(&name)?.get("commands"));
        match own.map(Commands::deserialize) {
            None => {}
            Some(Ok(own)) => {
                for (rule, texts) in own {
                    written.commands.entry(rule).or_default().extend(texts);
                }
            }
            Some(Err(error)) => report(&["projects", &name, "commands"], error),
        }
        let saved = Self {
            path: permissions.path().clone(),
            project: project.clone(),
            written,
        };
        (saved, problems)
    }

    /// Returns whether the user turned the sandbox off.
    pub(super) fn is_off(&self) -> bool {
        self.written.off
    }

    /// Returns the additional variable names for commands' environments.
    pub(super) fn environment(&self) -> &[String] {
        &self.written.environment
    }

    /// Returns the settings that differ from the default policy.
    pub(super) fn policy(&self) -> &PolicyFile {
        &self.written.policy
    }

    /// Adds the file's settings to a policy. `home` replaces `~` in paths. Fails if a setting is
    /// invalid.
    pub(super) fn apply(&self, policy: &mut Policy, home: &AbsPath) -> Result<(), PolicyFileError> {
        self.written.policy.apply(policy, home)
    }

    /// Returns the extra grants of a command: those of each of its parts.
    pub(super) fn granted(&self, command: &str) -> Vec<Denial> {
        let mut granted = Vec::new();
        for rule in rules_of(command) {
            let texts = self.written.commands.get(&rule).into_iter().flatten();
            for denial in texts.filter_map(|text| read(text)) {
                if !granted.contains(&denial) {
                    granted.push(denial);
                }
            }
        }
        granted
    }

    /// Adds grants for commands like this one in the project, both in memory and in the file. Fails
    /// if the file cannot be written, but the grants still apply in this session. Blocks on the
    /// disk.
    pub(super) fn grant(&mut self, command: &str, more: &[Denial]) -> Result<(), Error> {
        let texts: Vec<String> = more.iter().filter_map(write).collect();
        let project = self.project.to_string();
        let mut saved = Ok(());
        for rule in rules_of(command) {
            let list = ["projects", &project, "commands", &rule];
            saved = saved.and(permissions::add(&self.path, &list, &texts));
            let known = self.written.commands.entry(rule).or_default();
            for text in &texts {
                if !known.contains(text) {
                    known.push(text.clone());
                }
            }
        }
        saved
    }
}

/// Returns a denial in the form of the file, such as `host example.com:443`. Returns `None` for the
/// kinds that are never granted permanently.
fn write(denial: &Denial) -> Option<String> {
    match denial {
        Denial::Write(path) => Some(format!("write {path}")),
        Denial::Read(path) => Some(format!("read {path}")),
        Denial::Host(host, port) => Some(format!("host {host}:{port}")),
        Denial::Connect(_) | Denial::Call(_) => None,
    }
}

/// Parses a grant of the file. Returns `None` for an unknown kind, a relative path, or a host
/// without a valid port.
fn read(text: &str) -> Option<Denial> {
    let (what, rest) = text.split_once(' ')?;
    match what {
        "write" => Some(Denial::Write(AbsPath::new(rest)?)),
        "read" => Some(Denial::Read(AbsPath::new(rest)?)),
        "host" => {
            let (host, port) = rest.rsplit_once(':')?;
            Some(Denial::Host(host.to_owned(), port.parse().ok()?))
        }
        _ => None,
    }
}
