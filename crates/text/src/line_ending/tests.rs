//! Detection and conversion of line endings.

use super::{LineEnding, LineEndings};
use crate::buffer::Buffer;
use crate::edit::{EditOrigin, Timestamp};
use crate::random::SeededRng;
use crate::snapshot::Snapshot;

#[test]
fn line_endings_convert_both_ways() {
    for seed in 0..60 {
        let text = SeededRng::new(seed).text(if seed % 10 == 0 { 3000 } else { 30 });
        for (ending, expected) in [
            (LineEnding::Lf, text.replace("\r\n", "\n")),
            (
                LineEnding::CrLf,
                text.replace("\r\n", "\n").replace('\n', "\r\n"),
            ),
        ] {
            let mut buffer = Buffer::new(&text);
            let edits = buffer.snapshot().edits_to_line_ending(ending);
            buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
            // Of two carriage returns before a line feed, the first stays.
            assert_eq!(buffer.snapshot().to_string(), expected, "seed {seed}");
            buffer.undo();
            assert_eq!(buffer.snapshot().to_string(), text, "seed {seed}");
        }
    }
}

#[test]
fn endings_by_example() {
    let check = |text: &str, expected| {
        assert_eq!(Snapshot::new(text).line_endings(), expected, "{text:?}");
    };
    check("", LineEndings::Lf);
    check("a\n", LineEndings::Lf);
    check(&"some text\r\n".repeat(1000), LineEndings::CrLf);
    check("a\r\nb\n", LineEndings::Mixed);
}
