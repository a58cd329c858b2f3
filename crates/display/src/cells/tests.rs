//! Tests widths of single characters and of short texts.

use super::{Meter, plain_prefix, stand_in};

fn check(text: &str, cells: u32) {
    let mut whole = Meter::new(0, 4);
    whole.advance_text(text);
    assert_eq!(whole.cell, cells, "{text:?} as a whole");
    let mut single = Meter::new(0, 4);
    let sum: u32 = text.chars().map(|ch| single.advance(ch)).sum();
    assert_eq!(sum, cells, "{text:?} by character");
}

#[test]
fn characters_take_their_cells() {
    check("", 0);
    check("plain text, long enough for words", 33);
    check("a\tb", 5);
    check("abc\t", 4);
    check("abcd\t", 8);
    check("漢字", 4);
    check("e\u{301}", 1);
    check("\u{1}\u{7f}", 4);
    check("\u{85}", 4);
    check("a\u{202E}b", 8);
    check("👩\u{200D}👩\u{200D}👧", 2);
    check("👍\u{1F3FD}", 2);
    check("🇩🇪🇫🇷", 4);
    check("\r", 2);
    check("äöü\twide 漢", 4 + 5 + 2);
    check("👩\u{200D}漢字字", 6);
    check("한글 текст 漢字", 4 + 7 + 4);
}

#[test]
fn stand_ins_are_as_wide_as_they_say() {
    for code in 0..0x1_0000 {
        let Some(ch) = char::from_u32(code) else {
            continue;
        };
        if let Some(text) = stand_in(ch) {
            check(&ch.to_string(), text.len() as u32);
        }
    }
    assert_eq!(stand_in('\u{1b}').as_deref(), Some("^["));
    assert_eq!(stand_in('\t'), None);
}

#[test]
fn shortcuts_agree_with_the_table() {
    use unicode_width::UnicodeWidthChar;
    for ch in '\u{3000}'..='\u{E000}' {
        if let Some(width) = ch.width().filter(|width| *width > 0) {
            assert_eq!(Meter::new(0, 4).advance(ch), width as u32, "{ch:?}");
            let mut meter = Meter::new(0, 4);
            meter.advance_text(&format!("{ch}{ch}"));
            assert_eq!(meter.cell, 2 * width as u32, "{ch:?}");
        }
    }
}

#[test]
fn plain_bytes_are_counted() {
    for len in 0..40 {
        for bad in [b'\t', 0x7F, 0x80, 0xFF, 0x1F] {
            let mut bytes = vec![b'~'; len];
            assert_eq!(plain_prefix(&bytes), len);
            bytes.push(bad);
            bytes.extend([b' '; 9]);
            assert_eq!(plain_prefix(&bytes), len);
        }
    }
}
