//! SeededFault numbers: the same seed gives the same ids, delays and faults on every machine.

/// SplitMix64: small, fast, and good enough for choosing faults and delays.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Creates a generator; equal parts give equal numbers.
    pub(crate) fn of(parts: &[u64]) -> Self {
        let mut rng = Self(0x9e37_79b9_7f4a_7c15);
        for part in parts {
            rng.0 = rng.next() ^ part;
        }
        rng
    }

    /// Returns the next number of 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to but excluding 1.
    pub(crate) fn next_unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number from 0 up to but excluding `bound`; 0 for a bound of 0.
    pub(crate) fn next_below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    /// Returns a normally distributed number (mean 0, variance 1), by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.next_unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.next_unit()).cos()
    }

    /// Returns an id of `length` letters and digits.
    pub(crate) fn random_id(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz";
        (0..length)
            .map(|_| LETTERS[self.next_below(LETTERS.len() as u64) as usize] as char)
            .collect()
    }
}

/// Returns the FNV-1a hash, which is stable across runs and machines, unlike the standard library's.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    extend(0xcbf2_9ce4_8422_2325, bytes)
}

/// Extends a hash by more bytes, so that a prefix's hash leads to that of the whole.
pub(crate) fn extend(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
