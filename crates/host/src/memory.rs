//! Memory that is free again.

/// Gives what was freed back to the system. A program keeps what it once took for later; after much work that does not
/// come again soon, others have more of it. Takes milliseconds. Does nothing where the system has no way to.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(
        unsafe_code,
        reason = "glibc's own way to trim its heaps has no safe wrapper"
    )
)]
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(kept: usize) -> std::ffi::c_int;
        }
        // SAFETY: it may be called at any time from any thread, and touches no memory that is in use.
        unsafe { malloc_trim(0) };
    }
}
