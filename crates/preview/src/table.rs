//! Tables of separated values: CSV, TSV and their relatives.
//!
//! An index holds the offset of every 256th row, so that a file of any length has rows at once and its memory is a few
//! bytes for each thousand of them; the rows in sight are read from the file again.
//! Invariant: a row is at most `MAX_ROW` bytes and `MAX_COLUMNS` fields of at most `MAX_FIELD` bytes; what is
//! beyond is cut, and the row says so.
//! Start at `TableReader`.

mod delimiter;
mod index;
mod row;

use std::ops::Range;

use host::Error;

pub use delimiter::Delimiter;
pub use index::TableIndex;
pub use row::TableRow;

use crate::FileBytes;
use row::parse_rows;

/// Bytes from which the delimiter is guessed.
const SAMPLE: usize = 64 << 10;
/// Rows between two known offsets.
const STRIDE: u64 = 256;
/// Bytes that are read at once while indexing.
const CHUNK: usize = 1 << 20;
/// Maximum number of bytes that are read for the rows in sight.
const MAX_SCAN: u64 = 32 << 20;
/// Maximum length of a row that is shown, in bytes.
const MAX_ROW: usize = 1 << 20;
/// Maximum number of fields of a row that are shown.
const MAX_COLUMNS: usize = 10_000;
/// Maximum length of a field that is shown, in bytes.
const MAX_FIELD: usize = 64 << 10;

/// The cause why a table cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsvError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] Error),
    /// The text has two bytes for each character.
    #[error("the table is encoded as UTF-16; open it as text and save it as UTF-8")]
    Utf16,
    /// The file changed since its index was made.
    #[error("the file changed on disk")]
    Changed,
}

/// Reads the rows of a table.
#[derive(Clone, Debug)]
pub struct TableReader {
    bytes: FileBytes,
    delimiter: Delimiter,
}

impl TableReader {
    /// Opens a table; the delimiter is guessed from the name and the beginning of the file. Blocks on the disk.
    pub fn open(bytes: FileBytes) -> Result<Self, CsvError> {
        let sample = bytes.read(0, SAMPLE)?;
        if sample.starts_with(&[0xff, 0xfe]) || sample.starts_with(&[0xfe, 0xff]) {
            return Err(CsvError::Utf16);
        }
        let delimiter = Delimiter::guess(&bytes.path().name(), &sample);
        Ok(Self { bytes, delimiter })
    }

    /// Returns the file.
    pub fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// Returns the delimiter of the fields.
    pub fn delimiter(&self) -> Delimiter {
        self.delimiter
    }

    /// Returns the same table with another delimiter. The index of the rows must be made again.
    pub fn with_delimiter(&self, delimiter: Delimiter) -> Self {
        Self {
            bytes: self.bytes.clone(),
            delimiter,
        }
    }

    /// Reads the next piece of the file into the index. Returns whether there is more. Blocks on the disk.
    pub fn index_more(&self, index: &mut TableIndex) -> Result<bool, CsvError> {
        let chunk = self.bytes.read(index.end(), CHUNK)?;
        if chunk.is_empty() {
            if index.end() < self.bytes.len() {
                return Err(CsvError::Changed);
            }
            index.finish();
            return Ok(false);
        }
        index.feed(&chunk);
        Ok(true)
    }

    /// Reads rows, as far as the index knows them. Blocks on the disk.
    pub fn read_rows(
        &self,
        index: &TableIndex,
        rows: Range<u64>,
    ) -> Result<Vec<TableRow>, CsvError> {
        let rows = rows.start..rows.end.min(index.rows());
        let mut found = Vec::new();
        let mut at = rows.start;
        while at < rows.end {
            let Some((first, offset)) = index.before(at) else {
                break;
            };
            let end = rows.end.min(first + STRIDE);
            let wanted = parse_rows(&self.bytes, self.delimiter, offset, first..end, at)?;
            let count = wanted.len() as u64;
            found.extend(wanted);
            at += count;
            if count == 0 {
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
