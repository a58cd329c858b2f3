//! Work that gives way.

/// Lets the calling thread run only where nothing that people wait for wants to. Threads that it starts do the same.
pub fn lower_priority() {
    /// Steps of niceness.
    const STEPS: i32 = 5;
    // On Linux the calling thread is meant, elsewhere the process, which must not be slowed as a whole. A system that
    // refuses lets it run as before.
    if cfg!(target_os = "linux") {
        rustix::process::setpriority_process(None, STEPS).ok();
    }
}
