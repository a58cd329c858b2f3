//! Sanitises text of files, servers and models for display in controls.
//!
//! Invariant: no control receives text that hides, moves or reorders its visible text.

use base::{LineFeeds, printable};
use gpui_kit::SharedString;

/// Makes the control and reordering characters of a text visible and escapes line feeds, so that
/// the text shows as one line. Tabs become blanks, so that byte offsets into rows of code stay
/// valid.
pub fn one_line(text: impl Into<SharedString>) -> SharedString {
    let text = text.into();
    if text.contains('\t') {
        printable_text(text.replace('\t', " ").into(), LineFeeds::Escape)
    } else {
        printable_text(text, LineFeeds::Escape)
    }
}

/// Makes the control and reordering characters of a text visible; line feeds stay.
pub fn multi_line(text: impl Into<SharedString>) -> SharedString {
    printable_text(text.into(), LineFeeds::Keep)
}

fn printable_text(text: SharedString, line_feeds: LineFeeds) -> SharedString {
    match printable(&text, line_feeds) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(text) => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_show_what_would_hide_or_reorder_text() {
        for (text, shown) in [
            ("plain", "plain"),
            ("a\tb", "a b"),
            ("a\nb", "a\u{240a}b"),
            ("evil\u{202e}txt.exe", "evil<U+202E>txt.exe"),
            ("a\u{1b}]0;b\u{7}", "a\u{241b}]0;b\u{2407}"),
        ] {
            assert_eq!(one_line(text), shown);
        }
        assert_eq!(multi_line("a\nb\rc"), "a\nb\u{240d}c");
    }
}
