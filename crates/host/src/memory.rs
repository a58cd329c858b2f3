//! Returning freed memory to the system.

/// Returns freed heap memory to the system. The allocator otherwise keeps it for reuse; after a
/// large, one-time task other programs benefit. Takes milliseconds. Does nothing on systems other
/// than Linux with glibc.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(
        unsafe_code,
        reason = "glibc's own way to trim its heaps has no safe wrapper"
    )
)]
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(kept: usize) -> std::ffi::c_int;
        }
        // SAFETY: `malloc_trim` may be called at any time from any thread, and touches no memory in
        // use.
        unsafe { malloc_trim(0) };
    }
}
