//! Thread priority for background work.

/// Lowers the priority of the calling thread and, on Linux, of the threads that it starts. If the
/// system refuses, the thread keeps its priority.
pub fn lower_priority() {
    system::lower();
}

#[cfg(target_os = "linux")]
mod system {
    /// The niceness to set. On Linux it belongs to the thread, elsewhere to the whole process.
    const STEPS: i32 = 5;

    pub(super) fn lower() {
        rustix::process::setpriority_process(None, STEPS).ok();
    }
}

#[cfg(target_os = "macos")]
mod system {
    #[expect(unsafe_code, reason = "quality of service has no safe wrapper")]
    pub(super) fn lower() {
        // SAFETY: the call changes the calling thread only. An error leaves it as it is.
        unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_UTILITY, 0) };
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod system {
    pub(super) fn lower() {}
}
