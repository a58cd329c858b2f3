//! Moved text: tokens that were removed at one place and written at another soon after.
//!
//! At least `MIN_MOVED` consecutive tokens must be the same; around them, the text may have been changed a little.
//! Moved tokens count neither as removed nor as written by
//! the writer who moved them; if they belong to a unit, they stay in it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use crate::writer::{UnitId, WriterKind};

/// Minimum number of consecutive tokens that are recognized at another place. Fewer occur by accident.
const MIN_MOVED: usize = 10;
/// Minimum number of consecutive tokens beside a moved block that belong to it, and maximum number of changed tokens
/// between them and the block, on both sides together.
const MIN_BESIDE: usize = 3;
const MAX_CHANGED: usize = 6;
/// Time in milliseconds after which written text is no move of removed text.
const MAX_AGE_MS: u64 = 60_000;
/// Maximum number of removed tokens that are compared with written text.
const MAX_TOKENS: usize = 20_000;

/// A token of a unit: the unit, the index of the run in it, and the index of the token in the run.
pub(crate) type TokenPlace = (UnitId, usize, usize);

/// Consecutive tokens that a change removed.
#[derive(Debug)]
pub(crate) struct RemovedText {
    pub(crate) symbols: Vec<u64>,
    /// The tokens of units that each removed token was.
    pub(crate) owners: Vec<Vec<TokenPlace>>,
    /// The run of the removal, once its unit began.
    pub(crate) removal: Option<(UnitId, usize)>,
    pub(crate) at_ms: u64,
    pub(crate) writer: WriterKind,
    /// Whether each token was found elsewhere.
    pub(crate) is_moved: Vec<bool>,
}

/// A block of tokens that was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MovedBlock {
    /// Index of the removed text.
    pub(crate) text: usize,
    /// Index of its first token in the removed text.
    pub(crate) first: usize,
    /// The tokens of the written run.
    pub(crate) written: Range<usize>,
}

/// Recently removed texts, oldest first, in which moved text is searched.
#[derive(Debug, Default)]
pub(crate) struct RemovedTexts(VecDeque<RemovedText>);

impl RemovedText {
    /// Returns the removed text with these symbols, if it is long enough to be recognized.
    pub(crate) fn new(
        symbols: Vec<u64>,
        owners: Vec<Vec<TokenPlace>>,
        (writer, at_ms): (WriterKind, u64),
    ) -> Option<Self> {
        (symbols.len() >= MIN_MOVED).then(|| Self {
            is_moved: vec![false; symbols.len()],
            symbols,
            owners,
            removal: None,
            at_ms,
            writer,
        })
    }
}

impl RemovedTexts {
    /// Forgets texts that are too old, or more than can be compared.
    pub(crate) fn forget(&mut self, now_ms: u64) {
        let mut tokens = 0;
        let fresh = self.0.iter().rev().take_while(|text| {
            tokens += text.symbols.len();
            tokens <= MAX_TOKENS && now_ms.saturating_sub(text.at_ms) <= MAX_AGE_MS
        });
        let fresh = fresh.count();
        self.0.drain(..self.0.len() - fresh);
    }

    /// Remembers a text and returns its index until `forget` is called.
    pub(crate) fn add(&mut self, text: RemovedText) -> usize {
        self.0.push_back(text);
        self.0.len() - 1
    }

    pub(crate) fn get_mut(&mut self, ix: usize) -> Option<&mut RemovedText> {
        self.0.get_mut(ix)
    }

    /// Finds the blocks of written tokens that were removed elsewhere, and marks them as moved.
    pub(crate) fn take_moved(&mut self, written: &[u64]) -> Vec<MovedBlock> {
        let mut blocks = Vec::new();
        if self.0.is_empty() || written.len() < MIN_MOVED {
            return blocks;
        }
        let starts = self.starts();
        let (mut at, mut free) = (0, 0);
        while at + MIN_MOVED <= written.len() {
            let places = starts.get(&written[at..at + MIN_MOVED]);
            let places = places.into_iter().flatten();
            let lengths = places.map(|(text, first)| {
                let length = self.length_after(*text, (*first, at), written);
                (length, *text, *first)
            });
            let Some((length, text, first)) = lengths.max().filter(|it| it.0 >= MIN_MOVED) else {
                at += 1;
                continue;
            };
            self.take(text, first, at..at + length, &mut blocks);
            self.take_before(text, (first, at), free, written, &mut blocks);
            at = self.take_after(text, (first + length, at + length), written, &mut blocks);
            free = at;
        }
        blocks
    }

    fn take(
        &mut self,
        text: usize,
        first: usize,
        written: Range<usize>,
        blocks: &mut Vec<MovedBlock>,
    ) {
        self.0[text].is_moved[first..first + written.len()].fill(true);
        blocks.push(MovedBlock {
            text,
            first,
            written,
        });
    }

    /// Takes what follows a block, up to a larger change. Returns the end in the written tokens.
    fn take_after(
        &mut self,
        text: usize,
        (mut first, mut at): (usize, usize),
        written: &[u64],
        blocks: &mut Vec<MovedBlock>,
    ) -> usize {
        while let Some((skipped, length)) = skips().find_map(|(one, two)| {
            let length = self.length_after(text, (first + one, at + two), written);
            (length >= MIN_BESIDE).then_some(((one, two), length))
        }) {
            (first, at) = (first + skipped.0, at + skipped.1);
            self.take(text, first, at..at + length, blocks);
            (first, at) = (first + length, at + length);
        }
        at
    }

