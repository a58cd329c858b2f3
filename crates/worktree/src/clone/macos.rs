//! Clones of APFS: a whole folder, or one file, in one call.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, CloneFlags, fclonefileat};

pub(super) const CLONES_TREES: bool = true;
pub(super) const TREES_SHARE_BLOCKS: bool = true;
/// APFS makes the changes of one volume's folders one after the other.
pub(super) const MAX_THREADS: usize = 3;

const FLAGS: CloneFlags = CloneFlags::NOFOLLOW.union(CloneFlags::NOOWNERCOPY);

#[expect(unsafe_code, reason = "no safe crate has the call that takes a folder")]
pub(super) fn tree(from: &Path, to: &Path) -> io::Result<()> {
    let from = CString::new(from.as_os_str().as_bytes())?;
    let to = CString::new(to.as_os_str().as_bytes())?;
    let here = libc::AT_FDCWD;
    // SAFETY: both paths end with a null byte and outlive the call.
    let done = unsafe { libc::clonefileat(here, from.as_ptr(), here, to.as_ptr(), FLAGS.bits()) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(super) fn file(from: &File, to: &Path, _mode: u32) -> io::Result<()> {
    Ok(fclonefileat(from, CWD, to, FLAGS)?)
}

/// Compares the ids of the data that the volume gives to clones. A volume without such ids is
/// trusted, since a clone shares blocks or fails.
pub(super) fn shares_blocks(one: &Path, other: &Path) -> bool {
    match (clone_id(one), clone_id(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => true,
    }
}

#[expect(unsafe_code, reason = "no safe crate has the call")]
fn clone_id(path: &Path) -> io::Result<u64> {
    /// The length of the answer, then the attribute, aligned to four bytes.
    #[repr(C, packed(4))]
    #[derive(Default)]
    struct VolumeAttributes {
        length: u32,
        id: u64,
    }
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut wanted = libc::attrlist {
        bitmapcount: libc::ATTR_BIT_MAP_COUNT,
        reserved: 0,
        commonattr: 0,
        volattr: 0,
        dirattr: 0,
        fileattr: 0,
        forkattr: libc::ATTR_CMNEXT_CLONEID,
    };
    let mut answer = VolumeAttributes::default();
    let flags = libc::FSOPT_ATTR_CMN_EXTENDED | libc::FSOPT_NOFOLLOW;
    // SAFETY: the path ends with a null byte, and the size is that of the result buffer.
    let done = unsafe {
        libc::getattrlist(
            path.as_ptr(),
            (&raw mut wanted).cast(),
            (&raw mut answer).cast(),
            size_of::<VolumeAttributes>(),
            flags,
        )
    };
    let length = answer.length;
    match done {
        0 if length as usize == size_of::<VolumeAttributes>() => Ok(answer.id),
        0 => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(io::Error::last_os_error()),
    }
}
