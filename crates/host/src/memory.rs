//! Returning freed memory to the system.

/// Returns freed heap memory to the system. The allocator otherwise keeps it for reuse; after a
/// large, one-time task other programs benefit. Takes milliseconds. Does nothing on Linux without
/// glibc.
pub fn release_free_memory() {
    system::release();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    #[expect(
        unsafe_code,
        reason = "glibc's own way to trim its heaps has no safe wrapper"
    )]
    pub(super) fn release() {
        unsafe extern "C" {
            fn malloc_trim(kept: usize) -> std::ffi::c_int;
        }
        // SAFETY: `malloc_trim` may be called at any time from any thread, and touches no memory in
        // use.
        unsafe { malloc_trim(0) };
    }
}

#[cfg(target_os = "macos")]
mod system {
    #[expect(unsafe_code, reason = "the allocator's own call has no safe wrapper")]
    pub(super) fn release() {
        unsafe extern "C" {
            fn malloc_zone_pressure_relief(zone: *mut std::ffi::c_void, goal: usize) -> usize;
        }
        // SAFETY: a null zone means all zones, and a goal of 0 means as much as possible; memory in
        // use is not touched.
        unsafe { malloc_zone_pressure_relief(std::ptr::null_mut(), 0) };
    }
}

#[cfg(not(any(target_os = "macos", all(target_os = "linux", target_env = "gnu"))))]
mod system {
    pub(super) fn release() {}
}
