//! Matches commands against a query by name, synonyms, help text, or letters of the name.
//!
//! Pure. Start at `find`.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use project::fuzzy::{self, CandidateKind};

use super::CommandEntry;
use super::synonyms::synonyms;
use crate::pickers::byte_offsets;

/// A command that matches the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundCommand {
    /// Index in the list of entries.
    pub(crate) index: usize,
    /// Byte offsets of the matching bytes of its name.
    pub(crate) matched: Vec<usize>,
}

/// Rank of a match; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CommandRank {
    /// Every word of the query is a prefix of a word of the name.
    Name,
    /// Every word is a prefix of a word of the name or its synonyms.
    Synonym,
    /// Every word is a prefix of a word of the name, its synonyms or the help text.
    Help,
    /// The letters of the query occur in the name in this order.
    Letters,
}

/// Returns the entries that match a query, best first; all of them in order for an empty query.
pub(crate) fn find(query: &str, entries: &[CommandEntry]) -> Vec<FoundCommand> {
    let words: Vec<String> = split_words(query).map(|word| word.to_lowercase()).collect();
    if words.is_empty() {
        let all = 0..entries.len();
        let unmarked = |index| FoundCommand {
            index,
            matched: Vec::new(),
        };
        return all.map(unmarked).collect();
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let cancel = AtomicBool::new(false);
    let mut scores = vec![0; names.len()];
    for ranked in fuzzy::rank(query, &names, CandidateKind::Text, names.len(), &cancel) {
        scores[ranked.index] = ranked.score.max(1);
    }
    let fits = entries.iter().zip(&scores).enumerate();
    let mut fits: Vec<_> = fits
        .filter_map(|(index, (entry, score))| {
            let fit = fit(&words, entry).or((*score > 0).then_some(CommandRank::Letters))?;
            Some((fit, Reverse(*score), entry.name.len(), index))
        })
        .collect();
    fits.sort_unstable();
    let marked = |(fit, _, _, index): (CommandRank, _, _, usize)| FoundCommand {
        index,
        matched: match fit {
            CommandRank::Letters => byte_offsets(
                names[index],
                &fuzzy::positions(query, names[index], CandidateKind::Text),
            ),
            _ => beginnings(&words, names[index]),
        },
    };
    fits.into_iter().map(marked).collect()
}

/// Returns the rank of a command whose name, synonyms or help contain a beginning for each word:
/// that of the worst text needed. Returns `None` if a word begins nothing, or without words.
fn fit(words: &[String], entry: &CommandEntry) -> Option<CommandRank> {
    let texts = [
        entry.name.as_str(),
        synonyms(entry.action),
        entry.doc.as_str(),
    ];
    let fits = [CommandRank::Name, CommandRank::Synonym, CommandRank::Help];
    // Number of texts needed until each word is found.
    let needed = words.iter().map(|word| {
        let begins = |text: &&str| find_word(word, text).is_some();
        texts.iter().position(begins)
    });
    let needed: Option<Vec<usize>> = needed.collect();
    needed?.into_iter().max().map(|most| fits[most])
}

/// Finds a word of `text` that begins with `word` or its singular.
fn find_word(word: &str, text: &str) -> Option<Range<usize>> {
    let singular = word.strip_suffix('s').filter(|it| it.len() > 2);
    split_words(text).find_map(|it| {
        let start = it.as_ptr() as usize - text.as_ptr() as usize;
        let lower = it.to_lowercase();
        let begun = [Some(word), singular];
        let length = begun
            .into_iter()
            .flatten()
            .find(|begun| lower.starts_with(begun))?
            .len();
        Some(start..start + length)
    })
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Returns the byte offsets of the chars of `name` that `words` match, sorted and without
/// duplicates.
fn beginnings(words: &[String], name: &str) -> Vec<usize> {
    let mut matched: Vec<usize> = words
        .iter()
        .filter_map(|word| find_word(word, name))
        .flatten()
        .filter(|at| name.is_char_boundary(*at))
        .collect();
    matched.sort_unstable();
    matched.dedup();
    matched
}

#[cfg(test)]
mod tests {
    use super::{CommandEntry, find};

    fn check(query: &str, expect: &[&str]) {
        let entry = |(action, name, doc): (&'static str, &str, &str)| CommandEntry {
            action,
            name: name.to_owned(),
            doc: doc.to_owned(),
            keys: None,
        };
        let entries = [
            (
                "agents::Land",
                "Agents: Land",
                "Put the accepted changes onto your branch.",
            ),
            (
                "editor::SortRows",
                "Editor: Sort Lines",
                "Sorts the selected lines, or all.",
            ),
            (
                "editor::DuplicateUp",
                "Editor: Duplicate Up",
                "Copies the selected lines above themselves.",
            ),
            (
                "editor::ToggleSoftWrap",
                "Editor: Toggle Soft Wrap",
                "Continues long lines below.",
            ),
            (
                "editor::MoveWordRight",
                "Editor: Move Word Right",
                "Moves every caret.",
            ),
            (
                "app::OpenKeymap",
                "App: Open Keymap",
                "Open your key bindings.",
            ),
        ]
        .map(entry);
        let found = find(query, &entries);
        let names: Vec<&str> = found
            .iter()
            .map(|it| entries[it.index].name.as_str())
            .collect();
        assert_eq!(names, expect, "{query:?}");
    }

    #[test]
    fn names_synonyms_and_help_texts_are_found() {
        check("sort lines", &["Editor: Sort Lines"]);
        check("line sort", &["Editor: Sort Lines"]);
        check("duplicate line", &["Editor: Duplicate Up"]);
        check("duplicate lines", &["Editor: Duplicate Up"]);
        check("word wrap", &["Editor: Toggle Soft Wrap"]);
        check("keyboard shortcuts", &["App: Open Keymap"]);
        check("bindings", &["App: Open Keymap"]);
        check("word right", &["Editor: Move Word Right"]);
        check("SORT", &["Editor: Sort Lines"]);
        check("branch", &["Agents: Land"]);
        check("opkm", &["App: Open Keymap"]);
        check("zzz", &[]);
    }

    #[test]
    fn words_of_the_name_come_before_the_help_text() {
        check(
            "lines",
            &[
                "Editor: Sort Lines",
                "Editor: Duplicate Up",
                "Editor: Toggle Soft Wrap",
            ],
        );
    }
}
