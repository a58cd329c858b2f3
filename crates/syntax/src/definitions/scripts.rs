//! Python, Bash, Ruby, Lua, SQL and Make.

use super::query;
use crate::definition::{
    AutoClose, BACKTICK, CURLY, DOUBLE_QUOTE, Definition, IndentRules, LanguageConfig, NodeKinds,
    QuerySources, ROUND, SINGLE_QUOTE, SQUARE, TabHint,
};

/// Detection, grammar, editing configuration and queries of Python.
pub(crate) static PYTHON: Definition = Definition {
    name: "Python",
    aliases: &["py", "python3", "py3", "pyi", "starlark"],
    extensions: &["py", "pyi", "pyw", "bzl", "star"],
    files: &[
        "SConstruct",
        "SConscript",
        "wscript",
        "BUILD",
        "WORKSPACE",
        "BUILD.bazel",
    ],
    interpreters: &["python", "python2", "python3", "pypy", "pypy3", "uv"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("#"),
        auto_close: &[
            ROUND,
            SQUARE,
            CURLY,
            AutoClose::code_only("\"\"\"", "\"\"\""),
            AutoClose::code_only("'''", "'''"),
            DOUBLE_QUOTE,
            SINGLE_QUOTE,
        ],
        dedent_words: &["else", "elif", "except", "finally"],
        tab: Some(TabHint {
            width: 4,
            hard: false,
        }),
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("python", "highlights")],
        injections: "",
        has_layers: false,
        folds: query!("python", "folds"),
        outline: query!("python", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string"],
        embedded: &["interpolation"],
        context: &[
            "function_definition",
            "class_definition",
            "if_statement",
            "elif_clause",
            "else_clause",
            "for_statement",
            "while_statement",
            "try_statement",
            "except_clause",
            "finally_clause",
            "with_statement",
            "match_statement",
            "case_clause",
        ],
        blocks: &["module", "block"],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        after_suffix: &[":"],
        leaves: &["return", "pass", "break", "continue", "raise"],
        ..IndentRules::BRACKETS
    },
};

/// Detection, grammar, editing configuration and queries of Bash.
pub(crate) static BASH: Definition = Definition {
    name: "Bash",
    aliases: &[
        "sh",
        "shell",
        "zsh",
        "shellscript",
        "shell script",
        "console",
        "ksh",
        "shell-session",
    ],
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild", "eclass"],
    files: &[
        ".bashrc",
        ".bash_profile",
        ".bash_aliases",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        "PKGBUILD",
        "APKBUILD",
        ".envrc",
        ".env",
        "bashrc",
        "zshrc",
    ],
    interpreters: &["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh"],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("#"),
        auto_close: &[ROUND, SQUARE, CURLY, DOUBLE_QUOTE, SINGLE_QUOTE, BACKTICK],
        dedent_words: &["fi", "done", "else", "elif", "esac"],
        multi_row_quotes: "\"'`",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("bash", "highlights")],
        injections: "",
        has_layers: false,
        folds: query!("bash", "folds"),
        outline: query!("bash", "outline"),
    },
    kinds: NodeKinds {
        strings: &[
            "string",
            "raw_string",
            "ansi_c_string",
            "translated_string",
            "heredoc_body",
            "regex",
        ],
        embedded: &[
            "command_substitution",
            "process_substitution",
            "arithmetic_expansion",
        ],
        context: &[
            "function_definition",
            "if_statement",
            "elif_clause",
            "else_clause",
            "for_statement",
            "c_style_for_statement",
            "while_statement",
            "case_statement",
            "case_item",
        ],
        blocks: &[
            "program",
            "compound_statement",
            "do_group",
            "if_statement",
            "case_item",
        ],
        word_pairs: &[("do", "done"), ("if", "fi"), ("case", "esac")],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        after_word: &["case"],
        after_last_word: &["then", "do", "else"],
        closing_words: &["fi", "done", "esac", "else", "elif"],
        ..IndentRules::BRACKETS
    },
};

/// Detection, grammar, editing configuration and queries of Ruby.
pub(crate) static RUBY: Definition = Definition {
    name: "Ruby",
    aliases: &["rb", "jruby"],
    extensions: &[
        "rb", "rake", "gemspec", "ru", "podspec", "thor", "jbuilder", "rbi",
    ],
    files: &[
        "Rakefile",
        "Gemfile",
        "Guardfile",
        "Podfile",
        "Vagrantfile",
        "Brewfile",
        "Fastfile",
        "Capfile",
        "config.ru",
        ".irbrc",
        ".pryrc",
        "Dangerfile",
    ],
    interpreters: &["ruby", "jruby", "rake", "macruby", "rbx"],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("#"),
        block_comment: Some(("=begin", "=end")),
        auto_close: &[ROUND, SQUARE, CURLY, DOUBLE_QUOTE, SINGLE_QUOTE, BACKTICK],
        dedent_words: &["end", "else", "elsif", "when", "rescue", "ensure"],
        tab: Some(TabHint {
            width: 2,
            hard: false,
        }),
        word_chars: "?!@$",
        multi_row_quotes: "\"'`",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("ruby", "highlights")],
        injections: query!("ruby", "injections"),
        has_layers: false,
        folds: query!("ruby", "folds"),
        outline: query!("ruby", "outline"),
    },
    kinds: NodeKinds {
        strings: &[
            "string",
            "bare_string",
            "subshell",
            "heredoc_body",
            "regex",
            "character",
            "delimited_symbol",
            "bare_symbol",
            "string_array",
            "symbol_array",
        ],
        embedded: &["interpolation"],
        context: &[
            "method",
            "singleton_method",
            "class",
            "singleton_class",
            "module",
            "if",
            "unless",
            "elsif",
            "else",
            "while",
            "until",
            "for",
            "case",
            "when",
            "begin",
            "rescue",
            "ensure",
            "do_block",
            "block",
        ],
        blocks: &[
            "program",
            "body_statement",
            "block_body",
            "then",
            "do",
            "else",
            "begin",
            "ensure",
        ],
        word_pairs: &[
            ("def", "end"),
            ("class", "end"),
            ("module", "end"),
            ("if", "end"),
            ("unless", "end"),
            ("do", "end"),
            ("begin", "end"),
            ("case", "end"),
            ("while", "end"),
            ("until", "end"),
            ("for", "end"),
        ],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        after_suffix: &["|"],
        after_word: &[
            "def", "class", "module", "if", "unless", "elsif", "else", "while", "until", "for",
            "case", "when", "in", "begin", "rescue", "ensure",
        ],
        after_last_word: &["do", "then", "begin"],
        closing_words: &["end", "else", "elsif", "when", "rescue", "ensure"],
        ..IndentRules::BRACKETS
    },
};

