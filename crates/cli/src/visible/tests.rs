//! Tests that the output does not depend on how the text is split.

use std::io::Write as _;

use base::{LineFeeds, printable};

use super::Visible;

fn shown(pieces: &[&[u8]]) -> String {
    let mut out = Vec::new();
    let mut visible = Visible::new(&mut out);
    for piece in pieces {
        visible.write_all(piece).expect("a vector");
    }
    drop(visible);
    String::from_utf8(out).expect("text")
}

#[test]
fn text_is_printable_however_it_is_cut() {
    for line in crate::tests::hostile_lines() {
        let line = format!("{line}\nend\n");
        let expected = printable(&line, LineFeeds::Keep);
        assert_eq!(shown(&[line.as_bytes()]), expected, "{line:?}");
        let bytes: Vec<&[u8]> = line.as_bytes().chunks(1).collect();
        assert_eq!(shown(&bytes), expected, "{line:?} byte by byte");
    }
}

#[test]
fn emoji_and_line_ends_survive_cuts() {
    assert_eq!(shown(&["❤".as_bytes(), "\u{fe0f}".as_bytes()]), "❤\u{fe0f}");
    let family = ["👩", "\u{200d}", "👩", "\u{200d}", "👧", "!"].map(str::as_bytes);
    assert_eq!(shown(&family), "👩\u{200d}👩\u{200d}👧!");
    assert_eq!(
        shown(&[b"one\r", b"\ntwo\r", b"three\n"]),
        "one\ntwo␍three\n"
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(
        shown(&[b"a\xff\x1b[2Jb\xc3", b"(\n"]),
        "a\u{fffd}␛[2Jb\u{fffd}(\n"
    );
}
