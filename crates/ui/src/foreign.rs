//! Text of files, servers and models on its way into controls.
//!
//! Invariant: no control takes a text that hides, moves or reorders what it shows.

use base::{LineFeeds, printable};
use gpui_kit::SharedString;

/// A text for one line. Tabs, which rows of code hold, become blanks, so that byte offsets into it stay.
pub fn one_line(text: impl Into<SharedString>) -> SharedString {
    let text = text.into();
    match text.contains('\t') {
        true => shown(text.replace('\t', " ").into(), LineFeeds::Escape),
        false => shown(text, LineFeeds::Escape),
    }
}

/// A text that may have several lines.
pub fn lines(text: impl Into<SharedString>) -> SharedString {
    shown(text.into(), LineFeeds::Keep)
}

fn shown(text: SharedString, line_feeds: LineFeeds) -> SharedString {
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
        assert_eq!(lines("a\nb\rc"), "a\nb\u{240d}c");
    }
}
