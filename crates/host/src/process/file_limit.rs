//! The number of files that Burin may open: raised at the start, and given back to children.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit that this process was started with, if it was raised.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of open files to `system::MOST` or the hard limit, whichever is lower.
/// Processes that this crate starts get the former limit. Call it early in `main`, but on Linux after
/// the preparation of sandboxes, so that these do not inherit it. If the system refuses, the limit
/// stays.
pub fn raise_file_limit() {
    let inherited = getrlimit(Resource::Nofile);
    let Some(raised) = raised(inherited, system::MOST) else {
        return;
    };
    if base::LogErr::log_err(setrlimit(Resource::Nofile, raised)).is_some() {
        // A second call finds nothing to raise.
        INHERITED.set(inherited).ok();
    }
}

/// Returns the limit to set; `None` if it is high enough. A limit of `None` is unlimited.
fn raised(inherited: Rlimit, most: Option<u64>) -> Option<Rlimit> {
    let wanted = match (inherited.maximum, most) {
        (Some(hard), Some(most)) => Some(hard.min(most)),
        (hard, most) => hard.or(most),
    };
    let is_enough = match (inherited.current, wanted) {
        (None, _) => true,
        (Some(current), Some(wanted)) => current >= wanted,
        (Some(_), None) => false,
    };
    (!is_enough).then_some(Rlimit {
        current: wanted,
        maximum: inherited.maximum,
    })
}

/// Returns a function that gives its process the inherited limit, to be called between `fork` and
/// `exec`.
#[cfg(any(test, burin_portable, target_os = "macos"))]
pub(super) fn restorer() -> impl Fn() -> std::io::Result<()> + Send + Sync + 'static {
    let inherited = INHERITED.get().copied();
    move || match inherited {
        Some(inherited) => Ok(setrlimit(Resource::Nofile, inherited)?),
        None => Ok(()),
    }
}

/// Gives a process that has just been started the inherited limit.
#[cfg(all(target_os = "linux", not(burin_portable)))]
pub(super) fn restore_in(pid: rustix::process::Pid) {
    if let Some(inherited) = INHERITED.get() {
        // An error means that it has ended.
        rustix::process::prlimit(Some(pid), Resource::Nofile, *inherited).ok();
    }
}

#[cfg(target_os = "linux")]
mod system {
    /// The highest limit to set; `None` for the hard limit.
    pub(super) const MOST: Option<u64> = None;
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// The highest limit to set: macOS refuses more, whatever the hard limit says.
    pub(super) const MOST: Option<u64> = Some(10_240);
}

#[cfg(test)]
mod tests;
