//! Wrapping in the background.

use std::sync::atomic::AtomicBool;

/// Lines to wrap on another thread.
#[derive(Debug)]
pub struct WrapJob {}

/// Wrapped lines, to be handed to `DisplayMap::accept`.
#[derive(Debug)]
pub struct WrapDone {}

impl WrapJob {
    /// Wraps the lines. `None` when `cancel` was set meanwhile.
    pub fn run(self, _cancel: &AtomicBool) -> Option<WrapDone> {
        Some(WrapDone {})
    }
}
