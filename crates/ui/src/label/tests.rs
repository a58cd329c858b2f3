//! Tests of which part of a label is elided, and of the positions of the marks.

use super::{elide_matches, elide_middle, ranges};

#[test]
fn a_path_keeps_its_last_part() {
    assert_eq!(
        elide_middle("crates/ui/src/label.rs", 40),
        "crates/ui/src/label.rs"
    );
    assert_eq!(
        elide_middle("crates/workbench/src/label.rs", 16),
        "crates…/label.rs"
    );
    assert_eq!(elide_middle("abcdefghij", 5), "ab…ij");
    assert_eq!(elide_middle("ééééééé", 5), "éé…éé");
    for room in 3..30 {
        assert!(
            elide_middle("some/very/long/name/of_a_file.txt", room)
                .chars()
                .count()
                <= room
        );
    }
}

#[test]
fn marks_move_with_the_text() {
    let (text, marks) = elide_matches(&"abcdefghij".into(), &[0, 4, 9], 5);
    assert_eq!(text, "ab…ij");
    assert_eq!(marks, [0, 6]);
    assert_eq!(&text[6..7], "j");
}

#[test]
fn neighbours_are_joined() {
    assert_eq!(ranges("abcé", &[0, 1, 3]), [0..2, 3..5]);
    assert!(ranges("é", &[1, 7]).is_empty());
}
