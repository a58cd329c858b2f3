//! Rust, C, C++ and Go.

use super::query;
use crate::definition::{
    BACKTICK, BLOCK_COMMENT, CURLY, DOUBLE_QUOTE, Definition, IndentRules, LanguageConfig,
    NodeKinds, QuerySources, ROUND, SINGLE_QUOTE, SQUARE, TabHint,
};

/// Detection, grammar, editing configuration and queries of Rust.
pub(crate) static RUST: Definition = Definition {
    name: "Rust",
    aliases: &["rs"],
    extensions: &["rs"],
    files: &[],
    interpreters: &["rust-script"],
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("//"),
        block_comment: Some(("/*", "*/")),
        // A lone quote is a lifetime as often as a char, so it is not closed by itself.
        auto_close: &[ROUND, SQUARE, CURLY, DOUBLE_QUOTE, BLOCK_COMMENT],
        continued: &["//!", "///"],
        tab: Some(TabHint {
            width: 4,
            hard: false,
        }),
        multi_row_quotes: "\"",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("rust", "highlights")],
        injections: query!("rust", "injections"),
        has_layers: false,
        folds: query!("rust", "folds"),
        outline: query!("rust", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string_literal", "raw_string_literal", "char_literal"],
        comments: &["line_comment", "block_comment"],
        context: &[
            "function_item",
            "impl_item",
            "trait_item",
            "struct_item",
            "enum_item",
            "union_item",
            "mod_item",
            "foreign_mod_item",
            "macro_definition",
            "if_expression",
            "else_clause",
            "for_expression",
            "while_expression",
            "loop_expression",
            "match_expression",
            "match_arm",
            "closure_expression",
            "const_item",
            "static_item",
        ],
        blocks: &["source_file", "block", "declaration_list", "match_block"],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        after_suffix: &["=>", " ="],
        ..IndentRules::BRACKETS
    },
};

const C_CONFIG: LanguageConfig = LanguageConfig {
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
    continued: &["///"],
    ..LanguageConfig::PLAIN
};

const C_INDENT: IndentRules = IndentRules {
    labels: &["case", "default"],
    ..IndentRules::BRACKETS
};

/// Detection, grammar, editing configuration and queries of C.
pub(crate) static C: Definition = Definition {
    name: "C",
    aliases: &["h"],
    extensions: &["c", "h"],
    files: &[],
    interpreters: &["tcc"],
    grammar: || tree_sitter_c::LANGUAGE.into(),
    config: C_CONFIG,
    queries: QuerySources {
        highlights: &[query!("c", "highlights")],
        injections: query!("c", "injections"),
        has_layers: false,
        folds: query!("c", "folds"),
        outline: query!("c", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string_literal", "char_literal", "system_lib_string"],
        context: &[
            "function_definition",
            "struct_specifier",
            "enum_specifier",
            "union_specifier",
            "if_statement",
            "else_clause",
            "for_statement",
            "while_statement",
            "do_statement",
            "switch_statement",
            "case_statement",
            "preproc_if",
            "preproc_ifdef",
        ],
        blocks: &[
            "translation_unit",
            "compound_statement",
            "field_declaration_list",
            "case_statement",
        ],
        ..NodeKinds::NONE
    },
    indent: C_INDENT,
};

/// Detection, grammar, editing configuration and queries of C++.
pub(crate) static CPP: Definition = Definition {
    name: "C++",
    aliases: &["cpp", "cxx", "cc", "hpp"],
    extensions: &[
        "cpp", "hpp", "cc", "cxx", "hh", "hxx", "c++", "h++", "ipp", "inl", "tpp", "cu", "cuh",
        "ino",
    ],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    config: C_CONFIG,
    queries: QuerySources {
        highlights: &[query!("c", "highlights"), query!("cpp", "highlights")],
        injections: query!("cpp", "injections"),
        has_layers: false,
        folds: query!("cpp", "folds"),
        outline: query!("cpp", "outline"),
    },
    kinds: NodeKinds {
        strings: &[
            "string_literal",
            "char_literal",
            "raw_string_literal",
            "system_lib_string",
        ],
        context: &[
            "function_definition",
            "struct_specifier",
            "class_specifier",
            "enum_specifier",
            "union_specifier",
            "namespace_definition",
            "if_statement",
            "else_clause",
            "for_statement",
            "for_range_loop",
            "while_statement",
            "do_statement",
            "switch_statement",
            "case_statement",
            "try_statement",
            "catch_clause",
            "lambda_expression",
            "preproc_if",
            "preproc_ifdef",
        ],
        blocks: &[
            "translation_unit",
            "compound_statement",
            "field_declaration_list",
            "declaration_list",
            "case_statement",
        ],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        labels: &["case", "default", "public:", "private:", "protected:"],
        ..IndentRules::BRACKETS
    },
};

/// Detection, grammar, editing configuration and queries of Go.
pub(crate) static GO: Definition = Definition {
    name: "Go",
    aliases: &["golang"],
    extensions: &["go"],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    config: LanguageConfig {
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
        tab: Some(TabHint {
            width: 4,
            hard: true,
        }),
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("go", "highlights")],
        injections: "",
        has_layers: false,
        folds: query!("go", "folds"),
        outline: query!("go", "outline"),
    },
    kinds: NodeKinds {
        strings: &[
            "interpreted_string_literal",
            "raw_string_literal",
            "rune_literal",
        ],
        context: &[
            "function_declaration",
            "method_declaration",
            "func_literal",
            "type_declaration",
            "if_statement",
            "for_statement",
            "expression_switch_statement",
            "type_switch_statement",
            "select_statement",
            "expression_case",
            "type_case",
            "default_case",
            "communication_case",
            "const_declaration",
            "var_declaration",
        ],
        blocks: &[
            "source_file",
            "block",
            "statement_list",
            "field_declaration_list",
            "expression_case",
            "type_case",
            "default_case",
            "communication_case",
        ],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        labels: &["case", "default"],
        ..IndentRules::BRACKETS
    },
};
