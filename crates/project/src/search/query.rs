//! What is searched for, and the matcher and searcher made of it.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};

use crate::walk::{BadGlob, WalkOptions};

/// How the pattern is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Every char means itself.
    #[default]
    Literal,
    /// A regular expression in the dialect of the `regex` crate.
    Regex,
}

/// Whether `a` matches `A`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// It does, unless the pattern holds a capital letter.
    #[default]
    Smart,
    /// It does not.
    Sensitive,
    /// It does.
    Insensitive,
}

/// A search over files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// The text or expression.
    pub pattern: String,
    /// How it is written.
    pub syntax: Syntax,
    /// Whether case matters.
    pub case: Case,
    /// Whether a match must begin and end at the edge of a word.
    pub whole_word: bool,
    /// Which files.
    pub files: WalkOptions,
    /// Rows shown before and after each match.
    pub context_rows: usize,
    /// Ends the search after so many matches.
    pub limit: usize,
    /// Whether rows are all that is wanted, not where in them the matches lie: a row then counts as one match and has
    /// no columns. Saves the second look at each row.
    pub only_rows: bool,
}

/// Why a search cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadQuery {
    /// The expression is not one.
    #[error("cannot read the pattern: {0}")]
    Pattern(String),
    /// A glob is not one.
    #[error(transparent)]
    Glob(#[from] BadGlob),
}

impl SearchQuery {
    /// A search for a text as it stands, smart about case, in all files.
    pub fn literal(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            syntax: Syntax::Literal,
            case: Case::Smart,
            whole_word: false,
            files: WalkOptions::default(),
            context_rows: 0,
            limit: usize::MAX,
            only_rows: false,
        }
    }

    /// A search for a regular expression, smart about case, in all files.
    pub fn regex(pattern: impl Into<String>) -> Self {
        Self {
            syntax: Syntax::Regex,
            ..Self::literal(pattern)
        }
    }

    /// Whether a match may span rows: only where the pattern itself speaks of a line feed.
    pub fn spans_rows(&self) -> bool {
        match self.syntax {
            Syntax::Literal => self.pattern.contains('\n'),
            Syntax::Regex => {
                self.pattern.contains('\n')
                    || self.pattern.contains("\\n")
                    || self.pattern.contains("(?s")
            }
        }
    }

    pub(crate) fn matcher(&self) -> Result<RegexMatcher, BadQuery> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .fixed_strings(self.syntax == Syntax::Literal)
            .case_insensitive(self.case == Case::Insensitive)
            .case_smart(self.case == Case::Smart)
            .word(self.whole_word)
            .multi_line(true)
            .unicode(true);
        if !self.spans_rows() {
            builder.line_terminator(Some(b'\n'));
        }
        builder
            .build(&self.pattern)
            .map_err(|error| BadQuery::Pattern(error.to_string()))
    }

    pub(crate) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .multi_line(self.spans_rows())
            .before_context(self.context_rows)
            .after_context(self.context_rows)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .build()
    }
}
