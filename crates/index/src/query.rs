//! Queries, and what their text reveals about the intent.

use std::path::PathBuf;

use crate::prepare::{PathParts, plain_name};
use crate::words::{SplitWord, each, each_word};

/// A search query and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexQuery {
    /// Plain language, or the name of a symbol.
    pub text: String,
    /// Maximum number of hits.
    pub limit: usize,
    /// Restricts the search to this folder, relative to the root.
    pub folder: Option<PathBuf>,
    /// The signals that determine the score.
    pub mode: QueryMode,
}

/// The signals that determine a chunk's score: words and embeddings, or one of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryMode {
    /// Words and embeddings together, plus boosts by path and symbol.
    #[default]
    Fused,
    /// Words alone: the BM25 score.
    Words,
    /// Embeddings alone: cosine similarity.
    Meaning,
}

impl IndexQuery {
    /// Creates a query in the default mode.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self {
            text: text.into(),
            limit,
            folder: None,
            mode: QueryMode::Fused,
        }
    }
}

/// Maximum number of words of a query that are used.
const MAX_WORDS: usize = 400;

/// Properties derived from a query's text, computed once per search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryTraits {
    /// Its words with their counts, in the order of the text.
    pub(crate) words: Vec<(String, f32)>,
    /// The unqualified name, if the query is the name of a symbol.
    pub(crate) symbol: Option<String>,
    /// Names of symbols within plain language.
    pub(crate) named: Vec<String>,
    /// Words that may match a path: without stop words, compounds with their parts.
    pub(crate) keywords: Vec<Keyword>,
    /// Whether it asks for tests.
    pub(crate) wants_tests: bool,
    /// Whether it asks for examples.
    pub(crate) wants_examples: bool,
    /// Whether it asks for documents.
    pub(crate) wants_prose: bool,
}

/// A word of a query that may match a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keyword {
    whole: String,
    parts: Vec<String>,
}

const STOP_WORDS: &[&str] = &[
    "the",
    "and",
    "for",
    "with",
    "that",
    "this",
    "from",
    "into",
    "how",
    "what",
    "where",
    "when",
    "which",
    "who",
    "why",
    "does",
    "are",
    "is",
    "was",
    "were",
    "has",
    "have",
    "had",
    "can",
    "could",
    "should",
    "would",
    "will",
    "not",
    "all",
    "any",
    "its",
    "use",
    "used",
    "uses",
    "using",
    "code",
    "function",
    "method",
    "class",
    "file",
    "implementation",
    "implemented",
    "defined",
    "find",
    "get",
];

impl QueryTraits {
    /// Derives the properties of a query's text.
    pub(crate) fn of(text: &str) -> Self {
        let mut words: Vec<(String, f32)> = Vec::new();
        each_word(text, MAX_WORDS, |word| {
            match words.iter_mut().find(|(known, _)| known == word) {
                Some((_, count)) => *count += 1.0,
                None => words.push((word.to_owned(), 1.0)),
            }
        });
        let symbol = symbol(text.trim());
        let named = match symbol {
            Some(_) => Vec::new(),
            None => text
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .filter(|word| is_named(word))
                .map(str::to_owned)
                .collect(),
        };
        let keywords = keywords(text);
        let has = |wanted: &[&str]| {
            words
                .iter()
                .any(|(word, _)| wanted.contains(&word.as_str()))
        };
        Self {
            symbol,
            named,
            wants_tests: has(&[
                "test", "tests", "testing", "tested", "spec", "specs", "fixture", "mock", "mocks",
            ]),
            wants_examples: has(&[
                "example", "examples", "demo", "sample", "samples", "tutorial",
            ]),
            wants_prose: has(&[
                "readme",
                "docs",
                "documentation",
                "guide",
                "tutorial",
                "changelog",
                "license",
                "manual",
                "markdown",
            ]),
            keywords,
            words,
        }
    }
}

