//! Search queries and their translation for the regex engine.
//!
//! Start at `FindQuery::compile`.

use std::fmt;
use std::ops::Range;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look};

use super::endings::NamedEndings;
use super::engine::Matcher;

/// Interpretation of a query's text: literal, or a regular expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternKind {
    /// Literal text, character by character.
    Literal,
    /// A regular expression. It matches within a row unless it names a line feed or sets the flag
    /// `s`: `\s+$` and `[^x]*` end before the line ending, and `$` matches before `\r\n` as before
    /// `\n`.
    Regex,
}

/// Case sensitivity of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaseMatching {
    /// Letters must match in case.
    Sensitive,
    /// Letters match in any case.
    Insensitive,
    /// Matches case if the pattern contains an upper-case letter.
    Smart,
}

/// Whether matches must be whole words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordBounds {
    /// Matches may start and end anywhere.
    Anywhere,
    /// Matches consist of whole words.
    Whole,
}

/// A query for searching a text, as typed in the find bar, not yet compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindQuery {
    /// Text of the search field.
    pub text: String,
    /// Interpretation of the text.
    pub pattern: PatternKind,
    /// Case sensitivity of the search.
    pub case: CaseMatching,
    /// Restriction to whole words.
    pub words: WordBounds,
}

/// Error in a query, with a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    message: String,
    /// The offending bytes of the query's text, where known.
    pub position: Option<Range<usize>>,
}

impl fmt::Display for QueryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for QueryError {}

impl FindQuery {
    /// Creates a query for a literal text, with matching case, anywhere.
    pub fn literal(text: impl Into<String>) -> Self {
        FindQuery {
            text: text.into(),
            pattern: PatternKind::Literal,
            case: CaseMatching::Sensitive,
            words: WordBounds::Anywhere,
        }
    }

    /// Compiles the query.
    ///
    /// # Errors
    ///
    /// Fails for an invalid regular expression and for a pattern that is too large.
    pub fn compile(&self) -> Result<Matcher, QueryError> {
        let hir = self.expression()?;
        Matcher::new(&hir, stays_in_row(&hir)).ok_or_else(|| {
            error(
                "this pattern is too large to search for; repeat less or split it",
                None,
            )
        })
    }

    /// Parses the query into an expression.
    pub(super) fn expression(&self) -> Result<Hir, QueryError> {
        if self.text.is_empty() {
            return Err(error("the search text is empty", None));
        }
        if self.pattern == PatternKind::Regex {
            self.parse(&self.text)
                .map_err(|failed| explain(&self.text, &failed))?;
        }
        let hir = self
            .parse(&self.translated())
            .map_err(|failed| error(&format!("cannot search for this: {}", kind(&failed)), None))?;
        Ok(match self.pattern {
            PatternKind::Literal => hir,
            PatternKind::Regex => NamedEndings::of(&self.text).keep_in_row(hir),
        })
    }

    /// Returns the regular expression for the query: line feeds match either line ending.
    pub(super) fn translated(&self) -> String {
        let body = match self.pattern {
            PatternKind::Literal => escape(&self.text),
            PatternKind::Regex => NamedEndings::of(&self.text).match_either(&self.text),
        };
        match self.words {
            WordBounds::Anywhere => body,
            WordBounds::Whole => format!(r"\b{{start-half}}(?:{body})\b{{end-half}}"),
        }
    }

    /// Returns whether the query ignores case.
    pub(super) fn ignores_case(&self) -> bool {
        match self.case {
            CaseMatching::Sensitive => false,
            CaseMatching::Insensitive => true,
            CaseMatching::Smart => !has_capital(&self.text, self.pattern),
        }
    }

    /// Parses `text` as a regular expression in which `^` and `$` match around `\n`, `\r\n` and
    /// `\r`. Case is ignored if the query ignores it. Fails with the parser's error.
    fn parse(&self, text: &str) -> Result<Hir, Box<regex_syntax::Error>> {
        ParserBuilder::new()
            .multi_line(true)
            .crlf(true)
            .case_insensitive(self.ignores_case())
            .build()
            .parse(text)
            .map_err(Box::new)
    }
}

fn error(message: &str, position: Option<Range<usize>>) -> QueryError {
    QueryError {
        message: message.to_owned(),
        position,
    }
}

/// Describes the error in a pattern and its character position, counted from 1.
fn explain(text: &str, failed: &regex_syntax::Error) -> QueryError {
    let span = match failed {
        regex_syntax::Error::Parse(failed) => Some(failed.span()),
        regex_syntax::Error::Translate(failed) => Some(failed.span()),
        _ => None,
    };
    let position = span.map(|span| span.start.offset..span.end.offset.max(span.start.offset));
    match position {
        Some(range) => {
            let character = text[..range.start].chars().count() + 1;
            let message = format!("{} at character {character} of the pattern", kind(failed));
            error(&message, Some(range))
        }
        None => error(&kind(failed), None),
    }
}

fn kind(failed: &regex_syntax::Error) -> String {
    match failed {
        regex_syntax::Error::Parse(failed) => failed.kind().to_string(),
        regex_syntax::Error::Translate(failed) => failed.kind().to_string(),
        other => other.to_string(),
    }
}

/// Escapes a literal; any line ending in it matches any line ending.
fn escape(text: &str) -> String {
    let rows: Vec<String> = text
        .split('\n')
        .map(|row| regex_syntax::escape(row.strip_suffix('\r').unwrap_or(row)))
        .collect();
    let last_keeps_return = text.ends_with('\r');
    let mut escaped = rows.join(r"\r?\n");
    if last_keeps_return {
        escaped.push_str(r"\r");
    }
    escaped
}

/// Returns whether a pattern contains an upper-case letter outside escapes such as `\W`.
fn has_capital(text: &str, pattern: PatternKind) -> bool {
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char == '\\' && pattern == PatternKind::Regex {
            chars.next();
        } else if char.is_uppercase() {
            return true;
        }
    }
    false
}

/// Whether no match can hold a line feed and none depends on where the text starts or ends, so that
/// windows of whole rows give the same answers as the whole text.
fn stays_in_row(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Literal(literal) => !literal.0.contains(&b'\n'),
        HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => !class
            .iter()
            .any(|range| range.start() <= '\n' && '\n' <= range.end()),
        HirKind::Class(regex_syntax::hir::Class::Bytes(class)) => !class
            .iter()
            .any(|range| range.start() <= b'\n' && b'\n' <= range.end()),
        HirKind::Look(look) => !matches!(look, Look::Start | Look::End),
        HirKind::Repetition(repetition) => stays_in_row(&repetition.sub),
        HirKind::Capture(capture) => stays_in_row(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(stays_in_row),
    }
}

#[cfg(test)]
mod tests;
