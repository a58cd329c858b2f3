//! Hosted agents: a scripted agent of ours, real ones from npm, and noise.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test looks at the disk by itself, and says when it is skipped"
)]

mod guest;
mod real;
mod shell_terminals;
mod story;
mod testy;
