//! A search query and its matcher.

use caret::find;

use crate::walk::{BadGlob, WalkOptions};

/// The syntax of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Every character is literal.
    #[default]
    Literal,
    /// A regular expression in the dialect of the `regex` crate.
    Regex,
}

/// Case sensitivity of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaseSensitivity {
    /// Ignores case unless the pattern has a capital letter.
    #[default]
    Smart,
    /// Distinguishes upper and lower case.
    Sensitive,
    /// Ignores upper and lower case.
    Insensitive,
}

/// A search over the files of a folder: a pattern, the files to read, and limits on the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// Literal text or regular expression.
    pub pattern: String,
    /// Syntax of the pattern.
    pub syntax: Syntax,
    /// Case sensitivity of the match.
    pub case: CaseSensitivity,
    /// Whether a match must start and end at a word boundary.
    pub whole_word: bool,
    /// Files to search in.
    pub files: WalkOptions,
    /// Number of context rows before and after each match.
    pub context_rows: usize,
    /// Maximum number of matches.
    pub limit: usize,
    /// Whether only rows are requested, not the matches in them: a row then counts as one match and
    /// has no columns. Saves a second pass over each row.
    pub only_rows: bool,
}

/// The reason why a search cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadQuery {
    /// The regular expression is invalid.
    #[error("invalid pattern: {0}")]
    Pattern(String),
    /// A glob is invalid.
    #[error(transparent)]
    Glob(#[from] BadGlob),
}

impl SearchQuery {
    /// Creates a search for literal text with smart case in all files.
    pub fn literal(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            syntax: Syntax::Literal,
            case: CaseSensitivity::Smart,
            whole_word: false,
            files: WalkOptions::default(),
            context_rows: 0,
            limit: usize::MAX,
            only_rows: false,
        }
    }

    /// Creates a search for a regular expression with smart case in all files.
    pub fn regex(pattern: impl Into<String>) -> Self {
        Self {
            syntax: Syntax::Regex,
            ..Self::literal(pattern)
        }
    }

    /// Returns the query for a single text, with the same meaning as in the find bar.
    pub fn in_text(&self) -> find::FindQuery {
        find::FindQuery {
            text: self.pattern.clone(),
            pattern: match self.syntax {
                Syntax::Literal => find::PatternKind::Literal,
                Syntax::Regex => find::PatternKind::Regex,
            },
            case: match self.case {
                CaseSensitivity::Smart => find::CaseMatching::Smart,
                CaseSensitivity::Sensitive => find::CaseMatching::Sensitive,
                CaseSensitivity::Insensitive => find::CaseMatching::Insensitive,
            },
            words: if self.whole_word {
                find::WordBounds::Whole
            } else {
                find::WordBounds::Anywhere
            },
        }
    }

    /// Compiles the pattern for matching in texts; an invalid one is an error. The globs are not
    /// checked.
    pub fn matcher(&self) -> Result<find::Matcher, BadQuery> {
        let compiled = self.in_text().compile();
        compiled.map_err(|error| BadQuery::Pattern(error.to_string()))
    }
}
