//! Everything that is known of a repository, for all its worktrees: indexed files, their chunks, words and vectors.
//!
//! An entry is one content under one path; whoever has that content there shares it. The log holds the entries, and
//! tantivy's index the words of those that were folded; the words of the others are in memory. What of it a worktree
//! sees is in `view`.
//! Invariant: numbers of chunks are never given twice, so a set of numbers is all that a view needs.
//! Invariant: an entry whose bytes are not those that were written is never handed out.

mod fold;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::Duration;

use base::{AbsPath, LogErr};
use host::{ContentHash, Files, Lock, RealFiles};

use crate::delta::Delta;
use crate::disk::{self, Disk, Folding};
use crate::entries::{self, Log};
use crate::map::{Bytes, Map};
use crate::record::{Blob, Layout, set_first};

pub(crate) use fold::Fold;

/// Bytes of new entries that stay in memory before the log is mapped anew.
const MOST_HELD: usize = 8 << 20;
/// Chunks whose words are written at once: their words are in memory twice meanwhile.
const MOST_UNFOLDED: usize = if cfg!(test) { 60 } else { 20_000 };
/// Fewer are written when everything is in, and nobody waits for it.
const WORTH_HANDING_ON: usize = MOST_UNFOLDED / 2;
/// Numbers between two entries that passing ones may have had.
const MOST_GAP: usize = 1 << 24;
/// Fewer chunks are not worth a part of tantivy's index; their words are read from the log.
const LEAST_FOLDED: usize = if cfg!(test) { 8 } else { 1_000 };
/// How often, and how long in between, a store that is being let go of is asked for.
const LOCK_TRIES: usize = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The store of one repository. Shared by every index over one of its worktrees.
pub(crate) struct Store {
    known: RwLock<Known>,
    keeper: Mutex<Keeper>,
}

/// What can be asked.
#[derive(Default)]
pub(crate) struct Known {
    entries: Vec<Option<Entry>>,
    by_key: HashMap<u128, u32>,
    /// For every chunk how many words it has, what it is, and the entry it belongs to.
    lengths: Vec<u16>,
    flags: Vec<u8>,
    owners: Vec<u32>,
    pub(crate) delta: Delta,
    pub(crate) folded: Option<disk::Snapshot>,
}

/// An indexed file.
pub(crate) struct Entry {
    pub(crate) path: Arc<str>,
    pub(crate) layout: Layout,
    /// The number of its first chunk.
    pub(crate) first: u32,
    pub(crate) bytes: Bytes,
    /// Its checksum, until it was looked at.
    unchecked: Option<u32>,
    /// Where it stands in the log, if it does.
    kept: Option<usize>,
}

/// What writes.
#[derive(Default)]
struct Keeper {
    path: Option<AbsPath>,
    log: Option<Log>,
    disk: Option<Disk>,
    id: u64,
    /// Entries of the log whose words are in memory, in the log's order, and how many chunks they have.
    unfolded: Vec<u32>,
    unfolded_chunks: usize,
    /// The words of so many of them are on their way into `disk`, by this.
    folding: Option<(Folding, usize)>,
    held: usize,
    notes: Vec<String>,
    _lock: Option<Lock>,
}

/// Whether an entry is worth a place on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is a file's content.
    Kept,
    /// It is what somebody types.
    Passing,
}

impl Store {
    /// The store in `folder`, opened once for all who ask; without a folder one in memory for the caller alone.
    pub(crate) fn of(folder: Option<&AbsPath>, table: [u8; 8]) -> Arc<Self> {
        static OPEN: Mutex<Vec<(AbsPath, Weak<Store>)>> = Mutex::new(Vec::new());
        let Some(folder) = folder else {
            return Arc::new(Self::in_memory(Vec::new()));
        };
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.iter().find(|(known, _)| known == folder);
        if let Some(store) = known.and_then(|(_, store)| store.upgrade()) {
            return store;
        }
        let is_closing = known.is_some();
        open.retain(|(_, store)| store.strong_count() > 0);
        let store = Arc::new(
            Self::open(folder, table, is_closing).unwrap_or_else(|sentence| {
                Self::in_memory(vec![format!(
                    "The index is kept in memory only: {sentence}."
                )])
            }),
        );
        open.push((folder.clone(), Arc::downgrade(&store)));
        store
    }

