//! Reads motions.

use super::reader::{KeyReader, Read, Stop};
use crate::key::Key;
use crate::motion::{CharFind, Motion, ScrollMotion};

/// Reads the motion that starts with a key; `None` if none does.
// tidy: table
pub(super) fn read(reader: &mut KeyReader, key: Key) -> Read<Option<Motion>> {
    let motion = match key {
        Key::Char('h') | Key::Left => Motion::Left { wraps: false },
        Key::Backspace => Motion::Left { wraps: true },
        Key::Char('l') | Key::Right => Motion::Right { wraps: false },
        Key::Char(' ') => Motion::Right { wraps: true },
        Key::Char('k') | Key::Up | Key::Ctrl('p') => Motion::Up,
        Key::Char('j') | Key::Down | Key::Ctrl('j') | Key::Ctrl('n') => Motion::Down,
        Key::Char('+') | Key::Enter => Motion::DownToText,
        Key::Char('-') => Motion::UpToText,
        Key::Char('_') => Motion::LineText,
        Key::Char('0') | Key::Home => Motion::LineStart,
        Key::Char('^') => Motion::FirstNonBlank,
        Key::Char('$') | Key::End => Motion::LineEnd,
        Key::Char('|') => Motion::Cell,
        Key::Char('G') => Motion::ToLine,
        Key::FileStart => Motion::ToFirstLine,
        Key::FileEnd => Motion::ToLastEnd,
        Key::Char('f') => find(reader, true, false)?,
        Key::Char('F') => find(reader, false, false)?,
        Key::Char('t') => find(reader, true, true)?,
        Key::Char('T') => find(reader, false, true)?,
        Key::Char(';') => Motion::RepeatFind { is_reversed: false },
        Key::Char(',') => Motion::RepeatFind { is_reversed: true },
        Key::Char('w') => Motion::Word { is_big: false },
        Key::Char('W') | Key::WordRight => Motion::Word { is_big: true },
        Key::Char('e') => Motion::WordEnd { is_big: false },
        Key::Char('E') => Motion::WordEnd { is_big: true },
        Key::Char('b') => Motion::WordBack { is_big: false },
        Key::Char('B') | Key::WordLeft => Motion::WordBack { is_big: true },
        Key::Char('(') => Motion::Sentence { is_forward: false },
        Key::Char(')') => Motion::Sentence { is_forward: true },
        Key::Char('{') => Motion::Paragraph { is_forward: false },
        Key::Char('}') => Motion::Paragraph { is_forward: true },
        Key::Char('%') => Motion::Matching,
        Key::Char('n') => Motion::RepeatSearch { is_reversed: false },
        Key::Char('N') => Motion::RepeatSearch { is_reversed: true },
        Key::Char('*') => word_search(true, true),
        Key::Char('#') => word_search(false, true),
        Key::Char('H') => Motion::ScreenTop,
        Key::Char('M') => Motion::ScreenMiddle,
        Key::Char('L') => Motion::ScreenBottom,
        Key::Char('\'') => mark(reader, true)?,
        Key::Char('`') => mark(reader, false)?,
        Key::Ctrl('d') => Motion::Scroll(ScrollMotion::HalfDown),
        Key::Ctrl('u') => Motion::Scroll(ScrollMotion::HalfUp),
        Key::Ctrl('f') | Key::PageDown => Motion::Scroll(ScrollMotion::PageDown),
        Key::Ctrl('b') | Key::PageUp => Motion::Scroll(ScrollMotion::PageUp),
        Key::Char('g') => return after_g(reader),
        Key::Char('[') => return after_bracket(reader, false),
        Key::Char(']') => return after_bracket(reader, true),
        Key::Char('z') => return after_z(reader),
        _ => return Ok(None),
    };
    Ok(Some(motion))
}

fn find(reader: &mut KeyReader, is_forward: bool, is_till: bool) -> Read<Motion> {
    let char = reader.char()?;
    Ok(Motion::Find(CharFind {
        char,
        is_forward,
        is_till,
    }))
}

fn word_search(is_forward: bool, is_whole: bool) -> Motion {
    Motion::WordSearch {
        is_forward,
        is_whole,
    }
}

fn mark(reader: &mut KeyReader, to_line: bool) -> Read<Motion> {
    match reader.next()? {
        Key::Char(name) => Ok(Motion::Mark {
            name,
            to_line,
            keeps_jumps: false,
        }),
        _ => Err(Stop::Invalid),
    }
}

/// Reads the motion behind `g`.
pub(super) fn after_g(reader: &mut KeyReader) -> Read<Option<Motion>> {
    let key = reader.next()?;
    g_motion(reader, key)
}

/// Returns the motion of a key behind `g`.
pub(super) fn g_motion(reader: &mut KeyReader, key: Key) -> Read<Option<Motion>> {
    let motion = match key {
        Key::Char('g') | Key::Home => Motion::ToFirstLine,
        Key::Char('e') => Motion::WordBackEnd { is_big: false },
        Key::Char('E') => Motion::WordBackEnd { is_big: true },
        Key::Char('_') => Motion::LastNonBlank,
        Key::Char('j') | Key::Down => Motion::DisplayDown,
        Key::Char('k') | Key::Up => Motion::DisplayUp,
        Key::Char('0') => Motion::DisplayStart,
        Key::Char('^') => Motion::DisplayFirstNonBlank,
        Key::Char('$') | Key::End => Motion::DisplayEnd,
        Key::Char('m') => Motion::DisplayMiddle,
        Key::Char('M') => Motion::LineMiddle,
        Key::Char('o') => Motion::ToByte,
        Key::Char('*') => word_search(true, false),
        Key::Char('#') => word_search(false, false),
        Key::Char(quote @ ('\'' | '`')) => match reader.next()? {
            Key::Char(name) => Motion::Mark {
                name,
                to_line: quote == '\'',
                keeps_jumps: true,
            },
            _ => return Err(Stop::Invalid),
        },
        _ => return Ok(None),
    };
    Ok(Some(motion))
}

/// Reads the motion behind `[` or `]`.
pub(super) fn after_bracket(reader: &mut KeyReader, is_forward: bool) -> Read<Option<Motion>> {
    let key = reader.next()?;
    Ok(bracket_motion(key, is_forward))
}

/// Returns the motion of a key behind `[` or `]`.
pub(super) fn bracket_motion(key: Key, is_forward: bool) -> Option<Motion> {
    let unmatched = |bracket| Motion::Unmatched {
        bracket,
        is_forward,
    };
    Some(match (key, is_forward) {
        (Key::Char('('), false) => unmatched('('),
        (Key::Char('{'), false) => unmatched('{'),
        (Key::Char(')'), true) => unmatched(')'),
        (Key::Char('}'), true) => unmatched('}'),
        (Key::Char('*' | '/'), _) => Motion::Comment { is_forward },
        (Key::Char('['), false) | (Key::Char(']'), true) => Motion::Section {
            is_forward,
            to_end: false,
        },
        (Key::Char(']'), false) | (Key::Char('['), true) => Motion::Section {
            is_forward,
            to_end: true,
        },
        (Key::Char('z'), false) => Motion::FoldStart,
        (Key::Char('z'), true) => Motion::FoldEnd,
        _ => return None,
    })
}

fn after_z(reader: &mut KeyReader) -> Read<Option<Motion>> {
    Ok(match reader.next()? {
        Key::Char('j') => Some(Motion::NextFold),
        Key::Char('k') => Some(Motion::PreviousFold),
        _ => None,
    })
}
