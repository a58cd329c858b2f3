//! Facts of macOS, from `sysctl`, `libproc` and `statfs`.

use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::path::Path;

use super::FileSystem;

pub(super) const HAS_NETWORK_LOCKS: bool = false;

#[expect(unsafe_code, reason = "no safe crate reads this value")]
pub(super) fn boot_id() -> String {
    let mut text = [0_u8; 64];
    let mut length = text.len();
    // SAFETY: the name ends with a null byte, and `length` is the length of the buffer.
    let done = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            text.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    match done {
        0 => text.to_string_lossy().into_owned(),
        _ => String::new(),
    }
}

/// Microseconds since 1970.
#[expect(unsafe_code, reason = "no safe crate makes this call alone")]
pub(super) fn process_start(pid: u32) -> Option<u64> {
    let size = size_of::<libc::proc_bsdinfo>() as i32;
    let mut info = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let pid = i32::try_from(pid).ok()?;
    // SAFETY: `size` is the size of the buffer, which outlives the call.
    let filled = unsafe {
        libc::proc_pidinfo(
            pid,
            libc::PROC_PIDTBSDINFO,
            0,
            info.as_mut_ptr().cast(),
            size,
        )
    };
    if filled != size {
        return None;
    }
    // SAFETY: the call has filled the structure, and all zeroes would be valid too.
    let info = unsafe { info.assume_init() };
    Some(info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec)
}

/// Writes everything to the drives with `sync`, then flushes the cache of the drive that holds
/// `file`.
pub(super) fn sync_file_system(file: &File) -> io::Result<()> {
    rustix::fs::sync();
    Ok(rustix::fs::fcntl_fullfsync(file)?)
}

pub(super) fn file_system(folder: &Path) -> io::Result<FileSystem> {
    let stat = rustix::fs::statfs(folder)?;
    let letters = stat.f_fstypename.iter().take_while(|letter| **letter != 0);
    let name: Vec<u8> = letters.map(|letter: &c_char| *letter as u8).collect();
    Ok(FileSystem {
        name: String::from_utf8_lossy(&name).to_lowercase(),
        is_local: stat.f_flags & libc::MNT_LOCAL as u32 != 0,
    })
}
