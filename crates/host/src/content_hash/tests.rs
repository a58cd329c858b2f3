//! Tests of content hashes.

use std::collections::HashSet;

use super::ContentHash;

#[test]
fn hashes_match_those_stored_in_journals() {
    // These values must never change: journals store them.
    let known = |text: &str| format!("{:032x}", ContentHash::of(text.as_bytes()).0);
    assert_eq!(known(""), KNOWN[0]);
    assert_eq!(known("a"), KNOWN[1]);
    assert_eq!(
        known("The quick brown fox jumps over the lazy dog"),
        KNOWN[2]
    );
}

const KNOWN: [&str; 3] = [
    "d3bb25b716f806dd79bdacc99e70d716",
    "8f97a633a8d92e30ccd315de0025ca48",
    "67a6c8eda475f7834b1ae22d9fc1f4c5",
];

#[test]
fn small_changes_change_the_hash() {
    let text: Vec<u8> = (0..200_u8).collect();
    let mut seen = HashSet::from([ContentHash::of(&text)]);
    for place in 0..text.len() {
        for bit in 0..8 {
            let mut other = text.clone();
            other[place] ^= 1 << bit;
            assert!(
                seen.insert(ContentHash::of(&other)),
                "byte {place} bit {bit}"
            );
        }
        assert!(
            seen.insert(ContentHash::of(&text[..place])),
            "length {place}"
        );
    }
}

#[test]
fn zero_runs_of_any_length_hash_differently() {
    let zeros = [0_u8; 100];
    let distinct: HashSet<_> = (0..=100)
        .map(|length| ContentHash::of(&zeros[..length]))
        .collect();
    assert_eq!(distinct.len(), 101);
    let swapped = (
        ContentHash::of(b"0123456789abcdef0123456789ABCDEF"),
        ContentHash::of(b"0123456789ABCDEF0123456789abcdef"),
    );
    assert_ne!(swapped.0, swapped.1);
}

#[test]
fn every_bit_is_used() {
    // Over 4,000 hashes, each bit is set in about half.
    let mut counts = [0; 128];
    for number in 0..4_000_u32 {
        let hash = ContentHash::of(&number.to_le_bytes()).0;
        for (bit, count) in counts.iter_mut().enumerate() {
            *count += u32::from(hash >> bit & 1 == 1);
        }
    }
    for (bit, count) in counts.iter().enumerate() {
        assert!((1_700..2_300).contains(count), "bit {bit}: {count}");
    }
}
