//! Which paths a system call uses, and how.

use crate::Access;
use crate::linux::kernel::Question;

/// A path in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The descriptor that it starts from; `None` for the current folder.
    pub(super) from: Option<i32>,
    /// Where the path lies in memory.
    pub(super) path: u64,
    pub(super) access: Access,
    /// A link at the end is followed.
    pub(super) follows: bool,
    /// Something that is there is changed rather than in the way.
    pub(super) takes_existing: bool,
}

const NOT_FOLLOWED: u64 = libc::AT_SYMLINK_NOFOLLOW as u64;

// tidy: table
/// The paths of a call; `None` when the call is not about paths.
pub(super) fn uses(question: &Question) -> Option<Vec<Use>> {
    let [a, b, c, d, e, _] = question.arguments;
    let from = |number: u64| Some(number as i32).filter(|number| *number != libc::AT_FDCWD);
    let make = |from, path, access| Use {
        from,
        path,
        access,
        follows: false,
        takes_existing: false,
    };
    let create = |from, path| make(from, path, Access::Create);
    let remove = |from, path| Use {
        takes_existing: true,
        ..make(from, path, Access::Remove)
    };
    let change = |from, path, follows| Use {
        follows,
        takes_existing: true,
        ..make(from, path, Access::Write)
    };
    let replace = |from, path| Use {
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

/// Whether the call makes a link to a path, a pipe, a socket or a device.
pub(super) fn makes_irregular(question: &Question) -> bool {
    match question.call {
        libc::SYS_symlinkat | libc::SYS_mknodat => true,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_symlink | libc::SYS_mknod => true,
        _ => false,
    }
}

/// Whether the call makes a folder.
pub(super) fn makes_folder(question: &Question) -> bool {
    match question.call {
        libc::SYS_mkdirat => true,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir => true,
        _ => false,
    }
}

fn open(from: Option<i32>, path: u64, flags: u64) -> Use {
    let has = |flag: i32| flags & flag as u64 != 0;
    let makes = has(libc::O_CREAT);
    Use {
        from,
        path,
        access: if makes { Access::Create } else { Access::Write },
        follows: !(has(libc::O_NOFOLLOW) || makes && has(libc::O_EXCL)),
        takes_existing: true,
    }
}
