//! Whether two lines differ by a slip of the pen within one word.
//!
//! A word that the file has elsewhere is no slip but another name, and digits and signs are never
//! slips: a line that differs in these is another line.

use crate::file::FileText;
use crate::fold;

/// The most letters that a slip changes.
const MOST: usize = 2;

/// By how many letters the word differs; `None` unless it is a slip.
pub(super) fn distance(file: &FileText, old: &str, row: &str) -> Option<usize> {
    let (old, row) = (old.trim(), row.trim());
    if old.len().abs_diff(row.len()) > 2 * MOST {
        return None;
    }
    let same = |a: char, b: char| fold::plain(a) == fold::plain(b);
    let old_chars: Vec<char> = old.chars().collect();
    let row_chars: Vec<char> = row.chars().collect();
    let shorter = old_chars.len().min(row_chars.len());
    let head = (0..shorter)
        .take_while(|ix| same(old_chars[*ix], row_chars[*ix]))
        .count();
    let most = shorter - head;
    let tail = (0..most)
        .take_while(|ix| {
            same(
                old_chars[old_chars.len() - 1 - ix],
                row_chars[row_chars.len() - 1 - ix],
            )
        })
        .count();
    let gone = &old_chars[head..old_chars.len() - tail];
    let there = &row_chars[head..row_chars.len() - tail];
    let are_letters = gone
        .iter()
        .chain(there)
        .all(|sign| sign.is_alphabetic() || *sign == '_');
    let distance = gone.len().max(there.len());
    if distance == 0 || distance > MOST || !are_letters {
        return None;
    }
    let word: String = word(&old_chars, head, old_chars.len() - tail).collect();
    let is_name = stands_alone(file.normal(), &word);
    let has_row_word = word_is_filled(&row_chars, head, row_chars.len() - tail);
    (!word.is_empty() && has_row_word && !is_name).then_some(distance)
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// The word around some chars.
fn word(line: &[char], start: usize, end: usize) -> impl Iterator<Item = char> + '_ {
    let before = line[..start]
        .iter()
        .rev()
        .take_while(|sign| is_word(**sign))
        .count();
    let after = line[end..]
        .iter()
        .take_while(|sign| is_word(**sign))
        .count();
    line[start - before..end + after].iter().copied()
}

fn word_is_filled(line: &[char], start: usize, end: usize) -> bool {
    word(line, start, end).next().is_some()
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
