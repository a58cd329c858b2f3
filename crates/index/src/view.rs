//! What one worktree sees of the store: which files it has, and which entry each is.
//!
//! Invariant: the chunks in sight are those of the entries of its files, an unsaved text before the file's own; how
//! many they are and how many words they have is kept in step, so that frequencies are those of exactly this view.

use std::collections::BTreeMap;
use std::sync::Arc;

use host::Stamp;

use crate::bits::Bits;
use crate::policy::Left;
use crate::store::Known;

/// The files of a worktree.
#[derive(Default)]
pub(crate) struct View {
    /// By their paths below the top of the repository, with `/`.
    files: BTreeMap<Arc<str>, Seen>,
    live: Bits,
    chunks: u32,
    words: u64,
}

/// A file as it was last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Identity and version; `None` while only an unsaved text is known.
    pub(crate) stamp: Option<Stamp>,
    /// What it holds.
    pub(crate) entry: Option<u32>,
    /// What somebody types into it.
    pub(crate) unsaved: Option<u32>,
    /// Why it has no chunks.
    pub(crate) left: Option<Left>,
}

impl Seen {
    /// The entry that counts.
    pub(crate) fn live(&self) -> Option<u32> {
        self.unsaved.or(self.entry)
    }
}

impl View {
    /// What is known of a file.
    pub(crate) fn seen(&self, path: &str) -> Option<&Seen> {
        self.files.get(path)
    }

    /// Changes what is known of a file; one of which nothing is known any more is gone.
    pub(crate) fn change(&mut self, known: &Known, path: &str, change: impl FnOnce(&mut Seen)) {
        let mut seen = self.files.get(path).copied().unwrap_or_default();
        let before = seen.live();
        change(&mut seen);
        if before != seen.live() {
            self.show(known, before, false);
            self.show(known, seen.live(), true);
        }
        if seen == Seen::default() {
            self.files.remove(path);
        } else if let Some(place) = self.files.get_mut(path) {
            *place = seen;
        } else {
            self.files.insert(path.into(), seen);
        }
    }

    fn show(&mut self, known: &Known, entry: Option<u32>, is_in: bool) {
        let Some(entry) = entry.and_then(|id| known.entry(id)) else {
            return;
        };
        let count = entry.layout.count;
        self.live.set(entry.first, count, is_in);
        let chunks = entry.first..entry.first + count;
        let words: u64 = chunks.map(|chunk| u64::from(known.length(chunk))).sum();
        if is_in {
            self.chunks += count;
            self.words += words;
        } else {
            self.chunks = self.chunks.saturating_sub(count);
            self.words = self.words.saturating_sub(words);
        }
    }

    /// All files, in the order of their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Arc<str>, &Seen)> {
        self.files.iter()
    }

    /// The entries in sight.
    pub(crate) fn entries(&self) -> impl Iterator<Item = u32> {
        self.files.values().filter_map(Seen::live)
    }

    /// Whether a chunk is in sight.
    pub(crate) fn has(&self, chunk: u32) -> bool {
        self.live.has(chunk)
    }

    /// How many chunks are in sight.
    pub(crate) fn chunks(&self) -> u32 {
        self.chunks
    }

    /// Words of a chunk in sight, on average.
    pub(crate) fn average(&self) -> f32 {
        self.words as f32 / self.chunks.max(1) as f32
    }
}
