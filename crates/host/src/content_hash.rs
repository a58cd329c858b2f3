//! A content hash that distinguishes a changed file from a touched one.
//!
//! Invariant: the same bytes give the same hash on every machine and in every version, since
//! journals on disk store it. Not cryptographic: collisions can be constructed.

/// A 128-bit hash of a byte string and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash(pub u128);

const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xD1B5_4A32_D192_ED03;

impl ContentHash {
    /// Returns the hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let (mut left, mut right) = (FIRST, SECOND);
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            (left, right) = mix(left, right, number(word));
        }
        (left, right) = mix(left, right, number(words.remainder()));
        (left, right) = mix(left, right, bytes.len() as u64);
        Self(u128::from(finish(left)) << 64 | u128::from(finish(right ^ left)))
    }
}

/// Mixes a word into both lanes. Every step is invertible for a known word, so two inputs that
/// differ in one word never collide.
fn mix(left: u64, right: u64, word: u64) -> (u64, u64) {
    let left = (left ^ word).wrapping_mul(FIRST);
    let right = right
        .rotate_left(27)
        .wrapping_add(word)
        .wrapping_mul(SECOND);
    (left ^ left >> 29, right ^ right >> 32)
}

/// Makes every bit depend on all others.
fn finish(lane: u64) -> u64 {
    let lane = (lane ^ lane >> 33).wrapping_mul(SECOND);
    let lane = (lane ^ lane >> 29).wrapping_mul(FIRST);
    lane ^ lane >> 32
}

/// Returns up to eight bytes as a number, the least significant first; 0 for none.
fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
