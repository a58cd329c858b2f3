//! The names that this client declares: types and modifiers of semantic tokens, and commands that it executes.

/// Types of tokens that this client declares, those of the protocol.
pub(crate) const TOKEN_TYPES: &[&str] = &[
    "namespace",
    "type",
    "class",
    "enum",
    "interface",
    "struct",
    "typeParameter",
    "parameter",
    "variable",
    "property",
    "enumMember",
    "event",
    "function",
    "method",
    "macro",
    "keyword",
    "modifier",
    "comment",
    "string",
    "number",
    "regexp",
    "operator",
    "decorator",
    "label",
];

/// Modifiers of tokens that this client declares, those of the protocol.
pub(crate) const TOKEN_MODIFIERS: &[&str] = &[
    "declaration",
    "definition",
    "readonly",
    "static",
    "deprecated",
    "abstract",
    "async",
    "modification",
    "documentation",
    "defaultLibrary",
];

/// Command of rust-analyzer that shows locations.
pub(crate) const SHOW_REFERENCES: &str = "rust-analyzer.showReferences";

/// The commands of `rust-analyzer` that this client executes, which the server asks for by name.
pub(crate) const CLIENT_COMMANDS: &[&str] = &[SHOW_REFERENCES];
