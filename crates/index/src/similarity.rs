//! Vector similarity: a linear scan at memory bandwidth.

use crate::embedding::{DIMS, Vector};

/// Bytes that are prefetched before they are needed.
#[cfg(target_arch = "x86_64")]
const PREFETCH_BYTES: usize = 4 * DIMS;

/// The vector of a query, prepared for comparison with many others.
pub(crate) struct QueryVector {
    /// Widened once, so that the inner loop only widens the other side.
    values: [i16; DIMS],
    scale: f32,
}

impl QueryVector {
    /// Widens a vector once for many comparisons.
    pub(crate) fn of(vector: &Vector) -> Self {
        let mut values = [0; DIMS];
        for (wide, value) in values.iter_mut().zip(&vector.values) {
            *wide = i16::from(*value);
        }
        Self {
            values,
            scale: vector.scale,
        }
    }

    /// Calls `each` with the index and cosine similarity of every row, in order: `values` has
    /// `DIMS` bytes per row, `scales` four (little-endian).
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "the required processor features are checked at run time"
    )]
    pub(crate) fn compare(&self, values: &[u8], scales: &[u8], each: impl FnMut(usize, f32)) {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the required instructions were detected.
            return unsafe { self.compare_wide(values, scales, each) };
        }
        self.compare_plain(values, scales, each);
    }

    /// Calls `each` with the index and cosine similarity of every row, in order: `values` has
    /// `DIMS` bytes per row, `scales` four (little-endian).
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn compare(&self, values: &[u8], scales: &[u8], each: impl FnMut(usize, f32)) {
        self.compare_plain(values, scales, each);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn compare_wide(&self, values: &[u8], scales: &[u8], mut each: impl FnMut(usize, f32)) {
        for (row, (one, scale)) in rows(values, scales).enumerate() {
            let ahead = row * DIMS + PREFETCH_BYTES;
            prefetch(values.get(ahead..ahead + DIMS).unwrap_or_default());
            each(row, self.likeness(dot_wide(&self.values, one), scale));
        }
    }

    fn compare_plain(&self, values: &[u8], scales: &[u8], mut each: impl FnMut(usize, f32)) {
        for (row, (values, scale)) in rows(values, scales).enumerate() {
            each(row, self.likeness(dot(&self.values, values), scale));
        }
    }

    /// Converts an integer dot product to a cosine similarity. `scale` is the row's factor,
    /// little-endian.
    fn likeness(&self, dot: i32, scale: &[u8; 4]) -> f32 {
        dot as f32 * self.scale * f32::from_le_bytes(*scale)
    }
}

/// Iterates over complete rows and their scales. Stops at the shorter of both inputs.
fn rows<'a>(
    values: &'a [u8],
    scales: &'a [u8],
) -> impl Iterator<Item = (&'a [u8; DIMS], &'a [u8; 4])> {
    let values = values.as_chunks::<DIMS>().0.iter();
    values.zip(scales.as_chunks::<4>().0)
}

/// Hints the processor to load the beginning of the data that is compared next. Has no other
/// effect.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "a hint to the processor; nothing is read")]
pub(crate) fn prefetch(values: &[u8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in values.chunks(64).take(PREFETCH_BYTES / 64) {
        // SAFETY: the instruction exists on every processor of this architecture, and no address
        // makes it fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast::<i8>()) };
    }
}

/// Does nothing on other architectures.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn prefetch(_values: &[u8]) {}

/// Computes the same sum 32 bytes at a time: the compiler would read 8 at a time, which is slower
/// than memory.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[expect(
    unsafe_code,
    reason = "registers are loaded from arrays of the same length"
)]
fn dot_wide(probe: &[i16; DIMS], row: &[u8; DIMS]) -> i32 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi8_epi16,
        _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_setzero_si256,
        _mm256_storeu_si256,
    };
    let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    let steps = row.as_chunks::<32>().0.iter();
    for (bytes, wide) in steps.zip(probe.as_chunks::<32>().0) {
        let (first, second) = wide.split_at(16);
        // SAFETY: the row has 32 bytes here, and the query twice 16 numbers of two bytes.
        let (bytes, first, second) = unsafe {
            (
                _mm256_loadu_si256(bytes.as_ptr().cast::<__m256i>()),
                _mm256_loadu_si256(first.as_ptr().cast::<__m256i>()),
                _mm256_loadu_si256(second.as_ptr().cast::<__m256i>()),
            )
        };
        let one = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(bytes));
        let other = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(bytes));
        low = _mm256_add_epi32(low, _mm256_madd_epi16(one, first));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(other, second));
    }
    let mut parts = [0_i32; 8];
    // SAFETY: eight numbers of four bytes are as large as one register.
    unsafe {
        _mm256_storeu_si256(
            parts.as_mut_ptr().cast::<__m256i>(),
            _mm256_add_epi32(low, high),
        );
    };
    parts
        .iter()
        .fold(0, |sum: i32, part| sum.wrapping_add(*part))
}

/// Computes a dot product. The sum of so few products of bytes cannot overflow; wrapping addition
/// lets every build vectorize it.
fn dot(probe: &[i16; DIMS], row: &[u8; DIMS]) -> i32 {
    let pairs = probe.iter().zip(row);
    pairs.fold(0_i32, |sum, (wide, byte)| {
        let value = i16::from(i8::from_le_bytes([*byte]));
        sum.wrapping_add(i32::from(*wide).wrapping_mul(i32::from(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_the_scaled_product() {
        let vector = |seed: i32, scale: f32| {
            let mut values = [0_i8; DIMS];
            for (ix, value) in values.iter_mut().enumerate() {
                *value = ((seed * (ix as i32 + 7) * 31) % 255 - 127) as i8;
            }
            Vector { values, scale }
        };
        let (left, right) = (vector(3, 0.01), vector(5, 0.02));
        let expected: i32 = left
            .values
            .iter()
            .zip(&right.values)
            .map(|(left, right)| i32::from(*left) * i32::from(*right))
            .sum();
        let bytes: Vec<u8> = right
            .values
            .iter()
            .map(|value| value.to_le_bytes()[0])
            .collect();
        let mut seen = Vec::new();
        let scales = [right.scale.to_le_bytes(), right.scale.to_le_bytes()].concat();
        let probe = QueryVector::of(&left);
        probe.compare(
            &[bytes.clone(), bytes].concat(),
            &scales,
            |row, likeness| {
                seen.push((row, likeness));
            },
        );
        let expected = expected as f32 * 0.01 * 0.02;
        assert_eq!(seen, [(0, expected), (1, expected)]);
    }

    #[test]
    fn every_way_of_comparing_says_the_same() {
        let mut seed = 1_u32;
        let mut byte = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        for extreme in [None, Some(i8::MIN), Some(i8::MAX)] {
            let mut row = || -> [u8; DIMS] {
                std::array::from_fn(|_| extreme.map_or_else(&mut byte, |it| it.to_le_bytes()[0]))
            };
            let values = row().map(|byte| i8::from_le_bytes([byte]));
            let probe = QueryVector::of(&Vector { values, scale: 0.5 });
            let rows: Vec<u8> = (0..7).flat_map(|_| row()).collect();
            let scales: Vec<u8> = (1..8).flat_map(|it| (it as f32).to_le_bytes()).collect();
            let (mut fast, mut plain) = (Vec::new(), Vec::new());
            probe.compare(&rows, &scales, |row, likeness| fast.push((row, likeness)));
            probe.compare_plain(&rows, &scales, |row, likeness| {
                plain.push((row, likeness));
            });
            assert_eq!(fast.len(), 7);
            assert_eq!(fast, plain);
        }
    }
}
