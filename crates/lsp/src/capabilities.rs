//! Capabilities: those that this client declares, and those of a server in one normalised view.
//!
//! Invariant: only what the product handles is declared.
//! Invariant: a malformed capability of a server counts as absent and hides no other.

use serde_json::{Map, Value, json};

mod declared;

pub(crate) use declared::client_capabilities;

use crate::position::PositionEncoding;
use crate::selector::{DocumentIdentity, DocumentSelector};

/// Name of the request that pulls the diagnostics of a document.
pub(crate) const PULL_DIAGNOSTICS: &str = "textDocument/diagnostic";

/// Maximum number of folding ranges in one answer.
pub(crate) const MAX_FOLDS: usize = 5_000;

/// Name of the request for the definition of a symbol.
pub(crate) const DEFINITION: &str = "textDocument/definition";

/// Methods for which a server may offer a feature, with the static capability that offers it, whose name has a dot
/// before the name of a member.
const PROVIDERS: &[(&str, &str)] = &[
    (PULL_DIAGNOSTICS, "diagnosticProvider"),
    ("textDocument/hover", "hoverProvider"),
    (DEFINITION, "definitionProvider"),
    ("textDocument/declaration", "declarationProvider"),
    ("textDocument/typeDefinition", "typeDefinitionProvider"),
    ("textDocument/implementation", "implementationProvider"),
    ("textDocument/references", "referencesProvider"),
    (
        "textDocument/documentHighlight",
        "documentHighlightProvider",
    ),
    ("textDocument/documentSymbol", "documentSymbolProvider"),
    ("workspace/symbol", "workspaceSymbolProvider"),
    ("textDocument/prepareCallHierarchy", "callHierarchyProvider"),
    ("textDocument/prepareTypeHierarchy", "typeHierarchyProvider"),
    ("textDocument/completion", "completionProvider"),
    ("textDocument/signatureHelp", "signatureHelpProvider"),
    ("textDocument/codeAction", "codeActionProvider"),
    ("textDocument/rename", "renameProvider"),
    ("textDocument/formatting", "documentFormattingProvider"),
    (
        "textDocument/rangeFormatting",
        "documentRangeFormattingProvider",
    ),
    (
        "textDocument/onTypeFormatting",
        "documentOnTypeFormattingProvider",
    ),
    ("textDocument/selectionRange", "selectionRangeProvider"),
    ("textDocument/foldingRange", "foldingRangeProvider"),
    ("textDocument/inlayHint", "inlayHintProvider"),
    ("textDocument/semanticTokens", "semanticTokensProvider"),
    ("textDocument/documentLink", "documentLinkProvider"),
    ("textDocument/documentColor", "colorProvider"),
    ("textDocument/codeLens", "codeLensProvider"),
    (
        "textDocument/linkedEditingRange",
        "linkedEditingRangeProvider",
    ),
    ("workspace/executeCommand", "executeCommandProvider"),
    (
        "workspace/willRenameFiles",
        "workspace.fileOperations.willRename",
    ),
    (
        "workspace/didRenameFiles",
        "workspace.fileOperations.didRename",
    ),
];
/// Methods of document synchronisation, whose static capability is `textDocumentSync`.
const SYNC_METHODS: &[&str] = &[
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
];
/// Name of the notification about folders.
const FOLDER_CHANGES: &str = "workspace/didChangeWorkspaceFolders";
/// Maximum number of registrations of one server.
const MAX_REGISTRATIONS: usize = 256;
/// Maximum length of the id and the options of a registration, in bytes.
const MAX_REGISTRATION: usize = 32 << 10;
/// Maximum length of all registrations, in bytes. A compiled pattern takes about 140 times the memory of
/// its text.
const MAX_REGISTRATION_BYTES: usize = 96 << 10;

/// The capabilities of a server, static and dynamically registered.
#[derive(Debug, Default)]
pub(crate) struct ServerCapabilities {
    encoding: PositionEncoding,
    statics: Map<String, Value>,
    registrations: Vec<Registration>,
}

/// A capability that a server registered after `initialize`.
#[derive(Debug)]
struct Registration {
    id: String,
    method: String,
    selector: DocumentSelector,
    options: Value,
    /// Length of the id and the options, in bytes.
    bytes: usize,
}

/// The notifications about a document that a server wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncOptions {
    /// Whether opening and closing are announced.
    pub(crate) open_close: bool,
    pub(crate) change: SyncKind,
    /// `None` if saving is not announced.
    pub(crate) save: Option<SaveText>,
}

/// The form in which a server wants the changes of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncKind {
    /// Changes are not announced.
    None,
    /// The whole text after each change.
    Full,
    /// The replaced ranges.
    Incremental,
}

/// Whether the announcement of a save contains the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaveText {
    Omitted,
    Included,
}

impl ServerCapabilities {
    /// Sets the capabilities in the answer to `initialize`.
    pub(crate) fn set_statics(&mut self, capabilities: Map<String, Value>) {
        let encoding = capabilities.get("positionEncoding").and_then(Value::as_str);
        // An encoding that was not offered is a violation; UTF-16 is the only fallback.
        self.encoding = encoding
            .and_then(PositionEncoding::named)
            .unwrap_or_default();
        self.statics = capabilities;
    }

    /// Returns the unit in which the server counts characters.
    pub(crate) fn encoding(&self) -> PositionEncoding {
        self.encoding
    }

    /// Returns the capabilities for display: those of `initialize`, and the registered ones.
    pub(crate) fn to_json(&self) -> Value {
        let registrations = self.registrations.iter();
        let registered =
            registrations.map(|it| json!({ "method": it.method, "options": it.options }));
        json!({ "capabilities": self.statics, "registered": registered.collect::<Vec<_>>() })
    }

