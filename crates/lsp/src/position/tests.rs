//! Positions in three encodings, against a count of chars.

use base::ByteOffset;
use gen_lsp_types::Position;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::Snapshot;

use super::PositionEncoding::{self, Utf8, Utf16, Utf32};
use crate::random;

const ENCODINGS: [PositionEncoding; 3] = [Utf8, Utf16, Utf32];

fn units(encoding: PositionEncoding, text: &str) -> usize {
    match encoding {
        Utf8 => text.len(),
        Utf16 => text.encode_utf16().count(),
        Utf32 => text.chars().count(),
    }
}

fn check(text: &str, position: (u32, u32), offsets: [Option<usize>; 3]) {
    let snapshot = Snapshot::new(text);
    let (line, character) = position;
    for (encoding, expected) in ENCODINGS.into_iter().zip(offsets) {
        let offset = encoding.offset(&snapshot, Position { line, character });
        let offset = offset.ok().map(|offset| offset.0);
        assert_eq!(offset, expected, "{encoding:?} {position:?} in {text:?}");
    }
}

#[test]
fn characters_are_counted_in_the_units_of_the_encoding() {
    check("a🦀b", (0, 1), [Some(1); 3]);
    check("a🦀b", (0, 2), [Some(1), Some(1), Some(5)]);
    check("a🦀b", (0, 3), [Some(1), Some(5), Some(6)]);
    check("a🦀b", (0, 5), [Some(5), Some(6), Some(6)]);
}

#[test]
fn characters_beyond_a_line_are_clamped_before_its_ending() {
    for character in [2, 3, 100, 1 << 31, u32::MAX] {
        check("ab\r\ncd\n", (0, character), [Some(2); 3]);
        check("ab\r\ncd\n", (1, character), [Some(6); 3]);
        check("ab\r\ncd\n", (2, character), [Some(7); 3]);
    }
}

#[test]
fn rows_beyond_the_text_are_refused() {
    check("ab\n", (2, 0), [None; 3]);
    check("", (u32::MAX, 0), [None; 3]);
    check("", (0, 9), [Some(0); 3]);
}

#[test]
fn random_offsets_survive_every_encoding() {
    for seed in 0..random::rounds(300, 20_000) as u64 {
        let mut rng = StdRng::seed_from_u64(seed);
        let text = random::text(&mut rng, 40);
        let snapshot = Snapshot::new(&text);
        for encoding in ENCODINGS {
            let offset = random::boundary(&mut rng, &text);
            let position = encoding.position(&snapshot, offset);
            let before = &text[..offset.0];
            let line = before.matches('\n').count();
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            // An offset within `\r\n` counts as the end of the line.
            let within = before.ends_with('\r') && text[offset.0..].starts_with('\n');
            let end = offset.0 - usize::from(within);
            let character = units(encoding, &text[start..end]);
            assert_eq!(
                (position.line as usize, position.character as usize),
                (line, character),
                "{encoding:?} seed {seed}"
            );
            assert_eq!(encoding.offset(&snapshot, position), Ok(ByteOffset(end)));
            let any = Position {
                line: rng.random_range(0..6),
                character: rng.random_range(0..30),
            };
            if let Ok(offset) = encoding.offset(&snapshot, any) {
                assert!(text.is_char_boundary(offset.0), "{encoding:?} seed {seed}");
                assert_eq!(snapshot.point_at(offset).row.0, any.line);
            }
        }
    }
}
