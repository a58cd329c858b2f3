//! Problems in configuration files, with their positions.

use std::fmt;
use std::ops::Range;

/// An invalid part of a settings, keymap or theme file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Display name of the file, such as `settings.json`.
    pub source: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in chars, counted from 1.
    pub column: u32,
    /// The error and the remedy, without the position.
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            self.source, self.line, self.column, self.message
        )
    }
}

/// Text of a file with its display name; converts byte offsets into lines and columns.
pub(crate) struct SourceText<'a> {
    pub(crate) source: &'a str,
    pub(crate) text: &'a str,
    /// Offsets of the starts of lines after the first, in bytes.
    line_starts: Vec<usize>,
}

impl<'a> SourceText<'a> {
    /// Creates the text of the file with the display name `source`.
    pub(crate) fn new(source: &'a str, text: &'a str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            source,
            text,
            line_starts: newlines.map(|(offset, _)| offset + 1).collect(),
        }
    }

    /// Creates a problem at the start of a byte range.
    pub(crate) fn problem(&self, span: &Range<usize>, message: impl Into<String>) -> ConfigProblem {
        let (line, column) = self.line_and_column(span.start);
        ConfigProblem {
            source: self.source.to_owned(),
            line,
            column,
            message: message.into(),
        }
    }

    /// Returns line and column, both counted from 1, of a byte offset clipped to the text.
    pub(crate) fn line_and_column(&self, offset: usize) -> (u32, u32) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).map_or(0, |ix| self.line_starts[ix]);
        let column = self.text[start..offset].chars().count();
        (count(line) + 1, count(column) + 1)
    }
}

/// Converts a count, clipped so that 1 can be added.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX - 1)
}
