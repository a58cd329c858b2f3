//! Checks the words of the sources: type names, documentation comments and prose.

use std::collections::BTreeMap;

use crate::scan::{self, PieceKind};
use crate::tree::{self, Source};

/// Type names that may occur in any number of crates.
const SHARED_NAMES: &[&str] = &["Error"];

/// Everyday words that say nothing about a type.
const BARE_NAMES: &[&str] = &[
    "Answer", "Asked", "Came", "Crew", "Desk", "Found", "Given", "Ground", "Hand", "Hands",
    "Heard", "Held", "House", "Kept", "Known", "Lane", "Left", "Line", "Looker", "Part", "People",
    "Person", "Piece", "Place", "Purse", "Room", "Rooms", "Said", "Seat", "Seen", "Shelf", "Shown",
    "Spot", "Standing", "Table", "Taken", "Teller", "Thing", "Told", "Vault", "Wanted", "What",
    "Who", "Wish", "Word", "Yard",
];

/// First words of a documentation comment that replace its subject.
const HIDDEN_SUBJECTS: &[&str] = &[
    "What", "Who", "Whose", "Whoever", "Where", "How", "So", "As",
];

/// Phrases of mannered prose, in lower case.
const MANNERED: &[&str] = &[
    "nobody",
    "whoever",
    "whatever is",
    "is told",
    "are told",
    "was told",
    "of one's own",
    "of its own accord",
    "has leave",
    "gives leave",
    "ask leave",
    "asks leave",
    "needs leave",
    "the like of",
    "so long as",
    "stands",
];

/// Returns the types that a source defines, with their lines, counted from 1.
fn types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(ix, line)| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
            Some(rest) => rest.trim_start(),
            None => line,
        };
        let rest = ["struct ", "enum ", "trait "]
            .iter()
            .find_map(|keyword| line.strip_prefix(keyword))?;
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        Some((ix + 1, &rest[..end.unwrap_or(rest.len())]))
    })
}

fn complain(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn type_names_are_specific() {
    let sources: Vec<Source> = tree::sources()
        .into_iter()
        .filter(Source::is_production)
        .collect();
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in &sources {
        for (line, name) in types(source.product()) {
            let place = format!("{}:{line}", source.name);
            places.entry(name).or_default().push(place);
        }
    }
    let mut problems = Vec::new();
    for (name, places) in places {
        if BARE_NAMES.contains(&name) {
            problems.push(format!("{name} says nothing about the type: {places:?}"));
        }
        if places.len() > 2 && !SHARED_NAMES.contains(&name) {
            problems.push(format!("{name} names {} types: {places:?}", places.len()));
        }
    }
    complain(problems);
}

#[test]
fn documentation_begins_with_its_subject() {
    let mut problems = Vec::new();
    for source in tree::sources()
        .iter()
        .filter(|source| source.is_production())
    {
        let mut is_inside = false;
        for (ix, line) in source.text.lines().enumerate() {
            let line = line.trim_start();
            let doc = line
                .strip_prefix("///")
                .or_else(|| line.strip_prefix("//!"));
            let first = doc.and_then(|doc| doc.split_whitespace().next());
            let first =
                first.map(|word| word.trim_end_matches(|letter: char| !letter.is_alphanumeric()));
            if !is_inside && first.is_some_and(|word| HIDDEN_SUBJECTS.contains(&word)) {
                problems.push(format!("{}:{}: {line}", source.name, ix + 1));
            }
            is_inside = doc.is_some();
        }
    }
    complain(problems);
}

/// Returns the mannered phrase in `prose`, if there is one.
fn mannered(prose: &str) -> Option<&'static str> {
    let prose = prose.to_lowercase();
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let is_said = |phrase: &&&str| {
        prose.match_indices(**phrase).any(|(at, found)| {
            !is_letter(prose[..at].chars().next_back())
                && !is_letter(prose[at + found.len()..].chars().next())
        })
    };
    MANNERED.iter().find(is_said).copied()
}

/// Comments, and string literals of several words: errors, messages and the texts of the window.
#[test]
fn prose_is_plain() {
    let mut problems = Vec::new();
    let mut check = |name: &str, line: usize, prose: &str| {
        if let Some(phrase) = mannered(prose) {
            problems.push(format!("{name}:{line} says {phrase:?}"));
        }
    };
    for source in tree::sources()
        .iter()
        .filter(|source| source.is_production())
    {
        let product_lines = source.product().lines().count();
        for piece in scan::pieces(&source.text) {
            let is_prose = match piece.kind {
                PieceKind::Code => false,
                PieceKind::Comment => true,
                PieceKind::Literal => piece.line <= product_lines && piece.text.contains(' '),
            };
            for (ix, line) in piece.text.lines().enumerate().filter(|_| is_prose) {
                check(&source.name, piece.line + ix, line);
            }
        }
    }
    for (name, text) in tree::documents() {
        for (ix, line) in text.lines().enumerate() {
            check(&name, ix + 1, line);
        }
    }
    complain(problems);
}
