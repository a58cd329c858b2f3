//! Splits a streaming text into lines.

use std::ops::Range;

use base::Row;

use super::TextEnd;

/// A complete line of a model's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceLine {
    /// Text of the line without its ending.
    pub(super) text: String,
    pub(super) ending: LineTerminator,
    pub(super) row: Row,
    /// Bytes of the line, including its ending.
    pub(super) source: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTerminator {
    Lf,
    CrLf,
    /// No ending, at the end of the text.
    None,
}

impl SourceLine {
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim()
    }

    /// Returns the line with its original ending, or a line feed if it has none.
    pub(super) fn raw(&self) -> String {
        let ending = match self.ending {
            LineTerminator::CrLf => "\r\n",
            LineTerminator::Lf | LineTerminator::None => "\n",
        };
        format!("{}{ending}", self.text)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }
}

/// Splits text into lines incrementally.
#[derive(Default)]
pub(super) struct LineSplitter {
    /// Text since the last line feed.
    begun: String,
    /// Start offset of the current line.
    offset: usize,
    row: u32,
}

impl LineSplitter {
    pub(super) fn feed(&mut self, piece: &str) -> Vec<SourceLine> {
        let mut lines = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.begun.push_str(part);
            if part.ends_with('\n') {
                lines.push(self.cut());
            }
        }
        lines
    }

    /// Returns the last line if it has no line feed.
    pub(super) fn finish(&mut self) -> Option<SourceLine> {
        (!self.begun.is_empty()).then(|| self.cut())
    }

    pub(super) fn position(&self) -> TextEnd {
        TextEnd {
            row: Row(self.row),
            offset: self.offset,
        }
    }

    fn cut(&mut self) -> SourceLine {
        let mut text = std::mem::take(&mut self.begun);
        let start = self.offset;
        self.offset += text.len();
        let row = Row(self.row);
        self.row = self.row.saturating_add(1);
        let ending = if !text.ends_with('\n') {
            LineTerminator::None
        } else if text.ends_with("\r\n") {
            text.truncate(text.len() - 2);
            LineTerminator::CrLf
        } else {
            text.truncate(text.len() - 1);
            LineTerminator::Lf
        };
        SourceLine {
            text,
            ending,
            row,
            source: start..self.offset,
        }
    }
}
