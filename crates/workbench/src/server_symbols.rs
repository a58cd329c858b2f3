//! Symbols of language servers: those of one text, and those of a folder whose names match.
//!
//! Must not know: pickers. Start at `document_symbols`.

use std::rc::Rc;

use editor::DocumentModel;
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use gpui_kit::{App, Entity};
use lsp::{DocumentSymbol, SymbolKind, WorkspaceSymbol};
use syntax::OutlineKind;

use crate::folder::OpenFolder;

/// Asks for the symbols of a folder that match a name; `None` if no server can answer. Dropping the future cancels the
/// requests.
pub(crate) type AskSymbols =
    Rc<dyn Fn(&str, &App) -> Option<BoxFuture<'static, Vec<WorkspaceSymbol>>>>;

/// Asks the servers of a text for its symbols; `None` if no server can answer. Of several answers, the first one that
/// is not empty counts. Dropping the future cancels the requests.
pub(crate) fn document_symbols(
    model: &Entity<DocumentModel>,
    cx: &App,
) -> Option<BoxFuture<'static, Vec<DocumentSymbol>>> {
    let (servers, path) = OpenFolder::servers_of(model, cx)?;
    let servers = servers.read(cx).servers_of(&path);
    let requests: Vec<_> = servers
        .iter()
        .filter_map(|server| server.connection.document_symbols(&path))
        .collect();
    if requests.is_empty() {
        return None;
    }
    let answers = join_all(requests).map(|answers| {
        // A server that fails leaves the symbols to the others.
        let mut answers = answers.into_iter().filter_map(Result::ok);
        answers.find(|it| !it.is_empty()).unwrap_or_default()
    });
    Some(answers.boxed())
}

/// Returns the way to ask the running servers of a folder for symbols.
pub(crate) fn folder_symbols(folder: Entity<OpenFolder>) -> AskSymbols {
    Rc::new(move |query, cx| {
        let servers = folder.read(cx).language_servers().read(cx);
        let connections = servers.connections();
        let requests: Vec<_> = connections
            .iter()
            .filter_map(|server| server.workspace_symbols(query))
            .collect();
        if requests.is_empty() {
            return None;
        }
        let answers = join_all(requests).map(|answers| {
            let answers = answers.into_iter().filter_map(Result::ok);
            answers.flatten().collect()
        });
        Some(answers.boxed())
    })
}

/// Returns the kind of outline items to which a kind of symbols belongs.
pub(crate) fn outline_kind(kind: SymbolKind) -> OutlineKind {
    match kind {
        SymbolKind::Module | SymbolKind::Namespace | SymbolKind::Package => OutlineKind::Module,
        SymbolKind::Class => OutlineKind::Class,
        SymbolKind::Struct => OutlineKind::Struct,
        SymbolKind::Enum => OutlineKind::Enum,
        SymbolKind::Interface => OutlineKind::Interface,
        SymbolKind::TypeParameter => OutlineKind::Type,
        SymbolKind::Function | SymbolKind::Operator => OutlineKind::Function,
        SymbolKind::Method | SymbolKind::Constructor => OutlineKind::Method,
        SymbolKind::Property | SymbolKind::Field | SymbolKind::EnumMember | SymbolKind::Event => {
            OutlineKind::Field
        }
        SymbolKind::Constant => OutlineKind::Constant,
        SymbolKind::Variable => OutlineKind::Variable,
        SymbolKind::Key | SymbolKind::Object | SymbolKind::Array => OutlineKind::Key,
        // Servers of Markdown give headings this kind.
        SymbolKind::String => OutlineKind::Heading,
        SymbolKind::File | SymbolKind::Number | SymbolKind::Boolean | SymbolKind::Null => {
            OutlineKind::Other
        }
    }
}
