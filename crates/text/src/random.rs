//! Seeded random numbers and texts for tests.

use base::ByteOffset;

/// A pseudo-random generator whose numbers follow from its seed alone.
pub(crate) struct SeededRng(u64);

impl SeededRng {
    /// Creates a generator; equal seeds give equal numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns the next number, below 2^48.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Returns a number in `0..bound`; 0 if `bound` is 0.
    pub(crate) fn next_below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Returns true once in `chances` calls on average.
    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.next_below(chances) == 0
    }

    /// Returns a text of 0 to `max` random fragments, including line endings, wide chars and chars
    /// beyond 16 bits.
    pub(crate) fn text(&mut self, max: usize) -> String {
        const PIECES: [&str; 16] = [
            "a",
            "b",
            "cd",
            " ",
            "\n",
            "\r\n",
            "é",
            "語",
            "🦀",
            "e\u{301}",
            "word",
            "\t",
            "\r",
            "👩\u{200d}👩\u{200d}👧",
            "🇩🇪",
            "x\n",
        ];
        (0..self.next_below(max + 1))
            .map(|_| PIECES[self.next_below(PIECES.len())])
            .collect()
    }

    /// Returns a random char boundary of `text`, 0 and its length included.
    pub(crate) fn boundary(&mut self, text: &str) -> ByteOffset {
        let mut offset = self.next_below(text.len() + 1);
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        ByteOffset(offset)
    }
}
