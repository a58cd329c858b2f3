//! Data and documents: JSON, TOML, YAML, Markdown, HTML, CSS and diffs.

use super::query;
use crate::definition::{
    AutoClose, BACKTICK, BLOCK_COMMENT, CURLY, DOUBLE_QUOTE, Definition, IndentRules,
    LanguageConfig, NodeKinds, QuerySources, ROUND, SINGLE_QUOTE, SQUARE, TabHint, TagKinds,
};

const JSON_QUERIES: QuerySources = QuerySources {
    highlights: &[query!("json", "highlights")],
    injections: "",
    has_layers: false,
    folds: query!("json", "folds"),
    outline: query!("json", "outline"),
};

const JSON_KINDS: NodeKinds = NodeKinds {
    strings: &["string"],
    context: &["pair"],
    ..NodeKinds::NONE
};

/// Detection, grammar, editing configuration and queries of JSON.
pub(crate) static JSON: Definition = Definition {
    name: "JSON",
    aliases: &["geojson", "jsonl", "webmanifest"],
    extensions: &[
        "json",
        "geojson",
        "jsonl",
        "ndjson",
        "webmanifest",
        "har",
        "ipynb",
        "avsc",
    ],
    files: &[
        ".watchmanconfig",
        "composer.lock",
        "Pipfile.lock",
        "flake.lock",
    ],
    interpreters: &[],
    grammar: || tree_sitter_json::LANGUAGE.into(),
    config: LanguageConfig {
        auto_close: &[SQUARE, CURLY, DOUBLE_QUOTE],
        ..LanguageConfig::PLAIN
    },
    queries: JSON_QUERIES,
    kinds: JSON_KINDS,
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of JSONC.
pub(crate) static JSONC: Definition = Definition {
    name: "JSONC",
    aliases: &["json5", "hujson"],
    extensions: &["jsonc", "json5", "code-workspace", "code-snippets"],
    files: &[
        "tsconfig.json",
        "jsconfig.json",
        "settings.json",
        "keymap.json",
        "keybindings.json",
        "launch.json",
        "tasks.json",
        "extensions.json",
        ".eslintrc",
        ".eslintrc.json",
        ".babelrc",
        ".jshintrc",
        ".swcrc",
        "devcontainer.json",
        "language-configuration.json",
    ],
    interpreters: &[],
    grammar: || tree_sitter_json::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("//"),
        block_comment: Some(("/*", "*/")),
        auto_close: &[SQUARE, CURLY, DOUBLE_QUOTE, BLOCK_COMMENT],
        ..LanguageConfig::PLAIN
    },
    queries: JSON_QUERIES,
    kinds: JSON_KINDS,
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of TOML.
pub(crate) static TOML: Definition = Definition {
    name: "TOML",
    aliases: &[],
    extensions: &["toml"],
    files: &[
        "Cargo.lock",
        "poetry.lock",
        "uv.lock",
        "Pipfile",
        "Gopkg.lock",
    ],
    interpreters: &[],
    grammar: || tree_sitter_toml_ng::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("#"),
        auto_close: &[SQUARE, CURLY, DOUBLE_QUOTE, SINGLE_QUOTE],
        word_chars: "-",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("toml", "highlights")],
        injections: "",
        has_layers: false,
        folds: query!("toml", "folds"),
        outline: query!("toml", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string"],
        context: &["table", "table_array_element", "pair"],
        blocks: &["document", "table", "table_array_element"],
        ..NodeKinds::NONE
    },
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of YAML.
pub(crate) static YAML: Definition = Definition {
    name: "YAML",
    aliases: &["yml"],
    extensions: &["yaml", "yml", "eyaml", "cff"],
    files: &[
        ".clang-format",
        ".clang-tidy",
        ".clangd",
        ".gemrc",
        "CITATION.cff",
    ],
    interpreters: &[],
    grammar: || tree_sitter_yaml::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("#"),
        auto_close: &[SQUARE, CURLY, DOUBLE_QUOTE, SINGLE_QUOTE],
        tab: Some(TabHint {
            width: 2,
            hard: false,
        }),
        word_chars: "-",
        auto_indent_on_paste: false,
        multi_row_quotes: "\"'",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("yaml", "highlights")],
        injections: "",
        has_layers: false,
        folds: query!("yaml", "folds"),
        outline: query!("yaml", "outline"),
    },
    kinds: NodeKinds {
        strings: &["double_quote_scalar", "single_quote_scalar"],
        context: &["block_mapping_pair"],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        after_suffix: &[":", ": |", ": >", ": |-", ": >-", ": |+", ": >+"],
        ..IndentRules::BRACKETS
    },
};

