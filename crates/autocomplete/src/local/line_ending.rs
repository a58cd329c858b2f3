//! Lengths and excerpts of texts as if each line ended with a line feed alone.
//!
//! Features and limits of the local tier count bytes this way, so that a text gives the same
//! suggestions with either line ending.

use std::borrow::Cow;

use base::{ByteOffset, Span};
use text::Snapshot;

const CRLF: &str = "\r\n";

/// Returns the length of a text in bytes, with each line ending counted as one byte.
pub(crate) fn lf_len(text: &str) -> usize {
    text.len() - text.matches(CRLF).count()
}

/// Returns up to `max` bytes of the text before an offset, with line feeds alone as line endings.
pub(crate) fn text_before(text: &Snapshot, at: ByteOffset, max: usize) -> Cow<'_, str> {
    let before = |bytes: usize| text.text(Span::new(ByteOffset(at.0.saturating_sub(bytes)), at));
    let excerpt = before(max);
    if !excerpt.contains(CRLF) {
        return excerpt;
    }
    // Line endings are at most half of the bytes.
    let mut excerpt = before(2 * max).replace(CRLF, "\n");
    let start = excerpt.len().saturating_sub(max);
    excerpt.drain(..excerpt.floor_char_boundary(start));
    Cow::Owned(excerpt)
}

/// Returns up to `max` bytes of the text after an offset, with line feeds alone as line endings.
pub(crate) fn text_after(text: &Snapshot, at: ByteOffset, max: usize) -> Cow<'_, str> {
    let after = |bytes: usize| text.text(Span::new(at, (at + bytes).min(text.len())));
    let excerpt = after(max);
    if !excerpt.contains(CRLF) {
        return excerpt;
    }
    let mut excerpt = after(2 * max).replace(CRLF, "\n");
    excerpt.truncate(excerpt.floor_char_boundary(max));
    Cow::Owned(excerpt)
}

#[cfg(test)]
mod tests {
    use super::{lf_len, text_after, text_before};
    use base::ByteOffset;
    use text::Snapshot;

    #[test]
    fn excerpts_have_the_same_text_with_either_line_ending() {
        let text = "let größe = 1;\n\n    über(größe);\n\n\nend\n".repeat(5);
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(lf_len(&crlf), text.len());
        let (with, without) = (Snapshot::new(&crlf), Snapshot::new(&text));
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let crlf_at = ByteOffset(text[..at].replace('\n', "\r\n").len());
            for max in 0..60 {
                let before = text_before(&without, ByteOffset(at), max);
                assert_eq!(text_before(&with, crlf_at, max), before, "{at} {max}");
                let after = text_after(&without, ByteOffset(at), max);
                let found = text_after(&with, crlf_at, max);
                // The last line ending may be cut in half.
                assert_eq!(found.trim_end(), after.trim_end(), "{at} {max}");
            }
        }
    }
}
