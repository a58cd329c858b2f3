//! What is searched for, and the matcher made of it.

use caret::find;

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

    /// What is looked for in each text: the pattern means the same as in the find bar.
    pub fn in_text(&self) -> find::Query {
        find::Query {
            text: self.pattern.clone(),
            pattern: match self.syntax {
                Syntax::Literal => find::Pattern::Literal,
                Syntax::Regex => find::Pattern::Regex,
            },
            case: match self.case {
                Case::Smart => find::Case::Smart,
                Case::Sensitive => find::Case::Sensitive,
                Case::Insensitive => find::Case::Insensitive,
            },
            words: match self.whole_word {
                true => find::WordBounds::Whole,
                false => find::WordBounds::Anywhere,
            },
        }
    }

    /// The matcher of `in_text`.
    pub fn matcher(&self) -> Result<find::Matcher, BadQuery> {
        let compiled = self.in_text().compile();
        compiled.map_err(|error| BadQuery::Pattern(error.to_string()))
    }
}
