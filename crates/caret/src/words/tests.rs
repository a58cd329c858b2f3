//! Tests words around an offset.

use base::{ByteOffset, Span};

use super::{WordScanner, WordStops};
use text::Snapshot;

fn words(snapshot: &Snapshot) -> WordScanner<'_> {
    WordScanner {
        snapshot,
        extra: "",
    }
}

#[test]
fn the_word_around_a_place() {
    let snapshot = Snapshot::new("ab ,, 日本e\u{301}x\r\n");
    let around = |at: usize| words(&snapshot).run_around(ByteOffset(at)).range();
    assert_eq!(around(0), 0..2);
    assert_eq!(around(2), 0..2);
    assert_eq!(around(3), 3..5);
    assert_eq!(around(6), 6..16);
    assert_eq!(around(16), 6..16);
    assert_eq!(
        words(&snapshot).word_at(ByteOffset(4)),
        Span::at(ByteOffset(4))
    );
    assert_eq!(
        words(&Snapshot::new("")).run_around(ByteOffset(0)),
        Span::at(ByteOffset(0))
    );
    assert_eq!(
        words(&Snapshot::new("a\n\nb")).run_around(ByteOffset(2)),
        Span::at(ByteOffset(2))
    );
}

#[test]
fn marks_without_a_letter_are_no_trap() {
    let snapshot = Snapshot::new("\u{301}\u{301} \u{301}");
    let mut at = ByteOffset(0);
    for _ in 0..4 {
        at = words(&snapshot).next(at, WordStops::Words);
    }
    assert_eq!(at, snapshot.len());
    for _ in 0..4 {
        at = words(&snapshot).previous(at, WordStops::Parts);
    }
    assert_eq!(at, ByteOffset(0));
}
