//! The entries of a journal file, and how they lie in it.
//!
//! A file begins with a magic line. Then come frames: the length of the payload and its CRC-32,
//! four bytes each, little-endian, and the payload: a tag and what belongs to it.
//! Invariant: what follows a frame that is torn or makes no sense is not read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use base::AbsPath;
use host::{ContentHash, OnDisk, Stamp};
use text::{Encoding, FileFormat, LineEndings, NodeId, Operation, SelectionSet};

use super::bytes::{Sink, Source};
use super::operation;
use crate::document::DocumentKey;

pub(crate) const MAGIC: &[u8] = b"burin journal 1\n";

/// What a journal tells, in the order in which it happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// The first entry: what the operations start from.
    Start { base: Base, meta: Meta },
    /// Operations, and how many bytes the text has after them.
    Operations {
        operations: Vec<Operation>,
        length: u64,
    },
    /// The selections of the view that was used last.
    Selections(SelectionSet),
    /// What else is known of the document, from here on.
    Meta(Meta),
}

/// The text that the operations start from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Base {
    /// This.
    Text(String),
    /// What the document's file held, which had this fingerprint.
    File(ContentHash),
}

/// What is known of a document besides its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meta {
    pub(crate) key: DocumentKey,
    pub(crate) path: Option<AbsPath>,
    pub(crate) format: FileFormat,
    pub(crate) saved: Option<(OnDisk, SavedAt)>,
}

/// Which state of the text is the one in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SavedAt {
    /// That of this node of the undo tree.
    Node(NodeId),
    /// The one at this place in the journal.
    Here,
    /// None that the journal knows.
    Elsewhere,
}

/// The entries of a journal file up to the first that is torn, and how many bytes these take.
/// `None` when it is no journal at all.
pub(crate) fn read_all(bytes: &[u8]) -> Option<(Vec<Entry>, usize)> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut entries = Vec::new();
    while let Some((payload, behind)) = read_frame(rest) {
        let Some(entry) = read_entry(payload) else {
            break;
        };
        entries.push(entry);
        rest = behind;
    }
    Some((entries, bytes.len() - rest.len()))
}

/// Adds an entry as a frame. One of 4 GiB or more cannot be written.
pub(crate) fn write(bytes: &mut Vec<u8>, entry: &Entry) {
    let mut sink = Sink::default();
    write_entry(&mut sink, entry);
    let Ok(length) = u32::try_from(sink.bytes.len()) else {
        base::never!("a journal entry of {} bytes", sink.bytes.len());
        return;
    };
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&sink.bytes).to_le_bytes());
    bytes.extend_from_slice(&sink.bytes);
}

fn read_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (payload, rest) = rest.split_at_checked(length)?;
    (crc32fast::hash(payload) == u32::from_le_bytes(*sum)).then_some((payload, rest))
}

fn write_entry(sink: &mut Sink, entry: &Entry) {
    match entry {
        Entry::Start { base, meta } => {
            sink.tag(1);
            match base {
                Base::Text(text) => {
                    sink.tag(1);
                    sink.string(text.as_bytes());
                }
                Base::File(hash) => {
                    sink.tag(2);
                    sink.wide(hash.0);
                }
            }
            write_meta(sink, meta);
        }
        Entry::Operations { operations, length } => {
            sink.tag(2);
            sink.count(operations.len());
            for operation in operations {
                operation::write(sink, operation);
            }
            sink.number(*length);
        }
        Entry::Selections(selections) => {
            sink.tag(3);
            operation::write_selections(sink, selections);
        }
        Entry::Meta(meta) => {
            sink.tag(4);
            write_meta(sink, meta);
        }
    }
}

fn read_entry(payload: &[u8]) -> Option<Entry> {
    let mut source = Source::new(payload);
    let entry = match source.tag()? {
        1 => Entry::Start {
            base: match source.tag()? {
                1 => Base::Text(source.text()?.to_owned()),
                2 => Base::File(ContentHash(source.wide()?)),
                _ => return None,
            },
            meta: read_meta(&mut source)?,
        },
        2 => Entry::Operations {
            operations: source.list(operation::read)?,
            length: source.number()?,
        },
        3 => Entry::Selections(operation::read_selections(&mut source)?),
        4 => Entry::Meta(read_meta(&mut source)?),
        _ => return None,
    };
    source.is_at_end().then_some(entry)
}

fn write_meta(sink: &mut Sink, meta: &Meta) {
    sink.number(meta.key.0);
    sink.flag(meta.path.is_some());
    if let Some(path) = &meta.path {
        sink.string(path.as_path().as_os_str().as_bytes());
    }
    sink.string(meta.format.encoding.name().as_bytes());
    sink.flag(meta.format.bom);
    sink.tag(match meta.format.line_endings {
        LineEndings::Lf => 1,
        LineEndings::CrLf => 2,
        LineEndings::Mixed => 3,
    });
    sink.flag(meta.saved.is_some());
    if let Some((on_disk, at)) = &meta.saved {
        write_on_disk(sink, on_disk);
        match at {
            SavedAt::Node(node) => {
                sink.tag(1);
                sink.number(node.0.into());
            }
            SavedAt::Here => sink.tag(2),
            SavedAt::Elsewhere => sink.tag(3),
        }
    }
}

fn read_meta(source: &mut Source<'_>) -> Option<Meta> {
    let key = DocumentKey(source.number()?);
    let path = match source.flag()? {
        true => Some(AbsPath::new(OsStr::from_bytes(source.string()?))?),
        false => None,
    };
    let format = FileFormat {
        encoding: Encoding::named(source.text()?)?,
        bom: source.flag()?,
        line_endings: match source.tag()? {
            1 => LineEndings::Lf,
            2 => LineEndings::CrLf,
            3 => LineEndings::Mixed,
            _ => return None,
        },
    };
    let saved = match source.flag()? {
        true => {
            let on_disk = read_on_disk(source)?;
            let at = match source.tag()? {
                1 => SavedAt::Node(NodeId(source.small()?)),
                2 => SavedAt::Here,
                3 => SavedAt::Elsewhere,
                _ => return None,
            };
            Some((on_disk, at))
        }
        false => None,
    };
    Some(Meta {
        key,
        path,
        format,
        saved,
    })
}

fn write_on_disk(sink: &mut Sink, on_disk: &OnDisk) {
    let stamp = &on_disk.stamp;
    sink.number(stamp.device);
    sink.number(stamp.inode);
    sink.wide(stamp.mtime_ns.cast_unsigned());
    sink.number(stamp.size);
    sink.wide(on_disk.hash.0);
}

fn read_on_disk(source: &mut Source<'_>) -> Option<OnDisk> {
    Some(OnDisk {
        stamp: Stamp {
            device: source.number()?,
            inode: source.number()?,
            mtime_ns: source.wide()?.cast_signed(),
            size: source.number()?,
        },
        hash: ContentHash(source.wide()?),
    })
}

#[cfg(test)]
mod tests;
