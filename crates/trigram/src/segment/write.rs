//! Writes a segment: from pairs of trigram and file, or by merging other segments.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use host::{AppendLog, Error};

use super::{BITMAP, MAGIC, MAX_LIST_OFFSET, ONE_FILE, Torn, TrigramSegment, VARINTS};
use crate::gram::Gram;

/// The destination of a segment's bytes: memory or a new file.
pub(crate) enum SegmentSink {
    Memory(Vec<u8>),
    /// A new file, written in pieces.
    Disk(Box<dyn AppendLog>, Vec<u8>),
}

impl SegmentSink {
    /// Appends bytes. On disk, they are written once enough are collected. Returns an error if that
    /// fails.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        /// Number of bytes that are written together.
        const PIECE: usize = 1 << 20;
        match self {
            Self::Memory(all) => all.extend_from_slice(bytes),
            Self::Disk(file, waiting) => {
                waiting.extend_from_slice(bytes);
                if waiting.len() >= PIECE {
                    file.append(waiting)?;
                    waiting.clear();
                }
            }
        }
        Ok(())
    }

    /// Does not wait for the disk: checksums reveal a loss.
    fn finish(&mut self) -> Result<(), Error> {
        if let Self::Disk(file, waiting) = self {
            file.append(waiting)?;
            waiting.clear();
        }
        Ok(())
    }
}

/// Pairs of trigram and file, collected in memory for a new segment. Each pair takes 8 bytes.
pub(crate) struct Pairs {
    pairs: Vec<u64>,
    files: u32,
}

impl Pairs {
    /// Creates an empty collection.
    pub(crate) fn new() -> Self {
        Self {
            pairs: Vec::new(),
            files: 0,
        }
    }

    /// Returns the number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns the number of files started.
    pub(crate) fn files(&self) -> u32 {
        self.files
    }

    /// Starts the next file and returns its number.
    pub(crate) fn next_file(&mut self) -> u32 {
        self.files += 1;
        self.files - 1
    }

    /// Adds a trigram of the file started last. Add each trigram only once per file.
    pub(crate) fn add(&mut self, gram: Gram) {
        let file = u64::from(self.files.saturating_sub(1));
        self.pairs.push(u64::from(gram) << 32 | file);
    }

    /// Writes the pairs as a segment to the sink, empties the collection, and returns the sink.
    pub(crate) fn write(&mut self, sink: SegmentSink) -> Result<SegmentSink, WriteError> {
        self.pairs.sort_unstable();
        let mut writer = SegmentWriter::new(sink, self.files)?;
        let mut list = Vec::new();
        for pairs in self.pairs.chunk_by(|one, two| one >> 32 == two >> 32) {
            list.clear();
            list.extend(pairs.iter().map(|pair| (pair & 0xffff_ffff) as u32));
            writer.list((pairs[0] >> 32) as Gram, &list)?;
        }
        self.pairs.clear();
        self.files = 0;
        writer.finish()
    }
}

/// Merges several segments into one of `files` files. `numbers` holds, for each segment, the new
/// number of each file, or `None` to drop the file. The new numbers must ascend within each segment
/// and from segment to segment.
pub(crate) fn merge(
    segments: &[&TrigramSegment],
    numbers: &[Vec<Option<u32>>],
    files: u32,
    sink: SegmentSink,
) -> Result<SegmentSink, WriteError> {
    let mut writer = SegmentWriter::new(sink, files)?;
    let mut heads: BinaryHeap<Reverse<(Gram, usize, usize)>> = (0..segments.len())
        .filter(|segment| !segments[*segment].keys.is_empty())
        .map(|segment| Reverse((segments[segment].key(0), segment, 0)))
        .collect();
    let mut list = Vec::new();
    let mut current = None;
    while let Some(Reverse((gram, segment, entry))) = heads.pop() {
        if let Some(before) = current.replace(gram)
            && before != gram
        {
            writer.list(before, &list)?;
            list.clear();
        }
        let (from, numbers) = (segments[segment], &numbers[segment]);
        from.list(entry, |file| {
            list.extend(numbers.get(file as usize).copied().flatten());
        })?;
        if (entry + 1) * 3 < from.keys.len() {
            heads.push(Reverse((from.key(entry + 1), segment, entry + 1)));
        }
    }
    if let Some(gram) = current {
        writer.list(gram, &list)?;
    }
    writer.finish()
}

