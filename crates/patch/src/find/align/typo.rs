//! Whether two lines differ by a slip of the pen within one word.
//!
//! A word that the file has elsewhere is no slip but another name, and digits and signs are never
//! slips: a line that differs in these is another line.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::file::FileText;
use crate::fold;

/// The most letters that a slip changes.
const MOST: usize = 2;

/// Judges slips in one file, and remembers which words it has.
pub(crate) struct Slips<'a> {
    file: &'a FileText<'a>,
    names: RefCell<HashMap<String, bool>>,
}

impl<'a> Slips<'a> {
    pub(crate) fn of(file: &'a FileText<'a>) -> Self {
        Self {
            file,
            names: RefCell::new(HashMap::new()),
        }
    }

    /// By how many letters the word differs; `None` unless it is a slip.
    pub(crate) fn distance(&self, old: &str, row: &str) -> Option<usize> {
        let slip = Slip::of(old, row)?;
        let there = word(&slip.row, &slip.row_part);
        let word = word(&slip.old, &slip.old_part);
        let are_words = !word.is_empty() && !there.is_empty();
        (are_words && !self.is_name(word)).then(|| slip.distance())
    }

    fn is_name(&self, word: String) -> bool {
        let mut names = self.names.borrow_mut();
        if let Some(is_name) = names.get(&word) {
            return *is_name;
        }
        let is_name = stands_alone(self.file.normal(), &word);
        names.insert(word, is_name);
        is_name
    }
}

/// Two lines that differ by a few letters in one place, apart from white space around them.
pub(crate) struct Slip {
    old: Vec<char>,
    row: Vec<char>,
    /// What differs.
    old_part: Range<usize>,
    row_part: Range<usize>,
}

impl Slip {
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
        let is_short = (1..=MOST).contains(&slip.distance());
        (is_short && are_letters).then_some(slip)
    }

    fn distance(&self) -> usize {
        self.old_part.len().max(self.row_part.len())
    }

    /// The old line without white space around it, with the letters of the row.
    pub(crate) fn mended(&self) -> String {
        let parts = [
            &self.old[..self.old_part.start],
            &self.row[self.row_part.clone()],
            &self.old[self.old_part.end..],
        ];
        parts.concat().into_iter().collect()
    }
}

/// A cheap look at the bytes: whether what differs between the ends both have in common is short.
fn may_be_near(old: &[u8], row: &[u8]) -> bool {
    // A char has up to four bytes, and a slip cuts into a further one at either end.
    const BYTES: usize = 4 * (MOST + 2);
    let longer = old.len().max(row.len());
    let shorter = old.len().min(row.len());
    let head = old.iter().zip(row).take_while(|(a, b)| a == b).count();
    let tail = old.iter().rev().zip(row.iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count().min(shorter - head);
    longer - head - tail <= BYTES
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// The word around some chars.
fn word(line: &[char], part: &Range<usize>) -> String {
    let before = line[..part.start].iter().rev();
    let before = before.take_while(|sign| is_word(**sign)).count();
    let after = line[part.end..]
        .iter()
        .take_while(|sign| is_word(**sign))
        .count();
    line[part.start - before..part.end + after].iter().collect()
}

/// Whether the text holds the word with no word char beside it.
fn stands_alone(text: &str, word: &str) -> bool {
    let is_free = |sign: Option<char>| sign.is_none_or(|sign| !is_word(sign));
    memchr::memmem::find_iter(text.as_bytes(), word).any(|at| {
        let (before, after) = (
            text[..at].chars().next_back(),
            text[at + word.len()..].chars().next(),
        );
        is_free(before) && is_free(after)
    })
}
