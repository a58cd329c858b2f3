//! The append-only log of records, valid up to its last complete record.
//!
//! A header names the format version and the embedding table of the vectors. Each record follows
//! its length and checksum. A record left incomplete by a killed program is truncated; a record's
//! checksum is verified on first use.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::AbsPath;
use host::{AppendLog, Clock, ContentHash, Files, RealClock, RealFiles};

use crate::mapped_file::MappedFile;
use crate::record::RecordLayout;

/// Increased with every change of the records: their bytes, the chunk boundaries, the words, the
/// embedded text.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"burinidx";
const HEAD: usize = 32;
/// Bytes of the length and checksum before a record.
const RECORD_HEAD: usize = 8;

/// A record's location in the log, in bytes, and its checksum.
pub(crate) struct RecordRange {
    pub(crate) range: Range<usize>,
    pub(crate) crc: u32,
}

/// The result of opening the log: its records as found, and the writer if there is one.
pub(crate) struct OpenedLog {
    pub(crate) map: Option<Arc<MappedFile>>,
    pub(crate) records: Vec<RecordRange>,
    /// The end of the last record.
    pub(crate) end: u64,
    /// Identifies this log among all that ever had its path.
    pub(crate) id: u64,
    /// The writer, if the log may be written.
    pub(crate) log: Option<RecordLog>,
    /// A note for the user, as a sentence.
    pub(crate) note: Option<String>,
}

/// The writer at the end of the log. Buffers records until `flush`.
pub(crate) struct RecordLog {
    file: Box<dyn AppendLog>,
    waiting: Vec<u8>,
}

/// Maximum number of buffered bytes.
const MAX_WAITING_BYTES: usize = 1 << 20;

impl RecordLog {
    /// Buffers a record for writing and returns the byte range of the record in the log. Writes the
    /// buffer to the log if it is full.
    pub(crate) fn add(&mut self, record: &[u8]) -> Result<Range<usize>, host::Error> {
        let start = self.end_offset() as usize + RECORD_HEAD;
        let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting
            .extend_from_slice(&crc32fast::hash(record).to_le_bytes());
        self.waiting.extend_from_slice(record);
        if self.waiting.len() > MAX_WAITING_BYTES {
            self.flush()?;
        }
        Ok(start..start + record.len())
    }

    /// Returns the offset of the next record's length.
    pub(crate) fn end_offset(&self) -> u64 {
        self.file.len() + self.waiting.len() as u64
    }

    /// Writes all buffered bytes to the file.
    pub(crate) fn flush(&mut self) -> Result<(), host::Error> {
        if !self.waiting.is_empty() {
            self.file.append(&self.waiting)?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Writes all buffered bytes and blocks until everything is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), host::Error> {
        self.flush()?;
        self.file.sync()
    }
}

/// Opens the log at `path` for vectors of the embedding table with the hash `table`. If the log is
/// missing, foreign, or of another version or table, it is recreated if `may_write` is true, and
/// counts as empty otherwise. A damaged end is ignored, and with `may_write` cut off.
pub(crate) fn open(
    path: &AbsPath,
    table: [u8; 8],
    may_write: bool,
) -> Result<OpenedLog, host::Error> {
    let unreadable = |error: std::io::Error| {
        host::Error::new(path, "read", host::ErrorReason::Other(error.to_string()))
    };
    let map = MappedFile::of(path).map_err(unreadable)?.map(Arc::new);
    let bytes = map.as_ref().map_or(&[][..], |map| map.bytes());
    let problem = problem(bytes, table);
    if let Some(problem) = problem {
        let note = map
            .is_some()
            .then(|| format!("The index is rebuilt: {problem}."));
        let id = if may_write { create(path, table)? } else { 0 };
        return Ok(OpenedLog {
            map: None,
            records: Vec::new(),
            end: HEAD as u64,
            id,
            log: may_write.then(|| append_to(path)).transpose()?,
            note,
        });
    }
    let (records, end) = records(bytes);
    let mut note = None;
    let mut map = map.clone();
    if end < bytes.len() && may_write {
        note =
            Some("The end of the index was damaged; the affected files are read again.".to_owned());
        RealFiles.write_private(path, &bytes[..end])?;
        map = MappedFile::of(path).map_err(unreadable)?.map(Arc::new);
    }
    Ok(OpenedLog {
        id: id_of(map.as_ref().map_or(&[][..], |map| map.bytes())),
        map,
        records,
        end: end as u64,
        log: may_write.then(|| append_to(path)).transpose()?,
        note,
    })
}

/// Opens the log for appending, with nothing buffered.
fn append_to(path: &AbsPath) -> Result<RecordLog, host::Error> {
    Ok(RecordLog {
        file: RealFiles.open_log(path)?,
        waiting: Vec::new(),
    })
}

/// Creates the log and returns its id. Processes that have an earlier file of that name open can
/// still read the earlier file.
pub(crate) fn create(path: &AbsPath, table: [u8; 8]) -> Result<u64, host::Error> {
    static CREATED: AtomicU64 = AtomicU64::new(0);
    let now = RealClock::default().wall_ms();
    let count = CREATED.fetch_add(1, Ordering::Relaxed);
    let seed = format!("{path} {now} {} {count}", std::process::id());
    let id = (ContentHash::of(seed.as_bytes()).0 as u64).max(1);
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&table);
    head.extend_from_slice(&id.to_le_bytes());
    let crc = crc32fast::hash(&head);
    head.extend_from_slice(&crc.to_le_bytes());
    RealFiles.write_private(path, &head)?;
    Ok(id)
}

