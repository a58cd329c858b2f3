//! The part of the store that one worktree sees: its files, and the entry of each.
//!
//! Invariant: the visible chunks are those of the entries of its files, an unsaved text replacing
//! the file's own; their number and their number of words are kept up to date, so that frequencies
//! are those of exactly this view.

use std::collections::BTreeMap;
use std::sync::Arc;

use host::Stamp;

use crate::chunk_set::ChunkSet;
use crate::policy::SkipReason;
use crate::store::StoreContents;

/// The files of one worktree, with their entries in the store and the chunks that searches see.
#[derive(Default)]
pub(crate) struct WorktreeView {
    /// Keyed by the path below the root of the repository, with `/`.
    files: BTreeMap<Arc<str>, ViewedFile>,
    live: ChunkSet,
    chunks: u32,
    words: u64,
}

/// The last known state of a file: version, indexed entry, unsaved text, or the reason why the file
/// is skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ViewedFile {
    /// Identity and version; `None` while only an unsaved text is known.
    pub(crate) stamp: Option<Stamp>,
    /// The entry of its content on disk.
    pub(crate) entry: Option<u32>,
    /// The entry of its unsaved text.
    pub(crate) unsaved: Option<u32>,
    /// The reason that it has no chunks.
    pub(crate) skip_reason: Option<SkipReason>,
}

impl ViewedFile {
    /// Returns the entry that searches see: the entry of the unsaved text, else the entry of the
    /// content on disk. Returns `None` if the file has no chunks.
    pub(crate) fn live(&self) -> Option<u32> {
        self.unsaved.or(self.entry)
    }
}

impl WorktreeView {
    /// Returns the state of a file by its path below the root of the repository, or `None` if the
    /// file is unknown.
    pub(crate) fn file(&self, path: &str) -> Option<&ViewedFile> {
        self.files.get(path)
    }

    /// Changes the state of a file; a file without any state is removed.
    pub(crate) fn change(
        &mut self,
        contents: &StoreContents,
        path: &str,
        change: impl FnOnce(&mut ViewedFile),
    ) {
        let mut file = self.files.get(path).copied().unwrap_or_default();
        let before = file.live();
        change(&mut file);
        if before != file.live() {
            self.set_visible(contents, before, false);
            self.set_visible(contents, file.live(), true);
        }
        if file == ViewedFile::default() {
            self.files.remove(path);
        } else if let Some(place) = self.files.get_mut(path) {
            *place = file;
        } else {
            self.files.insert(path.into(), file);
        }
    }

    fn set_visible(&mut self, contents: &StoreContents, entry: Option<u32>, is_in: bool) {
        let Some(entry) = entry.and_then(|id| contents.entry(id)) else {
            return;
        };
        let count = entry.layout.count;
        self.live.set(entry.first, count, is_in);
        let chunks = entry.first..entry.first + count;
        let words: u64 = chunks.map(|chunk| u64::from(contents.length(chunk))).sum();
        if is_in {
            self.chunks += count;
            self.words += words;
        } else {
            self.chunks = self.chunks.saturating_sub(count);
            self.words = self.words.saturating_sub(words);
        }
    }

    /// Returns all files in path order.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Arc<str>, &ViewedFile)> {
        self.files.iter()
    }

    /// Returns the entries that searches see.
    pub(crate) fn entries(&self) -> impl Iterator<Item = u32> {
        self.files.values().filter_map(ViewedFile::live)
    }

    /// Returns whether a chunk is visible.
    pub(crate) fn has(&self, chunk: u32) -> bool {
        self.live.has(chunk)
    }

    /// Returns the number of visible chunks.
    pub(crate) fn chunks(&self) -> u32 {
        self.chunks
    }

    /// Returns the average number of words of a visible chunk.
    pub(crate) fn average(&self) -> f32 {
        self.words as f32 / self.chunks.max(1) as f32
    }
}
