//! The record of an indexed file: its chunks with their vectors and words, as stored in memory and
//! on disk.
//!
//! A record is one byte string that is read in place: the data that a query needs of every chunk is
//! at fixed offsets in front, the data needed only of a hit follows in variable-length numbers.
//! Invariant: `RecordLayout::of` accepts only bytes with consistent lengths; readers of the rest never
//! panic.

mod bytes;

use std::ops::Range;

use syntax::OutlineKind;

use crate::chunk::{CodeChunk, Defined};
use crate::embedding::{DIMS, Vector};
use bytes::{RecordReader, put_number, put_text};

/// The object id that Git gives a content; in SHA-256 repositories, the first 20 bytes of the id.
pub(crate) type Blob = [u8; 20];

/// Set if the chunk lies in a test module.
pub(crate) const IN_TESTS: u8 = 1;
/// Set if the file only re-exports other definitions.
pub(crate) const ONLY_REEXPORTS: u8 = 2;

/// The header of an indexed file's record: id of the content, counts, and the offsets of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordLayout {
    pub(crate) blob: Blob,
    /// Length of the text in bytes.
    pub(crate) text: u32,
    /// The number of chunks.
    pub(crate) count: u32,
    /// The number of its first chunk in the store.
    pub(crate) first: u32,
    path: u32,
    meta: u32,
    words: u32,
}

const HEADER: usize = 20 + 6 * 4;
const FIRST_AT: usize = 28;

impl RecordLayout {
    /// Reads the layout of a record. Returns `None` if the bytes are truncated or are not a record.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let blob = bytes.get(..20)?.try_into().ok()?;
        let number = |at: usize| {
            let at = 20 + 4 * at;
            let four = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(four))
        };
        let layout = Self {
            blob,
            text: number(0)?,
            count: number(1)?,
            first: number(2)?,
            path: number(3)?,
            meta: number(4)?,
            words: number(5)?,
        };
        (layout.total_length() == bytes.len() as u64).then_some(layout)
    }

    /// Returns the length of the whole record in bytes.
    fn total_length(&self) -> u64 {
        let fixed = u64::from(self.count) * (2 + 1 + 4 + DIMS as u64);
        HEADER as u64 + u64::from(self.path) + fixed + u64::from(self.meta) + u64::from(self.words)
    }

    /// Returns the byte range of the path in the record.
    pub(crate) fn path(&self) -> Range<usize> {
        HEADER..HEADER + self.path as usize
    }

    /// Returns the byte range of the word counts in the record, two bytes per chunk, little-endian.
    pub(crate) fn lengths(&self) -> Range<usize> {
        range_from(self.path().end, self.count as usize * 2)
    }

    /// Returns the byte range of the flags in the record, one byte per chunk: `IN_TESTS` and
    /// `ONLY_REEXPORTS`, combined.
    pub(crate) fn flags(&self) -> Range<usize> {
        range_from(self.lengths().end, self.count as usize)
    }

    /// Returns the byte range of the vectors' scales in the record, four bytes per chunk,
    /// little-endian.
    pub(crate) fn scales(&self) -> Range<usize> {
        range_from(self.flags().end, self.count as usize * 4)
    }

    /// Returns the byte range of the vectors in the record, `DIMS` bytes per chunk.
    pub(crate) fn values(&self) -> Range<usize> {
        range_from(self.scales().end, self.count as usize * DIMS)
    }

    /// Returns the byte range of the encoded descriptions of the chunks in the record.
    fn meta(&self) -> Range<usize> {
        range_from(self.values().end, self.meta as usize)
    }

    /// Returns the byte range of the encoded words in the record.
    fn words_range(&self) -> Range<usize> {
        range_from(self.meta().end, self.words as usize)
    }
}

/// Returns the range of `length` bytes from `start`.
fn range_from(start: usize, length: usize) -> Range<usize> {
    start..start + length
}

