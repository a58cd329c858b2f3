//! Policy files and their application to a policy.
//!
//! A file states the differences from the default policy: lists are added to it, omitted keys keep
//! their defaults. Paths may start with `~/`.

use std::collections::BTreeSet;

use base::AbsPath;
use serde::{Deserialize, Serialize};

use super::{HostRule, Network, Policy, ResourceLimits, SandboxLayer};

/// The contents of a policy file, JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyFile {
    /// Paths added to `Policy::readable`.
    pub readable: Vec<String>,
    /// Paths added to `Policy::writable`.
    pub writable: Vec<String>,
    /// Folders added to `Policy::scratch`.
    pub scratch: Vec<String>,
    /// Paths added to `Policy::hidden`.
    pub hidden: Vec<String>,
    /// Added to `ProtectionRules::names`; an entry with a slash is a path below the workspace, or an
    /// absolute or `~/` path. `./` is the workspace.
    pub protected: Vec<String>,
    /// Git folders added to `ProtectionRules::repositories`.
    pub repositories: Vec<String>,
    /// Hosts that may be reached. An empty list grants none.
    pub hosts: Vec<HostRule>,
    /// Variables that are set or overridden.
    pub environment: Vec<(String, String)>,
    /// Replaces the default limits.
    pub limits: Option<ResourceLimits>,
    /// Layers added to `Policy::without`.
    pub without: BTreeSet<SandboxLayer>,
}

/// The reason that a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// It is not JSON, or has an unknown key or a wrong value.
    #[error("the policy cannot be read: {0}")]
    Syntax(#[from] serde_json::Error),
    /// A path that is neither absolute nor starts with `~/`.
    #[error("the policy names \"{0}\", which is not an absolute path")]
    RelativePath(String),
}

impl PolicyFile {
    /// Parses a policy file.
    ///
    /// # Errors
    /// [`PolicyFileError::Syntax`], which names the position.
    pub fn parse(text: &str) -> Result<Self, PolicyFileError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Applies the file to a policy.
    ///
    /// # Errors
    /// [`PolicyFileError::RelativePath`]; the policy may then be changed in part.
    pub fn apply(&self, policy: &mut Policy, home: &AbsPath) -> Result<(), PolicyFileError> {
        policy.readable.extend(paths(&self.readable, home)?);
        policy.writable.extend(paths(&self.writable, home)?);
        policy.scratch.extend(paths(&self.scratch, home)?);
        policy.hidden.extend(paths(&self.hidden, home)?);
        for entry in &self.protected {
            if entry.contains('/') && entry.starts_with("~/") {
                let named = paths(std::slice::from_ref(entry), home)?;
                policy.protected.paths.extend(named);
            } else if entry.contains('/') {
                policy.protected.paths.push(policy.workspace.join(entry))
            } else {
                policy.protected.names.push(entry.clone())
            }
        }
        let repositories = paths(&self.repositories, home)?;
        policy.protected.repositories.extend(repositories);
        if !self.hosts.is_empty() {
            policy.network = Network::Hosts(self.hosts.clone());
        }
        for (name, value) in &self.environment {
            policy
                .environment
                .retain(|(known, _)| known != name.as_str());
            policy.environment.push((name.into(), value.into()));
        }
        if let Some(limits) = &self.limits {
            policy.limits = limits.clone();
        }
        policy.without.extend(&self.without);
        Ok(())
    }
}

/// Converts paths of a file; `~/` is the home folder. Fails with `RelativePath` at the first that
/// is not absolute.
fn paths(written: &[String], home: &AbsPath) -> Result<Vec<AbsPath>, PolicyFileError> {
    let path = |text: &String| {
        let path = match text.strip_prefix("~/") {
            Some(rest) => Some(home.join(rest)),
            None => AbsPath::new(text),
        };
        path.ok_or_else(|| PolicyFileError::RelativePath(text.clone()))
    };
    written.iter().map(path).collect()
}
