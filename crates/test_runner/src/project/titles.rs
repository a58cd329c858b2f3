//! Titles with placeholders, as `test.each` and templates of JavaScript have them.

/// Splits a title into its texts and `None` for each placeholder: `%s`, `%#`, `$name`, `${name}`.
pub(crate) fn title_parts(title: &str) -> Vec<Option<&str>> {
    let mut parts = Vec::new();
    let (mut text, mut at) = (0, 0);
    while at < title.len() {
        let rest = &title[at..];
        let length = placeholder(rest);
        if length == 0 {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        }
        if text < at {
            parts.push(Some(&title[text..at]));
        }
        parts.push(None);
        at += length;
        text = at;
    }
    if text < title.len() {
        parts.push(Some(&title[text..]));
    }
    parts
}

/// Returns whether a name is an expansion of a title.
pub(crate) fn is_expansion(title: &str, name: &str) -> bool {
    let parts = title_parts(title);
    let mut rest = name;
    let mut after_placeholder = false;
    for (ix, part) in parts.iter().enumerate() {
        let Some(text) = part else {
            after_placeholder = true;
            continue;
        };
        let is_last = ix + 1 == parts.len();
        let found = match (after_placeholder, is_last) {
            (false, _) => rest.starts_with(text).then_some(0),
            (true, true) => rest.ends_with(text).then(|| rest.len() - text.len()),
            (true, false) => rest.find(text),
        };
        let Some(at) = found else {
            return false;
        };
        rest = &rest[at + text.len()..];
        after_placeholder = false;
    }
    after_placeholder || rest.is_empty()
}

/// Returns the length of the placeholder with which a text begins; 0 if there is none.
fn placeholder(text: &str) -> usize {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('%'), Some('p' | 's' | 'd' | 'i' | 'f' | 'j' | 'o' | 'O' | 'c' | '#' | '$')) => 2,
        (Some('$'), Some('{')) => text.find('}').map_or(0, |end| end + 1),
        (Some('$'), Some(first)) if first.is_alphabetic() || matches!(first, '_' | '#') => {
            let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.' | '#');
            let end = text[1..].find(|char: char| !is_part(char));
            end.map_or(text.len(), |end| end + 1)
        }
        _ => 0,
    }
}