/// The contents of a record to be encoded: path, chunks, vectors and words of one file.
pub(crate) struct RecordDraft<'a> {
    pub(crate) blob: Blob,
    pub(crate) path: &'a str,
    pub(crate) text: usize,
    pub(crate) chunks: &'a [CodeChunk],
    pub(crate) vectors: &'a [Vector],
    /// The number of words of each chunk, as counted by BM25.
    pub(crate) lengths: &'a [u16],
    pub(crate) hands_on: bool,
    pub(crate) words: &'a FileWords,
}

/// The words of a file, each with the chunks that contain it, counted from the file's first, and
/// the counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FileWords {
    count: usize,
    /// In the record's encoding.
    bytes: Vec<u8>,
}

impl FileWords {
    /// Adds a word, which must sort after those added before. Chunk numbers must ascend.
    pub(crate) fn push(&mut self, term: &str, places: impl ExactSizeIterator<Item = (u32, u16)>) {
        put_text(&mut self.bytes, term);
        put_number(&mut self.bytes, places.len());
        let mut before = 0;
        for (chunk, count) in places {
            put_number(&mut self.bytes, (chunk - before) as usize);
            put_number(&mut self.bytes, usize::from(count));
            before = chunk;
        }
        self.count += 1;
    }
}

impl RecordDraft<'_> {
    /// Encodes the record; the number of the first chunk is 0 until `set_first`.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (mut meta, mut words) = (Vec::new(), Vec::new());
        put_chunks(&mut meta, self.chunks);
        put_number(&mut words, self.words.count);
        words.extend_from_slice(&self.words.bytes);
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&self.blob);
        let sizes = [
            self.text,
            self.chunks.len(),
            0,
            self.path.len(),
            meta.len(),
            words.len(),
        ];
        for size in sizes {
            bytes.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
        }
        bytes.extend_from_slice(self.path.as_bytes());
        for length in self.lengths {
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        let hands_on = if self.hands_on { ONLY_REEXPORTS } else { 0 };
        bytes.extend(self.chunks.iter().map(|chunk| {
            let in_tests = if chunk.is_test { IN_TESTS } else { 0 };
            in_tests | hands_on
        }));
        for vector in self.vectors {
            bytes.extend_from_slice(&vector.scale.to_le_bytes());
        }
        for vector in self.vectors {
            bytes.extend(vector.values.iter().map(|value| value.to_le_bytes()[0]));
        }
        bytes.append(&mut meta);
        bytes.append(&mut words);
        bytes
    }
}

/// Sets the number of the first chunk in an encoded record.
pub(crate) fn set_first(bytes: &mut [u8], first: u32) {
    if let Some(place) = bytes.get_mut(FIRST_AT..FIRST_AT + 4) {
        place.copy_from_slice(&first.to_le_bytes());
    }
}

fn put_chunks(bytes: &mut Vec<u8>, chunks: &[CodeChunk]) {
    for chunk in chunks {
        put_number(bytes, chunk.span.start);
        put_number(bytes, chunk.span.len());
        put_number(bytes, chunk.rows.start as usize);
        put_number(bytes, chunk.rows.len());
        bytes.push(u8::from(chunk.is_continued));
        bytes.push(chunk.kind.map_or(0, |kind| kind as u8 + 1));
        put_text(bytes, chunk.symbol.as_deref().unwrap_or_default());
        put_number(bytes, chunk.around.len());
        chunk.around.iter().for_each(|name| put_text(bytes, name));
        put_number(bytes, chunk.defines.len());
        for defined in &chunk.defines {
            put_text(bytes, &defined.name);
            bytes.push(defined.kind as u8 + 1);
            put_number(bytes, defined.rows.start as usize);
            put_number(bytes, defined.rows.len());
        }
    }
}

/// Returns the chunks of a record; fewer if its bytes are damaged. Flags are not included.
pub(crate) fn chunks_of(layout: &RecordLayout, bytes: &[u8]) -> Vec<CodeChunk> {
    let meta = bytes.get(layout.meta()).unwrap_or_default();
    let flags = bytes.get(layout.flags()).unwrap_or_default();
    let mut reader = RecordReader(meta);
    let mut chunks = Vec::new();
    for flags in flags {
        let Some(mut chunk) = read_chunk(&mut reader) else {
            break;
        };
        chunk.is_test = flags & IN_TESTS != 0;
        chunks.push(chunk);
    }
    chunks
}

