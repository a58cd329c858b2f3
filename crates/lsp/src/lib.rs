//! One language server: transport, capabilities, document synchronisation, positions, diagnostics,
//! and requests whose answers are plain values.
//!
//! Knows: `base`, `text`, and a pair of pipes. Must not know: processes, clocks, files, windows, which
//! server serves which document.
//! Invariant: a server is untrusted input. It cannot cause a panic, unbounded memory or a wait; a
//! violation is tolerated and counted, or it ends the connection with a sentence.
//! Invariant: every report belongs to one version of a document and is carried over later edits.
//! Invariant: types of the protocol's library do not leave this crate.
//! Invariant: an answer is read by the thread that waits for it, on the text of its request.
//! Start at `LanguageServer::connect`; `request` sends requests, and each feature has its module.

#![warn(missing_docs)]

mod answer;
mod bounded;
mod capabilities;
mod code_action;
mod code_lens;
mod command;
mod completion;
mod connection;
mod declared_names;
mod diagnostics;
mod document;
mod document_colors;
mod document_edits;
mod document_links;
mod edit_request;
mod error;
mod events;
mod file_events;
mod file_operations;
mod folding_ranges;
mod formatting;
mod framing;
mod hierarchy;
mod hover;
mod inlay_hints;
mod life;
mod linked_editing;
mod locations;
mod log;
mod markup;
mod message;
mod outbound;
mod pending;
mod position;
mod probe;
mod progress;
mod pull;
#[cfg(test)]
mod random;
mod range;
mod rename;
mod request;
mod request_document;
mod retry;
mod selection_ranges;
mod selector;
mod semantic_tokens;
mod server;
mod session;
mod signature;
mod symbols;
#[cfg(test)]
mod testing;
mod uri;
mod violations;
mod watched_files;
mod workspace_edit;
mod workspace_pull;

pub use code_action::CodeAction;
pub use code_lens::{CodeLens, LensCommand, UnresolvedLens};
pub use command::ServerCommand;
pub use completion::{
    CompletionInsert, CompletionItem, CompletionKind, CompletionList, CompletionTrigger,
};
pub use connection::{ConnectionActivity, ConnectionId};
pub use diagnostics::{
    Diagnostic, DiagnosticSeverity, DiagnosticTags, DocumentDiagnostics, RelatedInformation,
    UnopenedDiagnostic,
};
pub use document_colors::{ColorValue, DocumentColor};
pub use document_edits::{DocumentEdits, EditError};
pub use document_links::{DocumentLink, LinkTarget, UnresolvedLink};
pub use edit_request::EditRequest;
pub use error::{EndReason, RequestError};
pub use events::{MessageKind, MessageSeverity, ServerEvent, ServerEvents};
pub use file_operations::FileRename;
pub use folding_ranges::{FoldingKind, FoldingRange};
pub use formatting::FormatOptions;
pub use framing::FramingError;
pub use hierarchy::{CallDirection, HierarchyCall, HierarchyItem, TypeDirection};
pub use hover::Hover;
pub use inlay_hints::{InlayHint, InlayHintKind};
pub use locations::{Highlight, HighlightKind, Location, LocationKind};
pub use log::{MessageDirection, MessageLog};
pub use markup::MarkupText;
pub use position::PositionEncoding;
pub use probe::ProbeRequest;
pub use progress::Progress;
pub use pull::{PullQueue, PullRequest};
pub use range::ServerRange;
pub use rename::RenameTarget;
pub use request::Request;
pub use semantic_tokens::{SemanticToken, SemanticTokens, TokenLegend, TokenSupport};
pub use server::{ClientInfo, LanguageServer, ServerInfo, ServerOptions};
pub use signature::{Parameter, Signature, SignatureHelp};
pub use symbols::{DocumentSymbol, SymbolKind, WorkspaceSymbol};
pub use watched_files::{FileChangeType, FileEvent};
pub use workspace_edit::{
    DocumentEdit, EditBasis, FileConflict, RangeEdit, WorkspaceEdit, WorkspaceOperation,
};
pub use workspace_pull::WorkspacePullRequest;
