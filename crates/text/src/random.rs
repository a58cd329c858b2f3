//! Seeded random numbers and texts for tests.

use base::ByteOffset;

pub(crate) struct SeededRng(u64);

impl SeededRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Returns a number in `0..bound`.
    pub(crate) fn next_below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.next_below(chances) == 0
    }

    /// Returns up to `max` fragments, including line endings, wide chars and chars beyond 16 bits.
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

    /// Returns a random char boundary of `text`.
    pub(crate) fn boundary(&mut self, text: &str) -> ByteOffset {
        let mut offset = self.next_below(text.len() + 1);
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        ByteOffset(offset)
    }
}
