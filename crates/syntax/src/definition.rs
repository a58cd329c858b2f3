//! The definition of a language, as data.
//!
//! Must not know: compiled queries. The tables are in `definitions`.

/// Editing configuration of a language: comments, brackets, automatic closing, indentation and
/// words.
#[derive(Clone, Copy, Debug)]
pub struct LanguageConfig {
    /// Marker of a line comment, without the following space.
    pub line_comment: Option<&'static str>,
    /// Opening and closing markers of a block comment.
    pub block_comment: Option<(&'static str, &'static str)>,
    /// Pairs of matching brackets.
    pub brackets: &'static [(char, char)],
    /// Pairs that are closed automatically and surround selections.
    pub auto_close: &'static [AutoClose],
    /// Row prefixes repeated on a new row, longest first: `///`.
    pub continued: &'static [&'static str],
    /// Words that change the indentation of a row when typed alone on it: `else`, `end`.
    pub dedent_words: &'static [&'static str],
    /// Conventional indentation of the language, if there is one.
    pub tab: Option<TabHint>,
    /// Word characters besides letters, digits and the underscore.
    pub word_chars: &'static str,
    /// Quotes of strings that may span several rows.
    pub multi_row_quotes: &'static str,
    /// Whether pasted rows are reindented. Off if blanks are content or only the indentation
    /// carries the structure: Make, YAML, Markdown, diffs.
    pub auto_indent_on_paste: bool,
}

/// A pair that is closed automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoClose {
    /// Opening text, as typed.
    pub open: &'static str,
    /// Closing text inserted after the caret.
    pub close: &'static str,
    /// Whether it applies inside strings.
    pub in_strings: bool,
    /// Whether it applies inside comments.
    pub in_comments: bool,
}

/// Width and kind of one indentation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TabHint {
    /// Width of a level, in columns.
    pub width: u32,
    /// Whether it is a tab character.
    pub hard: bool,
}

/// Definition of a language: the detection of its files, its editing configuration, and the meaning
/// of its nodes. There is one static value per language.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// Lower-case names under which other languages embed it, besides its own name.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) extensions: &'static [&'static str],
    /// Complete file names, such as `Makefile`.
    pub(crate) files: &'static [&'static str],
    /// Programs named in a first line `#!…`.
    pub(crate) interpreters: &'static [&'static str],
    pub(crate) grammar: fn() -> tree_sitter::Language,
    pub(crate) config: LanguageConfig,
    pub(crate) queries: QuerySources,
    pub(crate) kinds: NodeKinds,
    pub(crate) indent: IndentRules,
}

/// Sources of the tree-sitter queries of a language. Later patterns take precedence.
#[derive(Clone, Copy)]
pub(crate) struct QuerySources {
    pub(crate) highlights: &'static [&'static str],
    pub(crate) injections: &'static str,
    /// Whether injections of many kilobytes are common, so that they get trees of their own that
    /// are parsed incrementally. Looking for them costs time at every key.
    pub(crate) has_layers: bool,
    pub(crate) folds: &'static str,
    pub(crate) outline: &'static str,
}

/// The names in the grammar of the node kinds that have a role for Burin.
#[derive(Clone, Copy)]
pub(crate) struct NodeKinds {
    /// Strings, chars, regular expressions.
    pub(crate) strings: &'static [&'static str],
    /// Kinds of comment nodes.
    pub(crate) comments: &'static [&'static str],
    /// Kinds of code inside strings.
    pub(crate) embedded: &'static [&'static str],
    /// Kinds whose first row is a sticky header.
    pub(crate) context: &'static [&'static str],
    /// Kinds that contain a sequence of statements, rules or items.
    pub(crate) blocks: &'static [&'static str],
    /// Words that pair up like brackets when they begin and end a node.
    pub(crate) word_pairs: &'static [(&'static str, &'static str)],
    /// Tags: the kinds of start, end and self-closing tags, and of the name in them.
    pub(crate) tags: Option<TagKinds>,
}

