//! The offsets of rows in a file.

use csv_core::{ReadRecordResult, Reader};

use super::{Delimiter, STRIDE};

/// The offsets of the rows of a table, as far as the file was read.
#[derive(Clone)]
pub struct TableIndex {
    reader: Reader,
    /// Offset of every `STRIDE`th row.
    offsets: Vec<u64>,
    /// Rows that were read to their end.
    rows: u64,
    /// Number of bytes that were read.
    end: u64,
    is_whole: bool,
}

impl std::fmt::Debug for TableIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableIndex")
            .field("rows", &self.rows)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl TableIndex {
    /// Creates the index of a file of which nothing was read.
    pub fn new(delimiter: Delimiter) -> Self {
        Self {
            reader: delimiter.reader(),
            offsets: vec![0],
            rows: 0,
            end: 0,
            is_whole: false,
        }
    }

    /// Returns the number of rows that are known.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of bytes that were read.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns whether the whole file was read.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the last row at or before `row` whose offset is known, and the offset; `None` for a row that is not
    /// known.
    pub(super) fn before(&self, row: u64) -> Option<(u64, u64)> {
        if row >= self.rows {
            return None;
        }
        let ix = row / STRIDE;
        let offset = self.offsets.get(usize::try_from(ix).ok()?)?;
        Some((ix * STRIDE, *offset))
    }

    /// Reads the next bytes of the file.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        let mut at = 0;
        // The fields themselves are not needed.
        let (mut output, mut ends) = ([0; 4096], [0; 256]);
        while at < chunk.len() {
            let rest = &chunk[at..];
            let (result, read, _, _) = self.reader.read_record(rest, &mut output, &mut ends);
            at += read;
            match result {
                ReadRecordResult::Record => self.end_row(self.end + at as u64),
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
                ReadRecordResult::InputEmpty | ReadRecordResult::End => break,
            }
        }
        self.end += chunk.len() as u64;
    }

    /// Ends the last row at the end of the file.
    pub(super) fn finish(&mut self) {
        if self.is_whole {
            return;
        }
        self.is_whole = true;
        // The parser knows whether a row has begun.
        let (result, ..) = self.reader.read_record(&[], &mut [0; 1], &mut [0; 1]);
        if result == ReadRecordResult::Record {
            self.end_row(self.end);
        }
    }

    fn end_row(&mut self, next: u64) {
        self.rows += 1;
        if self.rows.is_multiple_of(STRIDE) {
            self.offsets.push(next);
        }
    }
}
