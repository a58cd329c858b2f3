//! Shortens texts for models.

/// Keeps about the first two thirds and the last third of `limit` bytes of a longer text, cut at
/// characters, with a line between them that counts the omitted bytes. A text within the limit is
/// unchanged; the result exceeds the limit by that line.
pub(crate) fn head_and_tail(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut head = limit * 2 / 3;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - limit / 3;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!(
        "{}\n[{} bytes left out]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}
