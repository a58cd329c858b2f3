//! A git folder that comes into being while a command runs: `git init` in a folder without a repository.
//!
//! No mount keeps what in it decides which programs git runs, since none of it was there when mounts were made. So
//! what `git init` makes is let through, and nothing more. `scan` looks at it afterwards, and the next command finds
//! it protected like any other.

use std::os::fd::AsRawFd;
use std::path::{Component, Path};

use super::calls::{self, Use};
use super::place::Place;
use crate::Access;
use crate::linux::kernel::Question;
use crate::names::GIT_CONTROL;
use crate::scan::is_plain;

/// The longest configuration that is looked at, in bytes.
const LONGEST: u64 = 256 << 10;

/// Whether a use of a path in such a folder is refused; `inner` is the path below it.
pub(super) fn denies(
    question: &Question,
    used: &Use,
    inner: &Path,
    place: &Place,
    source: Option<&Place>,
) -> bool {
    if inner.as_os_str().is_empty() {
        return !calls::makes_folder(question);
    }
    if calls::makes_irregular(question) {
        // As `git init` tries whether links can be made.
        return !(place.name.len() == 7 && place.name.starts_with(b"t"));
    }
    let mut parts = inner.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    match (parts.next(), parts.next(), parts.next()) {
        (Some("config"), None, _) => match source {
            Some(source) => !is_harmless(source),
            None => used.access != Access::Remove,
        },
        (Some("hooks" | "branches"), None, _) => !calls::makes_folder(question),
        (Some("hooks"), Some(hook), None) => !hook.ends_with(".sample"),
        _ => GIT_CONTROL.iter().any(|name| inner.starts_with(name)),
    }
}

/// Whether a file is a configuration that runs nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "the file was opened in the sandbox, and is reached by what was opened"
)]
fn is_harmless(place: &Place) -> bool {
    let Some(file) = &place.target else {
        return false;
    };
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let is_file =
        std::fs::metadata(&path).is_ok_and(|facts| facts.is_file() && facts.len() <= LONGEST);
    is_file && std::fs::read(&path).is_ok_and(|text| is_plain(&text))
}
