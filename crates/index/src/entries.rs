//! The file that records lie in: it only grows, and is believed as far as it is whole.
//!
//! A head names the version of the format and the table that the vectors were made with. Each record follows its
//! length and its checksum. What a killed program left half written at the end is cut off; the checksum of a record is
//! looked at when it is first used.

use std::ops::Range;
use std::sync::Arc;

use base::AbsPath;
use host::{AppendLog, Clock, ContentHash, Files, RealClock, RealFiles};

use crate::map::Map;
use crate::record::Layout;

/// Changes with everything that makes records differ: their bytes, the cuts of chunks, the words, what is embedded.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"burinidx";
const HEAD: usize = 32;
/// Length and checksum of a record.
const BEFORE: usize = 8;

/// A record in the file.
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) crc: u32,
}

/// What was found in the file.
pub(crate) struct Opened {
    pub(crate) map: Option<Arc<Map>>,
    pub(crate) records: Vec<Found>,
    /// Where the last record ends.
    pub(crate) end: u64,
    /// Names this file among all that ever had its place.
    pub(crate) id: u64,
    /// Where the file may be written.
    pub(crate) log: Option<Log>,
    /// What a person should know about it, as a sentence.
    pub(crate) note: Option<String>,
}

/// The end of the file.
pub(crate) struct Log {
    file: Box<dyn AppendLog>,
    waiting: Vec<u8>,
}

/// Bytes that wait for the disk at most.
const MOST_WAITING: usize = 1 << 20;

impl Log {
    /// Adds a record and gives its place in the file.
    pub(crate) fn add(&mut self, record: &[u8]) -> Result<Range<usize>, host::Error> {
        let start = self.end() as usize + BEFORE;
        let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting
            .extend_from_slice(&crc32fast::hash(record).to_le_bytes());
        self.waiting.extend_from_slice(record);
        if self.waiting.len() > MOST_WAITING {
            self.flush()?;
        }
        Ok(start..start + record.len())
    }

    /// Where the next record's length will stand.
    pub(crate) fn end(&self) -> u64 {
        self.file.len() + self.waiting.len() as u64
    }

    /// Hands everything to the system.
    pub(crate) fn flush(&mut self) -> Result<(), host::Error> {
        if !self.waiting.is_empty() {
            self.file.append(&self.waiting)?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Returns once everything is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), host::Error> {
        self.flush()?;
        self.file.sync()
    }
}

/// Opens the file at `path`; begins it anew where it is missing, foreign or of another version, if it may be written.
pub(crate) fn open(path: &AbsPath, table: [u8; 8], may_write: bool) -> Result<Opened, host::Error> {
    let unreadable = |error: std::io::Error| {
        host::Error::new(path, "read", host::Reason::Other(error.to_string()))
    };
    let map = Map::of(path).map_err(unreadable)?.map(Arc::new);
    let bytes = map.as_ref().map_or(&[][..], |map| map.bytes());
    let problem = problem(bytes, table);
    if let Some(problem) = problem {
        let note = map
            .is_some()
            .then(|| format!("The index is made anew: {problem}."));
        let id = if may_write { begin(path, table)? } else { 0 };
        return Ok(Opened {
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
        note = Some("The end of the index was torn, and what it held is read again.".to_owned());
        RealFiles.write_private(path, &bytes[..end])?;
        map = Map::of(path).map_err(unreadable)?.map(Arc::new);
    }
    Ok(Opened {
        id: id_of(map.as_ref().map_or(&[][..], |map| map.bytes())),
        map,
        records,
        end: end as u64,
        log: may_write.then(|| append_to(path)).transpose()?,
        note,
    })
}

fn append_to(path: &AbsPath) -> Result<Log, host::Error> {
    Ok(Log {
        file: RealFiles.open_log(path)?,
        waiting: Vec::new(),
    })
}

/// Begins the file; what had its name stays whole for whoever has it open.
pub(crate) fn begin(path: &AbsPath, table: [u8; 8]) -> Result<u64, host::Error> {
    let now = RealClock::default().wall_ms();
    let seed = format!("{path} {now} {}", std::process::id());
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

fn problem(bytes: &[u8], table: [u8; 8]) -> Option<&'static str> {
    let Some(head) = bytes.get(..HEAD) else {
        return Some("it was damaged");
    };
    if &head[..8] != MAGIC {
        return Some("its file was not ours");
    }
    if head[8..12] != VERSION.to_le_bytes() {
        return Some("another version of Burin made it");
    }
    if crc32fast::hash(&head[..HEAD - 4]).to_le_bytes() != head[HEAD - 4..] {
        return Some("it was damaged");
    }
    (head[12..20] != table).then_some("another table of meanings made it")
}

fn id_of(bytes: &[u8]) -> u64 {
    let id = bytes.get(20..28).and_then(|id| id.try_into().ok());
    id.map_or(0, u64::from_le_bytes)
}

/// The records, and where the last whole one ends.
fn records(bytes: &[u8]) -> (Vec<Found>, usize) {
    let mut records: Vec<Found> = Vec::new();
    let mut at = HEAD;
    while let Some(found) = record_at(bytes, at) {
        at = found.range.end;
        records.push(found);
    }
    // What lies before the last record was whole when it was written; the last one may be what a power cut left.
    while let Some(last) = records.last() {
        if is_whole(bytes, last) {
            break;
        }
        at = last.range.start - BEFORE;
        records.pop();
    }
    (records, at)
}

fn record_at(bytes: &[u8], at: usize) -> Option<Found> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(four))
    };
    let length = number(at)? as usize;
    let crc = number(at + 4)?;
    let range = at + BEFORE..at.checked_add(BEFORE + length)?;
    Layout::of(bytes.get(range.clone())?)?;
    Some(Found { range, crc })
}

/// Whether a record's bytes are those that were written.
pub(crate) fn is_whole(bytes: &[u8], record: &Found) -> bool {
    let record_bytes = bytes.get(record.range.clone());
    record_bytes.is_some_and(|bytes| crc32fast::hash(bytes) == record.crc)
}

#[cfg(test)]
mod tests;
