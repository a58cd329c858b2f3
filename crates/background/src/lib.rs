//! The agents of this user's programs: in the program itself, or in a background process that goes on
//! when the windows are closed or killed. That process keeps the user's shells as well.
//!
//! `EngineServices` are the engines themselves. `BackgroundServer` offers the engines of its process to other
//! programs of the same user over a socket; `BackgroundAgents` are the engines of that process as a
//! window uses them. Both kinds are an `AgentService`, so views do not distinguish them. `proxy` carries
//! the messages of a program on another machine, which starts it there by ssh.
//!
//! `BackgroundShells` are the shells of that process.
//!
//! Knows: `runtime`, `composer`, the engine `terminal`. Must not know: windows, command lines.
//! Invariant: a connection that breaks stops no session. The client connects again, catches up from
//! the records, and sends the commands again that were not acknowledged; the server carries out each
//! one once.
//! Invariant: only processes of the same user are served.
//! Invariant: no address of a network is listened at; another machine is reached by a command of the
//! user's settings alone.
//! Start at `BackgroundServer::open` and `BackgroundAgents::new`; `protocol` describes the messages.

#![warn(missing_docs)]

mod client;
mod connection;
mod engines;
mod error;
mod launch;
mod machine;
mod protocol;
mod proxy;
mod server;
mod shells;

pub use client::{BackgroundAgents, BackgroundShells, ShellConnection, ShellSender};
pub use engines::{EngineServices, Metric};
pub use error::Error;
pub use launch::{ServerProgram, ask_status, ask_to_stop};
pub use machine::AgentMachine;
pub use protocol::{ServiceSession, ServiceStatus};
pub use proxy::proxy;
pub use server::{BackgroundOptions, BackgroundServer, IDLE_TIME, serve};
pub use shells::{
    KeptShell, LaunchedIntegration, RestoredText, ShellEvent, ShellInput, ShellLaunch,
};
