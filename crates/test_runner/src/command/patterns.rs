//! Names as patterns that match exactly them, in the notation of each runner.

/// Escapes a name for a regular expression of JavaScript.
pub(super) fn javascript_quoted(name: &str) -> String {
    quoted(name, "\\^$.|?*+()[]{}/")
}

/// Escapes a name for a regular expression of Go.
pub(super) fn go_quoted(name: &str) -> String {
    quoted(name, "\\.+*?()|[]{}^$")
}

fn quoted(name: &str, special: &str) -> String {
    let mut pattern = String::with_capacity(name.len() + 8);
    for char in name.chars() {
        if special.contains(char) {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern
}

/// Escapes a name for a filter expression of nextest.
pub(super) fn nextest_quoted(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for char in name.chars() {
        if char.is_alphanumeric() || matches!(char, '_' | ':') {
            pattern.push(char);
        } else {
            pattern.push_str(&format!("\\u{{{:x}}}", u32::from(char)));
        }
    }
    pattern
}

/// Returns the expression of pytest for names with all words of a name; the expression cannot contain other signs.
pub(super) fn pytest_keywords(name: &str) -> String {
    let words = name.split(|char: char| !(char.is_alphanumeric() || char == '_'));
    let words = words.filter(|word| !matches!(*word, "" | "and" | "or" | "not"));
    words.collect::<Vec<_>>().join(" and ")
}

/// Returns the pattern of the names that a title with placeholders expands to: `%s` and `%#` of `printf`, `$name` and
/// `${name}`.
pub(super) fn title_pattern(title: &str) -> String {
    let mut pattern = String::new();
    for part in crate::project::title_parts(title) {
        match part {
            Some(text) => pattern.push_str(&javascript_quoted(text)),
            None => pattern.push_str(".*"),
        }
    }
    pattern
}
