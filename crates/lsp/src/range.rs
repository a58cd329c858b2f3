//! Ranges as servers write them, in files of which this client may not know the text.

use base::{ByteOffset, Row, Span};
use gen_lsp_types::Position;
use serde::Deserialize;
use serde_json::{Value, json};
use text::Snapshot;

use crate::position::PositionEncoding;

/// A range in a file of which this client may not know the text. It carries the unit in which the
/// server counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRange {
    start: Position,
    end: Position,
    encoding: PositionEncoding,
}

/// A range of the protocol.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct WireRange {
    pub(crate) start: WirePosition,
    pub(crate) end: WirePosition,
}

/// A position, in which numbers beyond the protocol's bounds are tolerated.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct WirePosition {
    line: f64,
    character: f64,
}

impl ServerRange {
    /// Creates a range from rows and columns that another tool counts in `encoding`, from 0.
    pub fn new(start: (Row, u32), end: (Row, u32), encoding: PositionEncoding) -> Self {
        let position = |(row, character): (Row, u32)| Position {
            line: row.0,
            character,
        };
        Self {
            start: position(start),
            end: position(end),
            encoding,
        }
    }

    /// Returns the range of a span of `text`. It counts bytes.
    pub fn of(text: &Snapshot, span: Span) -> Self {
        let encoding = PositionEncoding::Utf8;
        Self {
            start: encoding.position(text, span.start),
            end: encoding.position(text, span.end),
            encoding,
        }
    }

    /// Returns the row in which the range starts, as the server counts it.
    pub fn row(&self) -> Row {
        Row(self.start.line)
    }

    /// Returns the column in which the range starts, in the unit in which the server counts.
    pub fn column(&self) -> u32 {
        self.start.character
    }

    /// Converts the range to a span of `text`. A character past the end of its row gives that end;
    /// a row beyond the text gives `None`.
    pub fn span(&self, text: &Snapshot) -> Option<Span> {
        let start = self.encoding.offset(text, self.start).ok()?;
        let end = self.encoding.offset(text, self.end).ok()?;
        Some(Span::new(start, end))
    }

    /// Converts the range as `span` does, but an end beyond the text gives the end of the text:
    /// servers that replace a whole text write such an end. The flag says whether that happened.
    pub(crate) fn clamped_span(&self, text: &Snapshot) -> Option<(Span, bool)> {
        let start = self.encoding.offset(text, self.start).ok()?;
        let (end, is_clamped) = match self.encoding.offset(text, self.end) {
            Ok(end) => (end, false),
            Err(_) => (text.len(), true),
        };
        Some((Span::new(start, end), is_clamped))
    }
}

impl WireRange {
    /// Reads a range from a value.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Returns the range in the encoding of a server.
    pub(crate) fn server_range(self, encoding: PositionEncoding) -> ServerRange {
        ServerRange {
            start: self.start.position(),
            end: self.end.position(),
            encoding,
        }
    }
}

impl WirePosition {
    /// Returns the nearest position within the protocol's bounds.
    pub(crate) fn position(self) -> Position {
        Position {
            line: self.line as u32,
            character: self.character as u32,
        }
    }
}

/// Returns the position of an offset in the form of the protocol.
pub(crate) fn position_value(
    text: &Snapshot,
    offset: ByteOffset,
    encoding: PositionEncoding,
) -> Value {
    let Position { line, character } = encoding.position(text, offset);
    json!({ "line": line, "character": character })
}

/// Returns the range of a span in the form of the protocol.
pub(crate) fn range_value(text: &Snapshot, span: Span, encoding: PositionEncoding) -> Value {
    json!({
        "start": position_value(text, span.start, encoding),
        "end": position_value(text, span.end, encoding),
    })
}
