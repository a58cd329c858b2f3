//! Translates a policy into a profile for macOS's sandbox (Seatbelt).
//!
//! Knows: policies, and the paths that they name as they lie on the disk (`ProfilePaths`). Must not
//! know: processes.
//! Invariant: the last matching rule decides, so rules are sorted by the depth of their path: a
//! rule about an inner path follows those about its ancestors.
//! Invariant: a path that cannot be expressed unambiguously in a profile refuses the policy.
//! Invariant: a protected path is denied as a literal, as a subpath and, in all spellings that a
//! volume may take for it, as a regular expression.
//!
//! Linux gives a command its own view of the disk; macOS has rules on paths instead. The order of
//! a profile is: what every program needs, reading, hidden and writable and protected paths from
//! the root down, folders that cannot be moved, the network.
//! Four rules keep a protected path: it cannot be written, it has no second name, no folder between
//! it and the writable root can be renamed or removed, and a missing one cannot be created.
//! Start at `profile`.

mod base_rules;
mod network;
mod path_rules;
mod paths;
mod spelling;

use base::AbsPath;

pub(crate) use paths::ProfilePaths;

use crate::{Policy, SandboxError};

/// The context that a profile needs besides the policy.
#[derive(Clone, Debug)]
pub(crate) struct ProfileContext {
    /// A folder of this run alone, for temporary files; `TMPDIR` must name it.
    pub(crate) private: AbsPath,
    /// The port of the proxy on this machine's loopback, if hosts are granted.
    pub(crate) proxy: Option<u16>,
    /// A text that the system's log repeats with each denial: letters, digits, `-` and `_`.
    pub(crate) message: String,
}

/// Returns the policy as a profile. `paths` are those of the policy, found on the disk.
///
/// # Errors
/// If a path cannot be expressed in a profile, a pattern is longer than the system accepts, or
/// hosts are granted without a proxy.
pub(crate) fn profile(
    policy: &Policy,
    paths: &ProfilePaths,
    context: &ProfileContext,
) -> Result<String, SandboxError> {
    let mut text = base_rules::BASE.to_owned();
    path_rules::write(paths, context, &mut text)?;
    network::write(policy, context, &mut text)?;
    Ok(with_message(&text, &context.message))
}

/// Adds a message to every denial. Each is a line of its own.
fn with_message(text: &str, message: &str) -> String {
    let line = |line: &str| match line.strip_suffix(')') {
        Some(rule) if line.starts_with("(deny ") => {
            format!("{rule} (with message \"{message}\"))\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
pub(crate) mod tests;
