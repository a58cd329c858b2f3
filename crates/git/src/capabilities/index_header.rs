//! Finds the extensions of an index file that readers must understand.
//!
//! Limitation: a damaged index has no extensions here; whichever reader opens it reports the
//! damage.

/// Name of an extension of the index. Names that begin with a lower-case letter are mandatory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexExtension(pub(super) [u8; 4]);

/// Bytes of the stat data at the start of an entry.
const STAT_BYTES: usize = 40;
/// Bit of the flags of an entry that has two more bytes of flags.
const EXTENDED: u16 = 0x4000;

/// Returns the mandatory extensions of an index, in order. `hash_bytes` is the length of an object
/// id.
pub(super) fn required_extensions(index: &[u8], hash_bytes: usize) -> Vec<IndexExtension> {
    let mut required = Vec::new();
    let Some(mut at) = end_of_entries(index, hash_bytes) else {
        return required;
    };
    // A checksum of the file follows the last extension.
    let end = index.len().saturating_sub(hash_bytes);
    while at + 8 <= end {
        let (Some(name), Some(length)) = (index.get(at..at + 4), number(index, at + 4)) else {
            break;
        };
        if name[0].is_ascii_lowercase() {
            required.push(IndexExtension([name[0], name[1], name[2], name[3]]));
        }
        at += 8 + length;
    }
    required
}

/// Returns the offset after the last entry; `None` if the file is no index.
fn end_of_entries(index: &[u8], hash_bytes: usize) -> Option<usize> {
    if !index.starts_with(b"DIRC") {
        return None;
    }
    let (version, count) = (number(index, 4)?, number(index, 8)?);
    let mut at = 12;
    for _ in 0..count {
        at = end_of_entry(index, at, hash_bytes, version)?;
    }
    Some(at)
}

/// Returns the offset after the entry at `start`; `None` if the file ends before.
fn end_of_entry(index: &[u8], start: usize, hash_bytes: usize, version: usize) -> Option<usize> {
    let flags_at = start + STAT_BYTES + hash_bytes;
    let flags = u16::from_be_bytes([*index.get(flags_at)?, *index.get(flags_at + 1)?]);
    let is_extended = version >= 3 && flags & EXTENDED != 0;
    let mut name = flags_at + if is_extended { 4 } else { 2 };
    if version >= 4 {
        // Version 4 stores how much of the previous name to drop, as a number of variable length.
        while index.get(name)? & 0x80 != 0 {
            name += 1;
        }
        name += 1;
    }
    let length = index.get(name..)?.iter().position(|byte| *byte == 0)?;
    let end = name + length + 1;
    if version >= 4 {
        return Some(end);
    }
    // Entries of older versions are padded with one to eight zeros to a multiple of eight bytes.
    Some(start + (name + length - start + 8) / 8 * 8)
}

/// Returns the four bytes at an offset as a number.
fn number(index: &[u8], at: usize) -> Option<usize> {
    let bytes = index.get(at..at + 4)?;
    let number = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    usize::try_from(number).ok()
}
