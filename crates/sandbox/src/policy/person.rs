//! The usual policy for a workspace of a person.
//!
//! Must not know: the environment. Who calls says where the home folder is and what is in the environment.

use std::collections::BTreeSet;
use std::ffi::OsString;

use base::AbsPath;
use host::environment::{Recipient, is_allowed};

use super::{Limits, Network, Policy, Protected};

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

/// In the home folder: what opens other doors.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".netrc",
    ".docker",
    ".kube",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraform.d",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".config/gh",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/git/credentials",
    ".config/hub",
    ".config/op",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/Code",
    ".config/Cursor",
    ".config/rclone",
    ".config/helm",
    ".config/doctl",
    ".config/configstore",
    ".config/Signal",
    ".config/Slack",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".thunderbird",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".cursor",
    ".continue",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".Xauthority",
    ".ICEauthority",
];

/// Outside the home folder: what only the administrator reads.
const ADMINISTRATORS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/docker/key.json",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/systemd",
    "/var/spool/cron",
    "/var/mail",
    "/boot",
];

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

impl Policy {
    /// The usual policy: the workspace can be written, secrets are hidden, caches are scratch, nothing
    /// is reached, and of the environment only what is no secret goes on.
    ///
    /// `names` are those of `Protected::names`.
    pub fn usual(workspace: AbsPath, person: &Person, names: &[&str]) -> Self {
        let home = |names: &[&str]| -> Vec<AbsPath> {
            names.iter().map(|name| person.home.join(name)).collect()
        };
        let mut hidden = home(SECRETS);
        hidden.extend(ADMINISTRATORS.iter().filter_map(AbsPath::new));
        hidden.extend(person.own.iter().cloned());
        Self {
            workspace,
            readable: Vec::new(),
            writable: Vec::new(),
            scratch: home(SCRATCH),
            hidden,
            protected: Protected {
                names: names.iter().map(|name| (*name).to_owned()).collect(),
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
