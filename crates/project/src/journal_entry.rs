//! The entries of a journal file and their encoding.
//!
//! A file starts with a magic line, followed by frames: the length of the payload and its CRC-32,
//! four bytes each, little-endian, and the payload: a tag and its data.
//! Invariant: nothing after a torn or invalid frame is read.

mod bytes;
pub(crate) mod operation;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use base::AbsPath;
use host::{ContentHash, OnDisk, Stamp};
use text::{BufferOperation, Encoding, FileFormat, LineEndings, NodeId, SelectionSet};

use crate::document::DocumentKey;
use bytes::{ByteReader, ByteWriter};

/// The first bytes of a journal file; the number is the version of its format.
pub(crate) const MAGIC: &[u8] = b"burin journal 1\n";
/// The beginning of every version of the format.
const ANY_MAGIC: &[u8] = b"burin journal ";

/// An entry of a journal, in the order of events.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JournalEntry {
    /// The first entry: the text to which the operations apply.
    Start { base: BaseText, meta: Meta },
    /// Operations, and the length of the text after them in bytes.
    Operations {
        operations: Vec<BufferOperation>,
        length: u64,
    },
    /// Selections of the view used last.
    Selections(SelectionSet),
    /// Updated metadata of the document.
    Meta(Meta),
}

/// The text to which the operations apply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BaseText {
    /// The literal start text.
    Text(String),
    /// The content of the document's file, with this fingerprint.
    File(ContentHash),
}

/// Metadata of a document in a journal: key, path, format, and the relation to its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meta {
    pub(crate) key: DocumentKey,
    pub(crate) path: Option<AbsPath>,
    pub(crate) format: FileFormat,
    pub(crate) saved: Option<(OnDisk, SavedAt)>,
}

/// The state of the text that the file contains, as a journal can express it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SavedAt {
    /// The state of this undo node.
    Node(NodeId),
    /// The state at this point of the journal.
    Here,
    /// A state that the journal does not know.
    Elsewhere,
}

/// Returns the entries of a journal file up to the first torn or damaged one, and the length in
/// bytes of the part with valid entries. `None` if it is not a journal at all.
pub(crate) fn read_all(bytes: &[u8]) -> Option<(Vec<JournalEntry>, usize)> {
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

/// Returns whether a newer program wrote a journal that `read_all` does not know.
pub(crate) fn is_newer(bytes: &[u8]) -> bool {
    let version = bytes.strip_prefix(ANY_MAGIC);
    let digits = version.and_then(|rest| rest.split(|byte| *byte == b'\n').next());
    let version = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u32>().ok());
    version.is_some_and(|version| version > 1)
}

/// Appends an entry as a frame to `bytes`. A frame of 4 GiB or more cannot be written: it is left
/// out, and fails in debug builds.
pub(crate) fn write(bytes: &mut Vec<u8>, entry: &JournalEntry) {
    let mut sink = ByteWriter::default();
    write_entry(&mut sink, entry);
    let Ok(length) = u32::try_from(sink.bytes.len()) else {
        base::never!("a journal entry of {} bytes", sink.bytes.len());
        return;
    };
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&sink.bytes).to_le_bytes());
    bytes.extend_from_slice(&sink.bytes);
}

/// Returns the payload of the first frame and the bytes after the frame. Returns `None` if the
/// frame is incomplete or its checksum does not match.
fn read_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (payload, rest) = rest.split_at_checked(length)?;
    (crc32fast::hash(payload) == u32::from_le_bytes(*sum)).then_some((payload, rest))
}

fn write_entry(sink: &mut ByteWriter, entry: &JournalEntry) {
    match entry {
        JournalEntry::Start { base, meta } => {
            sink.tag(1);
            match base {
                BaseText::Text(text) => {
                    sink.tag(1);
                    sink.string(text.as_bytes());
                }
                BaseText::File(hash) => {
                    sink.tag(2);
                    sink.wide(hash.0);
                }
            }
            write_meta(sink, meta);
        }
        JournalEntry::Operations { operations, length } => {
            sink.tag(2);
            sink.count(operations.len());
            for operation in operations {
                operation::write(sink, operation);
            }
            sink.number(*length);
        }
        JournalEntry::Selections(selections) => {
            sink.tag(3);
            operation::write_selections(sink, selections);
        }
        JournalEntry::Meta(meta) => {
            sink.tag(4);
            write_meta(sink, meta);
        }
    }
}

/// Decodes the payload of a frame. Returns `None` for an unknown tag, invalid data, or surplus
/// bytes.
fn read_entry(payload: &[u8]) -> Option<JournalEntry> {
    let mut source = ByteReader::new(payload);
    let entry = match source.tag()? {
        1 => JournalEntry::Start {
            base: match source.tag()? {
                1 => BaseText::Text(source.text()?.to_owned()),
                2 => BaseText::File(ContentHash(source.wide()?)),
                _ => return None,
            },
            meta: read_meta(&mut source)?,
        },
        2 => JournalEntry::Operations {
            operations: source.list(operation::read)?,
            length: source.number()?,
        },
        3 => JournalEntry::Selections(operation::read_selections(&mut source)?),
        4 => JournalEntry::Meta(read_meta(&mut source)?),
        _ => return None,
    };
    source.is_at_end().then_some(entry)
}

fn write_meta(sink: &mut ByteWriter, meta: &Meta) {
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

/// Reads the metadata of a document. Returns `None` for invalid data, such as a relative path or an
/// unknown encoding.
fn read_meta(source: &mut ByteReader<'_>) -> Option<Meta> {
    let key = DocumentKey(source.number()?);
    let path = if source.flag()? {
        Some(AbsPath::new(OsStr::from_bytes(source.string()?))?)
    } else {
        None
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
    let saved = if source.flag()? {
        let on_disk = read_on_disk(source)?;
        let at = match source.tag()? {
            1 => SavedAt::Node(NodeId(source.small()?)),
            2 => SavedAt::Here,
            3 => SavedAt::Elsewhere,
            _ => return None,
        };
        Some((on_disk, at))
    } else {
        None
    };
    Some(Meta {
        key,
        path,
        format,
        saved,
    })
}

fn write_on_disk(sink: &mut ByteWriter, on_disk: &OnDisk) {
    let stamp = &on_disk.stamp;
    sink.number(stamp.device);
    sink.number(stamp.inode);
    sink.wide(stamp.mtime_ns.cast_unsigned());
    sink.number(stamp.size);
    sink.wide(on_disk.hash.0);
}

/// Reads the state of a file on the disk. Returns `None` for invalid data.
fn read_on_disk(source: &mut ByteReader<'_>) -> Option<OnDisk> {
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
