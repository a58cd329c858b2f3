//! Tells which sockets with a path were created inside the sandbox, from the kernel's socket list.
//!
//! The list covers the network namespace in which the querying socket was created, which is the
//! sandbox's own. A socket is identified by its file's file system and inode, so renaming it has no
//! effect.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, StatxFlags};

/// Constants of the kernel's `sock_diag` interface.
const BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const ERROR: u16 = 2;
const WANTED: u16 = 0x301;
/// Requests the file that a socket is bound to.
const SHOW_FILE: u32 = 2;
const FILE: u16 = 1;
/// Length of the fixed part before the attributes of one socket.
const HEADER: usize = 16;
const SOCKET: usize = 16;

/// Returns whether the file is a socket of the network that `list` covers.
pub(super) fn has(list: &OwnedFd, thread: u32, file: &OwnedFd) -> bool {
    let Some(wanted) = identity(thread, file) else {
        return false;
    };
    files(list).is_some_and(|files| files.contains(&wanted))
}

/// Returns the file's inode and file system as the kernel counts them; `stat` may report others.
fn identity(thread: u32, file: &OwnedFd) -> Option<(u32, u32)> {
    let facts = StatxFlags::INO | StatxFlags::MNT_ID;
    let facts = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, facts).ok()?;
    let mounts = mounts(thread)?;
    let id = facts.stx_mnt_id.to_string();
    let line = mounts
        .lines()
        .find(|line| line.split(' ').next() == Some(&id))?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    let device = major.parse::<u32>().ok()? << 20 | minor.parse::<u32>().ok()?;
    Some((facts.stx_ino as u32, device))
}

/// Returns the mounts as a thread sees them, in the format of `/proc/…/mountinfo`; `None` if the
/// thread has ended.
#[expect(
    clippy::disallowed_methods,
    reason = "/proc describes a process; it is not a user's file"
)]
fn mounts(thread: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{thread}/mountinfo")).ok()
}

/// Returns the files of all sockets of that network.
fn files(list: &OwnedFd) -> Option<Vec<(u32, u32)>> {
    rustix::io::write(list, &request()).ok()?;
    let mut files = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = rustix::io::read(list, &mut buffer[..]).ok()?;
        let mut rest = &buffer[..length];
        if rest.is_empty() {
            return None;
        }
        while let Some(size) = read_u32(rest, 0).map(|size| size as usize) {
            let message = rest.get(..size).filter(|_| size >= HEADER)?;
            match read_u16(message, 4)? {
                DONE => return Some(files),
                ERROR => return None,
                _ => files.extend(file(message)),
            }
            rest = rest.get(aligned(size)..).unwrap_or_default();
        }
    }
}

fn request() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40);
    bytes.extend(40_u32.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(WANTED.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([libc::AF_UNIX as u8, 0, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    bytes.extend(SHOW_FILE.to_ne_bytes());
    bytes.extend([0xff; 8]);
    bytes
}

/// Returns the file of one socket, if it has one.
fn file(message: &[u8]) -> Option<(u32, u32)> {
    let mut rest = message.get(HEADER + SOCKET..)?;
    loop {
        let size = read_u16(rest, 0)? as usize;
        if read_u16(rest, 2)? == FILE {
            return Some((read_u32(rest, 4)?, read_u32(rest, 8)?));
        }
        rest = rest.get(aligned(size.max(4))..)?;
    }
}

/// Returns a length rounded up to a multiple of four, as the kernel aligns messages.
fn aligned(size: usize) -> usize {
    size.div_ceil(4) * 4
}

/// Reads four bytes at an offset, in the machine's byte order; `None` beyond the end.
fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// Reads two bytes at an offset, in the machine's byte order; `None` beyond the end.
fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}
