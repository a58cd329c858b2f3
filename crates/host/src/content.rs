//! A fingerprint of a file's bytes: to tell a touched file from a changed one.
//!
//! Invariant: the same bytes give the same fingerprint on every machine and in every version, since
//! journals on disk carry it. Not for security: whoever wants to can make two files collide.

/// A 128-bit fingerprint of some bytes, together with how many they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash(pub u128);

const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xD1B5_4A32_D192_ED03;

impl ContentHash {
    /// The fingerprint of `bytes`.
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

/// Takes a word into both lanes. Every step can be undone for a known word, so two texts that
/// differ in one word never end alike.
fn mix(left: u64, right: u64, word: u64) -> (u64, u64) {
    let left = (left ^ word).wrapping_mul(FIRST);
    let right = right
        .rotate_left(27)
        .wrapping_add(word)
        .wrapping_mul(SECOND);
    (left ^ left >> 29, right ^ right >> 32)
}

/// Lets every bit depend on all others.
fn finish(lane: u64) -> u64 {
    let lane = (lane ^ lane >> 33).wrapping_mul(SECOND);
    let lane = (lane ^ lane >> 29).wrapping_mul(FIRST);
    lane ^ lane >> 32
}

fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
