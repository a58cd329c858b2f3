//! A reader of a program's output beside the emulator.

use std::fmt;
use std::sync::Arc;

/// Reads the output of a program as it comes, before the emulator does. Called on the thread that reads the program, which
/// waits meanwhile; once the end of the program is known, all of its output was passed on.
#[derive(Clone)]
pub struct OutputObserver(Arc<ReadOutput>);

type ReadOutput = dyn Fn(&[u8]) + Send + Sync;

impl OutputObserver {
    /// Creates an observer that calls `read` with each piece of output.
    pub fn new(read: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Passes a piece of output on.
    pub fn notify(&self, bytes: &[u8]) {
        (self.0)(bytes);
    }
}

impl fmt::Debug for OutputObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputObserver")
    }
}

impl PartialEq for OutputObserver {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OutputObserver {}
