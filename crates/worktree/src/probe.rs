//! The names of folders in which the system is tried out.

use crate::system;

/// Prefix of the folders; a process id follows, and a dot before any further part.
pub(crate) const PROBE_PREFIX: &str = ".probe-";

/// Returns whether a folder name is one of ours whose process is gone.
pub(crate) fn is_left_over(name: &str) -> bool {
    name.strip_prefix(PROBE_PREFIX).is_some_and(|rest| {
        let process = rest.split('.').next().unwrap_or(rest);
        // A part that is not a number never named a process.
        !process.parse().is_ok_and(system::is_running)
    })
}
