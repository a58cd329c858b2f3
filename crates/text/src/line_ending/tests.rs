//! Detection and conversion of line endings.

use super::LineEndings;
use crate::snapshot::Snapshot;

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
