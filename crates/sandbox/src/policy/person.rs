//! The usual policy for a workspace of a person.
//!
//! Must not know: the environment. Who calls says where the home folder is and what is in the environment.

use std::collections::BTreeSet;
use std::ffi::OsString;

use base::AbsPath;
use host::environment::{Recipient, is_allowed};

use super::{Limits, Network, Policy, Protected, secrets};
use crate::names::START_FILES;

/// Whose machine it is, as far as a policy needs to know.
#[derive(Clone, Debug)]
pub struct Person {
    /// The home folder.
    pub home: AbsPath,
    /// The program's own folders for settings, state and caches: always hidden.
    pub own: Vec<AbsPath>,
    /// The environment that a command would have had; what may go on is picked from it.
    pub environment: Vec<(OsString, OsString)>,
}

/// In the home folder: what tools write to while they work, without meaning it to last.
const SCRATCH: &[&str] = &[
    ".cache",
    ".npm",
    ".cargo",
    "go",
    ".gradle",
    ".m2",
    ".local/state",
];

impl Person {
    /// A sentence for the person where a folder is their home folder, or holds it.
    pub fn warning(&self, workspace: &AbsPath) -> Option<String> {
        self.home.is_within(workspace).then(|| {
            format!(
                "{workspace} is your home folder or holds it, so commands can change all of your files there except \
                 keys, what your shell and your desktop run at the start, and settings of editors and Git; open the \
                 folder of one project instead"
            )
        })
    }
}

impl Policy {
    /// The usual policy: the workspace can be written, secrets are hidden, caches are scratch, nothing
    /// is reached, and of the environment only what is no secret goes on. What a home folder runs at the start of a
    /// session stays as it is, where it can be written at all.
    ///
    /// `names` are those of `Protected::names`.
    pub fn usual(workspace: AbsPath, person: &Person, names: &[&str]) -> Self {
        let home = |names: &[&str]| -> Vec<AbsPath> {
            names.iter().map(|name| person.home.join(name)).collect()
        };
        let mut hidden = secrets::paths(&person.home);
        hidden.extend(person.own.iter().cloned());
        Self {
            workspace,
            readable: Vec::new(),
            writable: Vec::new(),
            scratch: home(SCRATCH),
            hidden,
            protected: Protected {
                names: names.iter().map(|name| (*name).to_owned()).collect(),
                paths: home(START_FILES),
                ..Protected::default()
            },
            network: Network::None,
            environment: kept(&person.environment),
            limits: Limits::default(),
            without: BTreeSet::new(),
        }
    }
}

fn kept(environment: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let kept = environment
        .iter()
        .filter(|(name, value)| is_allowed(name, value, Recipient::Foreign));
    kept.cloned().collect()
}