    /// Takes what precedes a block, up to a larger change, from the written token `free` on.
    fn take_before(
        &mut self,
        text: usize,
        (mut first, mut at): (usize, usize),
        free: usize,
        written: &[u64],
        blocks: &mut Vec<MovedBlock>,
    ) {
        while let Some((end, length)) = skips().find_map(|(one, two)| {
            let end = (first.checked_sub(one)?, at.checked_sub(two)?);
            let length = self.length_before(text, end, free, written);
            (length >= MIN_BESIDE).then_some((end, length))
        }) {
            (first, at) = (end.0 - length, end.1 - length);
            self.take(text, first, at..at + length, blocks);
        }
    }

    /// Returns the places at which each sequence of `MIN_MOVED` tokens begins.
    fn starts(&self) -> HashMap<Vec<u64>, Vec<(usize, usize)>> {
        let mut starts: HashMap<Vec<u64>, Vec<(usize, usize)>> = HashMap::new();
        for (text, removed) in self.0.iter().enumerate() {
            for (first, symbols) in removed.symbols.windows(MIN_MOVED).enumerate() {
                let places = starts.entry(symbols.to_vec()).or_default();
                places.push((text, first));
            }
        }
        starts
    }

    /// Returns the number of tokens from a place of a removed text on that equal the written ones from a place on
    /// and were not moved yet.
    fn length_after(&self, text: usize, (first, at): (usize, usize), written: &[u64]) -> usize {
        let count = |rest: usize| rest.saturating_sub(first);
        let most = count(self.0[text].symbols.len()).min(written.len().saturating_sub(at));
        let is_same = |ix: &usize| self.is_same(text, first + ix, written[at + ix]);
        (0..most).take_while(is_same).count()
    }

    /// Returns the number of tokens before both places that are the same, without written ones before `free`.
    fn length_before(
        &self,
        text: usize,
        (first, at): (usize, usize),
        free: usize,
        written: &[u64],
    ) -> usize {
        let most = first.min(at.saturating_sub(free));
        let is_same = |ix: &usize| self.is_same(text, first - ix, written[at - ix]);
        (1..=most).take_while(is_same).count()
    }

    fn is_same(&self, text: usize, token: usize, symbol: u64) -> bool {
        self.0[text].symbols[token] == symbol && !self.0[text].is_moved[token]
    }
}

/// Returns the numbers of tokens that a small change replaces on both sides, least first.
fn skips() -> impl Iterator<Item = (usize, usize)> {
    (0..=MAX_CHANGED).flat_map(|all| (0..=all).map(move |one| (one, all - one)))
}

#[cfg(test)]
mod tests {
    use super::{MovedBlock, RemovedText, RemovedTexts};
    use crate::writer::WriterKind;

    fn removed(texts: &mut RemovedTexts, symbols: impl Iterator<Item = u64>, at_ms: u64) {
        let symbols: Vec<u64> = symbols.collect();
        let owners = vec![Vec::new(); symbols.len()];
        texts.add(
            RemovedText::new(symbols, owners, (WriterKind::Person, at_ms)).expect("long enough"),
        );
    }

    #[test]
    fn longest_blocks_are_found_once() {
        let mut texts = RemovedTexts::default();
        removed(&mut texts, 0..30, 0);
        removed(&mut texts, 5..50, 0);
        let written: Vec<u64> = (100..105)
            .chain(5..40)
            .chain(5..20)
            .chain(200..203)
            .collect();
        let blocks = texts.take_moved(&written);
        let block = |text, first, written| MovedBlock {
            text,
            first,
            written,
        };
        assert_eq!(blocks, [block(1, 0, 5..40), block(0, 5, 40..55)]);
        // The other copies were not moved yet.
        let rest = texts.take_moved(&written);
        assert_eq!(rest, [block(0, 20, 20..30)], "each token moves once");
        assert_eq!(texts.take_moved(&written), []);
    }

    #[test]
    fn small_changes_beside_a_block_do_not_end_it() {
        let mut texts = RemovedTexts::default();
        removed(&mut texts, 0..30, 0);
        // Tokens 5 and 20 are replaced, 26 to 28 are too few.
        let written = (2..5)
            .chain([91])
            .chain(6..20)
            .chain([92, 93])
            .chain(21..25)
            .chain(94..99)
            .chain(26..28);
        let blocks = texts.take_moved(&written.collect::<Vec<_>>());
        let block = |first, written| MovedBlock {
            text: 0,
            first,
            written,
        };
        assert_eq!(blocks, [block(6, 4..18), block(2, 0..3), block(21, 20..24)]);
    }

    #[test]
    fn short_and_old_texts_are_not_compared() {
        let by = (WriterKind::Person, 0);
        assert!(RemovedText::new(vec![1; 9], vec![Vec::new(); 9], by).is_none());
        let mut texts = RemovedTexts::default();
        removed(&mut texts, 0..30, 0);
        removed(&mut texts, 100..130, 50_000);
        texts.forget(60_001);
        let written: Vec<u64> = (0..20).chain(100..120).collect();
        assert_eq!(texts.take_moved(&written).len(), 1);
    }
}
