//! A set of small numbers.

/// A set of chunk numbers, one bit each.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkSet {
    words: Vec<u64>,
}

impl ChunkSet {
    /// Returns whether the set contains a number.
    pub(crate) fn has(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    /// Adds (`is_in`) or removes `count` consecutive numbers from `first` on.
    pub(crate) fn set(&mut self, first: u32, count: u32, is_in: bool) {
        for number in first..first.saturating_add(count) {
            let at = number as usize / 64;
            if at >= self.words.len() {
                if !is_in {
                    return;
                }
                self.words.resize(at + 1, 0);
            }
            let bit = 1 << (number % 64);
            if is_in {
                self.words[at] |= bit;
            } else {
                self.words[at] &= !bit;
            }
        }
    }
}
