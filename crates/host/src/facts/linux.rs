//! Facts about Linux: display servers, graphics, fonts, the kernel features that confine commands,
//! and watch limits.

mod display;
mod sandbox;

use base::AbsPath;

use super::{Fact, number_of, text_of};

pub use display::no_display;

/// Fewer watches than this do not cover a large project.
const FEW_WATCHES: u64 = 65_536;

/// Returns the name of the distribution.
pub(super) fn version() -> Option<String> {
    let text = text_of("/etc/os-release")?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map(|name| name.trim_matches('"').to_owned())
}

/// Returns the facts about this machine. `_volumes` names folders whose volumes matter elsewhere.
pub(super) fn facts(_volumes: &[(&'static str, AbsPath)]) -> Vec<Fact> {
    let mut facts = display::facts();
    facts.extend(sandbox::facts());
    facts.push(watches());
    facts
}

fn watches() -> Fact {
    let name = "file watches";
    let Some(most) = number_of("/proc/sys/fs/inotify/max_user_watches") else {
        return Fact::warn(name, "unknown", "mount /proc to find out");
    };
    let instances = number_of("/proc/sys/fs/inotify/max_user_instances").unwrap_or_default();
    let value = format!("{most} folders, {instances} watchers");
    if most < FEW_WATCHES {
        let advice = "changes in large projects are noticed late; as root run \"sysctl \
                      fs.inotify.max_user_watches=1048576\"";
        return Fact::warn(name, value, advice);
    }
    Fact::good(name, value)
}

#[cfg(test)]
mod tests;
