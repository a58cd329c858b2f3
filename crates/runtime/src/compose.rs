//! Several agents at once: the parts of the composer service that need sessions, models and the
//! sandbox.
//!
//! Start at `service`, which opens boards for windows and the command line.

pub mod checks;
pub mod commit_checks;
mod hosted_jobs;
mod hosted_sessions;
mod job_sessions;
mod new_errors;
pub mod service;
