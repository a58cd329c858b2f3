//! Likeness of vectors: one after the other, as fast as memory comes.

use crate::table::{DIMS, Vector};

/// A vector that many others are compared with.
pub(crate) struct Probe {
    /// Widened once, so that the inner loop only widens the other side.
    values: [i16; DIMS],
    scale: f32,
}

impl Probe {
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

    /// Calls `each` with the likeness of every row: `values` holds `DIMS` bytes a row, `scales` four.
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "the processor is asked whether it has the instructions that the function is compiled for"
    )]
    pub(crate) fn compare(&self, values: &[u8], scales: &[u8], each: impl FnMut(usize, f32)) {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the instructions are there.
            return unsafe { self.compare_wide(values, scales, each) };
        }
        self.compare_rows(values, scales, each);
    }

    /// Calls `each` with the likeness of every row: `values` holds `DIMS` bytes a row, `scales` four.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn compare(&self, values: &[u8], scales: &[u8], each: impl FnMut(usize, f32)) {
        self.compare_rows(values, scales, each);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn compare_wide(&self, values: &[u8], scales: &[u8], each: impl FnMut(usize, f32)) {
        self.compare_rows(values, scales, each);
    }

    #[inline(always)]
    fn compare_rows(&self, values: &[u8], scales: &[u8], mut each: impl FnMut(usize, f32)) {
        let rows = values
            .as_chunks::<DIMS>()
            .0
            .iter()
            .zip(scales.as_chunks::<4>().0);
        for (row, (values, scale)) in rows.enumerate() {
            let dot = dot(&self.values, values);
            each(row, dot as f32 * self.scale * f32::from_le_bytes(*scale));
        }
    }
}

/// The sum of so few products of bytes fits; told to wrap, it is taken in wide steps by every build.
#[inline(always)]
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
        let probe = Probe::of(&left);
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
}
