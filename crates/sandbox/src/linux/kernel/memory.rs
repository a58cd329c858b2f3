//! Memory that is never freed, for processes that must not allocate.
#![expect(unsafe_code, reason = "system calls take raw numbers and addresses")]

use std::os::fd::RawFd;

use libc::{c_int, c_void};

use super::Errno;

/// Maps a file read-only for the life of the process.
pub(in crate::linux) fn map(file: RawFd, length: usize) -> Result<&'static [u8], Errno> {
    let address = map_at(length, libc::PROT_READ, libc::MAP_PRIVATE, file)?;
    // SAFETY: the kernel mapped `length` bytes that are never unmapped.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) })
}

/// Allocates zeroed memory for the life of the process.
pub(in crate::linux) fn memory(length: usize) -> Result<&'static mut [u8], Errno> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let address = map_at(length, libc::PROT_READ | libc::PROT_WRITE, flags, -1)?;
    // SAFETY: the kernel mapped `length` bytes, exclusively and without unmapping them.
    Ok(unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), length) })
}

/// Maps `length` bytes of a file or, with -1 and `MAP_ANONYMOUS`, of new memory; returns their
/// address.
fn map_at(length: usize, access: c_int, flags: c_int, file: RawFd) -> Result<*mut c_void, Errno> {
    // SAFETY: the kernel picks the address, so no memory in use is replaced.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, file, 0) };
    if address == libc::MAP_FAILED {
        // SAFETY: the address of the calling thread's own errno is always valid.
        return Err(unsafe { *libc::__errno_location() });
    }
    Ok(address)
}

/// Allocates an array of null pointers for the life of the process.
pub(in crate::linux) fn pointers(
    count: usize,
) -> Result<&'static mut [*const libc::c_char], Errno> {
    let bytes = memory(8 * count.max(1))?;
    // SAFETY: the memory is long enough and page-aligned, and all zeroes are null pointers.
    Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), count) })
}

/// Overwrites a range of this process's memory: its environment as `/proc` shows it.
pub(in crate::linux) fn wipe(range: std::ops::Range<usize>) {
    // SAFETY: the range comes from the kernel's description of this process's own stack, and the
    // calling process never reads its environment again.
    unsafe { std::ptr::write_bytes(range.start as *mut u8, 0, range.len()) };
}
