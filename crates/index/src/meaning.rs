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
    pub(crate) fn compare(&self, values: &[u8], scales: &[u8], mut each: impl FnMut(usize, f32)) {
        let rows = values
            .as_chunks::<DIMS>()
            .0
            .iter()
            .zip(scales.as_chunks::<4>().0);
        for (row, (values, scale)) in rows.enumerate() {
            let dot = self.dot(values);
            each(row, dot as f32 * self.scale * f32::from_le_bytes(*scale));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "the processor is asked whether it has the instructions that the function is compiled for"
    )]
    fn dot(&self, row: &[u8; DIMS]) -> i32 {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the instructions are there.
            return unsafe { dot_wide(&self.values, row) };
        }
        dot(&self.values, row)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn dot(&self, row: &[u8; DIMS]) -> i32 {
        dot(&self.values, row)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_wide(probe: &[i16; DIMS], row: &[u8; DIMS]) -> i32 {
    dot(probe, row)
}

#[inline(always)]
fn dot(probe: &[i16; DIMS], row: &[u8; DIMS]) -> i32 {
    let pairs = probe.iter().zip(row);
    pairs
        .map(|(wide, byte)| i32::from(*wide) * i32::from(i16::from(i8::from_le_bytes([*byte]))))
        .sum()
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
