//! Whole-program stories: actions of a user, a crash or a failing disk, and the state that remains.

#![expect(
    clippy::disallowed_methods,
    reason = "a story does to files what other programs do"
)]
#![expect(
    clippy::print_stderr,
    reason = "a story says what it skipped and what it counted"
)]

mod agent;
mod applying;
mod hosted;
mod language_servers;
mod models;
mod runs;
mod saving;
mod typing;
