//! Tokens of some files with all positions sorted by the tokens before them.
//!
//! A suffix array over the reversed stream, sorted by `DEPTH` tokens: the positions that share the
//! longest context with a given one are adjacent to its insertion point. It is built by prefix
//! doubling (Manber and Myers 1993), which takes four sorts regardless of repetitions.

use base::AbsPath;

use super::interner::TokenInterner;
use super::stream::{BOUNDARY, FIRST_WORD, PackedToken};
use crate::local::token::is_word_char;

/// Number of tokens by which contexts are sorted.
pub(crate) const DEPTH: usize = 16;

/// Shortest word that is found by its prefix, in bytes.
const MIN_WORD_BYTES: usize = 4;

/// The immutable tokens of some files, with an index of positions by the tokens before them.
pub(crate) struct TokenSegment {
    /// Concatenated files, with a boundary before each and at the end.
    items: Vec<PackedToken>,
    /// Positions, sorted by the tokens before them, the nearest token first.
    order: Vec<u32>,
    /// Files, sorted by start.
    files: Vec<FileSpan>,
    /// The different words with how often they occur, sorted by text.
    words: Vec<(u32, u32)>,
}

/// Location of a file in the token stream.
pub(crate) struct FileSpan {
    pub(crate) start: usize,
    pub(crate) path: AbsPath,
}

/// A position and the number of tokens before it that match the searched context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentMatch {
    pub(crate) place: usize,
    pub(crate) length: usize,
}

impl TokenSegment {
    /// Concatenates the tokens of some files and sorts their positions. Takes some 200 ns per
    /// token.
    pub(crate) fn new(files: Vec<(AbsPath, Vec<PackedToken>)>, texts: &TokenInterner) -> Self {
        let boundary = PackedToken::new(BOUNDARY, super::stream::TokenGap::Odd);
        let mut items = Vec::with_capacity(files.iter().map(|(_, it)| it.len() + 1).sum());
        let mut spans = Vec::with_capacity(files.len());
        for (path, file) in files {
            items.push(boundary);
            spans.push(FileSpan {
                start: items.len(),
                path,
            });
            items.extend(file);
        }
        items.push(boundary);
        Self {
            order: sorted(&items),
            words: counted_words(&items, texts),
            items,
            files: spans,
        }
    }

    /// Returns the token at a position of the stream. Returns `None` at the boundary of a file and
    /// past the end.
    pub(crate) fn item(&self, place: usize) -> Option<PackedToken> {
        self.items
            .get(place)
            .copied()
            .filter(|item| item.word_number() != BOUNDARY)
    }

    /// Returns the number of tokens without boundaries.
    pub(crate) fn token_count(&self) -> usize {
        self.items.len() - self.files.len() - 1
    }

