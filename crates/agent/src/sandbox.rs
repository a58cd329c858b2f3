//! The sandbox of a session as tools see it, and the access that the user grants to commands.
//!
//! Knows: process bounds as a trait. Must not know: how bounds are enforced, where decisions are
//! stored.

use std::sync::Arc;

use host::process::{Denial, SandboxSpawner};

use crate::error::Error;

/// Provides the sandbox for a session's commands.
pub trait CommandSandbox: Send + Sync {
    /// Returns bounds that allow `granted` in addition to the session's defaults.
    ///
    /// # Errors
    /// `Error::SandboxUnavailable`; the message says what is missing and how to get it.
    fn bounds(&self, granted: &[Denial]) -> Result<Arc<dyn SandboxSpawner>, Error>;

    /// Returns bounds for a read-only command that runs without asking: it cannot write, and files
    /// known to hold secrets appear empty under every name.
    ///
    /// # Errors
    /// `Error::SandboxUnavailable`.
    fn read_only_bounds(&self) -> Result<Arc<dyn SandboxSpawner>, Error>;

    /// Returns the access that the user granted to commands like this one; empty if none.
    fn granted(&self, command: &str) -> Vec<Denial>;

    /// Returns the rules under which a grant for this command would be stored, for display in a
    /// permission request.
    fn rules(&self, command: &str) -> Vec<String>;

    /// Grants commands like this one additional access from now on.
    ///
    /// # Errors
    /// `Error::PermissionNotSaved`.
    fn grant(&self, command: &str, more: &[Denial]) -> Result<(), Error>;

    /// Returns whether the session works in its own worktree, which holds none of the user's files.
    fn has_own_worktree(&self) -> bool;
}
