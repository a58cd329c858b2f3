//! Cutting a text that comes in pieces into lines.

use std::ops::Range;

use base::Row;

use super::End;

/// A complete line of a model's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Without its end.
    pub(super) text: String,
    pub(super) ending: Ending,
    pub(super) row: Row,
    /// Its bytes, its end included.
    pub(super) source: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Lf,
    CrLf,
    /// The text ended.
    None,
}

impl Line {
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim()
    }

    /// With its end as it was written; a missing one is added.
    pub(super) fn raw(&self) -> String {
        let ending = match self.ending {
            Ending::CrLf => "\r\n",
            Ending::Lf | Ending::None => "\n",
        };
        format!("{}{ending}", self.text)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }
}

/// Pieces in, lines out.
#[derive(Default)]
pub(super) struct Lines {
    /// What came since the last line feed.
    begun: String,
    /// Where the line begins.
    offset: usize,
    row: u32,
}

impl Lines {
    pub(super) fn feed(&mut self, piece: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.begun.push_str(part);
            if part.ends_with('\n') {
                lines.push(self.cut());
            }
        }
        lines
    }

    /// The last line, where no line feed ended it.
    pub(super) fn finish(&mut self) -> Option<Line> {
        (!self.begun.is_empty()).then(|| self.cut())
    }

    pub(super) fn place(&self) -> End {
        End {
            row: Row(self.row),
            offset: self.offset,
        }
    }

    fn cut(&mut self) -> Line {
        let mut text = std::mem::take(&mut self.begun);
        let start = self.offset;
        self.offset += text.len();
        let row = Row(self.row);
        self.row = self.row.saturating_add(1);
        let ending = if !text.ends_with('\n') {
            Ending::None
        } else if text.ends_with("\r\n") {
            text.truncate(text.len() - 2);
            Ending::CrLf
        } else {
            text.truncate(text.len() - 1);
            Ending::Lf
        };
        Line {
            text,
            ending,
            row,
            source: start..self.offset,
        }
    }
}
