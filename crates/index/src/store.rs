//! The indexed files of a repository, shared by all its worktrees: chunks, words and vectors.
//!
//! An entry is one content under one path; all worktrees with that content share it. The log holds
//! the entries, and tantivy's index the words of the folded ones; the words of the others are in
//! memory. `view` holds the part that a worktree sees.
//! Invariant: chunk numbers are never reused, so a view is just a set of numbers.
//! Invariant: an entry whose checksum does not match is never returned.

mod fold;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::Duration;

use base::{AbsPath, LogErr};
use host::{ContentHash, FileLock, Files, RealFiles};

use crate::delta::TermDelta;
use crate::lexical::{self, LexicalFold, LexicalIndex};
use crate::mapped_file::{MappedFile, RecordBytes};
use crate::record::{Blob, RecordLayout, set_first};
use crate::record_log::{self, RecordLog};

pub(crate) use fold::FoldPolicy;

/// Bytes of new entries in memory above which the log is mapped again.
const MAX_HELD_BYTES: usize = 8 << 20;
/// Number of chunks whose words are folded at once: meanwhile their words are in memory twice.
const MAX_UNFOLDED_CHUNKS: usize = if cfg!(test) { 60 } else { 20_000 };
/// Minimum number of chunks worth folding in the background.
const WORTH_HANDING_ON: usize = MAX_UNFOLDED_CHUNKS / 2;
/// Maximum gap between the chunk numbers of two entries, left by transient ones.
const MAX_CHUNK_GAP: usize = 1 << 24;
/// Minimum number of chunks worth a segment of tantivy's index; the words of fewer are read from
/// the log.
const MIN_FOLDED_CHUNKS: usize = if cfg!(test) { 8 } else { 1_000 };
/// Number of attempts, and the interval between them, to lock a store that is being closed.
const LOCK_TRIES: usize = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The records of all indexed files of one repository, in memory and on disk. The indexes of all
/// worktrees of the repository share one store.
pub(crate) struct ChunkStore {
    contents: RwLock<StoreContents>,
    persister: Mutex<StorePersister>,
}

/// The searchable data of a store.
#[derive(Default)]
pub(crate) struct StoreContents {
    entries: Vec<Option<StoredFile>>,
    by_key: HashMap<u128, u32>,
    /// Number of words, flags and entry of every chunk.
    lengths: Vec<u16>,
    flags: Vec<u8>,
    owners: Vec<u32>,
    pub(crate) delta: TermDelta,
    pub(crate) folded: Option<lexical::LexicalSnapshot>,
}

/// An indexed file: one content under one path.
pub(crate) struct StoredFile {
    pub(crate) path: Arc<str>,
    pub(crate) layout: RecordLayout,
    /// The number of its first chunk.
    pub(crate) first: u32,
    pub(crate) bytes: RecordBytes,
    /// Its checksum, until it was verified.
    unchecked: Option<u32>,
    /// Its offset in the log, if it was written.
    kept: Option<usize>,
}

impl StoredFile {
    /// Returns the numbers of its chunks.
    fn chunks(&self) -> Range<u32> {
        self.first..self.first + self.layout.count
    }
}

/// The writing side of the store.
#[derive(Default)]
struct StorePersister {
    path: Option<AbsPath>,
    log: Option<RecordLog>,
    disk: Option<LexicalIndex>,
    id: u64,
    /// Logged entries whose words are in memory, in the log's order, and their number of chunks.
    unfolded: Vec<u32>,
    unfolded_chunks: usize,
    /// The words being added to `disk`, and the number of entries they cover.
    folding: Option<(LexicalFold, usize)>,
    held: usize,
    notes: Vec<String>,
    _lock: Option<FileLock>,
}

/// Whether an entry is written to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// A file's content, written to the log.
    Durable,
    /// An unsaved text, kept only in memory.
    Transient,
}

impl ChunkStore {
    /// Returns the store in `folder`, which all callers share. Without a folder, returns a new
    /// store in memory. `table` is the hash of the embedding table.
    pub(crate) fn of(folder: Option<&AbsPath>, table: [u8; 8]) -> Arc<Self> {
        static OPEN: Mutex<Vec<(AbsPath, Weak<ChunkStore>)>> = Mutex::new(Vec::new());
        let Some(folder) = folder else {
            return Arc::new(Self::in_memory(Vec::new()));
        };
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = open.iter().find(|(open, _)| open == folder);
        if let Some(store) = entry.and_then(|(_, store)| store.upgrade()) {
            return store;
        }
        let is_closing = entry.is_some();
        open.retain(|(_, store)| store.strong_count() > 0);
        let store = Arc::new(
            Self::open(folder, table, is_closing).unwrap_or_else(|error| {
                Self::in_memory(vec![format!("The index is kept in memory only: {error}.")])
            }),
        );
        open.push((folder.clone(), Arc::downgrade(&store)));
        store
    }