/// The kinds of nodes that are start and end tags, in languages such as HTML.
#[derive(Clone, Copy)]
pub(crate) struct TagKinds {
    pub(crate) start: &'static [&'static str],
    pub(crate) end: &'static [&'static str],
}

/// Rules for the indentation of the next row, besides brackets, by the words at the start and end
/// of rows.
#[derive(Clone, Copy)]
pub(crate) struct IndentRules {
    /// A row ending with one of these, ignoring comments, opens a level.
    pub(crate) after_suffix: &'static [&'static str],
    /// A row beginning with one of these words opens a level, unless it closes it again.
    pub(crate) after_word: &'static [&'static str],
    /// A row ending with one of these words opens a level.
    pub(crate) after_last_word: &'static [&'static str],
    /// Words that close a level opened by a word.
    pub(crate) closing_words: &'static [&'static str],
    /// A row beginning with one of these words ends its block.
    pub(crate) leaves: &'static [&'static str],
    /// Labels: a row beginning with one of these words opens a level, and is one level shallower
    /// than the rows of the previous label.
    pub(crate) labels: &'static [&'static str],
}

impl LanguageConfig {
    /// A configuration without comments and with the common brackets. Other configurations override
    /// parts of it.
    pub(crate) const PLAIN: LanguageConfig = LanguageConfig {
        line_comment: None,
        block_comment: None,
        brackets: &[('(', ')'), ('[', ']'), ('{', '}')],
        auto_close: &[ROUND, SQUARE, CURLY, DOUBLE_QUOTE],
        continued: &[],
        dedent_words: &[],
        tab: None,
        word_chars: "",
        multi_row_quotes: "`",
        auto_indent_on_paste: true,
    };
}

impl NodeKinds {
    /// Gives a role only to nodes of the kind `comment`.
    pub(crate) const NONE: NodeKinds = NodeKinds {
        strings: &[],
        comments: &["comment"],
        embedded: &[],
        context: &[],
        blocks: &[],
        word_pairs: &[],
        tags: None,
    };
}

impl IndentRules {
    /// Indentation by brackets alone.
    pub(crate) const BRACKETS: IndentRules = IndentRules {
        after_suffix: &[],
        after_word: &[],
        after_last_word: &[],
        closing_words: &[],
        leaves: &[],
        labels: &[],
    };
}

impl AutoClose {
    /// Creates a pair that is closed automatically everywhere.
    pub(crate) const fn bracket(open: &'static str, close: &'static str) -> AutoClose {
        AutoClose {
            open,
            close,
            in_strings: true,
            in_comments: true,
        }
    }

    /// Creates a pair of equal quotes that is closed automatically only in code.
    pub(crate) const fn quote(quote: &'static str) -> AutoClose {
        AutoClose::code_only(quote, quote)
    }

    /// Creates a pair that is closed automatically except in strings and comments.
    pub(crate) const fn code_only(open: &'static str, close: &'static str) -> AutoClose {
        AutoClose {
            open,
            close,
            in_strings: false,
            in_comments: false,
        }
    }
}

/// Parentheses, closed automatically.
pub(crate) const ROUND: AutoClose = AutoClose::bracket("(", ")");
/// Square brackets, closed automatically.
pub(crate) const SQUARE: AutoClose = AutoClose::bracket("[", "]");
/// Braces, closed automatically.
pub(crate) const CURLY: AutoClose = AutoClose::bracket("{", "}");
/// Double quotes, closed automatically in code.
pub(crate) const DOUBLE_QUOTE: AutoClose = AutoClose::quote("\"");
/// Single quotes, closed automatically in code.
pub(crate) const SINGLE_QUOTE: AutoClose = AutoClose::quote("'");
/// Backticks, closed automatically in code.
pub(crate) const BACKTICK: AutoClose = AutoClose::quote("`");
/// The block comment of C, closed automatically in code.
pub(crate) const BLOCK_COMMENT: AutoClose = AutoClose::code_only("/*", " */");
