//! Reads the links to other repositories from the bytes of a git index.

/// Mode of an entry that is another repository.
const GITLINK: u32 = 0o160_000;

/// Returns the paths of these links; `None` if the index cannot be parsed.
pub(super) fn gitlinks(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    // Object ids have 20 bytes or, in SHA-256 repositories, 32; the index does not say which.
    read(bytes, 20).or_else(|| read(bytes, 32))
}

/// Parses an index with object ids of `name_length` bytes and returns the paths of its links;
/// `None` if it does not fit that length or is damaged.
fn read(bytes: &[u8], name_length: usize) -> Option<Vec<Vec<u8>>> {
    let number = |at: usize| -> Option<u32> {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let version = number(4)?;
    if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut links = Vec::new();
    let mut path: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let start = at;
        let mode = number(at + 24)?;
        at += 40 + name_length;
        let flags = number(at)? >> 16;
        at += 2;
        // Skips the extended flags.
        if flags & 0x4000 != 0 {
            at += 2;
        }
        if version == 4 {
            let (drops, next) = offset(bytes, at)?;
            at = next;
            let keeps = path.len().checked_sub(drops)?;
            path.truncate(keeps);
        } else {
            path.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(&bytes[at..at + length]);
        at += length;
        let said = (flags & 0xfff) as usize;
        if said != path.len().min(0xfff) {
            return None;
        }
        at = match version {
            4 => at + 1,
            // Entries are padded to a multiple of eight, with at least one zero.
            _ => start + (at - start + 8) / 8 * 8,
        };
        if mode == GITLINK {
            links.push(path.clone());
        }
    }
    Some(links)
}

/// Reads a number in the variable-length format of git's packs.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    at += 1;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *bytes.get(at)?;
        at += 1;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((value, at))
}
