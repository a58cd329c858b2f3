//! A set of small numbers.

/// Numbers of chunks, a bit each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Whether a number is in it.
    pub(crate) fn has(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    /// Puts `count` numbers from `first` on in, or takes them out.
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
