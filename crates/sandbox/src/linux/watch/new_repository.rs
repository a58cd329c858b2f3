//! A git folder created while a command runs: `git init` in a folder without a repository.
//!
//! No mount protects the entries that decide which programs git runs, since they did not exist when
//! the mounts were made. Therefore only what `git init` creates is let through. `scan` inspects the
//! result, and the next command finds it protected like any other.

use std::os::fd::AsRawFd;
use std::path::{Component, Path};

use super::calls::{self, PathUse};
use super::path_target::ResolvedTarget;
use crate::PathAccess;
use crate::linux::kernel::SyscallNotification;
use crate::names::GIT_CONTROL;
use crate::scan::armed::is_plain;

/// Maximum size of a configuration that is examined, in bytes.
const MAX_CONFIG_BYTES: u64 = 256 << 10;

/// Returns whether a use of a path in such a folder is refused; `inner` is the path below it.
pub(super) fn denies(
    question: &SyscallNotification,
    used: &PathUse,
    inner: &Path,
    place: &ResolvedTarget,
    source: Option<&ResolvedTarget>,
) -> bool {
    if inner.as_os_str().is_empty() {
        return !calls::makes_folder(question);
    }
    if calls::makes_irregular(question) {
        // `git init` tests with such a name whether links can be created.
        return !(place.name.len() == 7 && place.name.starts_with(b"t"));
    }
    let mut parts = inner.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    match (parts.next(), parts.next(), parts.next()) {
        (Some("config"), None, _) => match source {
            Some(source) => !is_harmless(source),
            None => used.access != PathAccess::Remove,
        },
        (Some("hooks" | "branches"), None, _) => !calls::makes_folder(question),
        (Some("hooks"), Some(hook), None) => !hook.ends_with(".sample"),
        _ => GIT_CONTROL.iter().any(|name| inner.starts_with(name)),
    }
}

/// Returns whether a file is a configuration that runs no program; false if it is missing, longer
/// than `MAX_CONFIG_BYTES` or unreadable.
#[expect(
    clippy::disallowed_methods,
    reason = "the file was opened in the sandbox, and is reached through that descriptor"
)]
fn is_harmless(place: &ResolvedTarget) -> bool {
    let Some(file) = &place.target else {
        return false;
    };
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let is_file = std::fs::metadata(&path)
        .is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_CONFIG_BYTES);
    is_file && std::fs::read(&path).is_ok_and(|text| is_plain(&text))
}
