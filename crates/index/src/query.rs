//! What is asked, and what a question says about itself.

use std::path::PathBuf;

use crate::prepare::plain_name;
use crate::words::each_word;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// In plain words, or the name of a symbol.
    pub text: String,
    /// Hits wanted at most.
    pub limit: usize,
    /// Only what lies in this folder, relative to the root.
    pub folder: Option<PathBuf>,
    /// What decides.
    pub means: Means,
}

/// What decides how good a chunk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Means {
    /// Words and meaning together, and what the place says.
    #[default]
    Fused,
    /// Words alone: BM25.
    Words,
    /// Meaning alone: the likeness of vectors.
    Meaning,
}

impl Query {
    /// A question in the default way.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self {
            text: text.into(),
            limit,
            folder: None,
            means: Means::Fused,
        }
    }
}

/// Words of a question that are looked at.
const MOST_WORDS: usize = 400;

/// What a question says about itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traits {
    /// Its words with how often each occurs, in the order of the text.
    pub(crate) words: Vec<(String, f32)>,
    /// It is the name of a symbol, and this is the name without what is around it.
    pub(crate) symbol: Option<String>,
    /// Names of symbols in plain language.
    pub(crate) named: Vec<String>,
    /// Words that a path may hold: without stop words.
    pub(crate) keywords: Vec<String>,
    /// It asks for tests.
    pub(crate) wants_tests: bool,
    /// It asks for examples.
    pub(crate) wants_examples: bool,
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

impl Traits {
    pub(crate) fn of(text: &str) -> Self {
        let mut words: Vec<(String, f32)> = Vec::new();
        each_word(text, MOST_WORDS, |word| {
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
        let keywords: Vec<String> = words
            .iter()
            .map(|(word, _)| word)
            .filter(|word| word.len() > 2 && !STOP_WORDS.contains(&word.as_str()))
            .cloned()
            .collect();
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
            keywords,
            words,
        }
    }
}

/// The last part of a question that is one name: qualified, or with a `_` or a capital in it.
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

/// Whether a word of plain language names a symbol: a capital behind a small letter, or a `_` inside.
fn is_named(word: &str) -> bool {
    let is_camel = word
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_snake = word.trim_matches('_').contains('_');
    word.len() > 3 && (is_camel || is_snake)
}

impl Traits {
    /// The share of the keywords that a file's stem or folder holds, from its beginning on.
    pub(crate) fn share_in(&self, stem: &str, folder: &str) -> f32 {
        if self.keywords.is_empty() {
            return 0.0;
        }
        let mut parts: Vec<String> = Vec::new();
        for name in [stem, folder] {
            each_word(name, 20, |word| parts.push(word.to_owned()));
        }
        let is_in = |keyword: &&String| {
            let common = |part: &String| {
                let least = keyword.len().min(part.len());
                least >= 3 && keyword.as_bytes()[..least] == part.as_bytes()[..least]
            };
            parts.iter().any(common)
        };
        let found = self.keywords.iter().filter(is_in).count();
        found as f32 / self.keywords.len() as f32
    }

    /// Whether the question names what this stem names.
    pub(crate) fn names_stem(&self, stem: &str) -> bool {
        self.symbol
            .as_ref()
            .is_some_and(|symbol| plain_name(symbol) == plain_name(stem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_from_plain_language() {
        let check = |text: &str, symbol: Option<&str>, named: &[&str]| {
            let traits = Traits::of(text);
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
        let share = |text: &str, stem: &str, folder: &str| Traits::of(text).share_in(stem, folder);
        assert_eq!(
            share("how are sessions stored", "session_store", "src"),
            1.0
        );
        assert_eq!(
            share("retry policy of the client", "retry", "net"),
            1.0 / 3.0
        );
        assert_eq!(share("the", "the", "the"), 0.0);
    }
}
