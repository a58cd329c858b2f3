//! File operations that each system has in its own form.
//!
//! Both implementations offer the same functions and make no decisions: those are made where the
//! functions are used, on data, so that they are tested on every system.

#[cfg(any(test, target_os = "macos"))]
mod flags;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use self::linux::*;
#[cfg(target_os = "macos")]
pub(crate) use self::macos::*;
