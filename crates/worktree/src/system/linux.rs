//! Facts of Linux, from `/proc` and `statfs`.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::FileSystem;

pub(super) const HAS_NETWORK_LOCKS: bool = true;

pub(super) fn boot_id() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim().to_owned()
}

/// Clock ticks since the boot.
pub(super) fn process_start(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The process name in parentheses may contain any characters, parentheses and spaces too.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

pub(super) fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

pub(super) fn file_system(folder: &Path) -> io::Result<FileSystem> {
    let stat = rustix::fs::statfs(folder)?;
    let kind = stat.f_type as u32;
    let known = NAMES.iter().find(|(number, ..)| *number == kind);
    let (name, is_local) = known.map_or(("other", true), |(_, name, is_local)| (name, *is_local));
    Ok(FileSystem {
        name: name.to_owned(),
        is_local,
    })
}

/// The numbers of statfs(2) with names, and whether such a file system is local. File systems that
/// share a folder with the machine around a virtual one count as local.
const NAMES: &[(u32, &str, bool)] = &[
    (0xef53, "ext4", true),
    (0x9123_683e, "btrfs", true),
    (0x5846_5342, "xfs", true),
    (0x2fc1_2fc1, "zfs", true),
    (0xca45_1a4e, "bcachefs", true),
    (0xf2f5_2010, "f2fs", true),
    (0x0102_1994, "tmpfs", true),
    (0x794c_7630, "overlay", true),
    (0x2011_bab0, "exfat", true),
    (0x4d44, "vfat", true),
    (0x6969, "nfs", false),
    (0x517b, "smb", false),
    (0xfe53_4d42, "smb", false),
    (0xff53_4d42, "smb", false),
    (0x5346_414f, "afs", false),
    (0x00c3_6400, "ceph", false),
];
