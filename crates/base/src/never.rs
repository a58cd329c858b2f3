//! What to do about the impossible: stop in debug builds, report and go on in release builds.
//!
//! This crate may not log, so the program hands in where reports go: see `set_reporter`.

use std::fmt::Display;
use std::sync::OnceLock;

static REPORTER: OnceLock<fn(&str)> = OnceLock::new();

/// Names the function that hears of broken invariants and dropped errors. The first one stays.
pub fn set_reporter(reporter: fn(&str)) {
    REPORTER.get_or_init(|| reporter);
}

/// Tells the reporter, if there is one.
pub fn report(message: &str) {
    if let Some(reporter) = REPORTER.get() {
        reporter(message);
    }
}

/// Marks what cannot happen: panics in debug builds, reports in release builds and goes on.
///
/// `never!()` and `never!("why {}", x)` mark a place; the caller then goes on with a safe value.
#[macro_export]
macro_rules! never {
    () => { $crate::never!("reached the unreachable") };
    ($($message:tt)+) => {{
        let message = format!("{} ({}:{})", format_args!($($message)+), file!(), line!());
        $crate::report(&message);
        debug_assert!(false, "{message}");
    }};
}

/// Turns an error that nobody can act on into a report.
pub trait LogErr<T> {
    /// The value, or `None` after the error was reported.
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
