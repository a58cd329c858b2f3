//! MCP: servers of others whose tools our agents call.
//!
//! Invariant: a server that a project names runs only when its very entry was approved.
//! Invariant: neither lifecycle of the protocol is assumed: a server may begin with `initialize` or be stateless.
//! Invariant: a server never speaks to a model through us, and to the person only by way of `Person`.
//! Start at `Hub`; which servers there are is in `config`.

mod answer;
mod call;
mod catalog;
pub mod config;
mod dial;
mod error;
mod form;
mod guest;
mod hub;
mod people;
mod schema;
mod server;
mod sign_in;
mod stdio;
mod tool;

pub use answer::{Body, ForeignAnswer, ForeignContent};
pub use call::{ForeignCall, Patience, Progress};
pub use catalog::{ForeignPrompt, ForeignResource, PromptArgument, PromptMessage};
pub use config::{Client, Fingerprint, Origin, Problem, Reach, ServerEntry};
pub use error::{ForeignClass, ForeignError};
pub use form::{Choice, Field, FieldKind, Filled, Form};
pub use hub::{Hub, ServerState, Start};
pub use people::{Approval, Approvals, Nobody, Page, Person, Tokens};
pub use server::{Event, Status};
pub use tool::{ForeignTool, Hints};