    fn in_memory(notes: Vec<String>) -> Self {
        let keeper = Keeper {
            notes,
            ..Keeper::default()
        };
        Self {
            known: RwLock::default(),
            keeper: Mutex::new(keeper),
        }
    }

    /// `is_closing` says that another thread of ours may be about to let go of it.
    fn open(folder: &AbsPath, table: [u8; 8], is_closing: bool) -> Result<Self, String> {
        let sentence = |error: host::Error| error.to_string();
        RealFiles.create_folder(folder).map_err(sentence)?;
        let path = folder.join("lock");
        let mut lock = RealFiles.lock(&path).map_err(sentence)?;
        let tries = if is_closing { LOCK_TRIES } else { 0 };
        for _ in 0..tries {
            if lock.is_some() {
                break;
            }
            std::thread::park_timeout(LOCK_PAUSE);
            lock = RealFiles.lock(&path).map_err(sentence)?;
        }
        let path = folder.join("entries");
        let opened = entries::open(&path, table, lock.is_some()).map_err(sentence)?;
        let mut notes: Vec<String> = opened.note.into_iter().collect();
        let mut known = Known::default();
        if let Some(map) = &opened.map {
            for record in &opened.records {
                known.take_in_record(map, record);
            }
        }
        let words = folder.join("words");
        let has_words = lock.is_some() || RealFiles.exists(&words.join("meta.json"));
        let disk = match has_words && opened.id != 0 {
            true => Disk::open(&words, opened.id, opened.end, lock.is_some())
                .map(|(disk, at)| (Some(disk), at)),
            false => Ok((None, 0)),
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
        let mut keeper = Keeper {
            path: Some(path),
            log: opened.log,
            disk,
            id: opened.id,
            notes,
            _lock: lock,
            ..Keeper::default()
        };
        keeper.load_words(&mut known, folded);
        Ok(Self {
            known: RwLock::new(known),
            keeper: Mutex::new(keeper),
        })
    }

    /// What is known, to ask.
    pub(crate) fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn keeper(&self) -> std::sync::MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of a content under a path, if it is known and whole. `length` is that of the file now.
    pub(crate) fn find(&self, path: &str, blob: &Blob, length: u64) -> Option<u32> {
        let id = {
            let known = self.known();
            let id = *known.by_key.get(&key(path, blob))?;
            let entry = known.entry(id)?;
            if u64::from(entry.layout.text) != length || &*entry.path != path {
                return None;
            }
            match entry.unchecked {
                None => return Some(id),
                Some(crc) if crc32fast::hash(&entry.bytes) == crc => id,
                Some(_) => {
                    drop(known);
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
        let note = "A part of the index was damaged, and what it held is read again.";
        let mut keeper = self.keeper();
        if !keeper.notes.iter().any(|known| known == note) {
            keeper.notes.push(note.to_owned());
        }
    }

    /// Takes records in and gives their entries.
    pub(crate) fn add(&self, records: Vec<Vec<u8>>, keep: Keep) -> Vec<u32> {
        let mut keeper = self.keeper();
        let mut ids = Vec::with_capacity(records.len());
        for mut record in records {
            let Some(layout) = Layout::of(&record) else {
                continue;
            };
            let first = self.known().lengths.len() as u32;
            set_first(&mut record, first);
            let kept = match keep {
                Keep::Kept => keeper.append(&record),
                Keep::Passing => None,
            };
            let path = String::from_utf8_lossy(&record[layout.path()]).into();
            let mut layout = layout;
            layout.first = first;
            let entry = Entry {
                path,
                layout,
                first,
                bytes: Bytes::Held(record.into()),
                unchecked: None,
                kept,
            };
            let mut known = self.change();
            known.delta.add(&entry.layout, &entry.bytes, first);
            let id = known.take_in(entry, keep);
            if kept.is_some() {
                keeper.unfolded.push(id);
                keeper.unfolded_chunks += layout.count as usize;
            }
            ids.push(id);
        }
        if keeper.held > MOST_HELD {
            self.map_anew(&mut keeper);
        }
        ids
    }

    /// Forgets an entry that was only passing.
    pub(crate) fn drop_passing(&self, id: u32) {
        let mut known = self.change();
        let is_passing = known.entry(id).is_some_and(|entry| entry.kept.is_none());
        if is_passing
            && let Some(place) = known.entries.get_mut(id as usize)
            && let Some(entry) = place.take()
        {
            known.delta.remove(&entry.layout, &entry.bytes, entry.first);
        }
    }

    /// Writes what waits. With `Fold::Now` words too, where they are worth it. Says whether words were.
    pub(crate) fn keep(&self, fold: Fold) -> bool {
        let mut keeper = self.keeper();
        let keeper = &mut *keeper;
        if let Some(log) = &mut keeper.log
            && let Err(error) = log.flush()
        {
            keeper.give_up(&error.to_string());
        }
        let least = match fold {
            Fold::Now => LEAST_FOLDED,
            Fold::WhenMany | Fold::Beside => MOST_UNFOLDED,
        };
        let is_worth_it = keeper.unfolded_chunks >= least;
        if is_worth_it {
            self.fold(keeper);
            self.map_anew(keeper);
        } else if fold == Fold::Beside && keeper.unfolded_chunks >= WORTH_HANDING_ON {
            let folding = self.hand_on(keeper);
            keeper.folding = keeper.or_without_disk(folding);
        }
        is_worth_it
    }

    /// Lets the entries of the log be read from it, instead of from memory.
    fn map_anew(&self, keeper: &mut Keeper) {
        let (Some(log), Some(path)) = (&mut keeper.log, &keeper.path) else {
            return;
        };
        keeper.held = 0;
        if log.flush().log_err().is_none() {
            return;
        }
        let Ok(Some(map)) = Map::of(path) else {
            return;
        };
        let map = Arc::new(map);
        for entry in self.change().entries.iter_mut().flatten() {
            let length = entry.bytes.len();
            let range = entry.kept.map(|start| start..start + length);
            let is_there = range.clone().and_then(|range| map.bytes().get(range));
            if let (Some(range), Some(_)) = (range, is_there) {
                entry.bytes = Bytes::Mapped(map.clone(), range);
            }
        }
    }

    /// What a person should know.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.keeper().notes.clone()
    }

    /// Bytes on the disk.
    pub(crate) fn disk_size(&self) -> u64 {
        let keeper = self.keeper();
        let log = keeper.log.as_ref().map_or(0, Log::end);
        log + keeper.disk.as_ref().map_or(0, Disk::size)
    }
}

impl Keeper {
    /// Adds a record to the log; `None` where there is none.
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
            "The index is no longer kept on the disk: {sentence}."
        ));
    }

