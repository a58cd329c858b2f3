//! Broken invariants: panic in debug builds, report and continue in release builds.
//!
//! This crate must not log, so the program installs a reporter: see `set_reporter`.

use std::fmt::Display;
use std::sync::OnceLock;

static REPORTER: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that receives broken invariants and dropped errors as messages, such as a log.
/// Only the first call in a process has an effect.
pub fn set_reporter(reporter: fn(&str)) {
    REPORTER.get_or_init(|| reporter);
}

/// Passes a message to the reporter; without one, the message is lost.
pub fn report(message: &str) {
    if let Some(reporter) = REPORTER.get() {
        reporter(message);
    }
}

/// Marks an impossible case: panics in debug builds, reports and continues in release builds.
///
/// `never!()` and `never!("why {}", x)` mark such a place; the caller then continues with a safe
/// value.
#[macro_export]
macro_rules! never {
    () => { $crate::never!("reached the unreachable") };
    ($($message:tt)+) => {{
        let message = format!("{} ({}:{})", format_args!($($message)+), file!(), line!());
        $crate::report(&message);
        debug_assert!(false, "{message}");
    }};
}

/// Reports an error that the caller cannot handle, instead of returning it.
pub trait LogErr<T> {
    /// Returns the value, or passes the error to the reporter and returns `None`.
    fn log_err(self) -> Option<T>;
}

impl<T, E: Display> LogErr<T> for Result<T, E> {
    fn log_err(self) -> Option<T> {
        match self {
            Ok(value) => Some(value),
            Err(error) => {
                report(&error.to_string());
                None
            }
        }
    }
}
