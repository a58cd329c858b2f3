//! Reads the signs of surroundings: `ds(`, `cs"'`, `ysiw<em>`.

use super::reader::{KeyReader, Read, Stop};
use super::{SurroundPair, SurroundTarget};
use crate::key::Key;

/// Reads the surrounding to delete or change.
pub(super) fn target(reader: &mut KeyReader) -> Read<SurroundTarget> {
    let char = reader.char()?;
    let brackets = |open, close, with_blanks| SurroundTarget::Brackets {
        open,
        close,
        with_blanks,
    };
    Ok(match char {
        '(' => brackets('(', ')', true),
        ')' | 'b' => brackets('(', ')', false),
        '{' => brackets('{', '}', true),
        '}' | 'B' => brackets('{', '}', false),
        '[' => brackets('[', ']', true),
        ']' | 'r' => brackets('[', ']', false),
        '<' => brackets('<', '>', true),
        '>' | 'a' => brackets('<', '>', false),
        't' => SurroundTarget::Tag,
        _ if char.is_alphanumeric() || char.is_whitespace() => return Err(Stop::Invalid),
        _ => SurroundTarget::Sign(char),
    })
}

/// Reads the pair to put around a text: a sign, or a tag after `t` or `<`.
pub(super) fn pair(reader: &mut KeyReader) -> Read<SurroundPair> {
    let char = reader.char()?;
    let pair = |open: &str, close: &str| SurroundPair {
        open: open.to_owned(),
        close: close.to_owned(),
    };
    Ok(match char {
        '(' => pair("( ", " )"),
        ')' | 'b' => pair("(", ")"),
        '{' => pair("{ ", " }"),
        '}' | 'B' => pair("{", "}"),
        '[' => pair("[ ", " ]"),
        ']' | 'r' => pair("[", "]"),
        '>' | 'a' => pair("<", ">"),
        't' | '<' => tag(reader)?,
        _ if char.is_alphanumeric() || char.is_control() => return Err(Stop::Invalid),
        _ => pair(&char.to_string(), &char.to_string()),
    })
}

/// Reads a tag with attributes, up to `>` or Enter.
fn tag(reader: &mut KeyReader) -> Read<SurroundPair> {
    let mut inner = String::new();
    loop {
        match reader.next()? {
            Key::Char('>') | Key::Enter => break,
            Key::Char(char) => inner.push(char),
            Key::Backspace => {
                inner.pop();
            }
            _ => return Err(Stop::Invalid),
        }
    }
    let name = inner.split_whitespace().next().unwrap_or_default();
    if name.is_empty() {
        return Err(Stop::Invalid);
    }
    Ok(SurroundPair {
        open: format!("<{inner}>"),
        close: format!("</{name}>"),
    })
}