    fn in_memory(notes: Vec<String>) -> Self {
        let persister = StorePersister {
            notes,
            ..StorePersister::default()
        };
        Self {
            contents: RwLock::default(),
            persister: Mutex::new(persister),
        }
    }

    /// Opens a store; `is_closing` says that another thread of this process may be about to close
    /// it.
    fn open(folder: &AbsPath, table: [u8; 8], is_closing: bool) -> Result<Self, host::Error> {
        RealFiles.create_folder(folder)?;
        let path = folder.join("lock");
        let mut lock = RealFiles.lock(&path)?;
        let tries = if is_closing { LOCK_TRIES } else { 0 };
        for _ in 0..tries {
            if lock.is_some() {
                break;
            }
            std::thread::park_timeout(LOCK_PAUSE);
            lock = RealFiles.lock(&path)?;
        }
        let path = folder.join("entries");
        let opened = record_log::open(&path, table, lock.is_some())?;
        let mut notes: Vec<String> = opened.note.into_iter().collect();
        let mut contents = StoreContents::default();
        if let Some(map) = &opened.map {
            for record in &opened.records {
                contents.take_in_record(map, record);
            }
        }
        let words = folder.join("words");
        let has_words = lock.is_some() || RealFiles.exists(&words.join("meta.json"));
        let disk = if has_words && opened.id != 0 {
            LexicalIndex::open(&words, opened.id, opened.end, lock.is_some())
                .map(|(disk, at)| (Some(disk), at))
        } else {
            Ok((None, 0))
        };
        let (disk, folded) = match disk {
            Ok(disk) => disk,
            Err(error) => {
                notes.push(format!(
                    "The index of words is kept in memory only: {error}."
                ));
                (None, 0)
            }
        };
        let mut persister = StorePersister {
            path: Some(path),
            log: opened.log,
            disk,
            id: opened.id,
            notes,
            _lock: lock,
            ..StorePersister::default()
        };
        persister.load_words(&mut contents, folded);
        Ok(Self {
            contents: RwLock::new(contents),
            persister: Mutex::new(persister),
        })
    }

    /// Locks the data for reading. Blocks while another thread changes the data.
    pub(crate) fn contents(&self) -> RwLockReadGuard<'_, StoreContents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, StoreContents> {
        self.contents
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn persister(&self) -> std::sync::MutexGuard<'_, StorePersister> {
        self.persister
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the entry for a path and the id of its content, or `None` if the entry
    /// is unknown or damaged. `length` is the file's current length in bytes. The first call for an
    /// entry verifies its checksum.
    pub(crate) fn find(&self, path: &str, blob: &Blob, length: u64) -> Option<u32> {
        let id = {
            let contents = self.contents();
            let id = *contents.by_key.get(&key(path, blob))?;
            let entry = contents.entry(id)?;
            if u64::from(entry.layout.text) != length || &*entry.path != path {
                return None;
            }
            match entry.unchecked {
                None => return Some(id),
                Some(crc) if crc32fast::hash(&entry.bytes) == crc => id,
                Some(_) => {
                    drop(contents);
                    self.forget_damaged(path, blob);
                    return None;
                }
            }
        };
        if let Some(Some(entry)) = self.change().entries.get_mut(id as usize) {
            entry.unchecked = None;
        }
        Some(id)
    }

    fn forget_damaged(&self, path: &str, blob: &Blob) {
        self.change().by_key.remove(&key(path, blob));
        let note = "A part of the index was damaged; the affected files are read again.";
        let mut persister = self.persister();
        if !persister.notes.iter().any(|one| one == note) {
            persister.notes.push(note.to_owned());
        }
    }

    /// Adds records and returns the numbers of their entries, in order. Skips bytes that are not a
    /// record.
    pub(crate) fn add(&self, records: Vec<Vec<u8>>, keep: Persistence) -> Vec<u32> {
        let mut persister = self.persister();
        let mut ids = Vec::with_capacity(records.len());
        for mut record in records {
            let Some(layout) = RecordLayout::of(&record) else {
                continue;
            };
            let first = self.contents().lengths.len() as u32;
            set_first(&mut record, first);
            let kept = match keep {
                Persistence::Durable => persister.append(&record),
                Persistence::Transient => None,
            };
            let path = String::from_utf8_lossy(&record[layout.path()]).into();
            let mut layout = layout;
            layout.first = first;
            let entry = StoredFile {
                path,
                layout,
                first,
                bytes: RecordBytes::Held(record.into()),
                unchecked: None,
                kept,
            };
            let mut contents = self.change();
            contents.delta.add(&entry.layout, &entry.bytes, first);
            let id = contents.take_in(entry, keep);
            if kept.is_some() {
                persister.unfolded.push(id);
                persister.unfolded_chunks += layout.count as usize;
            }
            ids.push(id);
        }
        if persister.held > MAX_HELD_BYTES {
            self.map_anew(&mut persister);
        }
        ids
    }

