//! JavaScript, TypeScript, TSX and Java.

use super::query;
use crate::definition::{
    BACKTICK, BLOCK_COMMENT, CURLY, DOUBLE_QUOTE, Definition, IndentRules, LanguageConfig,
    NodeKinds, QuerySources, ROUND, SINGLE_QUOTE, SQUARE, TagKinds,
};

const SCRIPT_CONFIG: LanguageConfig = LanguageConfig {
    line_comment: Some("//"),
    block_comment: Some(("/*", "*/")),
    auto_close: &[
        ROUND,
        SQUARE,
        CURLY,
        DOUBLE_QUOTE,
        SINGLE_QUOTE,
        BACKTICK,
        BLOCK_COMMENT,
    ],
    word_chars: "$",
    ..LanguageConfig::PLAIN
};

const SCRIPT_KINDS: NodeKinds = NodeKinds {
    strings: &["string", "template_string", "regex"],
    comments: &["comment", "html_comment"],
    embedded: &["template_substitution"],
    context: &[
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "class_declaration",
        "class",
        "if_statement",
        "else_clause",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
        "switch_case",
        "switch_default",
        "try_statement",
        "catch_clause",
        "finally_clause",
        "interface_declaration",
        "enum_declaration",
        "internal_module",
        "abstract_class_declaration",
        "type_alias_declaration",
        "module",
    ],
    blocks: &[
        "program",
        "statement_block",
        "class_body",
        "switch_case",
        "switch_default",
        "interface_body",
        "object_type",
        "enum_body",
    ],
    tags: Some(TagKinds {
        start: &["jsx_opening_element"],
        end: &["jsx_closing_element"],
    }),
    ..NodeKinds::NONE
};

const SCRIPT_INDENT: IndentRules = IndentRules {
    after_suffix: &["=>"],
    labels: &["case", "default"],
    ..IndentRules::BRACKETS
};

/// Detection, grammar, editing configuration and queries of JavaScript.
pub(crate) static JAVASCRIPT: Definition = Definition {
    name: "JavaScript",
    aliases: &["js", "jsx", "node", "mjs", "cjs", "ecmascript"],
    extensions: &["js", "jsx", "mjs", "cjs", "es6"],
    files: &["Jakefile"],
    interpreters: &["node", "nodejs", "bun", "deno"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    config: SCRIPT_CONFIG,
    queries: QuerySources {
        highlights: &[
            tree_sitter_javascript::HIGHLIGHT_QUERY,
            tree_sitter_javascript::JSX_HIGHLIGHT_QUERY,
            query!("javascript", "highlights"),
            query!("javascript", "parameters"),
        ],
        injections: query!("javascript", "injections"),
        has_layers: false,
        folds: query!("javascript", "folds"),
        outline: query!("javascript", "outline"),
    },
    kinds: SCRIPT_KINDS,
    indent: SCRIPT_INDENT,
};

/// Detection, grammar, editing configuration and queries of TypeScript.
pub(crate) static TYPESCRIPT: Definition = Definition {
    name: "TypeScript",
    aliases: &["ts", "mts", "cts"],
    extensions: &["ts", "mts", "cts"],
    files: &[],
    interpreters: &["ts-node", "tsx"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    config: SCRIPT_CONFIG,
    queries: QuerySources {
        highlights: &[
            tree_sitter_javascript::HIGHLIGHT_QUERY,
            tree_sitter_typescript::HIGHLIGHTS_QUERY,
            query!("javascript", "highlights"),
            query!("typescript", "highlights"),
        ],
        injections: query!("javascript", "injections"),
        has_layers: false,
        folds: query!("typescript", "folds"),
        outline: query!("typescript", "outline"),
    },
    kinds: SCRIPT_KINDS,
    indent: SCRIPT_INDENT,
};

/// Detection, grammar, editing configuration and queries of TSX.
pub(crate) static TSX: Definition = Definition {
    name: "TSX",
    aliases: &[],
    extensions: &["tsx"],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    config: SCRIPT_CONFIG,
    queries: QuerySources {
        highlights: &[
            tree_sitter_javascript::HIGHLIGHT_QUERY,
            tree_sitter_typescript::HIGHLIGHTS_QUERY,
            tree_sitter_javascript::JSX_HIGHLIGHT_QUERY,
            query!("javascript", "highlights"),
            query!("typescript", "highlights"),
        ],
        injections: query!("javascript", "injections"),
        has_layers: false,
        folds: query!("typescript", "folds"),
        outline: query!("typescript", "outline"),
    },
    kinds: SCRIPT_KINDS,
    indent: SCRIPT_INDENT,
};

/// Detection, grammar, editing configuration and queries of Java.
pub(crate) static JAVA: Definition = Definition {
    name: "Java",
    aliases: &[],
    extensions: &["java"],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("//"),
        block_comment: Some(("/*", "*/")),
        auto_close: &[
            ROUND,
            SQUARE,
            CURLY,
            DOUBLE_QUOTE,
            SINGLE_QUOTE,
            BLOCK_COMMENT,
        ],
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[
            tree_sitter_java::HIGHLIGHTS_QUERY,
            query!("java", "highlights"),
        ],
        injections: "",
        has_layers: false,
        folds: query!("java", "folds"),
        outline: query!("java", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string_literal", "character_literal"],
        comments: &["line_comment", "block_comment"],
        embedded: &["string_interpolation"],
        context: &[
            "class_declaration",
            "interface_declaration",
            "enum_declaration",
            "record_declaration",
            "annotation_type_declaration",
            "method_declaration",
            "constructor_declaration",
            "compact_constructor_declaration",
            "static_initializer",
            "if_statement",
            "for_statement",
            "enhanced_for_statement",
            "while_statement",
            "do_statement",
            "switch_expression",
            "switch_block_statement_group",
            "try_statement",
            "try_with_resources_statement",
            "catch_clause",
            "finally_clause",
            "lambda_expression",
        ],
        blocks: &[
            "program",
            "block",
            "class_body",
            "interface_body",
            "enum_body_declarations",
            "constructor_body",
            "switch_block_statement_group",
            "annotation_type_body",
        ],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        labels: &["case", "default"],
        ..IndentRules::BRACKETS
    },
};
