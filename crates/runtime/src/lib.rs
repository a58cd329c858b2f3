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
mod rerank;
pub mod routing;
pub mod sample_project;
pub mod sandbox_policy;
mod sandboxed_hooks;
pub mod session_factory;
mod session_sources;
mod session_titles;
pub mod task_permission;
mod title_requests;
pub mod trust;
pub mod usage_store;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

pub use error::Error;

/// Answers Git's query for changed files in a lease, if Git started the program for it. Call it
/// first in `main`, because Git waits.
pub fn answer_git() -> Option<ExitCode> {
    ANSWERS_GIT.store(true, Ordering::Relaxed);
    worktree::answer_fsmonitor_query()
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
