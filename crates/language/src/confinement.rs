//! The conditions under which servers work on a tree that an agent may change.
//!
//! Must not know: how a sandbox is enforced, which servers there are.
//! Invariant: without a sandbox, no server starts, unless the user turned it off.

use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use host::environment::Variable;
use host::process::SandboxSpawner;

/// The conditions under which the servers of an agent's tree run.
pub struct ServerConfinement {
    /// The folder of the user in which programs are looked up, in place of the tree.
    pub checkout: AbsPath,
    /// The environment, in place of that of direnv and mise, whose files an agent may change.
    pub variables: Vec<Variable>,
    /// The sandbox of every server.
    pub sandbox: ServerSandbox,
}

/// The sandbox of servers.
#[derive(Clone)]
pub enum ServerSandbox {
    /// Servers have the rights of the user, who turned the sandbox off.
    Off,
    /// Servers run inside this sandbox.
    On(Arc<dyn SandboxSpawner>),
    /// No server starts, for this reason, a sentence.
    Unavailable(String),
}

impl fmt::Debug for ServerSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("Off"),
            Self::On(_) => f.write_str("On"),
            Self::Unavailable(reason) => write!(f, "Unavailable({reason:?})"),
        }
    }
}
