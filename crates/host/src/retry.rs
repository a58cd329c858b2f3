//! Repeats system calls that a signal interrupted.

/// Repeats a call that a signal interrupted.
pub(crate) fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            other => return other,
        }
    }
}
