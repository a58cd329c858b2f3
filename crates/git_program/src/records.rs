//! Splits output into records that end with a byte, across the pieces in which it arrives.
//!
//! Invariant: memory is bounded by the longest accepted record; longer ones are dropped.

/// Length of the longest record in bytes.
const MAX_RECORD_BYTES: usize = 4 << 20;

/// Collects the records of a stream.
#[derive(Debug)]
pub(crate) struct RecordSplitter {
    end: u8,
    pending: Vec<u8>,
    is_too_long: bool,
}

impl RecordSplitter {
    /// Creates a splitter of records that end with the byte `end`.
    pub(crate) fn new(end: u8) -> Self {
        Self {
            end,
            pending: Vec::new(),
            is_too_long: false,
        }
    }

    /// Passes each complete record to `take`, without its end.
    pub(crate) fn feed(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == self.end) {
            let (record, after) = rest.split_at(at);
            self.push(record);
            if !self.is_too_long {
                take(&self.pending);
            }
            self.pending.clear();
            self.is_too_long = false;
            rest = &after[1..];
        }
        self.push(rest);
    }

    fn push(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.pending.len() + bytes.len() > MAX_RECORD_BYTES;
        if !self.is_too_long {
            self.pending.extend_from_slice(bytes);
        }
    }
}

/// Returns bytes as text, with invalid UTF-8 replaced.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a path of Git's output.
pub(crate) fn path(bytes: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// Parses a decimal number; `None` if the bytes are something else.
pub(crate) fn number<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Returns whether bytes are an object id: 40 or 64 hexadecimal digits.
pub(crate) fn is_object_id(bytes: &[u8]) -> bool {
    matches!(bytes.len(), 40 | 64) && bytes.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::{MAX_RECORD_BYTES, RecordSplitter};

    fn split(pieces: &[&[u8]]) -> Vec<String> {
        let mut records = Vec::new();
        let mut splitter = RecordSplitter::new(0);
        let mut take = |record: &[u8]| records.push(super::text(record));
        for piece in pieces {
            splitter.feed(piece, &mut take);
        }
        records
    }

    #[test]
    fn records_do_not_depend_on_pieces() {
        let whole: &[u8] = b"one\0\0three\0rest\0";
        let expected = ["one", "", "three", "rest"];
        assert_eq!(split(&[whole]), expected);
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(split(&bytes), expected);
        assert!(split(&[]).is_empty());
    }

    #[test]
    fn a_record_without_bounds_is_dropped() {
        let long = vec![b'x'; MAX_RECORD_BYTES];
        assert_eq!(split(&[b"a\0", &long, &long, b"\0b\0"]), ["a", "b"]);
    }
}
