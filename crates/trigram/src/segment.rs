//! A segment: an immutable map from trigrams to the numbered files that contain them.
//!
//! ```text
//! magic ∙ lists … ∙ keys (3 bytes each, sorted) ∙ places (4 bytes each) ∙ footer
//! list   = numbers as ascending deltas in varints, or one bit per file if shorter ∙ checksum
//! place  = the list's offset and encoding; a trigram of one file has its number here and no list
//! footer = files, trigrams, keys' offset, checksums of keys and places and of the footer ∙ magic
//! ```
//!
//! Keys and places are held in memory, 7 bytes per trigram; lists are read on demand. All data is
//! verified by checksums.

use base::AbsPath;
use host::RandomAccessFile;

use super::file_set::FileSet;
use super::gram::Gram;
use super::plan::TrigramPlan;

mod write;

pub(crate) use write::{Pairs, SegmentSink, WriteError, merge};

const MAGIC: [u8; 8] = *b"BURITRI1";
const FOOTER: usize = 4 + 4 + 8 + 4 + 4 + 8;
/// Maximum offset of a list, since places have 30 bits for it.
const MAX_LIST_OFFSET: u64 = 1 << 30;
/// The encodings of a list: the two upper bits of a place.
const VARINTS: u32 = 0;
const BITMAP: u32 = 1;
const ONE_FILE: u32 = 2;

/// An immutable index of some files by their trigrams, on disk or in memory.
#[derive(Debug)]
pub(crate) struct TrigramSegment {
    body: SegmentBody,
    /// The number of files.
    files: u32,
    /// Sorted, three bytes each.
    keys: Vec<u8>,
    /// One for each key, then one for the end of the lists.
    places: Vec<u32>,
}

#[derive(Debug)]
enum SegmentBody {
    Memory(Vec<u8>),
    Disk(RandomAccessFile),
}

/// The error for a segment that is damaged or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Torn;

impl TrigramSegment {
    /// Opens a segment on disk and reads its keys.
    pub(crate) fn open(path: &AbsPath) -> Result<Self, Torn> {
        Self::read(SegmentBody::Disk(
            RandomAccessFile::open(path).map_err(|_| Torn)?,
        ))
    }

    /// Reads a segment that is kept in memory.
    pub(crate) fn in_memory(bytes: Vec<u8>) -> Result<Self, Torn> {
        Self::read(SegmentBody::Memory(bytes))
    }

    /// Reads the footer and the keys. Returns an error if they are damaged or cannot be read; the
    /// lists are checked when they are used.
    fn read(body: SegmentBody) -> Result<Self, Torn> {
        let length = body.len();
        let begin = length.checked_sub(FOOTER as u64).ok_or(Torn)?;
        let mut footer = [0; FOOTER];
        body.read_at(begin, &mut footer)?;
        let number = |at: usize| -> u32 {
            u32::from_le_bytes([footer[at], footer[at + 1], footer[at + 2], footer[at + 3]])
        };
        let mut magic = [0; MAGIC.len()];
        body.read_at(0, &mut magic)?;
        let is_whole = number(20) == crc32fast::hash(&footer[..20]);
        if !is_whole || magic != MAGIC || footer[24..] != MAGIC {
            return Err(Torn);
        }
        let (files, count) = (number(0), number(4) as usize);
        let keys_at = u64::from(number(8)) | u64::from(number(12)) << 32;
        let size = begin.checked_sub(keys_at).ok_or(Torn)?;
        if size != count as u64 * 7 || keys_at >= MAX_LIST_OFFSET {
            return Err(Torn);
        }
        let mut table = vec![0; count * 7];
        body.read_at(keys_at, &mut table)?;
        if crc32fast::hash(&table) != number(16) {
            return Err(Torn);
        }
        let places = table.split_off(count * 3);
        let places = places.chunks_exact(4);
        let mut places: Vec<u32> = places
            .map(|place| u32::from_le_bytes([place[0], place[1], place[2], place[3]]))
            .collect();
        places.push(u32::try_from(keys_at).map_err(|_| Torn)?);
        Ok(Self {
            body,
            files,
            keys: table,
            places,
        })
    }

    /// Returns the number of files that the segment covers.
    pub(crate) fn files(&self) -> u32 {
        self.files
    }

