//! Stores a `FileTable` on disk, without the contents of its segments.
//!
//! One checksum covers everything; a catalog that does not match is treated as missing and rebuilt.

use std::sync::Arc;

use base::AbsPath;
use host::{FileKind, FileVersion, Files, RealFiles};

use super::file_table::{
    ContentState, FileTable, IndexedFile, IndexedFolder, NameRange, OpenSegment,
};
use super::segment::TrigramSegment;

const MAGIC: [u8; 8] = *b"BURICAT3";
/// Maximum size of a catalog in bytes.
const LIMIT: u64 = 1 << 30;
const CATALOG: &str = "catalog";

/// Returns the path of a segment's file.
pub(super) fn segment_path(store: &AbsPath, number: u64) -> AbsPath {
    store.join(segment_name(number))
}

/// Returns the name of a segment's file.
pub(super) fn segment_name(number: u64) -> String {
    format!("{number:08x}.segment")
}

/// The reason that a store is unusable.
pub(super) enum Unusable {
    /// The store does not exist yet.
    Absent,
    /// The store is damaged or foreign.
    Wrong(&'static str),
}

/// Writes the catalog in place of the previous one. Segments in memory are omitted, and their files
/// count as unread.
pub(super) fn write(store: &AbsPath, root: &AbsPath, table: &FileTable) -> Result<(), host::Error> {
    RealFiles.write_private(&store.join(CATALOG), &encode(root, table))
}

/// Reads the store of `root`.
pub(super) fn read(store: &AbsPath, root: &AbsPath) -> Result<FileTable, Unusable> {
    let bytes = match RealFiles.read(&store.join(CATALOG), LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Err(Unusable::Absent),
        Err(_) => return Err(Unusable::Wrong("its catalog cannot be read")),
    };
    let (table, numbers) = decode(root, &bytes).ok_or(Unusable::Wrong(
        "its catalog is damaged, or of another folder or version",
    ))?;
    let mut table = table;
    for (number, files) in numbers {
        let segment = TrigramSegment::open(&segment_path(store, number));
        let segment = segment.map_err(|_| Unusable::Wrong("one of its segments is damaged"))?;
        if segment.files() != files {
            return Err(Unusable::Wrong("one of its segments does not match"));
        }
        table.segments.push(OpenSegment {
            segment: Arc::new(segment),
            number: Some(number),
        });
    }
    Ok(table)
}

fn encode(root: &AbsPath, table: &FileTable) -> Vec<u8> {
    let mut out = CatalogWriter(Vec::with_capacity(
        table.files.len() * 64 + table.names.len(),
    ));
    out.0.extend_from_slice(&MAGIC);
    out.bytes(root.as_path().as_os_str().as_encoded_bytes());
    out.bytes(&table.names);
    out.flag(table.rules.is_some());
    out.number(table.rules.unwrap_or(0));
    out.flag(table.has_problems);
    // Segment numbers as they will be read.
    let mut written = Vec::new();
    let mut new_index = Vec::new();
    for held in &table.segments {
        new_index.push(held.number.map(|_| written.len() as u64));
        written.extend(held.number.map(|number| (number, held.segment.files())));
    }
    out.number(written.len() as u64);
    for (number, files) in written {
        out.number(number);
        out.number(u64::from(files));
    }
    out.number(table.folders.len() as u64);
    for folder in &table.folders {
        out.name(folder.name);
        out.flag(folder.is_plain);
        out.flag(folder.has_rules);
        out.mark(folder.mark);
    }
    out.number(table.files.len() as u64);
    for file in &table.files {
        out.name(file.name);
        out.flag(file.is_plain);
        out.content(&file.content, &new_index);
    }
    let sum = crc32fast::hash(&out.0);
    out.0.extend_from_slice(&sum.to_le_bytes());
    out.0
}

struct CatalogWriter(Vec<u8>);

impl CatalogWriter {
    fn number(&mut self, value: u64) {
        let mut left = value;
        while left >= 0x80 {
            self.0.push((left & 0x7f) as u8 | 0x80);
            left >>= 7;
        }
        self.0.push(left as u8);
    }

