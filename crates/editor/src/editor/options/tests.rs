//! Tests the indentation options of a text.

use text::Snapshot;

use super::detect;

#[test]
fn a_text_tells_how_it_is_indented() {
    let check = |text: &str, expect: Option<(bool, u32)>| {
        assert_eq!(detect(&Snapshot::new(text)), expect, "{text:?}")
    };
    check("a\n  b\n    c\n  d\n", Some((false, 2)));
    check("a\n    b\n        c\n    d\n", Some((false, 4)));
    check("a\n\tb\n\t\tc\n", Some((true, 0)));
    check("a\nb\nc\n", None);
}
