//! Detects lines that differ by a typo within one word.
//!
//! A word that occurs elsewhere in the file is a different name and not a typo. Digits and
//! punctuation are never typos: lines that differ in them are different lines.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::file::FileText;
use crate::fold;

/// Maximum number of letters changed by a typo.
const MAX_LETTERS: usize = 2;

/// Detects typos relative to one file, and caches which words occur in it.
pub(crate) struct TypoFinder<'a> {
    file: &'a FileText<'a>,
    names: RefCell<HashMap<String, bool>>,
}

impl<'a> TypoFinder<'a> {
    /// Creates a detector for typos in quotations of this file.
    pub(crate) fn of(file: &'a FileText<'a>) -> Self {
        Self {
            file,
            names: RefCell::new(HashMap::new()),
        }
    }

    /// Returns the number of letters by which `old` differs from `row`, a line of the file. Returns
    /// `None` unless the difference is a typo in a word that the file does not contain.
    pub(crate) fn distance(&self, old: &str, row: &str) -> Option<usize> {
        let slip = Typo::of(old, row)?;
        let there = enclosing_word(&slip.row, &slip.row_part);
        let word = enclosing_word(&slip.old, &slip.old_part);
        let are_words = !word.is_empty() && !there.is_empty();
        (are_words && !self.is_name(word)).then(|| slip.distance())
    }

    /// Whether a word occurs in the file as a whole word. Caches the result.
    fn is_name(&self, word: String) -> bool {
        let mut names = self.names.borrow_mut();
        if let Some(is_name) = names.get(&word) {
            return *is_name;
        }
        let is_name = occurs_as_word(self.file.normal(), &word);
        names.insert(word, is_name);
        is_name
    }
}

/// Two lines that differ by a few letters in one place, ignoring surrounding white space.
pub(crate) struct Typo {
    old: Vec<char>,
    row: Vec<char>,
    /// Differing part of each line.
    old_part: Range<usize>,
    row_part: Range<usize>,
}

impl Typo {
    /// Compares two lines. Returns `None` if the lines differ too much for a typo.
    pub(crate) fn of(old: &str, row: &str) -> Option<Self> {
        let (old, row) = (old.trim(), row.trim());
        if !may_be_near(old.as_bytes(), row.as_bytes()) {
            return None;
        }
        let (old, row): (Vec<char>, Vec<char>) = (old.chars().collect(), row.chars().collect());
        let is_like = |a: usize, b: usize| fold::plain(old[a]) == fold::plain(row[b]);
        let most = old.len().min(row.len());
        let head = (0..most).take_while(|ix| is_like(*ix, *ix)).count();
        let ends_alike = |ix: &usize| is_like(old.len() - 1 - ix, row.len() - 1 - ix);
        let tail = (0..most - head).take_while(ends_alike).count();
        let (old_part, row_part) = (head..old.len() - tail, head..row.len() - tail);
        let slip = Self {
            old,
            row,
            old_part,
            row_part,
        };
        let mut differing = slip.old[slip.old_part.clone()]
            .iter()
            .chain(&slip.row[slip.row_part.clone()]);
        let are_letters = differing.all(|sign| sign.is_alphabetic() || *sign == '_');
        let is_short = (1..=MAX_LETTERS).contains(&slip.distance());
        (is_short && are_letters).then_some(slip)
    }

    /// Returns the number of differing letters, in the line that has more of them.
    fn distance(&self) -> usize {
        self.old_part.len().max(self.row_part.len())
    }

    /// Returns the trimmed old line with the differing letters replaced by those of the row.
    pub(crate) fn mended(&self) -> String {
        let parts = [
            &self.old[..self.old_part.start],
            &self.row[self.row_part.clone()],
            &self.old[self.old_part.end..],
        ];
        parts.concat().into_iter().collect()
    }
}

/// Checks on bytes whether the part that differs is short.
fn may_be_near(old: &[u8], row: &[u8]) -> bool {
    // A char has up to four bytes, and the difference may cut into one more at either end.
    const BYTES: usize = 4 * (MAX_LETTERS + 2);
    let longer = old.len().max(row.len());
    let shorter = old.len().min(row.len());
    let head = old.iter().zip(row).take_while(|(a, b)| a == b).count();
    let tail = old.iter().rev().zip(row.iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count().min(shorter - head);
    longer - head - tail <= BYTES
}

/// Whether a char belongs to a word.
fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Returns the word around a range of characters.
fn enclosing_word(line: &[char], part: &Range<usize>) -> String {
    let before = line[..part.start].iter().rev();
    let before = before.take_while(|sign| is_word(**sign)).count();
    let after = line[part.end..]
        .iter()
        .take_while(|sign| is_word(**sign))
        .count();
    line[part.start - before..part.end + after].iter().collect()
}

/// Whether the text contains the word with no word character next to it.
fn occurs_as_word(text: &str, word: &str) -> bool {
    let is_free = |sign: Option<char>| sign.is_none_or(|sign| !is_word(sign));
    memchr::memmem::find_iter(text.as_bytes(), word).any(|at| {
        let (before, after) = (
            text[..at].chars().next_back(),
            text[at + word.len()..].chars().next(),
        );
        is_free(before) && is_free(after)
    })
}
