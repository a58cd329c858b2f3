//! Problems in a text the reader wrote, and where they are.

use std::fmt;
use std::ops::Range;

/// Something in a settings, keymap or theme file that was not understood, and what happened instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What the reader calls the file, for instance `settings.json`.
    pub source: String,
    /// One-based line.
    pub line: u32,
    /// One-based column in chars.
    pub column: u32,
    /// A sentence: what is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            self.source, self.line, self.column, self.message
        )
    }
}

/// The text a problem is about; turns byte places into lines and columns.
pub(crate) struct Origin<'a> {
    pub(crate) source: &'a str,
    pub(crate) text: &'a str,
}

impl Origin<'_> {
    pub(crate) fn problem(&self, span: &Range<usize>, message: impl Into<String>) -> Problem {
        let (line, column) = self.place(span.start);
        Problem {
            source: self.source.to_owned(),
            line,
            column,
            message: message.into(),
        }
    }

    /// One-based line and column (in chars) of a byte offset, which is clipped to the text.
    pub(crate) fn place(&self, offset: usize) -> (u32, u32) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count();
        (count(line) + 1, count(column) + 1)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX - 1)
}
