//! The report of a sandboxed command, as JSON.

use std::collections::BTreeSet;

use ::sandbox::names::NameClass;
use ::sandbox::scan::{Finding, FindingChange};
use ::sandbox::{DeniedAccess, PathAccess, Policy, SandboxLayer};
use base::AbsPath;
use host::Files;
use serde_json::{Value, json};

/// The report of a sandboxed command.
pub(super) struct SandboxReport {
    pub(super) without: BTreeSet<SandboxLayer>,
    pub(super) end: CommandEnd,
    pub(super) denials: Vec<DeniedAccess>,
    pub(super) findings: Vec<Finding>,
}

/// The end of a sandboxed command. If the command was not run, holds the reason and an exit code.
pub(super) enum CommandEnd {
    Exit(i32),
    Signal(i32),
    Refused { sentence: String, code: u8 },
}

impl CommandEnd {
    /// Converts the end of a command that ran.
    pub(super) fn of(end: ::sandbox::CommandExit) -> Self {
        match end {
            ::sandbox::CommandExit::Exit(code) => Self::Exit(code),
            ::sandbox::CommandExit::Signal(signal) => Self::Signal(signal),
        }
    }
}

impl SandboxReport {
    /// Creates the report of a command under this policy. The initial end is exit code 0.
    pub(super) fn of(policy: &Policy) -> Self {
        Self {
            without: policy.without.clone(),
            end: CommandEnd::Exit(0),
            denials: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Returns the reason why the command was not run, or `None` if the command ran.
    pub(super) fn refusal(&self) -> Option<&str> {
        match &self.end {
            CommandEnd::Refused { sentence, .. } => Some(sentence),
            CommandEnd::Exit(_) | CommandEnd::Signal(_) => None,
        }
    }

    /// Returns the exit code to pass on. For a signal, that is 128 plus the number of the signal.
    pub(super) fn code(&self) -> u8 {
        match &self.end {
            // The system keeps only eight bits of an exit code.
            CommandEnd::Exit(code) => (code & 0xff) as u8,
            CommandEnd::Signal(signal) => ((128 + signal) & 0xff) as u8,
            CommandEnd::Refused { code, .. } => *code,
        }
    }

    /// Formats the report as JSON.
    pub(super) fn json(&self) -> Value {
        let in_force =
            |layer: &&SandboxLayer| self.refusal().is_none() && !self.without.contains(layer);
        let layers: Vec<&str> = SandboxLayer::ALL
            .iter()
            .filter(in_force)
            .map(|layer| layer.name())
            .collect();
        let without: Vec<&str> = self.without.iter().map(|layer| layer.name()).collect();
        let end = match &self.end {
            CommandEnd::Exit(code) => json!({ "exit": code }),
            CommandEnd::Signal(signal) => json!({ "signal": signal }),
            CommandEnd::Refused { sentence, .. } => json!({ "refused": sentence }),
        };
        json!({
            "layers": layers,
            "without": without,
            "end": end,
            "code": self.code(),
            "denials": self.denials.iter().map(denial).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }

    /// Writes the report to a file that only the user can read.
    pub(super) fn write(&self, path: &AbsPath, files: &dyn Files) -> Result<(), String> {
        let text = format!("{:#}\n", self.json());
        let written = files.write_private(path, text.as_bytes());
        written.map_err(|error| format!("cannot write the report: {error}"))
    }
}

fn denial(denied: &DeniedAccess) -> Value {
    match denied {
        DeniedAccess::Path { path, access } => {
            let access = match access {
                PathAccess::Read => "read",
                PathAccess::Write => "write",
                PathAccess::Create => "create",
                PathAccess::Remove => "remove",
                PathAccess::Connect => "connect",
            };
            json!({ "kind": "path", "path": path.to_string(), "access": access, "text": denied.to_string() })
        }
        DeniedAccess::Host { host, port } => {
            json!({ "kind": "host", "host": host, "port": port, "text": denied.to_string() })
        }
        DeniedAccess::Call { name } => {
            json!({ "kind": "call", "name": name, "text": denied.to_string() })
        }
    }
}

fn finding(finding: &Finding) -> Value {
    let change = match finding.change {
        FindingChange::New => "new",
        FindingChange::Changed => "changed",
        FindingChange::Gone => "gone",
    };
    let guard = match finding.class() {
        NameClass::Closed => "closed",
        NameClass::Watched => "watched",
    };
    json!({
        "kind": finding.kind(),
        "path": finding.path.to_string(),
        "change": change,
        "guard": guard,
        "text": finding.to_string(),
    })
}