    /// Removes the entry of an unsaved text. Has no effect on an entry that is written to disk.
    pub(crate) fn drop_transient(&self, id: u32) {
        let mut contents = self.change();
        let is_passing = contents.entry(id).is_some_and(|entry| entry.kept.is_none());
        if is_passing
            && let Some(place) = contents.entries.get_mut(id as usize)
            && let Some(entry) = place.take()
        {
            contents
                .delta
                .remove(&entry.layout, &entry.bytes, entry.first);
        }
    }

    /// Writes pending data to the disk, and folds words into the index on disk under the condition
    /// `fold`. Returns whether words were folded. If the disk fails, stops writing to the disk and
    /// adds a note for the user.
    pub(crate) fn persist(&self, fold: FoldPolicy) -> bool {
        let mut persister = self.persister();
        let persister = &mut *persister;
        if let Some(log) = &mut persister.log
            && let Err(error) = log.flush()
        {
            persister.give_up(&error.to_string());
        }
        let least = match fold {
            FoldPolicy::Now => MIN_FOLDED_CHUNKS,
            FoldPolicy::WhenMany | FoldPolicy::InBackground => MAX_UNFOLDED_CHUNKS,
        };
        let is_worth_it = persister.unfolded_chunks >= least;
        if is_worth_it {
            self.fold(persister);
            self.map_anew(persister);
        } else if fold == FoldPolicy::InBackground && persister.unfolded_chunks >= WORTH_HANDING_ON
        {
            let folding = self.start_fold(persister);
            persister.folding = persister.or_without_disk(folding);
        }
        is_worth_it
    }

    /// Maps the log again, so that its entries are read from it instead of from memory.
    fn map_anew(&self, persister: &mut StorePersister) {
        let (Some(log), Some(path)) = (&mut persister.log, &persister.path) else {
            return;
        };
        persister.held = 0;
        if log.flush().log_err().is_none() {
            return;
        }
        let Ok(Some(map)) = MappedFile::of(path) else {
            return;
        };
        let map = Arc::new(map);
        for entry in self.change().entries.iter_mut().flatten() {
            let length = entry.bytes.len();
            let range = entry.kept.map(|start| start..start + length);
            let is_there = range.clone().and_then(|range| map.bytes().get(range));
            if let (Some(range), Some(_)) = (range, is_there) {
                entry.bytes = RecordBytes::Mapped(map.clone(), range);
            }
        }
    }

    /// Returns the notes for the user, as sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.persister().notes.clone()
    }

    /// Returns the size on disk in bytes.
    pub(crate) fn disk_size(&self) -> u64 {
        let persister = self.persister();
        let log = persister.log.as_ref().map_or(0, RecordLog::end_offset);
        log + persister.disk.as_ref().map_or(0, LexicalIndex::size)
    }
}

impl StorePersister {
    /// Appends a record to the log; returns `None` if there is no log.
    fn append(&mut self, record: &[u8]) -> Option<usize> {
        let log = self.log.as_mut()?;
        match log.add(record) {
            Ok(range) => {
                self.held += record.len();
                Some(range.start)
            }
            Err(error) => {
                self.give_up(&error.to_string());
                None
            }
        }
    }

    fn give_up(&mut self, sentence: &str) {
        self.log = None;
        self.folding = None;
        self.notes.push(format!(
            "The index is no longer written to disk: {sentence}."
        ));
    }

    /// Opens the words on disk, and loads those not yet folded into memory.
    fn load_words(&mut self, contents: &mut StoreContents, mut folded: u64) {
        if let Some(disk) = &self.disk
            && folded > 0
        {
            match disk.read(None) {
                Ok(read) => contents.folded = Some(read),
                Err(error) => {
                    self.notes
                        .push(format!("The index of words cannot be read: {error}."));
                    self.disk = None;
                    folded = 0;
                }
            }
        }
        let mut delta = TermDelta::default();
        for (id, entry) in contents.entries.iter_mut().enumerate() {
            let Some(entry) = entry else { continue };
            if entry.kept.is_none_or(|start| (start as u64) < folded) {
                continue;
            }
            if entry
                .unchecked
                .is_none_or(|crc| crc32fast::hash(&entry.bytes) == crc)
            {
                delta.add(&entry.layout, &entry.bytes, entry.first);
                self.unfolded.push(id as u32);
                self.unfolded_chunks += entry.layout.count as usize;
            }
        }
        contents.delta = delta;
    }
}