/// Detection, grammar, editing configuration and queries of Lua.
pub(crate) static LUA: Definition = Definition {
    name: "Lua",
    aliases: &["luajit"],
    extensions: &["lua", "rockspec", "luau"],
    files: &[".luacheckrc"],
    interpreters: &["lua", "luajit", "lua5.1", "lua5.2", "lua5.3", "lua5.4"],
    grammar: || tree_sitter_lua::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("--"),
        block_comment: Some(("--[[", "]]")),
        auto_close: &[ROUND, SQUARE, CURLY, DOUBLE_QUOTE, SINGLE_QUOTE],
        dedent_words: &["end", "else", "elseif", "until"],
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[
            tree_sitter_lua::HIGHLIGHTS_QUERY,
            query!("lua", "highlights"),
        ],
        injections: query!("lua", "injections"),
        has_layers: false,
        folds: query!("lua", "folds"),
        outline: query!("lua", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string"],
        context: &[
            "function_declaration",
            "function_definition",
            "if_statement",
            "elseif_statement",
            "else_statement",
            "for_statement",
            "while_statement",
            "repeat_statement",
            "do_statement",
        ],
        blocks: &["chunk", "block"],
        word_pairs: &[
            ("function", "end"),
            ("if", "end"),
            ("do", "end"),
            ("for", "end"),
            ("while", "end"),
            ("repeat", "until"),
        ],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        after_word: &["function", "else", "repeat"],
        after_suffix: &[],
        after_last_word: &["then", "do", "else", "repeat"],
        closing_words: &["end", "else", "elseif", "until"],
        ..IndentRules::BRACKETS
    },
};

/// Detection, grammar, editing configuration and queries of SQL.
pub(crate) static SQL: Definition = Definition {
    name: "SQL",
    aliases: &["postgres", "postgresql", "mysql", "sqlite", "plpgsql"],
    extensions: &["sql", "ddl", "dml", "psql", "pgsql"],
    files: &[".psqlrc"],
    interpreters: &[],
    grammar: || tree_sitter_sequel::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("--"),
        block_comment: Some(("/*", "*/")),
        brackets: &[('(', ')'), ('[', ']')],
        auto_close: &[ROUND, SQUARE, DOUBLE_QUOTE, SINGLE_QUOTE],
        multi_row_quotes: "\"'",
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[
            tree_sitter_sequel::HIGHLIGHTS_QUERY,
            query!("sql", "highlights"),
        ],
        injections: "",
        has_layers: false,
        folds: query!("sql", "folds"),
        outline: query!("sql", "outline"),
    },
    kinds: NodeKinds {
        // A literal is a string or a number; only their quotes tell.
        strings: &["literal"],
        comments: &["comment", "marginalia"],
        context: &[
            "create_table",
            "create_function",
            "create_view",
            "statement",
        ],
        blocks: &["program"],
        ..NodeKinds::NONE
    },
    indent: IndentRules::BRACKETS,
};

/// Detection, grammar, editing configuration and queries of Make.
pub(crate) static MAKE: Definition = Definition {
    name: "Make",
    aliases: &["makefile", "mk"],
    extensions: &["mk", "mak"],
    files: &[
        "Makefile",
        "makefile",
        "GNUmakefile",
        "BSDmakefile",
        "Makefile.am",
        "Makefile.in",
    ],
    interpreters: &["make", "gmake"],
    grammar: || tree_sitter_make::LANGUAGE.into(),
    config: LanguageConfig {
        line_comment: Some("#"),
        auto_close: &[ROUND, CURLY, DOUBLE_QUOTE, SINGLE_QUOTE],
        tab: Some(TabHint {
            width: 8,
            hard: true,
        }),
        word_chars: "-.",
        auto_indent_on_paste: false,
        ..LanguageConfig::PLAIN
    },
    queries: QuerySources {
        highlights: &[query!("make", "highlights")],
        injections: query!("make", "injections"),
        has_layers: false,
        folds: query!("make", "folds"),
        outline: query!("make", "outline"),
    },
    kinds: NodeKinds {
        strings: &["string"],
        context: &["rule", "define_directive", "conditional"],
        blocks: &["makefile", "recipe", "conditional"],
        ..NodeKinds::NONE
    },
    indent: IndentRules {
        after_suffix: &[":"],
        ..IndentRules::BRACKETS
    },
};
