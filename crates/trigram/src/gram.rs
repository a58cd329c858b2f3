//! Trigrams: three bytes of one row, with ASCII capitals in lower case.
//!
//! Rows are processed one by one: a trigram that contains a line ending is not counted, neither in
//! files nor in plans.

/// A trigram: three bytes in lower case (ASCII) as a number below `GRAMS`.
pub(crate) type Gram = u32;

/// The number of different trigrams.
const GRAMS: usize = 1 << 24;

/// Returns the trigrams of a string in order, with repetitions. Leaves out trigrams that contain a
/// byte of a line ending.
pub(crate) fn grams_of(string: &[u8]) -> impl Iterator<Item = Gram> + '_ {
    string.windows(3).filter_map(|window| {
        let is_whole = !window.iter().any(|byte| is_ending(*byte));
        is_whole.then(|| {
            let small = |ix: usize| Gram::from(window[ix].to_ascii_lowercase());
            small(0) << 16 | small(1) << 8 | small(2)
        })
    })
}

/// Whether a byte is a line feed or a carriage return.
fn is_ending(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// Collects the distinct trigrams of one file after the other. Uses 2 MB.
pub(crate) struct Collector {
    /// One bit per trigram.
    seen: Vec<u64>,
    found: Vec<Gram>,
    /// The last bytes as a number, and how many of them belong to the row.
    last: Gram,
    length: u32,
}

impl Collector {
    /// Creates a collector for the first file.
    pub(crate) fn new() -> Self {
        Self {
            seen: vec![0; GRAMS / 64],
            found: Vec::new(),
            last: 0,
            length: 0,
        }
    }

    /// Adds the next piece of the file. Includes the trigrams that span two pieces.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        for &byte in piece {
            if is_ending(byte) {
                self.length = 0;
                continue;
            }
            self.last = (self.last << 8 | Gram::from(byte.to_ascii_lowercase())) & 0xff_ffff;
            self.length += 1;
            if self.length >= 3 {
                let (word, bit) = (self.last as usize / 64, 1_u64 << (self.last % 64));
                if self.seen[word] & bit == 0 {
                    self.seen[word] |= bit;
                    self.found.push(self.last);
                }
            }
        }
    }

    /// Passes the distinct trigrams since the last call to `each`, unsorted, and resets the
    /// collector for the next file.
    pub(crate) fn take(&mut self, mut each: impl FnMut(Gram)) {
        for gram in self.found.drain(..) {
            self.seen[gram as usize / 64] = 0;
            each(gram);
        }
        self.length = 0;
    }
}
