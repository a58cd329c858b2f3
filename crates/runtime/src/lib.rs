//! The composition root: assembles the engines into the services that the window, the command line
//! and the ACP server use.
//!
//! Knows: every engine of a lower rank. Must not know: argument parsing, terminals, windows, how
//! anything is shown.
//! Invariant: a process has one index per root (`indexes`), one reader of `permissions.json`
//! (`permissions`), and one policy for the environments of child processes (`host::environment`).
//! Start at `AgentServices::open`; `SessionFactory` assembles a single session.

mod agent_language;
pub mod agent_services;
pub mod automations;
pub mod commit_messages;
pub mod compose;
mod error;
pub mod external_agents;
pub mod folder_access;
pub mod folder_changes;
pub mod folder_sessions;
pub mod form;
mod hook_runs;
pub mod indexes;
pub mod language_servers;
pub mod live_sessions;
pub mod mcp_pool;
pub mod models;
pub mod permissions;
pub mod quality_records;
mod rerank;
pub mod routing;
pub mod sample_project;
pub mod sandbox_policy;
mod sandboxed_hooks;
pub mod session_factory;
mod session_sources;
mod session_titles;
pub mod task_permission;
pub mod text_recorder;
mod title_requests;
pub mod trust;
pub mod usage_store;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

pub use error::Error;

/// Answers Git's query for changed files in a lease, if Git started the program for it. Call it
/// first in `main`, because Git waits.
pub fn answer_git() -> Option<ExitCode> {
    ANSWERS_GIT.store(true, Ordering::Relaxed);
    worktree::answer_fsmonitor_query()
}

/// The name of the link to this program that Git and ssh run to ask the user.
pub const ASKPASS_PROGRAM: &str = "burin-askpass";

/// Asks the user through the window that runs Git, and prints the answer, if Git or ssh started the program for it. Call
/// it early in `main`, before anything is logged.
pub fn answer_askpass() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let is_asked = arguments.next().is_some_and(|program| is_askpass(&program));
    if !is_asked {
        return None;
    }
    let arguments: Vec<_> = arguments.collect();
    let code = git_program::askpass_client(&arguments);
    Some(if code == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Returns whether the program was started under the name of the link.
fn is_askpass(program: &std::ffi::OsStr) -> bool {
    Path::new(program).file_name() == Some(std::ffi::OsStr::new(ASKPASS_PROGRAM))
}

/// Whether this program answers Git.
static ANSWERS_GIT: AtomicBool = AtomicBool::new(false);

/// Returns this program's settings for leases. If the program has called `answer_git`, the settings
/// let Git ask the program for changed files.
pub fn lease_settings() -> worktree::PoolSettings {
    if ANSWERS_GIT.load(Ordering::Relaxed) {
        worktree::PoolSettings::for_program()
    } else {
        worktree::PoolSettings::defaults()
    }
}

/// Prepares cheap sandboxes and keeps this program's later secrets out of them. Call it first in
/// `main`, before any thread starts.
pub fn prepare_sandbox() {
    sandbox::prepare();
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::is_askpass;

    #[test]
    fn only_the_name_of_the_link_answers_prompts() {
        assert!(is_askpass(OsStr::new("/s/askpass/burin-askpass")));
        assert!(!is_askpass(OsStr::new("/usr/bin/burin")));
        assert!(!is_askpass(OsStr::new("burin-askpass/burin")));
    }
}
