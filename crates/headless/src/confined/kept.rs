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
use sandbox::{Policy, PolicyFile};
use serde::{Deserialize, Serialize};

use crate::permissions::{self, Permissions};

/// What is written about the sandbox.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    off: bool,
    /// Names of variables that commands get beside the usual ones.
    environment: Vec<String>,
    policy: PolicyFile,
    commands: Commands,
}

/// What commands may do beyond the policy, by the rules that they are like.
type Commands = BTreeMap<String, Vec<String>>;

/// What was decided, and what was decided since.
pub(super) struct Kept {
    path: AbsPath,
    project: AbsPath,
    written: Written,
}

impl Kept {
    /// What the file says for a project, with sentences about what of it cannot be read. A file that is not understood
    /// says nothing here: whoever judges calls reports it.
    pub(super) fn of(permissions: &Permissions, project: &AbsPath) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut told = |path: &[&str], error: serde_json::Error| {
            let message = format!("the decisions about the sandbox cannot be read: {error}");
            problems.push(permissions::advised(&permissions.problem(path, &message)));
        };
        let mut written = match permissions.get("sandbox").map(Written::deserialize) {
            None => Written::default(),
            Some(Ok(written)) => written,
            Some(Err(error)) => {
                told(&["sandbox"], error);
                Written::default()
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
            Some(Err(error)) => told(&["projects", &name, "commands"], error),
        }
        let kept = Self {
            path: permissions.path().clone(),
            project: project.clone(),
            written,
        };
        (kept, problems)
    }

    pub(super) fn is_off(&self) -> bool {
        self.written.off
    }

    /// Names of variables that commands get beside the usual ones.
    pub(super) fn environment(&self) -> &[String] {
        &self.written.environment
    }

    /// Puts what the file says on top of a policy.
    pub(super) fn apply(&self, policy: &mut Policy, home: &AbsPath) -> Result<(), String> {
        self.written.policy.apply(policy, home)
    }

    /// What a command may do beyond the policy: what was decided about each part of it.
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

    /// Adds to what commands like this may do in the project, here and in the file.
    pub(super) fn grant(&mut self, command: &str, more: &[Denial]) -> Result<(), String> {
        let texts: Vec<String> = more.iter().filter_map(write).collect();
        let project = self.project.to_string();
        let mut kept = Ok(());
        for rule in rules_of(command) {
            let list = ["projects", &project, "commands", &rule];
            kept = kept.and(permissions::add(&self.path, &list, &texts));
            let known = self.written.commands.entry(rule).or_default();
            for text in &texts {
                if !known.contains(text) {
                    known.push(text.clone());
                }
            }
        }
        kept
    }
}

fn write(denial: &Denial) -> Option<String> {
    match denial {
        Denial::Write(path) => Some(format!("write {path}")),
        Denial::Read(path) => Some(format!("read {path}")),
        Denial::Host(host, port) => Some(format!("host {host}:{port}")),
        Denial::Connect(_) | Denial::Call(_) => None,
    }
}

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
