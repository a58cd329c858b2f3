//! The default policy for a user's workspace.
//!
//! Must not know: the environment. The caller passes the home folder and the environment.

use std::collections::BTreeSet;
use std::ffi::OsString;

use base::AbsPath;
use host::environment::{Recipient, is_allowed};

use super::{Network, Policy, ProtectionRules, ResourceLimits, secrets};
use crate::names::START_FILES;

/// The facts about the user that a policy needs.
#[derive(Clone, Debug)]
pub struct UserEnvironment {
    /// The user's home folder.
    pub home: AbsPath,
    /// Burin's own folders for settings, state and caches: always hidden.
    pub own: Vec<AbsPath>,
    /// The environment that an unsandboxed command would have; the allowed variables are taken from
    /// it.
    pub environment: Vec<(OsString, OsString)>,
}

/// Folders below the home folder that tools write to while they work, without a need for the result
/// to last.
const SCRATCH: &[&str] = &[
    ".cache",
    ".npm",
    ".cargo",
    "go",
    ".gradle",
    ".m2",
    ".local/state",
];

impl UserEnvironment {
    /// Returns a warning for the user if a folder is their home folder or contains it.
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
    /// Returns the default policy: the workspace is writable, secrets are hidden, caches are
    /// scratch folders, the network is unreachable, and only variables without secrets are passed
    /// on. Start-up files of the home folder are read-only where it is writable at all.
    ///
    /// `names` are those of `ProtectionRules::names`.
    pub fn usual(workspace: AbsPath, user: &UserEnvironment, names: &[&str]) -> Self {
        let home = |names: &[&str]| -> Vec<AbsPath> {
            names.iter().map(|name| user.home.join(name)).collect()
        };
        let mut hidden = secrets::paths(&user.home);
        hidden.extend(user.own.iter().cloned());
        Self {
            workspace,
            readable: Vec::new(),
            writable: Vec::new(),
            scratch: home(SCRATCH),
            hidden,
            protected: ProtectionRules {
                names: names.iter().map(|name| (*name).to_owned()).collect(),
                start_files: home(START_FILES),
                ..ProtectionRules::default()
            },
            network: Network::None,
            environment: allowed_variables(&user.environment),
            limits: ResourceLimits::default(),
            without: BTreeSet::new(),
        }
    }
}

/// Returns the variables that third-party programs may have.
fn allowed_variables(environment: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let kept = environment
        .iter()
        .filter(|(name, value)| is_allowed(name, value, Recipient::Foreign));
    kept.cloned().collect()
}