fn keywords(text: &str) -> Vec<Keyword> {
    let mut keywords: Vec<Keyword> = Vec::new();
    each(text, MAX_WORDS, |word| match word {
        SplitWord::Whole { text, .. } => keywords.push(Keyword {
            whole: text.to_owned(),
            parts: Vec::new(),
        }),
        SplitWord::Part(part) => {
            if let Some(keyword) = keywords.last_mut().filter(|_| part.len() > 2) {
                keyword.parts.push(part.to_owned());
            }
        }
    });
    let mut seen: Vec<String> = Vec::new();
    keywords.retain(|keyword| {
        let whole = &keyword.whole;
        let is_new =
            whole.len() > 2 && !STOP_WORDS.contains(&whole.as_str()) && !seen.contains(whole);
        if is_new {
            seen.push(whole.clone());
        }
        is_new
    });
    keywords
}

/// Returns the unqualified name of a query that is a single name: qualified, or with a `_` or a
/// capital in it.
fn symbol(text: &str) -> Option<String> {
    let text = text.trim_end_matches("()");
    let is_letter = |letter: char| letter.is_alphanumeric() || "_:.->\\#$".contains(letter);
    if text.is_empty() || !text.chars().all(is_letter) {
        return None;
    }
    let last = text
        .rsplit([':', '.', '>', '\\', '#'])
        .find(|part| !part.is_empty())?;
    let is_qualified = last.len() < text.trim_end_matches([':', '.', '>', '\\', '#']).len();
    let is_name =
        last.starts_with('_') || last.contains('_') || last.chars().any(char::is_uppercase);
    (is_qualified || is_name).then(|| last.to_owned())
}

/// Returns whether a word of plain language names a symbol: it contains a capital after a small
/// letter, or a `_`.
fn is_named(word: &str) -> bool {
    let is_camel = word
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_snake = word.trim_matches('_').contains('_');
    word.len() > 3 && (is_camel || is_snake)
}

impl QueryTraits {
    /// Returns the share of the query's words that a path contains, and the share of the file's
    /// name that the query contains, each from 0 to 1. A word found only in the folder counts
    /// `folder`.
    pub(crate) fn path_shares(&self, place: &PathParts<'_>, folder: f32) -> (f32, f32) {
        if self.keywords.is_empty() {
            return (0.0, 0.0);
        }
        let (stem, parent) = place.names();
        let (stem, parent) = (parts_of(stem), parts_of(parent));
        let found = self.keywords.iter().map(|keyword| {
            let in_stem = keyword.share_in(&stem);
            in_stem.max(keyword.share_in(&parent) * folder)
        });
        let held = found.sum::<f32>() / self.keywords.len() as f32;
        let said = self.share_of_parts(&stem);
        (held, said)
    }

    /// Returns the similarity of the query and a name, from 0 to 1: the harmonic mean of the share
    /// of the query that the name contains and the share of the name that the query contains. Words
    /// match if one is a prefix of the other, of at least three letters. Stop words do not count; 0
    /// if either has no other words.
    pub(crate) fn likeness(&self, name: &str) -> f32 {
        let mut parts = parts_of(name);
        parts.retain(|part| !STOP_WORDS.contains(&part.as_str()));
        if parts.is_empty() || self.keywords.is_empty() {
            return 0.0;
        }
        let held: f32 = self
            .keywords
            .iter()
            .map(|keyword| keyword.share_in(&parts))
            .sum();
        let held = held / self.keywords.len() as f32;
        let said = self.share_of_parts(&parts);
        2.0 * held * said / (held + said).max(f32::MIN_POSITIVE)
    }

    /// Returns the share of a name's parts, from 0 to 1, that the query contains, compared as by
    /// `are_alike`; 0 for a name without parts.
    fn share_of_parts(&self, parts: &[String]) -> f32 {
        let is_said = |part: &&String| {
            let part = std::slice::from_ref(*part);
            self.keywords
                .iter()
                .any(|keyword| keyword.share_in(part) > 0.0)
        };
        parts.iter().filter(is_said).count() as f32 / parts.len().max(1) as f32
    }

