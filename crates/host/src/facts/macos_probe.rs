//! Asks macOS's own programs for facts; `macos` judges them.

use base::AbsPath;

use super::macos::{MacProbe, Volume, judge};
use super::{Fact, output_of, process};
use crate::process::{ProcessExit, ProcessRequest};

/// `MNT_LOCAL`: the volume is a disk of this machine (`sys/mount.h`).
const MNT_LOCAL: u32 = 0x1000;

/// Returns the name and build of the system.
pub(super) fn version() -> Option<String> {
    super::macos::version(&output_of("/usr/bin/sw_vers", &[])?)
}

/// Returns the facts about this machine, and about the volumes of these folders.
pub(super) fn facts(volumes: &[(&'static str, AbsPath)]) -> Vec<Fact> {
    let volumes = volumes.iter();
    judge(&MacProbe {
        session: output_of("/bin/launchctl", &["managername"]),
        displays: output_of("/usr/sbin/system_profiler", &["SPDisplaysDataType"]),
        translated: output_of("/usr/sbin/sysctl", &["-n", "sysctl.proc_translated"]),
        sandbox_exec: sandbox_exec(),
        integrity: output_of("/usr/bin/csrutil", &["status"]),
        volumes: volumes
            .filter_map(|(name, folder)| Some((*name, volume(folder)?)))
            .collect(),
    })
}

/// Returns the reason that no window can be opened: none is known before the window server is asked.
pub fn no_display() -> Option<String> {
    None
}

fn sandbox_exec() -> Option<i32> {
    let root = AbsPath::new("/")?;
    let request = ProcessRequest::new("/usr/bin/sandbox-exec", &root).with_arguments([
        "-p",
        "(version 1)(allow default)",
        "/usr/bin/true",
    ]);
    match process::run(&request).ok()?.exit {
        ProcessExit::Exited(code) => Some(code),
        ProcessExit::Signalled(_) | ProcessExit::TimedOut => None,
    }
}

fn volume(folder: &AbsPath) -> Option<Volume> {
    let found = rustix::fs::statfs(folder.as_path()).ok()?;
    let kind = found.f_fstypename.iter().take_while(|byte| **byte != 0);
    let kind: Vec<u8> = kind.map(|byte| byte.cast_unsigned()).collect();
    Some(Volume {
        kind: String::from_utf8_lossy(&kind).into_owned(),
        is_local: found.f_flags & MNT_LOCAL != 0,
        is_case_sensitive: super::storage::is_case_sensitive(folder),
    })
}
