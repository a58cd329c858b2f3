//! A program that git asks what changed in a lease: the least that `PoolSettings::monitor` can name.

use std::process::ExitCode;

fn main() -> ExitCode {
    worktree::answer_fsmonitor_query().unwrap_or(ExitCode::FAILURE)
}
