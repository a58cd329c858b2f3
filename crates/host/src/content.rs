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
        let (mut left, mut right) = (FIRST, SECOND ^ bytes.len() as u64);
        let mut blocks = bytes.chunks_exact(16);
        for block in &mut blocks {
            (left, right) = mix(left, right, block);
        }
        let mut last = [0; 16];
        last[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
        (left, right) = mix(left, right, &last);
        (left, right) = mix(left, right, &[0; 16]);
        Self(u128::from(left) << 64 | u128::from(right))
    }
}

fn mix(left: u64, right: u64, block: &[u8]) -> (u64, u64) {
    let a = word(&block[..8]) ^ left;
    let b = word(&block[8..]) ^ right;
    let product = u128::from(a ^ FIRST) * u128::from(b ^ SECOND | 1);
    let (low, high) = (product as u64, (product >> 64) as u64);
    // The words are added once more: a factor of zero must not swallow the other one.
    (
        (low ^ high).wrapping_add(a.rotate_left(23)),
        (low.wrapping_add(b)).rotate_left(41) ^ high.wrapping_mul(FIRST | 1),
    )
}

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
