//! Peers: keyword completion, and the two simplest predictions of the next edit.

use std::collections::HashSet;

use crate::hunks::tokens;
use crate::typing::one_key;

/// Shortest word that is completed, in letters.
const LEAST_WORD: usize = 3;

/// The keywords of the open files in nvim's order from a caret.
pub struct Keywords {
    /// Unique, in the order of ctrl-n.
    list: Vec<String>,
    known: HashSet<String>,
}

impl Keywords {
    pub fn new(text: &str, caret: usize, others: &[&str]) -> Self {
        let (before, behind) = text.split_at_checked(caret).unwrap_or((text, ""));
        let mut keywords = Self {
            list: Vec::new(),
            known: HashSet::new(),
        };
        for part in [behind, before].into_iter().chain(others.iter().copied()) {
            words_of(part).for_each(|word| keywords.add(word));
        }
        keywords
    }

    fn add(&mut self, word: &str) {
        if word.len() >= LEAST_WORD && self.known.insert(word.to_owned()) {
            self.list.push(word.to_owned());
        }
    }

    /// Returns the keystrokes for a text: without completion, with the oracle, and with ctrl-n.
    pub fn keys(&mut self, text: &str) -> (usize, usize, usize) {
        let (mut typed, mut oracle, mut nvim) = (0, 0, 0);
        let mut left = text;
        while !left.is_empty() {
            let length = word_length(left);
            if length == 0 {
                left = &left[one_key(left)..];
                (typed, oracle, nvim) = (typed + 1, oracle + 1, nvim + 1);
                continue;
            }
            let word = &left[..length];
            let letters = word.chars().count();
            typed += letters;
            let is_known = self.known.contains(word);
            oracle += if is_known { letters.min(2) } else { letters };
            nvim += if is_known {
                self.presses(word).min(letters)
            } else {
                letters
            };
            // The typed word can be completed from now on; as the nearest before the caret it is the last in the list.
            self.add(word);
            left = &left[length..];
        }
        (typed, oracle, nvim)
    }

    /// Returns the fewest keystrokes for a word: some letters, and ctrl-n for each position in the list.
    fn presses(&self, word: &str) -> usize {
        let prefixes = word.char_indices().skip(1).map(|(at, _)| &word[..at]);
        let keys = prefixes.map(|prefix| {
            let matching = self
                .list
                .iter()
                .filter(|it| it.starts_with(prefix) && *it != prefix);
            let rank = matching.take_while(|it| *it != word).count() + 1;
            prefix.chars().count() + rank
        });
        keys.min().unwrap_or(usize::MAX)
    }
}

fn is_word_char(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

fn word_length(text: &str) -> usize {
    let word = text.chars().take_while(|ch| is_word_char(*ch));
    word.map(char::len_utf8).sum()
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|ch| !is_word_char(ch))
        .filter(|word| !word.is_empty())
}

/// Returns the row of the next use of a word after a row, wrapping at the end of the text.
pub fn next_use(text: &str, word: &str, row: u32) -> Option<u32> {
    let rows: Vec<u32> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| words_of(line).any(|it| it == word))
        .map(|(row, _)| row as u32)
        .collect();
    let behind = rows.iter().find(|it| **it > row);
    behind.or(rows.first()).copied()
}

/// Returns the first name among the removed tokens.
pub fn removed_name(old: &str, new: &str) -> Option<String> {
    let new = tokens(new);
    tokens(old).into_iter().find(|token| {
        token.starts_with(|ch: char| ch.is_alphabetic() || ch == '_') && !new.contains(token)
    })
}
