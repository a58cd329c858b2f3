//! What this machine offers, and what is wrong with it.

use crate::dirs::Dirs;

/// One thing found out about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What was looked at.
    pub name: &'static str,
    /// What was found.
    pub value: String,
    /// Whether that is good.
    pub verdict: Verdict,
}

/// Whether a fact is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Works, but not as well as it could: what to do about it.
    Warn(String),
    /// Something does not work: what to do about it.
    Bad(String),
}

/// Looks at the machine. Blocks, up to some seconds.
pub fn facts(dirs: &Dirs) -> Vec<Fact> {
    let _ = dirs;
    Vec::new()
}