/// Returns the reason why the log cannot be used, as the end of a sentence. Returns `None` if its
/// header is intact and names this format, version and embedding table.
fn problem(bytes: &[u8], table: [u8; 8]) -> Option<&'static str> {
    let Some(head) = bytes.get(..HEAD) else {
        return Some("it was damaged");
    };
    if &head[..8] != MAGIC {
        return Some("its file has another format");
    }
    if head[8..12] != VERSION.to_le_bytes() {
        return Some("it was written by another version of Burin");
    }
    if crc32fast::hash(&head[..HEAD - 4]).to_le_bytes() != head[HEAD - 4..] {
        return Some("it was damaged");
    }
    (head[12..20] != table).then_some("it was made with another embedding table")
}

/// Returns the id in the header of a log; 0 if the header is incomplete.
fn id_of(bytes: &[u8]) -> u64 {
    let id = bytes.get(20..28).and_then(|id| id.try_into().ok());
    id.map_or(0, u64::from_le_bytes)
}

/// Returns the records, and the end of the last complete one.
fn records(bytes: &[u8]) -> (Vec<RecordRange>, usize) {
    let mut records: Vec<RecordRange> = Vec::new();
    let mut at = HEAD;
    while let Some(found) = record_at(bytes, at) {
        at = found.range.end;
        records.push(found);
    }
    // Records before the last one were complete when it was written; the last may be incomplete
    // after a power failure.
    while let Some(last) = records.last() {
        if is_whole(bytes, last) {
            break;
        }
        at = last.range.start - RECORD_HEAD;
        records.pop();
    }
    (records, at)
}

/// Returns the record whose length is at the offset `at`. Returns `None` at the end of the log, or
/// if the record is incomplete or its lengths are inconsistent. Does not verify the checksum.
fn record_at(bytes: &[u8], at: usize) -> Option<RecordRange> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(four))
    };
    let length = number(at)? as usize;
    let crc = number(at + 4)?;
    let range = at + RECORD_HEAD..at.checked_add(RECORD_HEAD + length)?;
    RecordLayout::of(bytes.get(range.clone())?)?;
    Some(RecordRange { range, crc })
}

/// Returns whether a record's checksum matches.
pub(crate) fn is_whole(bytes: &[u8], record: &RecordRange) -> bool {
    let record_bytes = bytes.get(record.range.clone());
    record_bytes.is_some_and(|bytes| crc32fast::hash(bytes) == record.crc)
}

#[cfg(test)]
mod tests;
