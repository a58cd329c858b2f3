//! What came of a command, for programs.

use std::collections::BTreeSet;

use ::sandbox::names::Guard;
use ::sandbox::scan::{Change, Finding};
use ::sandbox::{Access, Denied, Layer, Policy};
use base::AbsPath;
use host::Files;
use serde_json::{Value, json};

/// What came of a command.
pub(super) struct Report {
    pub(super) without: BTreeSet<Layer>,
    pub(super) end: End,
    pub(super) denials: Vec<Denied>,
    pub(super) findings: Vec<Finding>,
}

/// How it ended.
pub(super) enum End {
    Exit(i32),
    Signal(i32),
    Refused { sentence: String, code: u8 },
}

impl End {
    pub(super) fn of(end: ::sandbox::End) -> Self {
        match end {
            ::sandbox::End::Exit(code) => Self::Exit(code),
            ::sandbox::End::Signal(signal) => Self::Signal(signal),
        }
    }
}

impl Report {
    pub(super) fn of(policy: &Policy) -> Self {
        Self {
            without: policy.without.clone(),
            end: End::Exit(0),
            denials: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Why nothing was run.
    pub(super) fn refusal(&self) -> Option<&str> {
        match &self.end {
            End::Refused { sentence, .. } => Some(sentence),
            End::Exit(_) | End::Signal(_) => None,
        }
    }

    /// The exit code to pass on.
    pub(super) fn code(&self) -> u8 {
        match &self.end {
            // The system keeps eight bits of what a process says.
            End::Exit(code) => (code & 0xff) as u8,
            End::Signal(signal) => ((128 + signal) & 0xff) as u8,
            End::Refused { code, .. } => *code,
        }
    }

    pub(super) fn json(&self) -> Value {
        let in_force = |layer: &&Layer| self.refusal().is_none() && !self.without.contains(layer);
        let layers: Vec<&str> = Layer::ALL
            .iter()
            .filter(in_force)
            .map(|layer| layer.name())
            .collect();
        let without: Vec<&str> = self.without.iter().map(|layer| layer.name()).collect();
        let end = match &self.end {
            End::Exit(code) => json!({ "exit": code }),
            End::Signal(signal) => json!({ "signal": signal }),
            End::Refused { sentence, .. } => json!({ "refused": sentence }),
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

    pub(super) fn write(&self, path: &AbsPath, files: &dyn Files) -> Result<(), String> {
        let text = format!("{:#}\n", self.json());
        let written = files.write_private(path, text.as_bytes());
        written.map_err(|error| format!("cannot write the report: {error}"))
    }
}

fn denial(denied: &Denied) -> Value {
    match denied {
        Denied::Path { path, access } => {
            let access = match access {
                Access::Read => "read",
                Access::Write => "write",
                Access::Create => "create",
                Access::Remove => "remove",
                Access::Connect => "connect",
            };
            json!({ "kind": "path", "path": path.to_string(), "access": access, "text": denied.to_string() })
        }
        Denied::Host { host, port } => {
            json!({ "kind": "host", "host": host, "port": port, "text": denied.to_string() })
        }
        Denied::Call { name } => {
            json!({ "kind": "call", "name": name, "text": denied.to_string() })
        }
    }
}

fn finding(finding: &Finding) -> Value {
    let change = match finding.change {
        Change::New => "new",
        Change::Changed => "changed",
        Change::Gone => "gone",
    };
    let guard = match finding.guard() {
        Guard::Closed => "closed",
        Guard::Watched => "watched",
    };
    json!({
        "kind": finding.kind(),
        "path": finding.path.to_string(),
        "change": change,
        "guard": guard,
        "text": finding.to_string(),
    })
}
