//! Interns token texts by number.
//!
//! Only grows. Stored in chunks, so a view shares all of them and only the newest is ever copied.
//!
//! Invariant: equal texts have equal numbers; numbers are below `MAX_WORDS`.

use std::sync::Arc;

/// Interned token texts. Clones share their chunks.
#[derive(Clone, Default)]
pub(crate) struct TokenInterner {
    chunks: Vec<Arc<InternerChunk>>,
}

#[derive(Clone, Default)]
struct InternerChunk {
    text: String,
    /// End offset of each text.
    ends: Vec<u32>,
    /// Hash table of indices within the chunk plus one; zero marks a free slot.
    table: Vec<u32>,
}

const CHUNK_WORDS: usize = 1 << 15;

/// Maximum number of distinct texts; further ones are not interned.
const MAX_WORDS: usize = 1 << 21;

/// Longer texts, in bytes, are treated as data and not interned.
const MAX_WORD_BYTES: usize = 64;

impl TokenInterner {
    /// Returns the number of a text. Returns `None` if the text is not interned.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let hash = hash(text);
        self.chunks.iter().enumerate().find_map(|(ix, chunk)| {
            let within = chunk.find(text, hash)?;
            Some((ix * CHUNK_WORDS) as u32 + within)
        })
    }

    /// Returns the number of a text, interning the text if necessary. Returns `None` if the text is
    /// too long or the table is full.
    pub(crate) fn intern(&mut self, text: &str) -> Option<u32> {
        if text.len() > MAX_WORD_BYTES {
            return None;
        }
        if let Some(id) = self.find(text) {
            return Some(id);
        }
        if self
            .chunks
            .last()
            .is_none_or(|it| it.ends.len() == CHUNK_WORDS)
        {
            if self.chunks.len() * CHUNK_WORDS >= MAX_WORDS {
                return None;
            }
            self.chunks.push(Arc::default());
        }
        let start = (self.chunks.len() - 1) * CHUNK_WORDS;
        let chunk = Arc::make_mut(self.chunks.last_mut()?);
        Some(start as u32 + chunk.push(text))
    }

    /// Returns the text of a number. For an unknown number, the text is empty.
    pub(crate) fn text(&self, id: u32) -> &str {
        let (chunk, within) = (id as usize / CHUNK_WORDS, id as usize % CHUNK_WORDS);
        self.chunks
            .get(chunk)
            .map_or("", |chunk| chunk.text(within))
    }

    /// Returns the memory used, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let chunk = |it: &Arc<InternerChunk>| {
            it.text.capacity() + 4 * (it.ends.capacity() + it.table.capacity())
        };
        self.chunks.iter().map(chunk).sum()
    }
}

impl InternerChunk {
    fn text(&self, ix: usize) -> &str {
        let start = ix
            .checked_sub(1)
            .and_then(|ix| self.ends.get(ix))
            .copied()
            .unwrap_or(0);
        let end = self.ends.get(ix).copied().unwrap_or(start);
        self.text
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// Returns the index of a text within the chunk; `None` if the chunk lacks it. `hash` is the
    /// hash of `text`.
    fn find(&self, text: &str, hash: usize) -> Option<u32> {
        let mask = self.table.len().checked_sub(1)?;
        let mut at = hash & mask;
        loop {
            let entry = self.table[at].checked_sub(1)?;
            if self.text(entry as usize) == text {
                return Some(entry);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a text that the chunk lacks and returns its index within the chunk.
    fn push(&mut self, text: &str) -> u32 {
        if (self.ends.len() + 1) * 2 > self.table.len() {
            self.grow();
        }
        let id = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.enter(id);
        id
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(64);
        self.table = vec![0; size];
        for id in 0..self.ends.len() as u32 {
            self.enter(id);
        }
    }

    fn enter(&mut self, id: u32) {
        let mask = self.table.len() - 1;
        let mut at = hash(self.text(id as usize)) & mask;
        while self.table[at] != 0 {
            at = (at + 1) & mask;
        }
        self.table[at] = id + 1;
    }
}

/// FNV-1a hash with the high bits folded in.
fn hash(text: &str) -> usize {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) as usize
}
