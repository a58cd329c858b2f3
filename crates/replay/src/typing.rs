//! Keystrokes of a text, and agreement of a suggestion with it.

/// Whether `left` begins with `new` and does not continue in the middle of a word.
pub fn agrees(left: &str, new: &str) -> bool {
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    left.strip_prefix(new)
        .is_some_and(|rest| !(new.ends_with(is_word) && rest.starts_with(is_word)))
}

/// Returns the bytes of one keystroke: a character, or a line end with the indentation that the editor adds.
pub fn one_key(left: &str) -> usize {
    let first = left.chars().next().map_or(0, char::len_utf8);
    if !left.starts_with('\n') {
        return first;
    }
    let indent = left[first..]
        .chars()
        .take_while(|ch| *ch == ' ' || *ch == '\t')
        .count();
    first + indent
}
