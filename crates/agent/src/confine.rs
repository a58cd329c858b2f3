//! The sandbox of a session, as tools see it, and what the person lets a command do beyond it.
//!
//! Knows: bounds of processes as a trait. Must not know: how bounds are kept, where decisions are written down.

use std::sync::Arc;

use host::process::{Bounds, Denial};

/// Keeps the commands of a session in bounds.
pub trait Sandbox: Send + Sync {
    /// Bounds that let these things through beside what they let through for everybody.
    ///
    /// # Errors
    /// A sentence when bounds cannot be had: what is missing and how to get it.
    fn bounds(&self, granted: &[Denial]) -> Result<Arc<dyn Bounds>, String>;

    /// Bounds for a command that runs unasked because it only reads: nothing can be written, and files that are known
    /// to hold secrets look empty, by whatever name they are reached.
    ///
    /// # Errors
    /// A sentence when bounds cannot be had.
    fn reading(&self) -> Result<Arc<dyn Bounds>, String>;

    /// What the person let commands like this one do, from now on.
    fn granted(&self, command: &str) -> Vec<Denial>;

    /// The rules by which commands are like this one, for a question about what they may do.
    fn rules(&self, command: &str) -> Vec<String>;

    /// The person lets commands like this one do these things from now on.
    ///
    /// # Errors
    /// A sentence when that cannot be kept.
    fn grant(&self, command: &str, more: &[Denial]) -> Result<(), String>;

    /// Whether the session works in a folder of its own, where nothing is the person's.
    fn has_own_ground(&self) -> bool;
}
