//! File operations on macOS.

#![expect(
    unsafe_code,
    reason = "fcntl, fchflags, fcopyfile and fsetattrlist have no safe form in the crates we use"
)]

use std::ffi::{OsStr, OsString, c_int, c_void};
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use rustix::fs::{CloneFlags, Mode, OFlags, Stat as RawStat};
use rustix::io::Errno;
use trash::macos::{DeleteMethod, TrashContextExtMacos};

use super::flags::{FlagCopy, copied_flags};
use crate::durability::{SyncCall, SyncFamily};
use crate::path_at::PathAt;
use crate::retry::retry;

/// The sync calls of this system.
pub(crate) const SYNC_FAMILY: SyncFamily = SyncFamily::Apple;
/// Whether extended attributes follow Apple's rules.
pub(crate) const HAS_APPLE_ATTRIBUTES: bool = true;
/// Whether no volume distinguishes normal forms of names, not even one that distinguishes case.
pub(crate) const VOLUMES_NORMALIZE: bool = true;
/// The error for an extended attribute that does not exist.
pub(crate) const NO_ATTRIBUTE: Errno = Errno::from_raw_os_error(libc::ENOATTR);
/// Opens a folder for resolving names in it, even if it cannot be listed.
pub(crate) const SEARCH: OFlags = OFlags::from_bits_retain(libc::O_SEARCH.cast_unsigned());

/// Makes one sync call.
pub(crate) fn sync(file: BorrowedFd<'_>, call: SyncCall) -> Result<(), Errno> {
    match call {
        SyncCall::Data | SyncCall::File => rustix::fs::fsync(file),
        SyncCall::Full => rustix::fs::fcntl_fullfsync(file),
        // SAFETY: the descriptor is open, and the command takes no argument.
        SyncCall::Barrier => result(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_BARRIERFSYNC) }),
    }
}

/// Reserves space beyond the end without changing the file's length. `start` is the file's length.
pub(crate) fn reserve(file: &File, _start: u64, length: u64) -> Result<(), Errno> {
    let mut wanted = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: length.try_into().map_err(|_| Errno::FBIG)?,
        fst_bytesalloc: 0,
    };
    // SAFETY: the descriptor is open, and the structure outlives the call.
    retry(|| result(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut wanted) }))
}

/// Creates `target` as a clone of a file that shares its blocks, with its metadata.
pub(crate) fn clone_file(source: &File, target: &PathAt) -> Result<(), Errno> {
    let (folder, name) = (target.folder(), target.name());
    retry(|| rustix::fs::fclonefileat(source, folder, name, CloneFlags::NOOWNERCOPY))
}

/// Gives `new` the access list, flags and birth time of `old`. Returns whether it has them all.
pub(crate) fn keep_system_metadata(old: &File, new: &File) -> Result<bool, Errno> {
    let (from, to) = (old.as_raw_fd(), new.as_raw_fd());
    // SAFETY: both descriptors are open, and no state is passed.
    let listed =
        retry(|| result(unsafe { libc::fcopyfile(from, to, null_mut(), libc::COPYFILE_ACL) }));
    match listed {
        // A volume without access lists has none to keep.
        Ok(()) | Err(Errno::NOTSUP | Errno::OPNOTSUPP) => {}
        Err(Errno::PERM | Errno::ACCESS) => return Ok(false),
        Err(errno) => return Err(errno),
    }
    let (had, has) = (rustix::fs::fstat(old)?, rustix::fs::fstat(new)?);
    match copied_flags(had.st_flags, has.st_flags) {
        FlagCopy::Impossible => return Ok(false),
        FlagCopy::Same => {}
        FlagCopy::Set(flags) => {
            // SAFETY: the descriptor is open.
            match retry(|| result(unsafe { libc::fchflags(new.as_raw_fd(), flags) })) {
                Ok(()) | Err(Errno::NOTSUP | Errno::OPNOTSUPP) => {}
                Err(_) => return Ok(false),
            }
        }
    }
    // A lost birth time does not justify overwriting in place.
    set_birth_time(new, &had).ok();
    Ok(true)
}

fn set_birth_time(file: &File, from: &RawStat) -> Result<(), Errno> {
    let mut wanted = libc::attrlist {
        bitmapcount: libc::ATTR_BIT_MAP_COUNT,
        reserved: 0,
        commonattr: libc::ATTR_CMN_CRTIME,
        volattr: 0,
        dirattr: 0,
        fileattr: 0,
        forkattr: 0,
    };
    let mut time = libc::timespec {
        tv_sec: from.st_birthtime,
        tv_nsec: from.st_birthtime_nsec,
    };
    // SAFETY: the descriptor is open, and both structures outlive the call.
    result(unsafe {
        libc::fsetattrlist(
            file.as_raw_fd(),
            (&raw mut wanted).cast::<c_void>(),
            (&raw mut time).cast::<c_void>(),
            size_of::<libc::timespec>(),
            0,
        )
    })
}

/// Returns the name under which the volume stores an open file, which can differ from the name by
/// which it was opened in case and in composition of accents.
pub(crate) fn stored_name(file: &File) -> Option<OsString> {
    let path = rustix::fs::getpath(file).ok()?;
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    path.file_name().map(OsStr::to_owned)
}

/// Returns a path without links and in the spelling that the volume stores; `None` if it does not
/// exist or cannot be opened.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok()?;
    // Without `NONBLOCK`, opening a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let stored = rustix::fs::open(&real, flags, Mode::empty())
        .and_then(rustix::fs::getpath)
        .map(|stored| PathBuf::from(OsStr::from_bytes(stored.to_bytes())));
    Some(stored.unwrap_or(real))
}

/// Moves a file or folder to the trash without asking Finder, which would require the permission to
/// control it.
pub(crate) fn trash(path: &Path) -> Result<(), trash::Error> {
    let mut context = trash::TrashContext::default();
    context.set_delete_method(DeleteMethod::NsFileManager);
    context.delete(path)
}

fn result(returned: c_int) -> Result<(), Errno> {
    if returned == -1 {
        Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
    } else {
        Ok(())
    }
}
