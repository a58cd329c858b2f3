//! A policy as it is written in a file.
//!
//! The file says what differs from the usual policy: lists are added to it, what is left out stays as
//! it is. Paths may start with `~/`.

use std::collections::BTreeSet;

use base::AbsPath;
use serde::{Deserialize, Serialize};

use super::{HostRule, Layer, Limits, Network, Policy};

/// The contents of a policy file, JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyFile {
    /// As `Policy::readable`.
    pub readable: Vec<String>,
    /// As `Policy::writable`.
    pub writable: Vec<String>,
    /// As `Policy::scratch`.
    pub scratch: Vec<String>,
    /// As `Policy::hidden`.
    pub hidden: Vec<String>,
    /// As `Protected::names`; an entry with a slash is a path below the workspace, or as elsewhere.
    pub protected: Vec<String>,
    /// As `Protected::repositories`.
    pub repositories: Vec<String>,
    /// Hosts that can be reached. An empty list gives none.
    pub hosts: Vec<HostRule>,
    /// Variables that are set, whatever they were before.
    pub environment: Vec<(String, String)>,
    /// Replaces the usual limits.
    pub limits: Option<Limits>,
    /// As `Policy::without`.
    pub without: BTreeSet<Layer>,
}

impl PolicyFile {
    /// Reads a policy file; the error says where it is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("the policy cannot be read: {error}"))
    }

    /// Puts what the file says on top of a policy.
    ///
    /// # Errors
    /// A sentence that names a path which is neither absolute nor starts with `~/`.
    pub fn apply(&self, policy: &mut Policy, home: &AbsPath) -> Result<(), String> {
        policy.readable.extend(paths(&self.readable, home)?);
        policy.writable.extend(paths(&self.writable, home)?);
        policy.scratch.extend(paths(&self.scratch, home)?);
        policy.hidden.extend(paths(&self.hidden, home)?);
        for entry in &self.protected {
            match entry.contains('/') {
                true if entry.starts_with("~/") => {
                    let named = paths(std::slice::from_ref(entry), home)?;
                    policy.protected.paths.extend(named);
                }
                true => policy.protected.paths.push(policy.workspace.join(entry)),
                false => policy.protected.names.push(entry.clone()),
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

fn paths(written: &[String], home: &AbsPath) -> Result<Vec<AbsPath>, String> {
    let path = |text: &String| {
        let path = match text.strip_prefix("~/") {
            Some(rest) => Some(home.join(rest)),
            None => AbsPath::new(text),
        };
        path.ok_or_else(|| format!("the policy names \"{text}\", which is not an absolute path"))
    };
    written.iter().map(path).collect()
}