/// The reason that a segment was not written: a damaged source, its size, or the disk.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// One of the source segments is damaged.
    Torn,
    /// The result would exceed the maximum size.
    TooLarge,
    /// The disk write failed.
    Disk(Error),
}

impl From<Torn> for WriteError {
    fn from(_: Torn) -> Self {
        Self::Torn
    }
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        Self::Disk(error)
    }
}

struct SegmentWriter {
    sink: SegmentSink,
    files: u32,
    at: u64,
    keys: Vec<u8>,
    places: Vec<u8>,
    list: Vec<u8>,
}

impl SegmentWriter {
    /// Begins a segment of `files` files. Returns an error if its first bytes cannot be written.
    fn new(mut sink: SegmentSink, files: u32) -> Result<Self, Error> {
        sink.write(&MAGIC)?;
        Ok(Self {
            sink,
            files,
            at: MAGIC.len() as u64,
            keys: Vec::new(),
            places: Vec::new(),
            list: Vec::new(),
        })
    }

    /// Adds the list of the next trigram; nothing if no file is left.
    fn list(&mut self, gram: Gram, files: &[u32]) -> Result<(), WriteError> {
        if files.is_empty() {
            return Ok(());
        }
        let [_, key @ ..] = gram.to_be_bytes();
        self.keys.extend_from_slice(&key);
        if let [only] = files {
            return self.push_entry(ONE_FILE, *only);
        }
        let kind = self.encode(files);
        if self.at + self.list.len() as u64 + 4 >= MAX_LIST_OFFSET {
            return Err(WriteError::TooLarge);
        }
        self.push_entry(
            kind,
            u32::try_from(self.at).map_err(|_| WriteError::TooLarge)?,
        )?;
        let sum = crc32fast::hash(&self.list);
        self.list.extend_from_slice(&sum.to_le_bytes());
        self.sink.write(&self.list)?;
        self.at += self.list.len() as u64;
        Ok(())
    }

    /// Appends a trigram's place: `kind` is the encoding of its list, and `value` the offset of the
    /// list, or the file for `ONE_FILE`. Returns an error if `value` exceeds 30 bits.
    fn push_entry(&mut self, kind: u32, value: u32) -> Result<(), WriteError> {
        if value >> 30 != 0 {
            return Err(WriteError::TooLarge);
        }
        let place = kind << 30 | value;
        self.places.extend_from_slice(&place.to_le_bytes());
        Ok(())
    }

    /// Encodes ascending file numbers into `self.list`, in the shorter encoding. Returns the
    /// encoding.
    fn encode(&mut self, files: &[u32]) -> u32 {
        self.list.clear();
        let mut last = 0;
        for file in files {
            let mut distance = file + 1 - last;
            last = file + 1;
            while distance >= 0x80 {
                self.list.push((distance & 0x7f) as u8 | 0x80);
                distance >>= 7;
            }
            self.list.push(distance as u8);
        }
        let bitmap = self.files.div_ceil(8) as usize;
        if self.list.len() <= bitmap {
            return VARINTS;
        }
        self.list.clear();
        self.list.resize(bitmap, 0);
        for file in files {
            self.list[*file as usize / 8] |= 1 << (file % 8);
        }
        BITMAP
    }

    /// Writes the keys, places and footer, and returns the complete sink. Returns an error if there
    /// are too many trigrams or writing fails.
    fn finish(mut self) -> Result<SegmentSink, WriteError> {
        let count = u32::try_from(self.keys.len() / 3).map_err(|_| WriteError::TooLarge)?;
        let mut sum = crc32fast::Hasher::new();
        sum.update(&self.keys);
        sum.update(&self.places);
        let mut footer = Vec::new();
        footer.extend_from_slice(&self.files.to_le_bytes());
        footer.extend_from_slice(&count.to_le_bytes());
        footer.extend_from_slice(&self.at.to_le_bytes());
        footer.extend_from_slice(&sum.finalize().to_le_bytes());
        let own = crc32fast::hash(&footer);
        footer.extend_from_slice(&own.to_le_bytes());
        footer.extend_from_slice(&MAGIC);
        for part in [&self.keys, &self.places, &footer] {
            self.sink.write(part)?;
        }
        self.sink.finish()?;
        Ok(self.sink)
    }
}
