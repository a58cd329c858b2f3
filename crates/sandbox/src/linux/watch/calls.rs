//! Extracts the paths of a system call and their use.

use crate::PathAccess;
use crate::linux::kernel::SyscallNotification;

/// A path used by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathUse {
    /// The descriptor it is relative to; `None` for the current folder.
    pub(super) from: Option<i32>,
    /// The path's address in the caller's memory.
    pub(super) path: u64,
    pub(super) access: PathAccess,
    /// Whether a link in the last component is followed.
    pub(super) follows: bool,
    /// Whether an existing entry is changed rather than an obstacle.
    pub(super) takes_existing: bool,
}

const NOT_FOLLOWED: u64 = libc::AT_SYMLINK_NOFOLLOW as u64;

// tidy: table
/// Returns the paths of a call; `None` if the call takes no paths.
pub(super) fn uses(question: &SyscallNotification) -> Option<Vec<PathUse>> {
    let [a, b, c, d, e, _] = question.arguments;
    let from = |number: u64| Some(number as i32).filter(|number| *number != libc::AT_FDCWD);
    let make = |from, path, access| PathUse {
        from,
        path,
        access,
        follows: false,
        takes_existing: false,
    };
    let create = |from, path| make(from, path, PathAccess::Create);
    let remove = |from, path| PathUse {
        takes_existing: true,
        ..make(from, path, PathAccess::Remove)
    };
    let change = |from, path, follows| PathUse {
        follows,
        takes_existing: true,
        ..make(from, path, PathAccess::Write)
    };
    let replace = |from, path| PathUse {
        takes_existing: true,
        ..create(from, path)
    };
    Some(match question.call {
        libc::SYS_openat => vec![open(from(a), b, c)],
        libc::SYS_mkdirat | libc::SYS_mknodat => vec![create(from(a), b)],
        libc::SYS_unlinkat => vec![remove(from(a), b)],
        libc::SYS_renameat2 => vec![remove(from(a), b), replace(from(c), d)],
        libc::SYS_linkat => vec![create(from(c), d)],
        libc::SYS_symlinkat => vec![create(from(b), c)],
        libc::SYS_fchmodat => vec![change(from(a), b, true)],
        452 => vec![change(from(a), b, d & NOT_FOLLOWED == 0)],
        libc::SYS_utimensat => vec![change(from(a), b, d & NOT_FOLLOWED == 0)],
        libc::SYS_fchownat => vec![change(from(a), b, e & NOT_FOLLOWED == 0)],
        libc::SYS_truncate | libc::SYS_setxattr => vec![change(None, a, true)],
        libc::SYS_lsetxattr => vec![change(None, a, false)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_renameat => vec![remove(from(a), b), replace(from(c), d)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => vec![open(None, a, b)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_creat => vec![open(None, a, (libc::O_CREAT | libc::O_WRONLY) as u64)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir | libc::SYS_mknod => vec![create(None, a)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rmdir | libc::SYS_unlink => vec![remove(None, a)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename => vec![remove(None, a), replace(None, b)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link | libc::SYS_symlink => vec![create(None, b)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod | libc::SYS_chown => vec![change(None, a, true)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown => vec![change(None, a, false)],
        _ => return None,
    })
}

/// Returns whether the call creates a link, pipe, socket or device.
pub(super) fn makes_irregular(question: &SyscallNotification) -> bool {
    match question.call {
        libc::SYS_symlinkat | libc::SYS_mknodat => true,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_symlink | libc::SYS_mknod => true,
        _ => false,
    }
}

/// Returns whether the call creates a folder.
pub(super) fn makes_folder(question: &SyscallNotification) -> bool {
    match question.call {
        libc::SYS_mkdirat => true,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir => true,
        _ => false,
    }
}

fn open(from: Option<i32>, path: u64, flags: u64) -> PathUse {
    let has = |flag: i32| flags & flag as u64 != 0;
    let makes = has(libc::O_CREAT);
    PathUse {
        from,
        path,
        access: if makes {
            PathAccess::Create
        } else {
            PathAccess::Write
        },
        follows: !(has(libc::O_NOFOLLOW) || makes && has(libc::O_EXCL)),
        takes_existing: true,
    }
}