    /// Returns the memory used, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.items.len() + self.order.len())
            + 8 * self.words.len()
            + self.files.len() * size_of::<FileSpan>()
    }

    /// Passes the words that begin with `prefix`, with how often they occur, to `visit` until that
    /// returns false.
    pub(crate) fn visit_words(
        &self,
        prefix: &str,
        texts: &TokenInterner,
        mut visit: impl FnMut(u32, u32) -> bool,
    ) {
        let start = self
            .words
            .partition_point(|(word, _)| texts.text(*word) < prefix);
        for (word, count) in self.words.iter().skip(start) {
            if !texts.text(*word).starts_with(prefix) || !visit(*word, *count) {
                return;
            }
        }
    }

    /// Returns the files in the order of the stream; their indices are those of `file_at`.
    pub(crate) fn files(&self) -> &[FileSpan] {
        &self.files
    }

    /// Returns the index of the file that contains a position. Returns `None` before the first
    /// file.
    pub(crate) fn file_at(&self, place: usize) -> Option<usize> {
        self.files
            .partition_point(|file| file.start <= place)
            .checked_sub(1)
    }

    /// Returns the tokens of the file with this index. Returns an empty slice if the index is
    /// unknown.
    pub(crate) fn file_items(&self, file: usize) -> &[PackedToken] {
        let Some(start) = self.files.get(file).map(|file| file.start) else {
            return &[];
        };
        let next = self
            .files
            .get(file + 1)
            .map_or(self.items.len(), |file| file.start);
        self.items.get(start..next - 1).unwrap_or_default()
    }

    /// Visits the positions whose preceding tokens best match `context` (the nearest token first),
    /// the longest matches first, until `visit` returns false or no token matches.
    pub(crate) fn visit(&self, context: &[u32], mut visit: impl FnMut(SegmentMatch) -> bool) {
        let middle = self
            .order
            .partition_point(|place| self.is_before(*place as usize, context));
        let at = |ix: usize| {
            let place = *self.order.get(ix)? as usize;
            Some(SegmentMatch {
                place,
                length: self.alike(place, context),
            })
        };
        let (mut left, mut right) = (middle.checked_sub(1).and_then(at), at(middle));
        let (mut from, mut to) = (middle, middle);
        loop {
            let takes_left = match (left, right) {
                (Some(left), Some(right)) => left.length > right.length,
                (left, _) => left.is_some(),
            };
            let next = if takes_left { left } else { right };
            let Some(next) = next.filter(|next| next.length > 0) else {
                return;
            };
            if !visit(next) {
                return;
            }
            if takes_left {
                from -= 1;
                left = from.checked_sub(1).and_then(at);
            } else {
                to += 1;
                right = at(to);
            }
        }
    }

    /// Returns the word number `back + 1` tokens before `place`; `BOUNDARY` before the start of the
    /// stream.
    fn word_before(&self, place: usize, back: usize) -> u32 {
        let item = place
            .checked_sub(back + 1)
            .and_then(|ix| self.items.get(ix));
        item.map_or(BOUNDARY, |item| item.word_number())
    }

    /// Whether the tokens before `place` sort before `context`, which begins with its last token.
    /// Compares at most `DEPTH` tokens; `false` if they are equal.
    fn is_before(&self, place: usize, context: &[u32]) -> bool {
        for (back, word) in context.iter().take(DEPTH).enumerate() {
            let ours = self.word_before(place, back);
            if ours != *word {
                return ours < *word;
            }
        }
        false
    }

    /// Returns the number of tokens before `place` that equal `context`, which begins with its last
    /// token, up to the first difference.
    fn alike(&self, place: usize, context: &[u32]) -> usize {
        let words = context.iter().enumerate();
        words
            .take_while(|(back, word)| self.word_before(place, *back) == **word)
            .count()
    }
}

/// Returns the different words of a stream with how often they occur, sorted by text.
fn counted_words(items: &[PackedToken], texts: &TokenInterner) -> Vec<(u32, u32)> {
    let mut numbers: Vec<u32> = items
        .iter()
        .map(|item| item.word_number())
        .filter(|word| *word >= FIRST_WORD)
        .collect();
    numbers.sort_unstable();
    let mut words: Vec<(u32, u32)> = Vec::new();
    for word in numbers {
        match words.last_mut() {
            Some((last, count)) if *last == word => *count += 1,
            _ => words.push((word, 1)),
        }
    }
    words.retain(|(word, _)| {
        let text = texts.text(*word);
        text.len() >= MIN_WORD_BYTES && text.starts_with(is_word_char)
    });
    words.sort_by_key(|(word, _)| texts.text(*word));
    words
}

/// Returns all token positions, sorted by the tokens before them.
fn sorted(items: &[PackedToken]) -> Vec<u32> {
    let word = |place: usize, back: usize| -> u64 {
        let item = place.checked_sub(back + 1).and_then(|ix| items.get(ix));
        u64::from(item.map_or(BOUNDARY, |item| item.word_number()))
    };
    let mut keyed: Vec<(u64, u32)> = (0..items.len())
        .map(|place| (word(place, 0) << 32 | word(place, 1), place as u32))
        .collect();
    keyed.sort_unstable();
    let mut ranks = vec![0_u32; items.len()];
    let mut depth = 2;
    while depth < DEPTH {
        rank(&keyed, &mut ranks);
        for (key, place) in &mut keyed {
            let before = (*place as usize).checked_sub(depth);
            let farther = before
                .and_then(|ix| ranks.get(ix))
                .map_or(0, |rank| *rank + 1);
            let nearer = ranks.get(*place as usize).copied().unwrap_or_default();
            *key = u64::from(nearer) << 32 | u64::from(farther);
        }
        keyed.sort_unstable();
        depth *= 2;
    }
    let follows = |place: &u32| {
        items
            .get(*place as usize)
            .is_some_and(|it| it.word_number() != BOUNDARY)
    };
    keyed
        .into_iter()
        .map(|(_, place)| place)
        .filter(follows)
        .collect()
}

/// Assigns equal ranks to equal keys.
fn rank(keyed: &[(u64, u32)], ranks: &mut [u32]) {
    let mut rank = 0;
    let mut last = None;
    for (ix, (key, place)) in keyed.iter().enumerate() {
        if last != Some(*key) {
            rank = ix as u32;
            last = Some(*key);
        }
        if let Some(slot) = ranks.get_mut(*place as usize) {
            *slot = rank;
        }
    }
}
