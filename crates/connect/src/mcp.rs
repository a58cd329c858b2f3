//! MCP: servers whose tools our agents call.
//!
//! Invariant: a server configured by a project runs only if exactly its entry was approved.
//! Invariant: both lifecycles of the protocol work: a server may begin with `initialize` or be
//! stateless.
//! Invariant: a server never reaches a model through us, and the user only through `McpUser`.
//! Start at `McpClients`; `config` lists the servers.

mod answer;
mod call;
mod catalog;
mod client_handler;
mod clients;
pub mod config;
mod connector;
mod error;
mod event;
mod form;
mod schema;
mod server;
mod sign_in;
mod stdio;
mod tls;
mod tool;
mod user;

pub use answer::{McpContent, McpToolResult, ResourceBody};
pub use call::{McpToolCall, RequestTimeouts};
pub use catalog::{McpPrompt, McpResource, McpResourceTemplate, PromptArgument, PromptMessage};
pub use clients::{McpClients, McpSetup, ServerState};
pub use config::{
    McpConfigProblem, OAuthClient, ServerEntry, ServerFingerprint, ServerOrigin, ServerTransport,
};
pub use error::{McpError, McpErrorKind};
pub use event::{CallProgress, McpEvent, ServerStatus};
pub use form::{ElicitationForm, FieldKind, Filled, FormChoice, FormField};
pub use tool::{Hints, McpTool};
pub use user::{Approval, Approvals, BrowserPage, McpUser, NoUser, TokenStore};