    /// Reads the words that are on the disk, and takes those that are not yet into memory.
    fn load_words(&mut self, known: &mut Known, mut folded: u64) {
        if let Some(disk) = &self.disk
            && folded > 0
        {
            match disk.read(None) {
                Ok(read) => known.folded = Some(read),
                Err(error) => {
                    self.notes
                        .push(format!("The index of words cannot be read: {error}."));
                    self.disk = None;
                    folded = 0;
                }
            }
        }
        let mut delta = Delta::default();
        for (id, entry) in known.entries.iter_mut().enumerate() {
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
        known.delta = delta;
    }
}

impl Known {
    /// An entry by its number.
    pub(crate) fn entry(&self, id: u32) -> Option<&Entry> {
        self.entries.get(id as usize)?.as_ref()
    }

    /// All entries, those of no view included.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().flatten()
    }

    /// The entry of a chunk.
    pub(crate) fn owner(&self, chunk: u32) -> Option<&Entry> {
        self.entry(*self.owners.get(chunk as usize)?)
    }

    /// How many words a chunk has.
    pub(crate) fn length(&self, chunk: u32) -> u16 {
        self.lengths.get(chunk as usize).copied().unwrap_or(0)
    }

    /// What a chunk is.
    pub(crate) fn flags(&self, chunk: u32) -> u8 {
        self.flags.get(chunk as usize).copied().unwrap_or(0)
    }