impl StoreContents {
    /// Returns an entry by its number, or `None` if the entry was removed.
    pub(crate) fn entry(&self, id: u32) -> Option<&StoredFile> {
        self.entries.get(id as usize)?.as_ref()
    }

    /// Returns all entries, including entries outside of every worktree's view.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &StoredFile> {
        self.entries.iter().flatten()
    }

    /// Returns the entry that contains a chunk, or `None` if the entry was removed.
    pub(crate) fn owner(&self, chunk: u32) -> Option<&StoredFile> {
        self.entry(*self.owners.get(chunk as usize)?)
    }

    /// Returns the number of words of a chunk, or 0 for an unknown chunk.
    pub(crate) fn length(&self, chunk: u32) -> u16 {
        self.lengths.get(chunk as usize).copied().unwrap_or(0)
    }

    /// Returns the flags of a chunk, such as `IN_TESTS`, or 0 for an unknown chunk.
    pub(crate) fn flags(&self, chunk: u32) -> u8 {
        self.flags.get(chunk as usize).copied().unwrap_or(0)
    }

    /// Returns the highest chunk number plus one.
    pub(crate) fn chunk_end(&self) -> usize {
        self.lengths.len()
    }

    /// Calls `each` with every chunk that contains `word`, and the number of occurrences in it.
    /// Includes chunks outside of every worktree's view. Logs disk errors.
    pub(crate) fn each_posting(&self, word: &str, mut each: impl FnMut(u32, u32)) {
        if let Some(folded) = &self.folded {
            let read = folded.each(word, &mut each);
            if let Err(error) = read {
                log::warn!("cannot read the words of the index: {error}");
            }
        }
        for (chunk, count) in self.delta.postings(word) {
            each(*chunk, u32::from(*count));
        }
    }

    /// Returns the approximate memory use in bytes. Mapped data counts, since a query reads all of
    /// it.
    pub(crate) fn size(&self) -> u64 {
        let held: usize = self
            .entries
            .iter()
            .flatten()
            .map(|entry| match &entry.bytes {
                RecordBytes::Held(bytes) => bytes.len(),
                RecordBytes::Mapped(_, range) => range.len(),
            })
            .sum();
        let chunks = self.lengths.len() * 11
            + self
                .folded
                .as_ref()
                .map_or(0, lexical::LexicalSnapshot::len);
        (held + chunks + self.entries.len() * 200 + self.delta.size()) as u64
    }

    fn take_in_record(&mut self, map: &Arc<MappedFile>, record: &record_log::RecordRange) {
        let bytes = RecordBytes::Mapped(map.clone(), record.range.clone());
        let Some(layout) = RecordLayout::of(&bytes) else {
            return;
        };
        let Some(path) = bytes.get(layout.path()) else {
            return;
        };
        // Chunk numbers ascend along the log; one that does not indicates damage, and its file is
        // read again.
        let end = self.lengths.len();
        if !(end..=end + MAX_CHUNK_GAP).contains(&(layout.first as usize)) {
            return;
        }
        self.lengths.resize(layout.first as usize, 0);
        self.flags.resize(layout.first as usize, 0);
        self.owners.resize(layout.first as usize, u32::MAX);
        let entry = StoredFile {
            path: String::from_utf8_lossy(path).into(),
            first: layout.first,
            layout,
            bytes,
            unchecked: Some(record.crc),
            kept: Some(record.range.start),
        };
        self.take_in(entry, Persistence::Durable);
    }

    /// Appends an entry with its chunks and returns its id. A durable entry is also found by its
    /// path and content.
    fn take_in(&mut self, entry: StoredFile, keep: Persistence) -> u32 {
        let id = self.entries.len() as u32;
        let lengths = entry.bytes.get(entry.layout.lengths()).unwrap_or_default();
        let lengths = lengths.as_chunks::<2>().0.iter();
        self.lengths
            .extend(lengths.map(|length| u16::from_le_bytes(*length)));
        let flags = entry.bytes.get(entry.layout.flags()).unwrap_or_default();
        self.flags.extend_from_slice(flags);
        self.owners.resize(self.lengths.len(), id);
        if keep == Persistence::Durable {
            self.by_key.insert(key(&entry.path, &entry.layout.blob), id);
        }
        self.entries.push(Some(entry));
        id
    }
}

/// Returns the key of a content under a path.
fn key(path: &str, blob: &Blob) -> u128 {
    let mut bytes = Vec::with_capacity(path.len() + blob.len());
    bytes.extend_from_slice(blob);
    bytes.extend_from_slice(path.as_bytes());
    ContentHash::of(&bytes).0
}

#[cfg(test)]
mod tests;
