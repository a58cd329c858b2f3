//! Reads text objects.

use super::reader::{KeyReader, Read, Stop};
use super::{Action, ObjectKind};
use crate::host::SyntaxObject;
use crate::key::Key;
use crate::object::TextObject;

/// Reads the object that starts with a key after an operator or in visual mode; `None` if none
/// does.
pub(super) fn read_after(reader: &mut KeyReader, key: Key) -> Read<Option<Action>> {
    let is_around = match key {
        Key::Char('a') => true,
        Key::Char('i') => false,
        Key::Char('g') => return after_g(reader),
        _ => return Ok(None),
    };
    let Key::Char(char) = reader.next()? else {
        return Err(Stop::Invalid);
    };
    let kind = object(char).ok_or(Stop::Invalid)?;
    Ok(Some(Action::Object { kind, is_around }))
}

/// Reads `gn`, `gN` and `gc`; leaves other keys to the motions.
fn after_g(reader: &mut KeyReader) -> Read<Option<Action>> {
    let kind = match reader.peek()? {
        Key::Char('n') => ObjectKind::Match { is_forward: true },
        Key::Char('N') => ObjectKind::Match { is_forward: false },
        Key::Char('c') if reader.context.visual.is_none() => ObjectKind::CommentLines,
        _ => return Ok(None),
    };
    reader.next()?;
    Ok(Some(Action::Object {
        kind,
        is_around: false,
    }))
}

fn object(char: char) -> Option<ObjectKind> {
    let block = |open, close| ObjectKind::Text(TextObject::Block { open, close });
    Some(match char {
        'w' => ObjectKind::Text(TextObject::Word { is_big: false }),
        'W' => ObjectKind::Text(TextObject::Word { is_big: true }),
        's' => ObjectKind::Text(TextObject::Sentence),
        'p' => ObjectKind::Text(TextObject::Paragraph),
        '(' | ')' | 'b' => block('(', ')'),
        '{' | '}' | 'B' => block('{', '}'),
        '[' | ']' => block('[', ']'),
        '<' | '>' => block('<', '>'),
        't' => ObjectKind::Text(TextObject::Tag),
        '"' | '\'' | '`' => ObjectKind::Text(TextObject::Quote(char)),
        'a' => ObjectKind::Text(TextObject::Argument),
        'i' => ObjectKind::Text(TextObject::Indent),
        'e' => ObjectKind::Text(TextObject::Entire),
        'f' => ObjectKind::Syntax(SyntaxObject::Function),
        'c' => ObjectKind::Syntax(SyntaxObject::Class),
        'h' => ObjectKind::Syntax(SyntaxObject::Hunk),
        _ => return None,
    })
}
