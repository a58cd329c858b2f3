//! The format of a transform: text with groups of the match.

use caret::{NameSpelling, respelled};

/// A part of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FormatPart {
    Text(String),
    /// A group by its number, changed as told.
    Group(usize, GroupChange),
}

/// The change of a group's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GroupChange {
    /// Inserted unchanged.
    Unchanged,
    /// `/upcase` and the like.
    Spelling(NameSpelling),
    /// `/capitalize`: the first letter in upper case, the rest unchanged.
    Capitalized,
    /// `:+if`, `:?if:else`, `:-else`: a text for a group with a match, `None` for its own; and a
    /// text for one without.
    Conditional(Option<String>, String),
}

/// Parses a format up to an unescaped `/`. Returns its parts and the length read in bytes, with the
/// slash.
pub(crate) fn parse(text: &str) -> Option<(Vec<FormatPart>, usize)> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let ch = rest.chars().next()?;
        match ch {
            '/' => {
                push_text(&mut parts, &mut literal);
                return Some((parts, at + 1));
            }
            '\\' => {
                let (text, len) = escape(&rest[1..]);
                literal.push_str(text);
                at += 1 + len;
            }
            '$' => match group(&rest[1..]) {
                Some((group, len)) => {
                    push_text(&mut parts, &mut literal);
                    parts.push(group);
                    at += 1 + len;
                }
                None => {
                    literal.push('$');
                    at += 1;
                }
            },
            _ => {
                literal.push(ch);
                at += ch.len_utf8();
            }
        }
    }
}

fn push_text(parts: &mut Vec<FormatPart>, text: &mut String) {
    if !text.is_empty() {
        parts.push(FormatPart::Text(std::mem::take(text)));
    }
}

/// Returns the text of an escape behind its backslash, and the bytes it consists of.
fn escape(text: &str) -> (&str, usize) {
    match text.as_bytes().first() {
        Some(b'n') => ("\n", 1),
        Some(b't') => ("\t", 1),
        Some(b'/' | b'\\' | b'$' | b'}' | b':') => (&text[..1], 1),
        _ => ("\\", 0),
    }
}

/// Reads a group behind its `$`.
fn group(text: &str) -> Option<(FormatPart, usize)> {
    if let Some((number, len)) = number(text) {
        return Some((FormatPart::Group(number, GroupChange::Unchanged), len));
    }
    let inner = text.strip_prefix('{')?;
    let (number, len) = number(inner)?;
    let (change, read) = group_change(&inner[len..])?;
    Some((FormatPart::Group(number, change), 1 + len + read))
}

fn number(text: &str) -> Option<(usize, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, digits))
}

/// Reads the part of `${1…}` behind the number, with the brace.
fn group_change(text: &str) -> Option<(GroupChange, usize)> {
    if text.starts_with('}') {
        return Some((GroupChange::Unchanged, 1));
    }
    let change = text.strip_prefix(':')?;
    let (first, behind) = match change.as_bytes().first()? {
        kind @ (b'/' | b'+' | b'?' | b'-') => (*kind, &change[1..]),
        _ => (b'-', change),
    };
    let read = text.len() - behind.len();
    match first {
        b'/' => {
            let end = behind.find('}')?;
            Some((spelling(&behind[..end]), read + end + 1))
        }
        b'+' => {
            let (then, len) = text_until(behind, '}')?;
            Some((
                GroupChange::Conditional(Some(then), String::new()),
                read + len,
            ))
        }
        b'?' => {
            let (then, len) = text_until(behind, ':')?;
            let (otherwise, more) = text_until(&behind[len..], '}')?;
            let change = GroupChange::Conditional(Some(then), otherwise);
            Some((change, read + len + more))
        }
        _ => {
            let (otherwise, len) = text_until(behind, '}')?;
            Some((GroupChange::Conditional(None, otherwise), read + len))
        }
    }
}

/// Reads text up to an unescaped `end`, and returns the length read in bytes, with `end`.
fn text_until(text: &str, end: char) -> Option<(String, usize)> {
    let mut read = String::new();
    let mut at = 0;
    loop {
        let ch = text[at..].chars().next()?;
        at += ch.len_utf8();
        match ch {
            '\\' => {
                let (escaped, len) = escape(&text[at..]);
                read.push_str(escaped);
                at += len;
            }
            ch if ch == end => return Some((read, at)),
            ch => read.push(ch),
        }
    }
}

/// Returns the change that a modifier names; an unknown one changes nothing.
fn spelling(name: &str) -> GroupChange {
    match name {
        "upcase" => GroupChange::Spelling(NameSpelling::Upper),
        "downcase" => GroupChange::Spelling(NameSpelling::Lower),
        "capitalize" => GroupChange::Capitalized,
        "camelcase" => GroupChange::Spelling(NameSpelling::Camel),
        "pascalcase" => GroupChange::Spelling(NameSpelling::Pascal),
        "snakecase" => GroupChange::Spelling(NameSpelling::Snake),
        "kebabcase" => GroupChange::Spelling(NameSpelling::Kebab),
        _ => GroupChange::Unchanged,
    }
}

impl GroupChange {
    /// Returns the text for a group; `None` is a group without a match.
    pub(crate) fn apply(&self, group: Option<&str>) -> String {
        let text = group.unwrap_or_default();
        match self {
            Self::Unchanged => text.to_owned(),
            Self::Spelling(spelling) => respelled(text, *spelling),
            Self::Capitalized => {
                let mut chars = text.chars();
                let first = chars.next().into_iter().flat_map(char::to_uppercase);
                first.chain(chars).collect()
            }
            Self::Conditional(then, otherwise) => match (then, text.is_empty()) {
                (_, true) => otherwise.clone(),
                (Some(then), false) => then.clone(),
                (None, false) => text.to_owned(),
            },
        }
    }
}