/// Returns the first symbol that a chunk defines, or the symbol that contains the chunk, without
/// copying. Returns `None` if there is no such symbol. `place` is the index of the chunk in its
/// file.
pub(crate) fn symbol_of<'a>(layout: &RecordLayout, bytes: &'a [u8], place: u32) -> Option<&'a str> {
    let mut reader = RecordReader(bytes.get(layout.meta())?);
    for _ in 0..place {
        symbol_and_skip(&mut reader)?;
    }
    symbol_and_skip(&mut reader).filter(|symbol| !symbol.is_empty())
}

/// Reads the symbol of the next chunk, and skips to the chunk after it.
fn symbol_and_skip<'a>(reader: &mut RecordReader<'a>) -> Option<&'a str> {
    reader.number()?;
    reader.number()?;
    reader.rows()?;
    reader.byte()?;
    reader.byte()?;
    let symbol = reader.text()?;
    for _ in 0..reader.number()? {
        reader.text()?;
    }
    for _ in 0..reader.number()? {
        reader.text()?;
        reader.byte()?;
        reader.rows()?;
    }
    Some(symbol)
}

/// Reads the description of the next chunk, which holds neither `doc` nor `is_test`; both stay
/// unset. Returns `None` if the bytes are invalid.
fn read_chunk(reader: &mut RecordReader<'_>) -> Option<CodeChunk> {
    let (start, length) = (reader.number()?, reader.number()?);
    let rows = reader.rows()?;
    let is_continued = reader.byte()? != 0;
    let kind = kind_of(reader.byte()?);
    let symbol = reader.text()?;
    let around = (0..reader.number()?)
        .map(|_| reader.text().map(str::to_owned))
        .collect::<Option<_>>()?;
    let defines = (0..reader.number()?)
        .map(|_| {
            Some(Defined {
                name: reader.text()?.to_owned(),
                kind: kind_of(reader.byte()?)?,
                rows: reader.rows()?,
            })
        })
        .collect::<Option<_>>()?;
    Some(CodeChunk {
        span: start..start.checked_add(length)?,
        rows,
        symbol: (!symbol.is_empty()).then(|| symbol.to_owned()),
        kind,
        is_continued,
        around,
        doc: String::new(),
        defines,
        is_test: false,
    })
}

/// Calls `each` with every word of a record, the chunks that contain the word, and the number of
/// occurrences in each chunk. Chunks are counted from the first one of the file. Stops at damaged
/// bytes.
pub(crate) fn each_term<'a>(
    layout: &RecordLayout,
    bytes: &'a [u8],
    mut each: impl FnMut(&'a str, &mut dyn Iterator<Item = (u32, u16)>),
) {
    let mut reader = RecordReader(bytes.get(layout.words_range()).unwrap_or_default());
    for _ in 0..reader.number().unwrap_or(0) {
        let (Some(term), Some(count)) = (reader.text(), reader.number()) else {
            return;
        };
        let mut before = 0;
        let mut places = (0..count).map_while(|_| {
            before += u32::try_from(reader.number()?).ok()?;
            let count = u16::try_from(reader.number()?).ok()?;
            (before < layout.count).then_some((before, count))
        });
        each(term, &mut places);
        places.for_each(drop);
    }
}

/// Decodes a kind, stored as its number plus 1. Returns `None` for 0, which means no kind, and for
/// unknown numbers.
fn kind_of(number: u8) -> Option<OutlineKind> {
    use OutlineKind::{
        Class, Constant, Enum, Field, Function, Heading, Interface, Key, Macro, Method, Module,
        Other, Struct, Type, Variable,
    };
    [
        Module, Class, Struct, Enum, Interface, Type, Function, Method, Macro, Field, Constant,
        Variable, Key, Heading, Other,
    ]
    .into_iter()
    .find(|kind| *kind as u8 + 1 == number)
}

#[cfg(test)]
mod tests;
