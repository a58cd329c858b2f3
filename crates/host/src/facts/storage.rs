//! Facts about Burin's folders, free space and watch limits.

use std::fs;

use base::AbsPath;

use super::{Fact, number_of};
use crate::dirs::Dirs;

/// Less free space than this, in bytes, is reported.
const LOW_SPACE_BYTES: u64 = 1 << 30;
/// Fewer watches than this do not cover a large project.
const FEW_WATCHES: u64 = 65_536;

pub(super) fn facts(dirs: &Dirs) -> Vec<Fact> {
    let mut facts = vec![
        folder("config folder", &dirs.config),
        folder("state folder", &dirs.state),
        folder("cache folder", &dirs.cache),
        space(&dirs.state),
    ];
    if cfg!(target_os = "linux") {
        facts.push(watches());
    }
    facts
}

fn folder(name: &'static str, path: &AbsPath) -> Fact {
    let advice = |error: &dyn std::fmt::Display| {
        format!("{error}; give yourself write permission, or name another folder, see README")
    };
    if let Err(error) = crate::dirs::create_private(path) {
        return Fact::bad(name, path.to_string(), advice(&error.reason));
    }
    let probe = path.join(format!(".probe-{}", std::process::id()));
    match fs::write(&probe, b"probe").and_then(|()| fs::remove_file(&probe)) {
        Ok(()) => Fact::good(name, path.to_string()),
        Err(error) => Fact::bad(name, path.to_string(), advice(&error)),
    }
}

fn space(path: &AbsPath) -> Fact {
    let name = "free space";
    let existing = path
        .as_path()
        .ancestors()
        .find_map(|folder| rustix::fs::statvfs(folder).ok());
    let Some(volume) = existing else {
        return Fact::warn(name, "unknown", format!("check that {path} can be reached"));
    };
    let free = volume.f_bavail.saturating_mul(volume.f_frsize);
    let value = format!(
        "{:.1} GiB for the state folder",
        free as f64 / (1 << 30) as f64
    );
    if free < LOW_SPACE_BYTES {
        let advice = "free some space: the journals of unsaved text need it";
        return Fact::warn(name, value, advice);
    }
    Fact::good(name, value)
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
