//! Every character that hides, moves or reorders text becomes visible, and nothing else changes.

use super::*;

#[track_caller]
fn check(text: &str, one_line: &str, lines: &str) {
    assert_eq!(printable(text, LineFeeds::Escape), one_line);
    assert_eq!(printable(text, LineFeeds::Keep), lines);
}

#[test]
fn ordinary_text_is_borrowed() {
    for text in ["", "ls -la", "Grüße, 世界 👍", "a\u{a0}b"] {
        assert!(matches!(
            printable(text, LineFeeds::Keep),
            Cow::Borrowed(it) if it == text
        ));
    }
}

#[test]
fn control_characters_become_pictures() {
    check("rm x #\rls", "rm x #␍ls", "rm x #␍ls");
    check("ls #\nrm v", "ls #␊rm v", "ls #\nrm v");
    check("a\tb\r\nc", "a␉b␍␊c", "a\tb\nc");
    check("\x1b[2K\x07\x7f\0", "␛[2K␇␡␀", "␛[2K␇␡␀");
    check("\u{9b}2J", "<U+009B>2J", "<U+009B>2J");
}

#[test]
fn direction_and_invisible_characters_show_their_code_points() {
    check("a\u{202e}b", "a<U+202E>b", "a<U+202E>b");
    check(
        "a\u{2066}b\u{feff}",
        "a<U+2066>b<U+FEFF>",
        "a<U+2066>b<U+FEFF>",
    );
    check("x\u{e0041}", "x<U+E0041>", "x<U+E0041>");
    check("a\u{2028}b", "a<U+2028>b", "a<U+2028>b");
    check("rm\u{2003}x", "rm<U+2003>x", "rm<U+2003>x");
}

#[test]
fn joiners_stay_where_scripts_need_them() {
    check("👨\u{200d}👩", "👨\u{200d}👩", "👨\u{200d}👩");
    check(
        "❤\u{fe0f}\u{200d}🔥",
        "❤\u{fe0f}\u{200d}🔥",
        "❤\u{fe0f}\u{200d}🔥",
    );
    check(
        "1\u{fe0f}\u{20e3}",
        "1\u{fe0f}\u{20e3}",
        "1\u{fe0f}\u{20e3}",
    );
    check("r\u{200d}m", "r<U+200D>m", "r<U+200D>m");
    check("世\u{3000}界", "世\u{3000}界", "世\u{3000}界");
    check("rm\u{3000}x", "rm<U+3000>x", "rm<U+3000>x");
    check("\u{fe0f}", "<U+FE0F>", "<U+FE0F>");
}

#[test]
fn printable_is_idempotent() {
    for code in 0..=0x10ffff {
        let Some(char) = char::from_u32(code) else {
            continue;
        };
        let text = format!("a{char}b");
        for line_feeds in [LineFeeds::Keep, LineFeeds::Escape] {
            let shown = printable(&text, line_feeds);
            assert_eq!(printable(&shown, line_feeds), shown, "U+{code:04X}");
            assert!(
                !shown
                    .chars()
                    .any(|it| it.is_control() && !"\n\t".contains(it))
            );
        }
    }
}