    fn flag(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn name(&mut self, name: NameRange) {
        self.number(u64::from(name.begin));
        self.number(u64::from(name.length));
    }

    fn mark(&mut self, mark: Option<FileVersion>) {
        self.flag(mark.is_some());
        if let Some(mark) = mark {
            self.flag(mark.kind == FileKind::Folder);
            self.number(mark.device);
            self.number(mark.inode);
            self.number(mark.size);
            self.0.extend_from_slice(&mark.mtime_ns.to_le_bytes());
            self.0.extend_from_slice(&mark.ctime_ns.to_le_bytes());
        }
    }

    fn content(&mut self, content: &ContentState, new_index: &[Option<u64>]) {
        match content {
            ContentState::Opaque(mark) => {
                self.number(1);
                self.mark(Some(*mark));
            }
            ContentState::Binary(mark) => {
                self.number(2);
                self.mark(Some(*mark));
            }
            ContentState::Grams {
                mark,
                segment,
                file,
            } => match new_index.get(*segment as usize) {
                Some(Some(index)) => {
                    self.number(3);
                    self.mark(Some(*mark));
                    self.number(*index);
                    self.number(u64::from(*file));
                }
                _ => self.number(0),
            },
            ContentState::Unread => self.number(0),
        }
    }
}

/// The decoded data, and the number and file count of each segment.
type Decoded = (FileTable, Vec<(u64, u32)>);

/// Decodes a catalog. Returns `None` if it is damaged, of another version, or of another root.
fn decode(root: &AbsPath, bytes: &[u8]) -> Option<Decoded> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(body).to_le_bytes() != *sum {
        return None;
    }
    let mut input = CatalogReader(body.strip_prefix(&MAGIC)?);
    if input.bytes()? != root.as_path().as_os_str().as_encoded_bytes() {
        return None;
    }
    let mut table = FileTable {
        names: input.bytes()?.to_vec(),
        ..FileTable::default()
    };
    let has_rules = input.flag()?;
    let rules = input.number()?;
    table.rules = has_rules.then_some(rules);
    table.has_problems = input.flag()?;
    let mut segments = Vec::new();
    for _ in 0..input.count()? {
        segments.push((input.number()?, u32::try_from(input.number()?).ok()?));
    }
    for _ in 0..input.count()? {
        table.folders.push(IndexedFolder {
            name: input.name(table.names.len())?,
            is_plain: input.flag()?,
            has_rules: input.flag()?,
            mark: input.mark()?,
        });
    }
    for _ in 0..input.count()? {
        table.files.push(IndexedFile {
            name: input.name(table.names.len())?,
            is_plain: input.flag()?,
            content: input.content(&segments)?,
        });
    }
    input.0.is_empty().then_some((table, segments))
}

struct CatalogReader<'a>(&'a [u8]);

impl<'a> CatalogReader<'a> {
    /// Reads a number of seven bits per byte, the lowest first. Returns `None` if it is incomplete
    /// or exceeds 64 bits.
    fn number(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }

    /// Reads a number of items, each of which has at least one byte.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    /// Reads a byte, which is 0 for `false`. Returns `None` at the end.
    fn flag(&mut self) -> Option<bool> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte != 0)
    }

    /// Reads bytes after their count. Returns `None` if they are incomplete.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(bytes)
    }

    /// Reads the range of a name, in bytes. Returns `None` if it is incomplete or ends after
    /// `most`, the length of all names.
    fn name(&mut self, most: usize) -> Option<NameRange> {
        let begin = u32::try_from(self.number()?).ok()?;
        let length = u32::try_from(self.number()?).ok()?;
        let end = begin.checked_add(length)?;
        (end as usize <= most).then_some(NameRange { begin, length })
    }

    /// Reads a time of 8 bytes, little-endian. Returns `None` if it is incomplete.
    fn time(&mut self) -> Option<i64> {
        let (bytes, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(i64::from_le_bytes(*bytes))
    }

    /// Reads a file version, which may be absent. The outer `Option` is `None` if the data is
    /// incomplete.
    fn mark(&mut self) -> Option<Option<FileVersion>> {
        if !self.flag()? {
            return Some(None);
        }
        let is_folder = self.flag()?;
        Some(Some(FileVersion {
            kind: if is_folder {
                FileKind::Folder
            } else {
                FileKind::File
            },
            device: self.number()?,
            inode: self.number()?,
            size: self.number()?,
            mtime_ns: self.time()?,
            ctime_ns: self.time()?,
        }))
    }

    /// Reads the state of a file's content. `segments` has the number and the file count of each
    /// segment. Returns `None` if the data is incomplete or refers to a file that its segment
    /// lacks.
    fn content(&mut self, segments: &[(u64, u32)]) -> Option<ContentState> {
        match self.number()? {
            0 => Some(ContentState::Unread),
            1 => Some(ContentState::Opaque(self.mark()??)),
            2 => Some(ContentState::Binary(self.mark()??)),
            3 => {
                let mark = self.mark()??;
                let segment = usize::try_from(self.number()?).ok()?;
                let file = u32::try_from(self.number()?).ok()?;
                (file < segments.get(segment)?.1).then_some(ContentState::Grams {
                    mark,
                    segment: u32::try_from(segment).ok()?,
                    file,
                })
            }
            _ => None,
        }
    }
}
