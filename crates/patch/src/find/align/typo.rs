//! Whether two lines differ by a slip of the pen within one word.
//!
//! A word that the file has elsewhere is no slip but another name, and digits and signs are never
//! slips: a line that differs in these is another line.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::file::FileText;
use crate::fold;

/// The most letters that a slip changes.
const MOST: usize = 2;

/// Judges slips in one file, and remembers which words it has.
pub(super) struct Slips<'a> {
    file: &'a FileText<'a>,
    names: RefCell<HashMap<String, bool>>,
}

impl<'a> Slips<'a> {
    pub(super) fn of(file: &'a FileText<'a>) -> Self {
        Self {
            file,
            names: RefCell::new(HashMap::new()),
        }
    }

    /// By how many letters the word differs; `None` unless it is a slip.
    pub(super) fn distance(&self, old: &str, row: &str) -> Option<usize> {
        let (old, row) = (old.trim(), row.trim());
        if !may_be_near(old.as_bytes(), row.as_bytes()) {
            return None;
        }
        let old: Vec<char> = old.chars().map(fold::plain).collect();
        let row: Vec<char> = row.chars().map(fold::plain).collect();
        let most = old.len().min(row.len());
        let head = (0..most).take_while(|ix| old[*ix] == row[*ix]).count();
        let ends_alike = |ix: &usize| old[old.len() - 1 - ix] == row[row.len() - 1 - ix];
        let tail = (0..most - head).take_while(ends_alike).count();
        let (old_end, row_end) = (old.len() - tail, row.len() - tail);
        let mut differing = old[head..old_end].iter().chain(&row[head..row_end]);
        let distance = old_end.max(row_end) - head;
        let are_letters = differing.all(|sign| sign.is_alphabetic() || *sign == '_');
        if distance == 0 || distance > MOST || !are_letters {
            return None;
        }
        let (word, there) = (word(&old, head, old_end), word(&row, head, row_end));
        let are_words = !word.is_empty() && !there.is_empty();
        (are_words && !self.is_name(word)).then_some(distance)
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
fn word(line: &[char], start: usize, end: usize) -> String {
    let before = line[..start].iter().rev();
    let before = before.take_while(|sign| is_word(**sign)).count();
    let after = line[end..]
        .iter()
        .take_while(|sign| is_word(**sign))
        .count();
    line[start - before..end + after].iter().collect()
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
