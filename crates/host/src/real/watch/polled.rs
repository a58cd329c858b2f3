//! Polling of paths that the system does not watch.

use std::collections::BTreeMap;
use std::fs;

use base::AbsPath;

use crate::path_at::PathAt;
use crate::stat::Stamp;

/// Paths with the state in which they were seen last.
#[derive(Debug, Default)]
pub(super) struct PolledPaths(pub(super) BTreeMap<AbsPath, Option<Stamp>>);

impl PolledPaths {
    /// Replaces the paths. Those that stay keep their state; new ones are looked at now.
    pub(super) fn set(&mut self, paths: impl IntoIterator<Item = AbsPath>) {
        let old = std::mem::take(&mut self.0);
        for path in paths {
            let known = old.get(&path).copied().unwrap_or_else(|| stamp(&path));
            self.0.insert(path, known);
        }
    }

    /// Looks at every path, and passes those that changed, with whether they exist.
    pub(super) fn poll(&mut self, mut changed: impl FnMut(&AbsPath, bool)) {
        for (path, known) in &mut self.0 {
            let now = stamp(path);
            if now != *known {
                *known = now;
                changed(path, now.is_some());
            }
        }
    }
}

/// Returns the folder whose watch reports a path.
pub(super) fn folder_of(path: &AbsPath) -> AbsPath {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => path.clone(),
        _ => path.parent().unwrap_or_else(|| path.clone()),
    }
}

/// Returns a value that changes with the path's target; `None` if there is none.
fn stamp(path: &AbsPath) -> Option<Stamp> {
    let status = PathAt::absolute(path).status().ok()?;
    let mut stamp = status.stamp();
    // Makes a replacement with the same time and length count as a change.
    stamp.mtime_ns = stamp.mtime_ns.max(status.ctime_ns);
    Some(stamp)
}