    /// One more than the highest number of a chunk.
    pub(crate) fn end(&self) -> usize {
        self.lengths.len()
    }

    /// Calls `each` with the chunks that hold a word, and how often, those of no view included.
    pub(crate) fn each_place(&self, word: &str, mut each: impl FnMut(u32, u32)) {
        if let Some(folded) = &self.folded {
            let read = folded.each(word, &mut each);
            if let Err(error) = read {
                log::warn!("cannot read the words of the index: {error}");
            }
        }
        for (chunk, count) in self.delta.places(word) {
            each(*chunk, u32::from(*count));
        }
    }

    /// About how many bytes of memory it takes. What is mapped counts: a question looks at all of it.
    pub(crate) fn size(&self) -> u64 {
        let held: usize = self
            .entries
            .iter()
            .flatten()
            .map(|entry| match &entry.bytes {
                Bytes::Held(bytes) => bytes.len(),
                Bytes::Mapped(_, range) => range.len(),
            })
            .sum();
        let chunks = self.lengths.len() * 11 + self.folded.as_ref().map_or(0, disk::Snapshot::len);
        (held + chunks + self.entries.len() * 200 + self.delta.size()) as u64
    }

    fn take_in_record(&mut self, map: &Arc<Map>, record: &entries::Found) {
        let bytes = Bytes::Mapped(map.clone(), record.range.clone());
        let Some(layout) = Layout::of(&bytes) else {
            return;
        };
        let Some(path) = bytes.get(layout.path()) else {
            return;
        };
        // Numbers only grow along the log; one that does not is damage, and its file is read again.
        let end = self.lengths.len();
        if !(end..=end + MOST_GAP).contains(&(layout.first as usize)) {
            return;
        }
        self.lengths.resize(layout.first as usize, 0);
        self.flags.resize(layout.first as usize, 0);
        self.owners.resize(layout.first as usize, u32::MAX);
        let entry = Entry {
            path: String::from_utf8_lossy(path).into(),
            first: layout.first,
            layout,
            bytes,
            unchecked: Some(record.crc),
            kept: Some(record.range.start),
        };
        self.take_in(entry, Keep::Kept);
    }

    fn take_in(&mut self, entry: Entry, keep: Keep) -> u32 {
        let id = self.entries.len() as u32;
        let lengths = entry.bytes.get(entry.layout.lengths()).unwrap_or_default();
        let lengths = lengths.as_chunks::<2>().0.iter();
        self.lengths
            .extend(lengths.map(|length| u16::from_le_bytes(*length)));
        let flags = entry.bytes.get(entry.layout.flags()).unwrap_or_default();
        self.flags.extend_from_slice(flags);
        self.owners.resize(self.lengths.len(), id);
        if keep == Keep::Kept {
            self.by_key.insert(key(&entry.path, &entry.layout.blob), id);
        }
        self.entries.push(Some(entry));
        id
    }
}

/// Names a content under a path.
fn key(path: &str, blob: &Blob) -> u128 {
    let mut bytes = Vec::with_capacity(path.len() + blob.len());
    bytes.extend_from_slice(blob);
    bytes.extend_from_slice(path.as_bytes());
    ContentHash::of(&bytes).0
}

#[cfg(test)]
mod tests;
