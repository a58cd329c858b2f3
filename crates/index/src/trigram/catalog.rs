//! `Known` as bytes on the disk, without the segments' own.
//!
//! One checksum over all; whatever does not fit is as good as nothing, and is made anew.

use std::sync::Arc;

use base::AbsPath;
use host::{FileKind, Files, Mark, RealFiles};

use super::known::{Content, File, Folder, Held, Known, Name};
use super::segment::Segment;

const MAGIC: [u8; 8] = *b"BURICAT3";
/// A catalog beyond this is none of ours.
const LIMIT: u64 = 1 << 30;
const CATALOG: &str = "catalog";

/// The file that holds a segment.
pub(super) fn segment_path(store: &AbsPath, number: u64) -> AbsPath {
    store.join(segment_name(number))
}

/// Its name.
pub(super) fn segment_name(number: u64) -> String {
    format!("{number:08x}.segment")
}

/// Why there is nothing to be had from a store.
pub(super) enum Unusable {
    /// There is nothing yet.
    Absent,
    /// There is something else, or only part of it.
    Wrong(&'static str),
}

/// Writes the catalog in place of the one before. Segments in memory are left out, and what is only there counts as
/// unread.
pub(super) fn write(store: &AbsPath, root: &AbsPath, known: &Known) -> Result<(), host::Error> {
    RealFiles.write_private(&store.join(CATALOG), &encode(root, known))
}

/// Reads what a store holds for `root`.
pub(super) fn read(store: &AbsPath, root: &AbsPath) -> Result<Known, Unusable> {
    let bytes = match RealFiles.read(&store.join(CATALOG), LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Err(Unusable::Absent),
        Err(_) => return Err(Unusable::Wrong("its catalog cannot be read")),
    };
    let (known, numbers) = decode(root, &bytes).ok_or(Unusable::Wrong(
        "its catalog is damaged, or of another folder or version",
    ))?;
    let mut known = known;
    for (number, files) in numbers {
        let segment = Segment::open(&segment_path(store, number));
        let segment = segment.map_err(|_| Unusable::Wrong("one of its segments is damaged"))?;
        if segment.files() != files {
            return Err(Unusable::Wrong("one of its segments is another one"));
        }
        known.segments.push(Held {
            segment: Arc::new(segment),
            number: Some(number),
        });
    }
    Ok(known)
}

fn encode(root: &AbsPath, known: &Known) -> Vec<u8> {
    let mut out = Out(Vec::with_capacity(
        known.files.len() * 64 + known.names.len(),
    ));
    out.0.extend_from_slice(&MAGIC);
    out.bytes(root.as_path().as_os_str().as_encoded_bytes());
    out.bytes(&known.names);
    out.flag(known.rules.is_some());
    out.number(known.rules.unwrap_or(0));
    out.flag(known.has_problems);
    // Numbers of segments as they will be read.
    let mut written = Vec::new();
    let mut new_index = Vec::new();
    for held in &known.segments {
        new_index.push(held.number.map(|_| written.len() as u64));
        written.extend(held.number.map(|number| (number, held.segment.files())));
    }
    out.number(written.len() as u64);
    for (number, files) in written {
        out.number(number);
        out.number(u64::from(files));
    }
    out.number(known.folders.len() as u64);
    for folder in &known.folders {
        out.name(folder.name);
        out.flag(folder.is_plain);
        out.flag(folder.has_rules);
        out.mark(folder.mark);
    }
    out.number(known.files.len() as u64);
    for file in &known.files {
        out.name(file.name);
        out.flag(file.is_plain);
        out.content(&file.content, &new_index);
    }
    let sum = crc32fast::hash(&out.0);
    out.0.extend_from_slice(&sum.to_le_bytes());
    out.0
}

struct Out(Vec<u8>);

impl Out {
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

    fn name(&mut self, name: Name) {
        self.number(u64::from(name.begin));
        self.number(u64::from(name.length));
    }

    fn mark(&mut self, mark: Option<Mark>) {
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

    fn content(&mut self, content: &Content, new_index: &[Option<u64>]) {
        match content {
            Content::Opaque(mark) => {
                self.number(1);
                self.mark(Some(*mark));
            }
            Content::Binary(mark) => {
                self.number(2);
                self.mark(Some(*mark));
            }
            Content::Grams {
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
            Content::Unread => self.number(0),
        }
    }
}

/// What was read, and number and files of each segment.
type Decoded = (Known, Vec<(u64, u32)>);

fn decode(root: &AbsPath, bytes: &[u8]) -> Option<Decoded> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(body).to_le_bytes() != *sum {
        return None;
    }
    let mut input = In(body.strip_prefix(&MAGIC)?);
    if input.bytes()? != root.as_path().as_os_str().as_encoded_bytes() {
        return None;
    }
    let mut known = Known {
        names: input.bytes()?.to_vec(),
        ..Known::default()
    };
    let has_rules = input.flag()?;
    let rules = input.number()?;
    known.rules = has_rules.then_some(rules);
    known.has_problems = input.flag()?;
    let mut segments = Vec::new();
    for _ in 0..input.count()? {
        segments.push((input.number()?, u32::try_from(input.number()?).ok()?));
    }
    for _ in 0..input.count()? {
        known.folders.push(Folder {
            name: input.name(known.names.len())?,
            is_plain: input.flag()?,
            has_rules: input.flag()?,
            mark: input.mark()?,
        });
    }
    for _ in 0..input.count()? {
        known.files.push(File {
            name: input.name(known.names.len())?,
            is_plain: input.flag()?,
            content: input.content(&segments)?,
        });
    }
    input.0.is_empty().then_some((known, segments))
}

struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
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

    /// A number of things, each of which has a byte at least.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    fn flag(&mut self) -> Option<bool> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte != 0)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(bytes)
    }

    fn name(&mut self, most: usize) -> Option<Name> {
        let begin = u32::try_from(self.number()?).ok()?;
        let length = u32::try_from(self.number()?).ok()?;
        let end = begin.checked_add(length)?;
        (end as usize <= most).then_some(Name { begin, length })
    }

    fn time(&mut self) -> Option<i64> {
        let (bytes, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(i64::from_le_bytes(*bytes))
    }

    fn mark(&mut self) -> Option<Option<Mark>> {
        if !self.flag()? {
            return Some(None);
        }
        let is_folder = self.flag()?;
        Some(Some(Mark {
            kind: match is_folder {
                true => FileKind::Folder,
                false => FileKind::File,
            },
            device: self.number()?,
            inode: self.number()?,
            size: self.number()?,
            mtime_ns: self.time()?,
            ctime_ns: self.time()?,
        }))
    }

    fn content(&mut self, segments: &[(u64, u32)]) -> Option<Content> {
        match self.number()? {
            0 => Some(Content::Unread),
            1 => Some(Content::Opaque(self.mark()??)),
            2 => Some(Content::Binary(self.mark()??)),
            3 => {
                let mark = self.mark()??;
                let segment = usize::try_from(self.number()?).ok()?;
                let file = u32::try_from(self.number()?).ok()?;
                (file < segments.get(segment)?.1).then_some(Content::Grams {
                    mark,
                    segment: u32::try_from(segment).ok()?,
                    file,
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