const MARKDOWN_CONFIG: LanguageConfig = LanguageConfig {
    block_comment: Some(("<!--", "-->")),
    auto_close: &[
        ROUND,
        SQUARE,
        CURLY,
        DOUBLE_QUOTE,
        AutoClose::bracket("```", "```"),
        BACKTICK,
    ],
    continued: &["> "],
    auto_indent_on_paste: false,
    ..LanguageConfig::PLAIN
};

/// Detection, grammar, editing configuration and queries of Markdown.
pub(crate) static MARKDOWN: Definition = Definition {
    name: "Markdown",
    aliases: &["md", "gfm", "commonmark"],
    extensions: &[
        "md", "markdown", "mdown", "mkd", "mkdn", "mdx", "livemd", "qmd", "rmd",
    ],
    files: &["README", "CHANGELOG", "CONTRIBUTING"],
    interpreters: &[],
    grammar: || tree_sitter_md::LANGUAGE.into(),
    config: MARKDOWN_CONFIG,
    queries: QuerySources {
        highlights: &[query!("markdown", "highlights")],
        injections: query!("markdown", "injections"),
        has_layers: true,
        folds: query!("markdown", "folds"),
        outline: query!("markdown", "outline"),
    },
    kinds: NodeKinds {
        strings: &["fenced_code_block", "indented_code_block"],
        comments: &[],
        context: &["section"],
        ..NodeKinds::NONE
    },
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of Markdown Inline.
pub(crate) static MARKDOWN_INLINE: Definition = Definition {
    name: "Markdown Inline",
    aliases: &["markdown_inline"],
    extensions: &[],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_md::INLINE_LANGUAGE.into(),
    config: MARKDOWN_CONFIG,
    queries: QuerySources {
        highlights: &[query!("markdown_inline", "highlights")],
        injections: query!("markdown_inline", "injections"),
        has_layers: false,
        folds: "",
        outline: "",
    },
    kinds: NodeKinds {
        strings: &["code_span"],
        comments: &[],
        ..NodeKinds::NONE
    },
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of HTML.
pub(crate) static HTML: Definition = Definition {
    name: "HTML",
    aliases: &["htm", "xhtml", "xml", "svg", "vue"],
    extensions: &["html", "htm", "xhtml", "shtml", "vue", "svg", "xml"],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_html::LANGUAGE.into(),
    config: LanguageConfig {
        block_comment: Some(("<!--", "-->")),
        auto_close: &[
            AutoClose::code_only("<!--", " -->"),
            ROUND,
            SQUARE,
            CURLY,
            DOUBLE_QUOTE,
            SINGLE_QUOTE,
        ],
        word_chars: "-",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("html", "highlights")],
        injections: query!("html", "injections"),
        has_layers: true,
        folds: query!("html", "folds"),
        outline: query!("html", "outline"),
    },
    kinds: NodeKinds {
        strings: &["quoted_attribute_value"],
        context: &["element", "script_element", "style_element"],
        blocks: &["document", "element"],
        tags: Some(TagKinds {
            start: &["start_tag"],
            end: &["end_tag"],
        }),
        ..NodeKinds::NONE
    },
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of CSS.
pub(crate) static CSS: Definition = Definition {
    name: "CSS",
    aliases: &["scss", "less", "postcss", "styled"],
    extensions: &["css", "pcss", "postcss", "scss", "less"],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_css::LANGUAGE.into(),
    config: LanguageConfig {
        block_comment: Some(("/*", "*/")),
        auto_close: &[
            ROUND,
            SQUARE,
            CURLY,
            DOUBLE_QUOTE,
            SINGLE_QUOTE,
            BLOCK_COMMENT,
        ],
        word_chars: "-",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("css", "highlights")],
        injections: "",
        has_layers: false,
        folds: query!("css", "folds"),
        outline: query!("css", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string_value"],
        comments: &["comment", "js_comment"],
        context: &[
            "rule_set",
            "media_statement",
            "keyframes_statement",
            "supports_statement",
            "at_rule",
            "scope_statement",
        ],
        blocks: &["stylesheet", "block"],
        ..NodeKinds::NONE
    },
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of Diff.
pub(crate) static DIFF: Definition = Definition {
    name: "Diff",
    aliases: &["patch", "udiff"],
    extensions: &["diff", "patch", "rej"],
    files: &[],
    interpreters: &[],
    grammar: || tree_sitter_diff::LANGUAGE.into(),
    config: LanguageConfig {
        auto_close: &[],
        auto_indent_on_paste: false,
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("diff", "highlights")],
        injections: "",
        has_layers: false,
        folds: query!("diff", "folds"),
        outline: query!("diff", "outline"),
    },
    kinds: NodeKinds {
        context: &["block", "hunk"],
        ..NodeKinds::NONE
    },
    indent: IndentRules::BRACKETS,
};
