//! Unicode's own test cases, in one chunk and split into chunks at every position.

use base::ByteOffset;

use crate::random::SeededRng;
use crate::snapshot::Snapshot;
use crate::storage::Storage;

/// Parses a case into its text and its boundaries.
fn parse(line: &str) -> Option<(String, Vec<usize>)> {
    let case = line.split('#').next()?.trim();
    let (mut text, mut borders) = (String::new(), Vec::new());
    for word in case.split_whitespace() {
        match word {
            "÷" => borders.push(text.len()),
            "×" => {}
            code => {
                let code = u32::from_str_radix(code, 16).expect("a code point");
                // Surrogates do not exist in UTF-8.
                text.push(char::from_u32(code)?);
            }
        }
    }
    (!text.is_empty()).then_some((text, borders))
}

fn cases() -> Vec<(String, Vec<usize>)> {
    #[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
    let table = std::fs::read_to_string(test_support::data("unicode/GraphemeBreakTest.txt"))
        .expect("the test data");
    let cases: Vec<_> = table.lines().filter_map(parse).collect();
    assert!(cases.len() > 700, "only {} cases", cases.len());
    cases
}

/// Walks in both directions, and queries every char in between.
fn check(snapshot: &Snapshot, borders: &[usize], what: &str) {
    let first = ByteOffset(borders[0]);
    let mut at = first;
    for &border in &borders[1..] {
        at = snapshot.next_grapheme(at);
        assert_eq!(at.0, border, "forwards in {what}");
    }
    for &border in borders.iter().rev().skip(1) {
        at = snapshot.previous_grapheme(at);
        assert_eq!(at.0, border, "backwards in {what}");
    }
    for pair in borders.windows(2) {
        for inside in pair[0] + 1..pair[1] {
            if snapshot.storage.floor_char(inside) == inside {
                let inside = ByteOffset(inside);
                assert_eq!(
                    snapshot.next_grapheme(inside).0,
                    pair[1],
                    "from inside in {what}"
                );
                assert_eq!(
                    snapshot.previous_grapheme(inside).0,
                    pair[0],
                    "from inside in {what}"
                );
            }
        }
    }
}

#[test]
fn unicode_cases_in_one_piece() {
    for (text, borders) in &cases() {
        check(&Snapshot::new(text), borders, &format!("{text:?}"));
    }
}

#[test]
fn unicode_cases_across_chunk_boundaries() {
    for (text, borders) in &cases() {
        let pieces: Vec<&str> = text.split_inclusive(|_| true).collect();
        let storage = Storage::of_pieces(pieces.iter().copied());
        let snapshot = Snapshot::from_storage(storage, Default::default());
        check(&snapshot, borders, &format!("{pieces:?}"));
        for cut in 1..pieces.len() {
            let halves = [pieces[..cut].concat(), pieces[cut..].concat()];
            let storage = Storage::of_pieces(halves.iter().map(String::as_str));
            let snapshot = Snapshot::from_storage(storage, Default::default());
            check(&snapshot, borders, &format!("{halves:?}"));
        }
    }
}

#[test]
fn unicode_cases_far_into_a_text() {
    let mut random = SeededRng::new(1);
    for (text, borders) in &cases() {
        // Tabs separate the case from the letters around it, wherever the storage splits chunks.
        let lead = "x".repeat(1000 + random.next_below(60));
        let whole = format!("{lead}\t{text}\t{lead}");
        let start = lead.len() + 1;
        let moved: Vec<usize> = borders.iter().map(|border| start + border).collect();
        check(
            &Snapshot::new(&whole),
            &moved,
            &format!("{text:?} at {start}"),
        );
    }
}

#[test]
fn ends_stay_put() {
    let snapshot = Snapshot::new("a\r\nb");
    assert_eq!(snapshot.next_grapheme(ByteOffset(1)), ByteOffset(3));
    assert_eq!(snapshot.previous_grapheme(ByteOffset(3)), ByteOffset(1));
    assert_eq!(snapshot.next_grapheme(ByteOffset(4)), ByteOffset(4));
    assert_eq!(snapshot.next_grapheme(ByteOffset(99)), ByteOffset(4));
    assert_eq!(snapshot.previous_grapheme(ByteOffset(0)), ByteOffset(0));
    let empty = Snapshot::new("");
    assert_eq!(empty.next_grapheme(ByteOffset(0)), ByteOffset(0));
    assert_eq!(empty.previous_grapheme(ByteOffset(0)), ByteOffset(0));
}
