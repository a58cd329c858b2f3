//! One language server: transport, capabilities, document synchronisation, positions, diagnostics.
//!
//! Knows: `base`, `text`, and a pair of pipes. Must not know: processes, clocks, files, windows, which
//! server serves which document.
//! Invariant: a server is untrusted input. It cannot cause a panic, unbounded memory or a wait; a
//! violation is tolerated and counted, or it ends the connection with a sentence.
//! Invariant: every report belongs to one version of a document and is carried over later edits.
//! Invariant: types of the protocol's library do not leave this crate.
//! Start at `LanguageServer::connect`.

#![warn(missing_docs)]

mod bounded;
mod capabilities;
mod connection;
mod diagnostics;
mod document;
mod edit_request;
mod error;
mod events;
mod framing;
mod life;
mod log;
mod message;
mod outbound;
mod pending;
mod position;
mod probe;
mod progress;
mod pull;
#[cfg(test)]
mod random;
mod selector;
mod server;
mod session;
mod uri;
mod violations;

pub use diagnostics::{
    Diagnostic, DiagnosticSeverity, DiagnosticTags, DocumentDiagnostics, RelatedInformation,
};
pub use edit_request::EditRequest;
pub use error::{EndReason, RequestError};
pub use events::{MessageKind, MessageSeverity, ServerEvent, ServerEvents};
pub use framing::FramingError;
pub use log::{MessageDirection, MessageLog};
pub use probe::ProbeRequest;
pub use progress::Progress;
pub use pull::PullRequest;
pub use server::{ClientInfo, LanguageServer, ServerInfo, ServerOptions};
