//! Composes a plan with further replacements of the text that it produces.

use base::{ByteOffset, Span};

use super::PlannedReplacement;

/// Adds the replacements `more`, which refer to the text that `all` produces, to `all`, which
/// refers to the original text.
pub(crate) fn compose_all(all: &mut Vec<PlannedReplacement>, more: &[PlannedReplacement]) {
    // In reverse order, so that offsets into the result stay valid.
    for replacement in more.iter().rev() {
        add(all, replacement.span, &replacement.text, replacement.hunk);
    }
}

/// Adds the replacement of `span` in the text that `all` produces to `all`, merging the
/// replacements it touches.
pub(super) fn add(all: &mut Vec<PlannedReplacement>, span: Span, text: &str, hunk: usize) {
    let mut merged = PlannedReplacement {
        span: Span::default(),
        text: text.to_owned(),
        hunk,
    };
    let (mut start, mut end) = (None, None);
    let mut kept = Vec::new();
    // Length of the result minus that of the original text, up to here.
    let mut shift = 0isize;
    for replacement in all.drain(..) {
        let made_start = moved(replacement.span.start.0, shift);
        let made = made_start..made_start + replacement.text.len();
        let shift_before = shift;
        shift += replacement.text.len() as isize - replacement.span.len() as isize;
        if made.end < span.start.0 {
            kept.push(replacement);
            continue;
        }
        if start.is_none() {
            let is_within = made.start < span.start.0 && made.start <= span.end.0;
            start = Some(if is_within {
                let head = &replacement.text[..span.start.0 - made.start];
                merged.text.insert_str(0, head);
                replacement.span.start.0
            } else {
                moved(span.start.0, -shift_before)
            });
        }
        if made.start > span.end.0 {
            end.get_or_insert(moved(span.end.0, -shift_before));
            kept.push(replacement);
        } else if made.end > span.end.0 {
            let tail = &replacement.text[span.end.0 - made.start..];
            merged.text.push_str(tail);
            end = Some(replacement.span.end.0);
        }
    }
    let start = start.unwrap_or(moved(span.start.0, -shift));
    let end = end.unwrap_or(moved(span.end.0, -shift));
    merged.span = Span::new(ByteOffset(start), ByteOffset(end));
    let at = kept.partition_point(|other| other.span.start < merged.span.start);
    kept.insert(at, merged);
    *all = kept;
}

/// Adds `by` to an offset; a negative result becomes 0.
fn moved(offset: usize, by: isize) -> usize {
    offset.checked_add_signed(by).unwrap_or(0)
}
