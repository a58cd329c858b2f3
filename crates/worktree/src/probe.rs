//! The names of folders with trial mounts.

use std::path::Path;

/// Prefix of folders with trial mounts; a process id follows, and a dot before any further part.
pub(crate) const PROBE_PREFIX: &str = ".probe-";

/// Whether a folder name is that of a trial mount whose process is gone.
pub(crate) fn is_left_over(name: &str) -> bool {
    name.strip_prefix(PROBE_PREFIX).is_some_and(|rest| {
        let process = rest.split('.').next().unwrap_or(rest);
        !Path::new("/proc").join(process).exists()
    })
}
