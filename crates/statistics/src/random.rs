//! Random numbers that follow from a seed: the generator SplitMix64.

/// A pseudo-random generator for resampling. Equal seeds give equal numbers, on every machine and in
/// every version of the program.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Creates a generator.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number of 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number in `0..bound`; 0 if `bound` is 0.
    pub fn next_below(&mut self, bound: usize) -> usize {
        // The high half of the product is uniform up to 2^-64 times the bound.
        let product = u128::from(self.next_bits()) * bound as u128;
        (product >> 64) as usize
    }

    /// Returns a number from 0 up to but excluding 1.
    pub fn next_share(&mut self) -> f64 {
        (self.next_bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix;

    #[test]
    fn numbers_follow_from_the_seed() {
        // The first numbers of the published reference implementation for the seed 1234567.
        let mut random = SplitMix::new(1_234_567);
        let numbers = [random.next_bits(), random.next_bits(), random.next_bits()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn shares_and_bounds_are_even() {
        let mut random = SplitMix::new(1);
        let mean = (0..10_000).map(|_| random.next_share()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let mut counts = [0; 7];
        (0..7_000).for_each(|_| counts[random.next_below(7)] += 1);
        assert!(
            counts.iter().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
    }
}
