//! Matches text within lines, ignoring typographic punctuation and trailing white space.

use std::ops::Range;

use crate::carry;
use crate::edit::{Occurrences, PatchHunk};
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::{HunkMatch, MatchBody};
use crate::outcome::{Ambiguity, HunkDifference, HunkRefusal, MatchStrategy};

/// Minimum number of non-blank characters in a text that is searched for.
const MIN_CHARS: usize = 4;
/// Maximum number of rows that contain the longest word; beyond that the search would take too
/// long.
const MAX_OCCURRENCES: usize = 256;

/// Returns the positions of the text.
///
/// # Errors
///
/// Returns a refusal if the change can be transferred to only some of the positions.
pub(super) fn find(file: &FileText, hunk: &PatchHunk) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let old = FoldedText::of(&hunk.old);
    let said = old.text.iter().filter(|sign| !sign.is_whitespace());
    if said.count() < MIN_CHARS {
        return Ok(Vec::new());
    }
    let mut spans: Vec<Range<usize>> = Vec::new();
    for rows in likely_rows(file, &hunk.old) {
        let start = file.start(rows.start);
        let text = FoldedText::of(&file.normal()[start..file.start(rows.end)]);
        let places = text.text.windows(old.text.len()).enumerate();
        for (at, _) in places.filter(|(_, window)| *window == old.text) {
            let end = text.char_end(at + old.text.len() - 1);
            spans.push(start + text.starts[at]..start + end);
        }
    }
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    let count = spans.len();
    let places = spans.into_iter();
    let found: Vec<HunkMatch> = places
        .filter_map(|span| at_span(file, hunk, span))
        .collect();
    match (found.is_empty() || found.len() == count, hunk.occurrences) {
        (true, _) => Ok(found),
        (false, Occurrences::All) => Err(HunkRefusal::Unclear(Ambiguity::Punctuation)),
        (false, Occurrences::One) => Err(HunkRefusal::Several {
            count,
            strategy: MatchStrategy::Normalised,
        }),
    }
}

/// Returns the rows that the text may span, based on occurrences of its longest word, since letters
/// are never folded.
fn likely_rows(file: &FileText, old: &str) -> Vec<Range<usize>> {
    let words = old.lines().enumerate().flat_map(|(ix, line)| {
        let words = line.split(|sign: char| !sign.is_ascii_alphanumeric());
        words.map(move |word| (ix, word))
    });
    let longest = words.max_by_key(|(_, word)| word.len());
    let Some((before, word)) = longest.filter(|(_, word)| word.len() > 2) else {
        return Vec::new();
    };
    let count = old.matches('\n').count() + 1;
    let places = memchr::memmem::find_iter(file.normal().as_bytes(), word);
    let mut rows: Vec<usize> = places
        .filter_map(|at| file.row_of(at).checked_sub(before))
        .collect();
    rows.dedup();
    if rows.len() > MAX_OCCURRENCES {
        return Vec::new();
    }
    rows.into_iter().map(|row| row..row + count).collect()
}

/// Transfers the change to the text in the file: the common prefix and suffix of old and new text
/// stay as in the file. `None` if the changed part itself differs from the file.
fn at_span(file: &FileText, hunk: &PatchHunk, span: Range<usize>) -> Option<HunkMatch> {
    let (old, new): (Vec<char>, Vec<char>) =
        (hunk.old.chars().collect(), hunk.new.chars().collect());
    let there = &file.normal()[span.clone()];
    let shared = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let most = old.len().min(new.len()) - shared;
    let shared_end = (0..most)
        .take_while(|ix| old[old.len() - 1 - ix] == new[new.len() - 1 - ix])
        .count();
    let gone: String = old[shared..old.len() - shared_end].iter().collect();
    let new: String = new[shared..new.len() - shared_end].iter().collect();
    let head: String = old[..shared].iter().collect();
    let tail: String = old[old.len() - shared_end..].iter().collect();
    let start = FoldedText::of(&head).text.len();
    let folded = FoldedText::of(there);
    let end = folded
        .text
        .len()
        .checked_sub(FoldedText::of(&tail).text.len())?;
    let from = folded.starts.get(start).copied().unwrap_or(there.len());
    let to = folded.starts.get(end).copied().unwrap_or(there.len());
    let new = match there.get(from..to)? {
        same if same == gone => new,
        other => carry::text(&gone, other, &new)?,
    };
    Some(HunkMatch {
        strategy: MatchStrategy::Normalised,
        differences: vec![HunkDifference::Punctuation],
        rows: file.row_of(span.start)..file.row_of(span.end.saturating_sub(1)) + 1,
        body: MatchBody::Span {
            span: span.start + from..span.start + to,
            text: new,
        },
    })
}

/// A text with plain punctuation and without trailing white space on its lines.
struct FoldedText {
    text: Vec<char>,
    /// Start of each char in the original text, and its length there.
    starts: Vec<usize>,
    lengths: Vec<usize>,
}

impl FoldedText {
    fn of(text: &str) -> Self {
        let mut folded = Self {
            text: Vec::with_capacity(text.len()),
            starts: Vec::with_capacity(text.len()),
            lengths: Vec::with_capacity(text.len()),
        };
        let mut held: Vec<(usize, char)> = Vec::new();
        for (at, sign) in text.char_indices() {
            match sign {
                '\n' => held.clear(),
                '\r' | ' ' | '\t' | '\u{a0}' => {
                    held.push((at, sign));
                    continue;
                }
                _ => {}
            }
            for (at, sign) in held.drain(..) {
                folded.push(at, sign);
            }
            folded.push(at, sign);
        }
        for (at, sign) in held {
            folded.push(at, sign);
        }
        folded
    }

    /// Returns the end of a char in the original text.
    fn char_end(&self, ix: usize) -> usize {
        self.starts[ix] + self.lengths[ix]
    }

    fn push(&mut self, at: usize, sign: char) {
        self.text.push(fold::plain(sign));
        self.starts.push(at);
        self.lengths.push(sign.len_utf8());
    }
}
