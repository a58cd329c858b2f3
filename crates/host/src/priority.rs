//! Thread priority for background work.

/// Lowers the priority of the calling thread and of the threads that it starts.
pub fn lower_priority() {
    /// The niceness to set.
    const STEPS: i32 = 5;
    // On Linux this affects the calling thread, elsewhere the whole process, which must not be
    // slowed down. If the system refuses, the thread keeps its priority.
    if cfg!(target_os = "linux") {
        rustix::process::setpriority_process(None, STEPS).ok();
    }
}
