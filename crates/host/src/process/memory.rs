//! The memory of a process.

/// Returns the memory of a process in bytes: on Linux its proportional share of the pages in memory, on macOS its
/// footprint; `None` if it has ended or may not be inspected.
#[cfg(target_os = "linux")]
pub(super) fn memory_of(pid: u32) -> Option<u64> {
    let line_of = |file: &str, name: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        bytes_in(&text, name)
    };
    // The share needs more rights than the size of all resident pages.
    line_of("smaps_rollup", "Pss:").or_else(|| line_of("status", "VmRSS:"))
}

/// Returns the bytes in a line such as `Pss:    12 kB`.
#[cfg(target_os = "linux")]
fn bytes_in(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the memory of a process in bytes: on Linux its proportional share of the pages in memory, on macOS its
/// footprint; `None` if it has ended or may not be inspected.
#[cfg(target_os = "macos")]
#[expect(unsafe_code, reason = "libproc has no safe wrapper in the lock file")]
pub(super) fn memory_of(pid: u32) -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage_info_v2>::zeroed();
    // SAFETY: the buffer has the size of this flavour and outlives the call; every bit pattern is a valid
    // `rusage_info_v2`.
    let usage = unsafe {
        let buffer = usage.as_mut_ptr().cast();
        if libc::proc_pid_rusage(pid.cast_signed(), libc::RUSAGE_INFO_V2, buffer) != 0 {
            return None;
        }
        usage.assume_init()
    };
    Some(usage.ri_phys_footprint)
}