    /// Adds a registration; a later one with the same id and method replaces the earlier. Methods
    /// without use here are ignored. Returns whether the capabilities changed.
    pub(crate) fn register(&mut self, id: String, method: String, options: Value) -> bool {
        let is_used = PROVIDERS.iter().any(|(known, _)| *known == method)
            || SYNC_METHODS.contains(&method.as_str())
            || method == FOLDER_CHANGES;
        let bytes = id.len() + options.to_string().len();
        if !is_used || bytes > MAX_REGISTRATION {
            return false;
        }
        self.unregister(&id, &method);
        let known: usize = self.registrations.iter().map(|it| it.bytes).sum();
        let is_full = self.registrations.len() >= MAX_REGISTRATIONS;
        if is_full || known + bytes > MAX_REGISTRATION_BYTES {
            return false;
        }
        self.registrations.push(Registration {
            id,
            method,
            selector: DocumentSelector::of(options.get("documentSelector")),
            options,
            bytes,
        });
        true
    }

    /// Removes a registration. Returns whether there was one.
    pub(crate) fn unregister(&mut self, id: &str, method: &str) -> bool {
        let before = self.registrations.len();
        self.registrations
            .retain(|registration| registration.id != id || registration.method != method);
        self.registrations.len() != before
    }

    /// Returns the options with which the server offers `method` for a document, one for each
    /// provider; empty if it does not offer it.
    pub(crate) fn options<'a>(
        &'a self,
        method: &'a str,
        document: DocumentIdentity<'a>,
    ) -> impl Iterator<Item = &'a Value> {
        let statics = self
            .static_options(method)
            .filter(|options| is_offered(options))
            .filter(move |options| {
                DocumentSelector::of(options.get("documentSelector")).matches(document)
            });
        statics.into_iter().chain(self.registered(method, document))
    }

    /// Returns the options with which the server offers a `method` that concerns no document, one
    /// for each provider.
    pub(crate) fn workspace_options<'a>(
        &'a self,
        method: &'a str,
    ) -> impl Iterator<Item = &'a Value> {
        let statics = self.static_options(method);
        let registered = self.registrations.iter();
        let registered = registered.filter(move |registration| registration.method == method);
        statics
            .filter(|options| is_offered(options))
            .into_iter()
            .chain(registered.map(|registration| &registration.options))
    }

    /// Returns the static capability that offers a method, as the server wrote it.
    fn static_options(&self, method: &str) -> Option<&Value> {
        let (_, name) = PROVIDERS.iter().find(|(known, _)| *known == method)?;
        let mut members = name.split('.');
        let capability = self.statics.get(members.next()?)?;
        members.try_fold(capability, |value, member| value.get(member))
    }

    /// Returns whether the server wants to be notified about folders that are added and removed.
    pub(crate) fn wants_folder_changes(&self) -> bool {
        let workspace = self.statics.get("workspace");
        let folders = workspace.and_then(|it| it.get("workspaceFolders"));
        // The id of a registration counts as true.
        let is_static = match folders.and_then(|it| it.get("changeNotifications")) {
            Some(Value::Bool(wanted)) => *wanted,
            Some(Value::String(_)) => true,
            _ => false,
        };
        is_static
            || self
                .registrations
                .iter()
                .any(|it| it.method == FOLDER_CHANGES)
    }

    fn registered<'a>(
        &'a self,
        method: &'a str,
        document: DocumentIdentity<'a>,
    ) -> impl Iterator<Item = &'a Value> {
        self.registrations
            .iter()
            .filter(move |registration| {
                registration.method == method && registration.selector.matches(document)
            })
            .map(|registration| &registration.options)
    }

    /// Returns the notifications that the server wants about a document.
    pub(crate) fn sync(&self, document: DocumentIdentity<'_>) -> SyncOptions {
        let mut sync = static_sync(self.statics.get("textDocumentSync"));
        if self.registered(SYNC_METHODS[0], document).next().is_some() {
            sync.open_close = true;
        }
        if let Some(options) = self.registered(SYNC_METHODS[1], document).last() {
            sync.change = sync_kind(options.get("syncKind"));
        }
        if let Some(options) = self.registered(SYNC_METHODS[2], document).last() {
            sync.save = Some(save_text(options));
        }
        sync
    }
}

/// Returns whether a capability given as a flag or as options is present.
fn is_offered(capability: &Value) -> bool {
    matches!(capability, Value::Bool(true) | Value::Object(_))
}

/// Reads `textDocumentSync`, which is a number or an object.
fn static_sync(sync: Option<&Value>) -> SyncOptions {
    let none = SyncOptions {
        open_close: false,
        change: SyncKind::None,
        save: None,
    };
    match sync {
        Some(Value::Number(_)) => SyncOptions {
            open_close: true,
            change: sync_kind(sync),
            save: Some(SaveText::Omitted),
        },
        Some(Value::Object(options)) => SyncOptions {
            // Servers that omit it expect the notifications all the same.
            open_close: options.get("openClose") != Some(&Value::Bool(false)),
            change: sync_kind(options.get("change")),
            save: options
                .get("save")
                .filter(|save| is_offered(save))
                .map(save_text),
        },
        _ => none,
    }
}

fn sync_kind(kind: Option<&Value>) -> SyncKind {
    match kind.and_then(Value::as_u64) {
        Some(1) => SyncKind::Full,
        Some(2) => SyncKind::Incremental,
        _ => SyncKind::None,
    }
}

fn save_text(options: &Value) -> SaveText {
    match options.get("includeText") {
        Some(Value::Bool(true)) => SaveText::Included,
        _ => SaveText::Omitted,
    }
}

#[cfg(test)]
mod tests;