    /// Returns whether the query is the name of a symbol that equals this file stem, ignoring case,
    /// `_`, `-` and plural endings.
    pub(crate) fn names_stem(&self, stem: &str) -> bool {
        self.symbol
            .as_ref()
            .is_some_and(|symbol| plain_name(symbol) == plain_name(stem))
    }
}

impl Keyword {
    /// Returns 1 if the names contain the whole word, otherwise the share of its parts, from 0 to
    /// 1, that they contain, compared as by `are_alike`.
    fn share_in(&self, names: &[String]) -> f32 {
        let is_in = |word: &String| names.iter().any(|name| are_alike(word, name));
        if is_in(&self.whole) {
            return 1.0;
        }
        let found = self.parts.iter().filter(|part| is_in(part)).count();
        found as f32 / self.parts.len().max(1) as f32
    }
}

/// Returns whether one word is a prefix of the other, of at least three letters: `parse` and
/// `parser`.
fn are_alike(word: &str, name: &str) -> bool {
    let least = word.len().min(name.len());
    least >= 3 && word.as_bytes()[..least] == name.as_bytes()[..least]
}

/// Returns the words of a name, compounds only as their parts.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    each(name, 20, |word| match word {
        SplitWord::Whole {
            is_compound: true, ..
        } => {}
        SplitWord::Whole { text, .. } | SplitWord::Part(text) => parts.push(text.to_owned()),
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinguished_from_plain_language() {
        let check = |text: &str, symbol: Option<&str>, named: &[&str]| {
            let traits = QueryTraits::of(text);
            assert_eq!(traits.symbol.as_deref(), symbol, "{text}");
            assert_eq!(traits.named, named, "{text}");
        };
        check("HttpClient", Some("HttpClient"), &[]);
        check("parse_line", Some("parse_line"), &[]);
        check("Engine::run", Some("run"), &[]);
        check("cart.total()", Some("total"), &[]);
        check("std::fs::", Some("fs"), &[]);
        check("_private", Some("_private"), &[]);
        check("parser", None, &[]);
        check("where is HttpClient made", None, &["HttpClient"]);
        check("how parse_line works", None, &["parse_line"]);
        check("How does it work?", None, &[]);
        check("", None, &[]);
    }

    #[test]
    fn a_path_holds_a_share_of_the_question() {
        let check = |text: &str, path: &str, expected: (f32, f32)| {
            let shares = QueryTraits::of(text).path_shares(&PathParts::of(path), 0.5);
            assert_eq!(shares, expected, "{text} {path}");
        };
        check(
            "how are sessions stored",
            "src/session_store.rs",
            (1.0, 1.0),
        );
        check(
            "retry policy of the client",
            "net/retry.rs",
            (1.0 / 3.0, 1.0),
        );
        // A folder match counts half; a file with a generic name takes its folder's name.
        check("retry policy", "retry/clock.rs", (0.25, 0.0));
        check("retry policy", "net/retry/mod.rs", (0.5, 1.0));
        check("the", "the/the.rs", (0.0, 0.0));
    }

    #[test]
    fn a_name_is_like_a_question_that_says_it() {
        let likeness = |text: &str, name: &str| QueryTraits::of(text).likeness(name);
        assert_eq!(likeness("parses the header", "parse_header"), 1.0);
        assert_eq!(likeness("parses the header", "get_parse_header"), 1.0);
        assert_eq!(likeness("closes the socket", "parse_header"), 0.0);
        assert!(likeness("parses the header of a request", "parse") < 0.7);
        assert_eq!(likeness("the", "the"), 0.0);
        assert_eq!(likeness("parses the header", ""), 0.0);
    }
}
