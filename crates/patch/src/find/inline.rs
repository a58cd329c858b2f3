//! Text within lines, apart from punctuation and white space at the ends of lines.

use std::ops::Range;

use crate::carry;
use crate::edit::{Hunk, Occurrences};
use crate::file::FileText;
use crate::fold;
use crate::found::{Body, Match};
use crate::outcome::{Difference, Doubt, Refusal, Rung};

/// Below this many chars that are no white space a text says too little.
const LEAST: usize = 4;
/// A text whose longest word stands in more rows is not looked for: it would take too long.
const COMMON: usize = 256;

/// Where the text stands.
///
/// # Errors
/// A refusal where the change can be carried over to some of the places alone.
pub(super) fn find(file: &FileText, hunk: &Hunk) -> Result<Vec<Match>, Refusal> {
    let old = Folded::of(&hunk.old);
    let said = old.text.iter().filter(|sign| !sign.is_whitespace());
    if said.count() < LEAST {
        return Ok(Vec::new());
    }
    let mut spans: Vec<Range<usize>> = Vec::new();
    for rows in likely_rows(file, &hunk.old) {
        let start = file.start(rows.start);
        let text = Folded::of(&file.normal()[start..file.start(rows.end)]);
        let places = text.text.windows(old.text.len()).enumerate();
        for (at, _) in places.filter(|(_, window)| *window == old.text) {
            let end = text.end(at + old.text.len() - 1);
            spans.push(start + text.starts[at]..start + end);
        }
    }
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    let count = spans.len();
    let places = spans.into_iter();
    let found: Vec<Match> = places
        .filter_map(|span| at_span(file, hunk, span))
        .collect();
    match (found.is_empty() || found.len() == count, hunk.occurrences) {
        (true, _) => Ok(found),
        (false, Occurrences::All) => Err(Refusal::Unclear(Doubt::Punctuation)),
        (false, Occurrences::One) => Err(Refusal::Several {
            count,
            rung: Rung::Normalised,
        }),
    }
}

/// The rows that the text can take up: around each place of its longest word, since letters are
/// never folded.
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
    if rows.len() > COMMON {
        return Vec::new();
    }
    rows.into_iter().map(|row| row..row + count).collect()
}

/// The change carried over to what stands in the file: what old and new text share at their ends
/// stays the file's. `None` where the change takes in what differs.
fn at_span(file: &FileText, hunk: &Hunk, span: Range<usize>) -> Option<Match> {
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
    let start = Folded::of(&head).text.len();
    let folded = Folded::of(there);
    let end = folded
        .text
        .len()
        .checked_sub(Folded::of(&tail).text.len())?;
    let from = folded.starts.get(start).copied().unwrap_or(there.len());
    let to = folded.starts.get(end).copied().unwrap_or(there.len());
    let new = match there.get(from..to)? {
        same if same == gone => new,
        other => carry::text(&gone, other, &new)?,
    };
    Some(Match {
        rung: Rung::Normalised,
        differences: vec![Difference::Punctuation],
        rows: file.row_of(span.start)..file.row_of(span.end.saturating_sub(1)) + 1,
        body: Body::Span {
            span: span.start + from..span.start + to,
            text: new,
        },
    })
}

/// A text with punctuation made plain and without white space before line feeds.
struct Folded {
    text: Vec<char>,
    /// Where each char starts in the text it came from, and its length there.
    starts: Vec<usize>,
    lengths: Vec<usize>,
}

impl Folded {
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

    /// Where a char ends in the text it came from.
    fn end(&self, ix: usize) -> usize {
        self.starts[ix] + self.lengths[ix]
    }

    fn push(&mut self, at: usize, sign: char) {
        self.text.push(fold::plain(sign));
        self.starts.push(at);
        self.lengths.push(sign.len_utf8());
    }
}
