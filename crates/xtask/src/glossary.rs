//! Checks that the glossary of ARCHITECTURE.md agrees with the names in the sources.

use std::collections::{BTreeMap, BTreeSet};

use crate::scan::{self, PieceKind};
use crate::tree;

const HEADING: &str = "## Glossary";

/// Crates whose crate docs name no domain types: chores and support for tests.
const NO_DOMAIN: &[&str] = &[
    "bench",
    "packages",
    "packaging",
    "replay",
    "test_support",
    "train_embed",
    "train_tab",
    "xtask",
];

/// A row of the glossary.
struct GlossaryRow {
    term: String,
    meaning: String,
    krate: String,
}

/// Returns the names in backquotes in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn rows() -> Vec<GlossaryRow> {
    let documents = tree::documents();
    let (_, text) = documents
        .iter()
        .find(|(name, _)| name == "ARCHITECTURE.md")
        .expect("ARCHITECTURE.md");
    let (_, section) = text.split_once(HEADING).expect("a section Glossary");
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [term, meaning, krate] = cells[..] else {
                panic!("the glossary has three columns: {line}");
            };
            GlossaryRow {
                term: quoted(term).next().unwrap_or_default().to_owned(),
                meaning: meaning.to_owned(),
                krate: quoted(krate).next().unwrap_or_default().to_owned(),
            }
        })
        .collect()
}

/// Returns the identifiers in the production code of each crate.
fn identifiers() -> BTreeMap<String, BTreeSet<String>> {
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in tree::sources().iter().filter(|source| !source.is_test()) {
        let code = scan::without(source.product(), &[PieceKind::Comment, PieceKind::Literal]);
        let identifiers = crates.entry(source.crate_name().to_owned()).or_default();
        identifiers.extend(scan::words(&code).map(str::to_owned));
    }
    crates
}

/// Returns the types in the sentence "Start at …" of a crate's documentation.
fn main_types(front: &str) -> Vec<String> {
    let prose: Vec<&str> = front
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .collect();
    let prose = prose.join(" ");
    let Some((_, sentence)) = prose.split_once("Start at ") else {
        return Vec::new();
    };
    let sentence = sentence.split(". ").next().unwrap_or_default();
    let is_type = |name: &&str| name.starts_with(char::is_uppercase);
    quoted(sentence)
        .filter_map(|path| path.split("::").find(is_type))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_term_of_the_glossary_exists() {
    let crates = identifiers();
    let rows = rows();
    assert!(rows.len() >= 60, "the glossary has {} rows", rows.len());
    let mut problems = Vec::new();
    let mut terms = BTreeSet::new();
    for row in &rows {
        let is_there = crates
            .get(&row.krate)
            .is_some_and(|names| names.contains(&row.term));
        if !is_there {
            problems.push(format!("crate {} has no {}", row.krate, row.term));
        }
        if !terms.insert((&row.term, &row.krate)) {
            problems.push(format!("{} is explained twice", row.term));
        }
        if !row.meaning.ends_with('.') {
            problems.push(format!("the meaning of {} is not a sentence", row.term));
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn main_types_of_crates_are_in_the_glossary() {
    let rows = rows();
    let crates = identifiers();
    let mut problems = Vec::new();
    for source in tree::sources() {
        let krate = source.crate_name();
        if !source.name.ends_with("/src/lib.rs")
            || !source.name.starts_with("crates/")
            || NO_DOMAIN.contains(&krate)
        {
            continue;
        }
        for name in main_types(&source.text) {
            if !crates[krate].contains(&name) {
                problems.push(format!(
                    "the front of {krate} names {name}, which is not there"
                ));
            } else if !rows.iter().any(|row| row.term == name) {
                problems.push(format!("the glossary lacks {name} of {krate}"));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn main_types_are_read_from_the_front() {
    let front = "//! A store.\n//!\n//! Start at `Index`, then `store::Writer::open`; `rank` answers. See\n//! `Other`.\n\nmod a;\n";
    assert_eq!(main_types(front), ["Index", "Writer"]);
}
