//! Seeded random numbers for tests.

/// A pseudo-random generator for tests. Its numbers are determined by its seed alone.
pub(crate) struct TestRng(u64);

impl TestRng {
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

    /// Returns a number from 0 up to but excluding `bound`.
    pub(crate) fn next_below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Returns true once in `chances` calls on average.
    pub(crate) fn one_in(&mut self, chances: u64) -> bool {
        self.next_below(chances) == 0
    }

    /// Returns a random item. Panics if `items` is empty.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.next_below(items.len() as u64) as usize]
    }
}
