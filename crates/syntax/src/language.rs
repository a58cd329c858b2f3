//! A language: how its files are told, how its text is edited, and what its grammar means to us.
//!
//! Must not know: trees, texts. Invariant: a grammar's queries compile once, on whichever thread
//! first asks; `prepare` is the place to do that away from the user interface.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::grammar::Grammar;
use crate::plain::Outliner;

/// A language Burin knows. Cheap to copy; two are equal when their names are.
#[derive(Clone, Copy)]
pub struct Language(pub(crate) &'static Definition);

/// How text of a language is edited.
#[derive(Clone, Copy, Debug)]
pub struct LanguageConfig {
    /// What starts a comment that ends with its line, without the space behind it.
    pub line_comment: Option<&'static str>,
    /// What opens and closes a comment of several lines.
    pub block_comment: Option<(&'static str, &'static str)>,
    /// The brackets that pair up.
    pub brackets: &'static [(char, char)],
    /// What is closed by itself when its opener is typed, and surrounds a selection.
    pub auto_close: &'static [AutoClose],
    /// Line starts that are repeated on a new line behind them, the longest first: `///`.
    pub continued: &'static [&'static str],
    /// Words that take a line to another indent as soon as they stand alone on it: `else`, `end`.
    pub dedent_words: &'static [&'static str],
    /// The indent that the language's people use, where they agree on one.
    pub tab: Option<TabHint>,
    /// Chars that belong to words besides letters, digits and the underscore.
    pub word_chars: &'static str,
    /// The quotes whose strings may have several rows.
    pub multi_row_quotes: &'static str,
    /// Whether pasted rows are reindented. Off where blanks are content or indents alone carry the
    /// structure: Make, YAML, Markdown, diffs.
    pub auto_indent_on_paste: bool,
}

/// A pair that is closed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoClose {
    /// What is typed.
    pub open: &'static str,
    /// What is added behind the caret.
    pub close: &'static str,
    /// Whether it also happens inside strings.
    pub in_strings: bool,
    /// Whether it also happens inside comments.
    pub in_comments: bool,
}

/// One step of indent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TabHint {
    /// Its width in columns.
    pub width: u32,
    /// Whether it is a tab character.
    pub hard: bool,
}

impl Language {
    /// Its name, as a person reads it: `C++`.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// How its text is edited.
    pub fn config(&self) -> &'static LanguageConfig {
        &self.0.config
    }

    /// The endings of its files, without the dot, the commonest first.
    pub fn extensions(&self) -> &'static [&'static str] {
        self.0.extensions
    }

    /// Whether its queries are compiled, so that nothing has to wait for them.
    pub fn is_prepared(&self) -> bool {
        self.0.compiled.get().is_some()
    }

    /// Compiles its queries unless that is done: some milliseconds, best on a background thread.
    pub fn prepare(&self) {
        self.grammar();
    }

    /// The compiled grammar, compiling it now if nobody did before.
    pub(crate) fn grammar(&self) -> &'static Grammar {
        self.0.compiled.get_or_init(|| Grammar::compile(self.0))
    }

    /// The outline query alone, compiling it now if nobody did before.
    pub(crate) fn outliner(&self) -> &'static Outliner {
        self.0.outliner.get_or_init(|| Outliner::compile(self.0))
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Language {}

impl Hash for Language {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Everything that is known about a language before its grammar is compiled.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// Lower-case names under which other languages embed it, besides its own name.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) extensions: &'static [&'static str],
    /// Whole file names.
    pub(crate) files: &'static [&'static str],
    /// Programs named in a first line `#!…`.
    pub(crate) interpreters: &'static [&'static str],
    pub(crate) grammar: fn() -> tree_sitter::Language,
    pub(crate) config: LanguageConfig,
    pub(crate) queries: QuerySources,
    pub(crate) kinds: NodeKinds,
    pub(crate) indent: IndentRules,
    pub(crate) compiled: OnceLock<Grammar>,
    /// The part of it that cutting a text takes.
    pub(crate) outliner: OnceLock<Outliner>,
}

/// The text of a language's queries. Later patterns win over earlier ones.
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

/// Kinds of nodes with a meaning, by their grammar names.
#[derive(Clone, Copy)]
pub(crate) struct NodeKinds {
    /// Strings, chars, regular expressions.
    pub(crate) strings: &'static [&'static str],
    /// Comments.
    pub(crate) comments: &'static [&'static str],
    /// Code inside strings.
    pub(crate) embedded: &'static [&'static str],
    /// What keeps its first row in sight while its body is scrolled.
    pub(crate) context: &'static [&'static str],
    /// What holds a sequence of statements, rules or items.
    pub(crate) blocks: &'static [&'static str],
    /// Words that pair up like brackets when they begin and end a node.
    pub(crate) word_pairs: &'static [(&'static str, &'static str)],
    /// Tags: the kinds of start, end and self-closing tags, and of the name in them.
    pub(crate) tags: Option<TagKinds>,
}

/// The nodes that make up tags.
#[derive(Clone, Copy)]
pub(crate) struct TagKinds {
    pub(crate) start: &'static [&'static str],
    pub(crate) end: &'static [&'static str],
}

/// What a line says about the indent of the next one.
#[derive(Clone, Copy)]
pub(crate) struct IndentRules {
    /// A line that ends so, comments apart, opens a level.
    pub(crate) after_suffix: &'static [&'static str],
    /// A line that begins with such a word opens a level, if nothing on it closes it again.
    pub(crate) after_word: &'static [&'static str],
    /// A line whose last word is such a word opens a level.
    pub(crate) after_last_word: &'static [&'static str],
    /// Words that close a level opened by a word.
    pub(crate) closing_words: &'static [&'static str],
    /// A line that begins with such a word ends its block.
    pub(crate) leaves: &'static [&'static str],
    /// Labels: a line that begins with such a word opens a level, and stands one level less deep
    /// than the lines of the label before.
    pub(crate) labels: &'static [&'static str],
}

impl LanguageConfig {
    /// A language without comments and of the common brackets.
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
    pub(crate) const fn bracket(open: &'static str, close: &'static str) -> AutoClose {
        AutoClose {
            open,
            close,
            in_strings: true,
            in_comments: true,
        }
    }

    pub(crate) const fn quote(quote: &'static str) -> AutoClose {
        AutoClose::code_only(quote, quote)
    }

    pub(crate) const fn code_only(open: &'static str, close: &'static str) -> AutoClose {
        AutoClose {
            open,
            close,
            in_strings: false,
            in_comments: false,
        }
    }
}

pub(crate) const ROUND: AutoClose = AutoClose::bracket("(", ")");
pub(crate) const SQUARE: AutoClose = AutoClose::bracket("[", "]");
pub(crate) const CURLY: AutoClose = AutoClose::bracket("{", "}");
pub(crate) const DOUBLE_QUOTE: AutoClose = AutoClose::quote("\"");
pub(crate) const SINGLE_QUOTE: AutoClose = AutoClose::quote("'");
pub(crate) const BACKTICK: AutoClose = AutoClose::quote("`");
pub(crate) const BLOCK_COMMENT: AutoClose = AutoClose::code_only("/*", " */");
