//! What the person decided about the sandbox, in their own file: `permissions.json`, under `sandbox`.
//!
//! ```json
//! { "sandbox": { "off": false,
//!                "environment": ["DATABASE_URL"],
//!                "policy": { "hosts": [{ "host": "*.crates.io" }] },
//!                "commands": { "Bash(cargo fetch:*)": ["host index.crates.io:443"] } } }
//! ```

use std::collections::BTreeMap;

use agent::rules::rules_of;
use base::AbsPath;
use host::process::Denial;
use host::{Dirs, Files as _, RealFiles};
use sandbox::{Policy, PolicyFile};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The largest file of decisions that is read.
const MOST: u64 = 1 << 20;

/// What is written.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    off: bool,
    /// Names of variables that commands get beside the usual ones.
    environment: Vec<String>,
    policy: PolicyFile,
    commands: BTreeMap<String, Vec<String>>,
}

/// What was decided, and what was decided since.
pub(super) struct Kept {
    path: AbsPath,
    written: Written,
}

impl Kept {
    /// What the person's file says, with sentences about what of it cannot be read.
    pub(super) fn read(dirs: &Dirs) -> (Self, Vec<String>) {
        let path = dirs.config.join("permissions.json");
        let (written, problems) = match whole(&path) {
            Ok(value) => match value.get("sandbox") {
                None => (Written::default(), Vec::new()),
                Some(found) => match Written::deserialize(found) {
                    Ok(written) => (written, Vec::new()),
                    Err(error) => {
                        let problem = format!(
                            "what {path} says about the sandbox cannot be read, and the usual policy holds: {error}"
                        );
                        (Written::default(), vec![problem])
                    }
                },
            },
            // Whoever reads the rules in it says so already.
            Err(_) => (Written::default(), Vec::new()),
        };
        (Self { path, written }, problems)
    }

    pub(super) fn path(&self) -> &AbsPath {
        &self.path
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

    /// Adds to what commands like this may do, here and in the file.
    pub(super) fn grant(&mut self, command: &str, more: &[Denial]) -> Result<(), String> {
        let texts: Vec<String> = more.iter().filter_map(write).collect();
        for rule in rules_of(command) {
            let known = self.written.commands.entry(rule).or_default();
            for text in &texts {
                if !known.contains(text) {
                    known.push(text.clone());
                }
            }
        }
        self.save()
    }

    /// Writes the decisions about commands into the file as it is now; the rest of it stays.
    fn save(&self) -> Result<(), String> {
        let path = &self.path;
        let mut value = whole(path)?;
        let other =
            || format!("{path} holds something else, so the decision holds for this session only");
        let object = value.as_object_mut().ok_or_else(other)?;
        let sandbox = object.entry("sandbox").or_insert_with(|| json!({}));
        let sandbox = sandbox.as_object_mut().ok_or_else(other)?;
        let commands = sandbox.entry("commands").or_insert_with(|| json!({}));
        let commands = commands.as_object_mut().ok_or_else(other)?;
        for (rule, texts) in &self.written.commands {
            commands.insert(rule.clone(), json!(texts));
        }
        let text = format!("{value:#}\n");
        let folder = path
            .parent()
            .map_or(Ok(()), |folder| RealFiles.create_folder(&folder));
        folder
            .and_then(|()| RealFiles.write_private(path, text.as_bytes()))
            .map_err(|error| error.to_string())
    }
}

fn whole(path: &AbsPath) -> Result<Value, String> {
    let text = match RealFiles.read(path, MOST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.is_not_found() => "{}".to_owned(),
        Err(error) => return Err(error.to_string()),
    };
    serde_json::from_str(&text).map_err(|error| format!("{path} cannot be read: {error}"))
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
