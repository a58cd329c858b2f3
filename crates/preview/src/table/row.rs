//! The fields of rows.

use std::ops::Range;

use csv_core::{ReadRecordResult, Reader};
use host::Error;

use super::{CHUNK, Delimiter, MAX_COLUMNS, MAX_FIELD, MAX_ROW, MAX_SCAN};
use crate::FileBytes;

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRow {
    /// The fields, without quotes; invalid UTF-8 is replaced.
    pub fields: Vec<String>,
    /// Whether the row has more, or a field is longer.
    pub is_cut: bool,
}

/// The row that is being read.
#[derive(Default)]
struct OpenRow {
    row: TableRow,
    field: Vec<u8>,
    /// Bytes of the row that the parser has written.
    written: usize,
    /// Bytes of the row that are kept.
    kept: usize,
}

impl OpenRow {
    /// Adds bytes to the open field, as far as the limits permit.
    fn push(&mut self, bytes: &[u8]) {
        let is_shown = self.row.fields.len() < MAX_COLUMNS;
        let room = (MAX_FIELD - self.field.len()).min(MAX_ROW - self.kept);
        let taken = bytes.len().min(room) * usize::from(is_shown);
        self.field.extend_from_slice(&bytes[..taken]);
        self.kept += taken;
        self.row.is_cut |= taken < bytes.len();
    }

    fn end_field(&mut self) {
        let field = std::mem::take(&mut self.field);
        if self.row.fields.len() == MAX_COLUMNS {
            self.row.is_cut = true;
            return;
        }
        let text = String::from_utf8(field)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        self.row.fields.push(text);
    }
}

/// Reads the rows from `wanted` to the end of `rows`; the first of `rows` is at `offset`. Rows behind one that is too long
/// to be passed are empty and cut. Fewer rows come back if the file has become shorter.
pub(super) fn parse_rows(
    bytes: &FileBytes,
    delimiter: Delimiter,
    offset: u64,
    rows: Range<u64>,
    wanted: u64,
) -> Result<Vec<TableRow>, Error> {
    let mut parser = RowParser {
        reader: delimiter.reader(),
        open: OpenRow::default(),
        at: rows.start,
        wanted: wanted..rows.end,
        found: Vec::new(),
    };
    let mut end = offset;
    loop {
        let chunk = bytes.read(end, CHUNK / 8)?;
        parser.feed(&chunk);
        end += chunk.len() as u64;
        if chunk.is_empty() || parser.at >= parser.wanted.end {
            return Ok(parser.found);
        }
        if end - offset > MAX_SCAN {
            return Ok(parser.cut());
        }
    }
}

struct RowParser {
    reader: Reader,
    open: OpenRow,
    /// Number of the open row.
    at: u64,
    wanted: Range<u64>,
    found: Vec<TableRow>,
}

impl RowParser {
    /// Reads the next bytes of the file, none at its end.
    fn feed(&mut self, chunk: &[u8]) {
        let (mut output, mut ends) = ([0; 4096], [0; 256]);
        let mut at = 0;
        // The parser takes an empty piece for the end of the file.
        while self.at < self.wanted.end && (at < chunk.len() || chunk.is_empty()) {
            let rest = &chunk[at..];
            let (result, read, written, ended) =
                self.reader.read_record(rest, &mut output, &mut ends);
            if self.at >= self.wanted.start {
                self.take(&output[..written], &ends[..ended]);
            }
            at += read;
            match result {
                ReadRecordResult::Record => self.end_row(),
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return,
            }
        }
    }

    /// Takes a piece of the open row. `ends` are the ends of fields in all that the parser wrote of this row.
    fn take(&mut self, output: &[u8], ends: &[usize]) {
        let mut start = 0;
        for end in ends {
            let end = end.saturating_sub(self.open.written).min(output.len());
            self.open.push(output.get(start..end).unwrap_or_default());
            self.open.end_field();
            start = end.max(start);
        }
        self.open.push(&output[start..]);
        self.open.written += output.len();
    }

    fn end_row(&mut self) {
        let open = std::mem::take(&mut self.open);
        if self.wanted.contains(&self.at) {
            self.found.push(open.row);
        }
        self.at += 1;
    }

    /// Returns all wanted rows: the open one as far as it was read, and those behind it without fields.
    fn cut(mut self) -> Vec<TableRow> {
        if self.at >= self.wanted.start {
            self.open.end_field();
            self.open.row.is_cut = true;
            self.end_row();
        }
        let count = usize::try_from(self.wanted.end - self.wanted.start).unwrap_or(usize::MAX);
        self.found.resize_with(count, || TableRow {
            fields: Vec::new(),
            is_cut: true,
        });
        self.found
    }
}
