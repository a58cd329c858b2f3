//! Every distinct token text once, by number.
//!
//! Grows only. Kept in chunks, so that a view shares all of them and only the newest is ever copied.
//! Invariant: the same text always has the same number; numbers are below `MOST_WORDS`.

use std::sync::Arc;

/// Token texts by number. Cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct Words {
    chunks: Vec<Arc<Chunk>>,
}

#[derive(Clone, Default)]
struct Chunk {
    text: String,
    /// Where each text ends.
    ends: Vec<u32>,
    /// Numbers within the chunk plus one by hash; zero is free.
    table: Vec<u32>,
}

const CHUNK_WORDS: usize = 1 << 15;

/// More distinct texts are not told apart: further ones are `None`.
const MOST_WORDS: usize = 1 << 21;

/// Longer texts are data rather than words.
const MOST_BYTES: usize = 64;

impl Words {
    /// The number of a text, if it has one.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let hash = hash(text);
        self.chunks.iter().enumerate().find_map(|(ix, chunk)| {
            let within = chunk.find(text, hash)?;
            Some((ix * CHUNK_WORDS) as u32 + within)
        })
    }

    /// The number of a text, which gets one now if it has none.
    pub(crate) fn intern(&mut self, text: &str) -> Option<u32> {
        if text.len() > MOST_BYTES {
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
            if self.chunks.len() * CHUNK_WORDS >= MOST_WORDS {
                return None;
            }
            self.chunks.push(Arc::default());
        }
        let start = (self.chunks.len() - 1) * CHUNK_WORDS;
        let chunk = Arc::make_mut(self.chunks.last_mut()?);
        Some(start as u32 + chunk.push(text))
    }

    /// The text of a number.
    pub(crate) fn text(&self, id: u32) -> &str {
        let (chunk, within) = (id as usize / CHUNK_WORDS, id as usize % CHUNK_WORDS);
        self.chunks
            .get(chunk)
            .map_or("", |chunk| chunk.text(within))
    }

    /// The memory they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let chunk =
            |it: &Arc<Chunk>| it.text.capacity() + 4 * (it.ends.capacity() + it.table.capacity());
        self.chunks.iter().map(chunk).sum()
    }
}

impl Chunk {
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

/// FNV-1a, with its high bits folded in.
fn hash(text: &str) -> usize {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) as usize
}
