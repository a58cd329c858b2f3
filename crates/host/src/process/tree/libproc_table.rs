//! The process table of macOS, read through `libproc`.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use rustix::process::{Pid, getsid};

use super::table::{ProcessEntry, ProcessTable};

/// Whether an entry still names the process that forked it after that process has ended. The kernel
/// keeps the unique id of the original parent when it reparents a process.
#[cfg(test)]
pub(in crate::process) const KEEPS_PARENTS: bool = true;

/// `proc_pidinfo` flavour: `proc_bsdinfo` and the unique ids in one call (xnu's
/// `bsd/sys/proc_info_private.h`).
const PROC_PIDT_BSDINFOWITHUNIQID: c_int = 18;
/// Argument of that flavour that finds zombies too.
const WITH_ZOMBIES: u64 = 1;
/// `pbi_status` of a zombie (`sys/proc.h`).
const SZOMB: u32 = 5;

/// `struct proc_uniqidentifierinfo`.
#[repr(C)]
struct UniqueIds {
    uuid: [u8; 16],
    own: u64,
    parent: u64,
    versions: [i32; 2],
    reserved: [u64; 2],
}

/// `struct proc_bsdinfowithuniqid`.
#[repr(C)]
struct ProcessInfo {
    bsd: libc::proc_bsdinfo,
    ids: UniqueIds,
}

const _: () = assert!(size_of::<UniqueIds>() == 56);

/// The processes of this machine.
#[derive(Clone, Copy, Debug)]
pub(in crate::process) struct SystemTable;

impl ProcessTable for SystemTable {
    fn list(&self) -> Vec<ProcessEntry> {
        all_pids().into_iter().filter_map(read).collect()
    }

    fn find(&self, pid: i32) -> Option<ProcessEntry> {
        read(pid)
    }
}

#[expect(unsafe_code, reason = "libproc has no safe wrapper in the lock file")]
fn all_pids() -> Vec<i32> {
    // SAFETY: with a null buffer, the call writes nothing and returns the number of processes.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    // Processes may start between the two calls.
    let mut pids = vec![0_i32; usize::try_from(count).unwrap_or(0) + 64];
    let bytes = c_int::try_from(pids.len() * size_of::<i32>()).unwrap_or(0);
    // SAFETY: the buffer has `bytes` bytes and outlives the call.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), bytes) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    // Process 0 is the kernel; other calls take 0 for the calling process.
    pids.retain(|pid| *pid > 0);
    pids
}

#[expect(unsafe_code, reason = "libproc has no safe wrapper in the lock file")]
fn read(pid: i32) -> Option<ProcessEntry> {
    let mut info = MaybeUninit::<ProcessInfo>::zeroed();
    let size = c_int::try_from(size_of::<ProcessInfo>()).ok()?;
    // SAFETY: the buffer has `size` bytes and outlives the call; every bit pattern is a valid
    // `ProcessInfo`.
    let info = unsafe {
        let flavour = PROC_PIDT_BSDINFOWITHUNIQID;
        let buffer = info.as_mut_ptr().cast();
        // The result is shorter if the process has just ended.
        if libc::proc_pidinfo(pid, flavour, WITH_ZOMBIES, buffer, size) != size {
            return None;
        }
        info.assume_init()
    };
    // The kernel knows the session of a zombie until it is reaped.
    let session = getsid(Pid::from_raw(pid)).map_or(0, |pid| pid.as_raw_nonzero().get());
    Some(ProcessEntry {
        pid,
        identity: info.ids.own,
        parent: Some(info.ids.parent).filter(|id| *id != 0),
        group: info.bsd.pbi_pgid.cast_signed(),
        session,
        is_zombie: info.bsd.pbi_status == SZOMB,
    })
}

/// Returns a text that changes when the machine restarts.
#[expect(unsafe_code, reason = "sysctlbyname has no safe wrapper")]
pub(super) fn boot_id() -> String {
    let mut text = [0_u8; 64];
    let mut length = text.len();
    // SAFETY: the name ends with a null byte, and the buffer has `length` bytes.
    let result = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            text.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    if result != 0 {
        return String::new();
    }
    let text = &text[..length.min(text.len())];
    let end = text.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&text[..end.unwrap_or(text.len())]).into_owned()
}
