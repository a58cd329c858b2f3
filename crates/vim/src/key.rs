//! Keys, their notation (`<C-a>`), and their form in a register.
//!
//! Start at `Key`.

use std::fmt;

/// A pressed key. Keys that terminals cannot tell apart are one key: Ctrl-I is Tab, Ctrl-M is
/// Enter, Ctrl-[ is Escape, Ctrl-H is Backspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A key that produces a character.
    Char(char),
    /// A lower-case letter or a sign with the control key.
    Ctrl(char),
    /// The escape key.
    Escape,
    /// The enter key.
    Enter,
    /// The tab key.
    Tab,
    /// The tab key with Shift.
    BackTab,
    /// The backspace key.
    Backspace,
    /// The delete key.
    Delete,
    /// The insert key.
    Insert,
    /// The left arrow.
    Left,
    /// The right arrow.
    Right,
    /// The up arrow.
    Up,
    /// The down arrow.
    Down,
    /// The left arrow with Shift or Control.
    WordLeft,
    /// The right arrow with Shift or Control.
    WordRight,
    /// The home key.
    Home,
    /// The end key.
    End,
    /// The home key with Control.
    FileStart,
    /// The end key with Control.
    FileEnd,
    /// The page-up key.
    PageUp,
    /// The page-down key.
    PageDown,
}

/// Keys with a name in the notation, and their code points in a register. The code points are those
/// of control characters, or those that macOS gives to function keys.
const NAMED: &[(&str, Key, char)] = &[
    ("esc", Key::Escape, '\u{1b}'),
    ("cr", Key::Enter, '\r'),
    ("enter", Key::Enter, '\r'),
    ("return", Key::Enter, '\r'),
    ("tab", Key::Tab, '\t'),
    ("s-tab", Key::BackTab, '\u{f73f}'),
    ("bs", Key::Backspace, '\u{8}'),
    ("del", Key::Delete, '\u{f728}'),
    ("insert", Key::Insert, '\u{f727}'),
    ("left", Key::Left, '\u{f702}'),
    ("right", Key::Right, '\u{f703}'),
    ("up", Key::Up, '\u{f700}'),
    ("down", Key::Down, '\u{f701}'),
    ("s-left", Key::WordLeft, '\u{f73a}'),
    ("c-left", Key::WordLeft, '\u{f73a}'),
    ("s-right", Key::WordRight, '\u{f73b}'),
    ("c-right", Key::WordRight, '\u{f73b}'),
    ("home", Key::Home, '\u{f729}'),
    ("end", Key::End, '\u{f72b}'),
    ("c-home", Key::FileStart, '\u{f73c}'),
    ("c-end", Key::FileEnd, '\u{f73d}'),
    ("pageup", Key::PageUp, '\u{f72c}'),
    ("pagedown", Key::PageDown, '\u{f72d}'),
    ("space", Key::Char(' '), ' '),
    ("lt", Key::Char('<'), '<'),
    ("bar", Key::Char('|'), '|'),
    ("bslash", Key::Char('\\'), '\\'),
    ("nl", Key::Ctrl('j'), '\n'),
];

impl Key {
    /// Returns the key for a letter or sign pressed with Control.
    pub fn ctrl(letter: char) -> Key {
        match letter.to_ascii_lowercase() {
            'i' => Key::Tab,
            'm' => Key::Enter,
            '[' => Key::Escape,
            'h' => Key::Backspace,
            other => Key::Ctrl(other),
        }
    }

    /// Parses keys in Vim's notation: `d<C-w>x<Esc>`. An unknown name in angle brackets is literal.
    /// `leader` replaces `<leader>`.
    pub fn parse(notation: &str, leader: char) -> Vec<Key> {
        let mut keys = Vec::new();
        let mut rest = notation;
        while let Some(char) = rest.chars().next() {
            if let Some((name, behind)) = bracketed(rest)
                && let Some(key) = Key::named(name, leader)
            {
                keys.push(key);
                rest = behind;
                continue;
            }
            keys.push(Key::from_char(char));
            rest = &rest[char.len_utf8()..];
        }
        keys
    }

    /// Returns the key that a character of a register means.
    pub(crate) fn from_char(char: char) -> Key {
        if let Some((_, key, _)) = NAMED.iter().find(|(_, _, code)| *code == char) {
            return *key;
        }
        match char {
            '\u{1}'..='\u{1a}' => Key::ctrl(char::from(char as u8 + b'a' - 1)),
            '\u{1c}'..='\u{1f}' => Key::ctrl(char::from(char as u8 + b'@')),
            '\u{0}' => Key::ctrl('@'),
            _ => Key::Char(char),
        }
    }

    /// Returns the keys that a text means, such as that of a recorded register.
    pub(crate) fn from_text(text: &str) -> Vec<Key> {
        text.chars().map(Key::from_char).collect()
    }

    /// Returns the character that stores the key in a register.
    pub(crate) fn to_char(self) -> char {
        match self {
            Key::Char(char) => char,
            Key::Ctrl(letter) => {
                let code = letter.to_ascii_uppercase() as u32;
                char::from_u32(code & 0x1f).unwrap_or(letter)
            }
            _ => NAMED
                .iter()
                .find(|(_, key, _)| *key == self)
                .map_or(' ', |(_, _, code)| *code),
        }
    }

    fn named(name: &str, leader: char) -> Option<Key> {
        let lower = name.to_lowercase();
        if lower == "leader" {
            return Some(Key::from_char(leader));
        }
        if let Some((_, key, _)) = NAMED.iter().find(|(known, _, _)| *known == lower) {
            return Some(*key);
        }
        let letter = lower.strip_prefix("c-")?;
        let mut chars = letter.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) => Some(Key::ctrl(char)),
            _ if letter == "space" => Some(Key::ctrl('@')),
            _ => None,
        }
    }
}

/// Splits a leading `<name>` off, if there is one.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find('>')?;
    let is_name = end > 0 && !inner[..end].contains(['<', ' ']);
    is_name.then(|| (&inner[..end], &inner[end + 1..]))
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Char('<') => out.write_str("<lt>"),
            Key::Char(' ') => out.write_str("<Space>"),
            Key::Char(char) => write!(out, "{char}"),
            Key::Ctrl(letter) => write!(out, "<C-{letter}>"),
            _ => {
                let name = NAMED.iter().find(|(_, key, _)| key == self);
                write!(out, "<{}>", name.map_or("", |(name, _, _)| name))
            }
        }
    }
}

#[cfg(test)]
mod tests;
