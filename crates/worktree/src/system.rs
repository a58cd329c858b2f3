//! Facts of the running system: its boot, its processes, its file systems.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::process::{Pid, test_kill_process};

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;

/// Whether file locks hold on network volumes, where other machines see them.
pub(crate) const HAS_NETWORK_LOCKS: bool = system::HAS_NETWORK_LOCKS;

/// The kind of a file system, and whether it is on a disk of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// Its name in lower case: "apfs", "ext4", "nfs"; "other" if it has none here.
    pub(crate) name: String,
    /// Whether this machine, and no server, keeps the files.
    pub(crate) is_local: bool,
}

/// Returns an id that changes with every boot; empty if the system has none.
pub(crate) fn boot_id() -> String {
    system::boot_id()
}

/// Returns the start of a process, in a unit of the system; `None` if the process is unknown, or
/// hidden from us.
pub(crate) fn process_start(pid: u32) -> Option<u64> {
    system::process_start(pid)
}

/// Returns whether a process of any user with this id exists.
pub(crate) fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A process of another user may not be signalled, but it is there.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Waits until everything written to the file system of an open file or folder is on the disk.
pub(crate) fn sync_file_system(file: &File) -> io::Result<()> {
    system::sync_file_system(file)
}

/// Returns the file system of a folder.
pub(crate) fn file_system(folder: &Path) -> io::Result<FileSystem> {
    system::file_system(folder)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn processes_are_known_while_they_run() {
        let own = std::process::id();
        assert!(is_running(own));
        assert_eq!(process_start(own), process_start(own));
        assert!(process_start(own).is_some_and(|start| start > 0));
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let pid = child.id();
        assert!(is_running(pid) && process_start(pid) >= process_start(own));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_running(pid));
        assert_eq!(process_start(pid), None);
        assert!(!is_running(0) && !is_running(u32::MAX));
    }

    #[test]
    fn the_boot_and_the_file_system_have_names() {
        assert!(!boot_id().is_empty());
        assert_eq!(boot_id(), boot_id());
        let folder = tempfile::tempdir().unwrap();
        let found = file_system(folder.path()).unwrap();
        assert!(!found.name.is_empty());
        assert_eq!(found.name, found.name.to_lowercase());
        sync_file_system(&File::open(folder.path()).unwrap()).unwrap();
    }
}