    /// Returns whether the segment is kept in memory and not on disk.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.body, SegmentBody::Memory(_))
    }

    /// Returns the size of the segment in bytes, on disk or in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.body.len()
    }

    /// Returns the memory that the segment uses, in bytes.
    pub(crate) fn bytes_held(&self) -> u64 {
        let held = self.keys.len() + self.places.len() * 4;
        let body = match &self.body {
            SegmentBody::Memory(bytes) => bytes.len(),
            SegmentBody::Disk(_) => 0,
        };
        (held + body) as u64
    }

    /// Returns the files that satisfy a plan, by their numbers in the segment. Reads a segment that
    /// is on disk from there. An error means that the segment is damaged or cannot be read.
    pub(crate) fn search(&self, plan: &TrigramPlan) -> Result<FileSet, Torn> {
        match plan {
            TrigramPlan::All => Ok(FileSet::all(self.files)),
            TrigramPlan::None => Ok(FileSet::none(self.files)),
            TrigramPlan::Gram(gram) => {
                let mut bits = FileSet::none(self.files);
                if let Some(entry) = self.entry(*gram) {
                    self.list(entry, |file| bits.insert(file))?;
                }
                Ok(bits)
            }
            TrigramPlan::Or(plans) => {
                let mut bits = FileSet::none(self.files);
                for plan in plans {
                    bits.unite(&self.search(plan)?);
                }
                Ok(bits)
            }
            TrigramPlan::And(plans) => self.search_all(plans),
        }
    }

    /// Evaluates the shortest lists first; an empty result stays empty.
    fn search_all(&self, plans: &[TrigramPlan]) -> Result<FileSet, Torn> {
        /// With so few files left, reading them is cheaper than another list.
        const FEW: u32 = 1;
        let mut ordered: Vec<(u64, &TrigramPlan)> =
            plans.iter().map(|plan| (self.cost(plan), plan)).collect();
        ordered.sort_unstable_by_key(|(cost, _)| *cost);
        let mut bits: Option<FileSet> = None;
        for (_, plan) in ordered {
            match &mut bits {
                None => bits = Some(self.search(plan)?),
                Some(bits) if bits.count() <= FEW => break,
                Some(bits) => bits.intersect(&self.search(plan)?),
            }
        }
        Ok(bits.unwrap_or_else(|| FileSet::all(self.files)))
    }

    /// Returns the approximate number of bytes to read.
    fn cost(&self, plan: &TrigramPlan) -> u64 {
        match plan {
            TrigramPlan::All => u64::MAX,
            TrigramPlan::None => 0,
            TrigramPlan::Gram(gram) => self.entry(*gram).map_or(0, |entry| self.length(entry)),
            TrigramPlan::And(plans) => plans.iter().map(|plan| self.cost(plan)).min().unwrap_or(0),
            TrigramPlan::Or(plans) => plans
                .iter()
                .fold(0, |sum, plan| sum.saturating_add(self.cost(plan))),
        }
    }

    fn key(&self, entry: usize) -> Gram {
        let key = &self.keys[entry * 3..entry * 3 + 3];
        Gram::from(key[0]) << 16 | Gram::from(key[1]) << 8 | Gram::from(key[2])
    }

    /// Returns the index of a trigram's entry; `None` if no file contains the trigram.
    fn entry(&self, gram: Gram) -> Option<usize> {
        let (mut low, mut high) = (0, self.keys.len() / 3);
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle).cmp(&gram) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the range of a list; empty for one that is stored in its place.
    fn range(&self, entry: usize) -> (u64, u64) {
        let start = |place: u32| u64::from(place & 0x3fff_ffff);
        let begin = self.places[entry];
        if begin >> 30 == ONE_FILE {
            return (0, 0);
        }
        let behind = self.places[entry + 1..].iter();
        let end = behind.copied().find(|place| place >> 30 != ONE_FILE);
        (start(begin), end.map_or(0, start))
    }

    /// Returns the size of an entry's list in bytes, with its checksum; 0 if the entry is of one
    /// file.
    fn length(&self, entry: usize) -> u64 {
        let (begin, end) = self.range(entry);
        end.saturating_sub(begin)
    }

    /// Calls `each` with the numbers of the files that contain the trigram, in ascending order.
    fn list(&self, entry: usize, mut each: impl FnMut(u32)) -> Result<(), Torn> {
        let place = self.places[entry];
        if place >> 30 == ONE_FILE {
            let file = place & 0x3fff_ffff;
            if file >= self.files {
                return Err(Torn);
            }
            each(file);
            return Ok(());
        }
        let (begin, end) = self.range(entry);
        let size = end
            .checked_sub(begin)
            .filter(|size| *size > 4)
            .ok_or(Torn)?;
        let mut list = vec![0; usize::try_from(size).map_err(|_| Torn)?];
        self.body.read_at(begin, &mut list)?;
        let sum = list.split_off(list.len() - 4);
        if crc32fast::hash(&list).to_le_bytes() != sum[..] {
            return Err(Torn);
        }
        match place >> 30 {
            BITMAP => {
                for (ix, byte) in (0..).zip(&list) {
                    let mut left = *byte;
                    while left != 0 {
                        each(ix * 8 + left.trailing_zeros());
                        left &= left - 1;
                    }
                }
                Ok(())
            }
            _ => each_of_varints(&list, self.files, each),
        }
    }
}

/// Calls `each` with the files of a list of deltas. Returns an error if a number is too large or
/// not below `files`; an incomplete last number is ignored.
fn each_of_varints(list: &[u8], files: u32, mut each: impl FnMut(u32)) -> Result<(), Torn> {
    let (mut last, mut value, mut shift) = (0_u32, 0_u32, 0_u32);
    for byte in list {
        value |= u32::from(byte & 0x7f).checked_shl(shift).ok_or(Torn)?;
        if byte & 0x80 != 0 {
            shift += 7;
            continue;
        }
        last = last.checked_add(value).ok_or(Torn)?;
        // Deltas start before the first file, so that none is zero.
        let file = last
            .checked_sub(1)
            .filter(|file| *file < files)
            .ok_or(Torn)?;
        each(file);
        (value, shift) = (0, 0);
    }
    Ok(())
}

impl SegmentBody {
    /// Returns the length in bytes.
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Disk(pages) => pages.len(),
        }
    }

    /// Fills `buffer` with the bytes at `offset`. Returns an error if they are not all available.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Torn> {
        match self {
            Self::Memory(bytes) => {
                let begin = usize::try_from(offset).map_err(|_| Torn)?;
                let end = begin.checked_add(buffer.len()).ok_or(Torn)?;
                buffer.copy_from_slice(bytes.get(begin..end).ok_or(Torn)?);
                Ok(())
            }
            Self::Disk(pages) => pages.read_at(offset, buffer).map_err(|_| Torn),
        }
    }
}

#[cfg(test)]
mod tests;
