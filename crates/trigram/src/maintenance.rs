//! Maintenance: reading, merging segments, writing to disk.
//!
//! Segments read together are merged together. Later ones collect in memory, are written together,
//! and are merged with the largest one once they are a considerable part of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use base::{AbsPath, LogErr};
use host::{BulkStat, Files, RealFiles};

use super::file_table::{ContentState, FileTable, OpenSegment};
use super::freshness::Freshness;
use super::read_files::{self, SegmentStore};
use super::segment::{SegmentSink, TrigramSegment, WriteError, merge};
use super::state::{TrigramError, TrigramState, Upkeep, lock};
use super::version_check::{except, is_unchanged};
use super::{catalog, listing};

/// Maximum number of segments in memory before they are merged.
const IN_MEMORY: usize = 8;
/// Maximum size in bytes of segments in memory before they are written.
const BYTES_IN_MEMORY: u64 = 4 << 20;
/// Maximum number of segments on disk before they are merged.
const ON_DISK: usize = 6;
/// Number of pairs from which a segment is written to disk at once.
const PAIRS_IN_MEMORY: usize = 200_000;

/// The numbers of files known and read by a refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Number of files below the root.
    pub files: usize,
    /// Number of files that were read.
    pub read: usize,
}

impl TrigramState {
    /// Does the work of `Trigrams::refresh`. Returns an error if the root is unreadable, writing
    /// fails, or `cancel` was set; files that were read until then stay in the index.
    pub(super) fn refresh(&self, cancel: &AtomicBool) -> Result<Refreshed, TrigramError> {
        let bulk_stat = self.bulk_stat()?;
        let mut upkeep = lock(&self.upkeep);
        let listed = listing::list(&self.root, bulk_stat, &self.current(), cancel);
        let mut table = listed.ok_or(TrigramError::Cancelled)?;
        let unread = forget_changed(bulk_stat, &mut table);
        // Searches see the new files at once; they read those that are not indexed yet.
        self.publish(table.clone());
        upkeep.is_unsaved = true;
        let read = self.read(bulk_stat, &mut upkeep, table, &unread, cancel);
        self.tidy(&mut upkeep, Tidy::All)?;
        let files = self.current().files.len();
        read?;
        self.save(&mut upkeep)?;
        if self.is_lasting {
            *lock(&self.freshness) =
                Freshness::start(&self.root, bulk_stat, &self.current()).map(Arc::new);
        }
        if cancel.load(Ordering::Relaxed) {
            Err(TrigramError::Cancelled)
        } else {
            Ok(Refreshed {
                files,
                read: unread.len(),
            })
        }
    }

    pub(super) fn touch(&self, paths: &[AbsPath]) {
        let Ok(bulk_stat) = self.bulk_stat() else {
            return;
        };
        let mut upkeep = lock(&self.upkeep);
        let old = self.current();
        if old.folders.is_empty() {
            return;
        }
        let never = AtomicBool::new(false);
        let folders = touched_folders(bulk_stat, &old, &self.root, paths);
        let listed = if folders.is_empty() {
            Some(FileTable::clone(&old))
        } else {
            listing::list_folders(&self.root, bulk_stat, &old, &folders)
                .or_else(|| listing::list(&self.root, bulk_stat, &old, &never))
        };
        let Some(mut table) = listed else {
            return;
        };
        for path in paths {
            let file = path
                .relative_to(&self.root)
                .and_then(|path| table.file(path));
            if let Some(ix) = file {
                forget_if_changed(bulk_stat, &mut table, ix);
            }
        }
        let unread = unread(&table);
        self.read(bulk_stat, &mut upkeep, table, &unread, &never)
            .log_err();
        self.tidy(&mut upkeep, Tidy::Memory).log_err();
    }

    /// Does the work of `Trigrams::persist`. Returns an error if the root is unreadable or writing
    /// fails.
    pub(super) fn persist(&self) -> Result<(), TrigramError> {
        let bulk_stat = self.bulk_stat()?;
        let mut upkeep = lock(&self.upkeep);
        let table = self.current();
        let unread = unread(&table);
        if !unread.is_empty() {
            let never = AtomicBool::new(false);
            self.read(
                bulk_stat,
                &mut upkeep,
                FileTable::clone(&table),
                &unread,
                &never,
            )?;
        }
        if !upkeep.is_unsaved {
            return Ok(());
        }
        self.tidy(&mut upkeep, Tidy::All)?;
        self.save(&mut upkeep)
    }

    /// Starts a refresh in the background, unless one is running.
    pub(super) fn refresh_in_background(self: &Arc<Self>) {
        if !self.is_lasting || self.is_refreshing.swap(true, Ordering::AcqRel) {
            return;
        }
        let state = Arc::clone(self);
        let thread = thread::Builder::new().name("trigrams".to_owned());
        let started = thread.spawn(move || {
            state.refresh(&AtomicBool::new(false)).log_err();
            state.is_refreshing.store(false, Ordering::Release);
        });
        if started.is_err() {
            self.is_refreshing.store(false, Ordering::Release);
        }
    }

    /// Returns the access to the files below the root; an error if the root could not be opened.
    fn bulk_stat(&self) -> Result<&BulkStat, TrigramError> {
        let bulk_stat = self.bulk_stat.as_ref();
        bulk_stat.ok_or_else(|| TrigramError::Unreadable(self.root.clone()))
    }

    /// Reads files into `table` and publishes it.
    fn read(
        &self,
        bulk_stat: &BulkStat,
        upkeep: &mut Upkeep,
        mut table: FileTable,
        files: &[usize],
        cancel: &AtomicBool,
    ) -> Result<(), TrigramError> {
        let segment_store = DiskSegmentStore {
            store: upkeep.lock.is_some().then_some(&self.store),
            least: PAIRS_IN_MEMORY,
            next: std::sync::Mutex::new(&mut upkeep.next_number),
        };
        let read = read_files::read(bulk_stat, &mut table, files, &segment_store, cancel);
        upkeep.is_unsaved = true;
        self.publish(table);
        read.map_err(unwritten)
    }

    /// Merges segments if there are too many.
    fn tidy(&self, upkeep: &mut Upkeep, what: Tidy) -> Result<(), TrigramError> {
        let table = self.current();
        let chosen = choose(&table, what, upkeep.lock.is_some());
        let Some((chosen, to_disk)) = chosen else {
            return Ok(());
        };
        let segment_store = DiskSegmentStore {
            store: to_disk.then_some(&self.store),
            least: 0,
            next: std::sync::Mutex::new(&mut upkeep.next_number),
        };
        match merged(&table, &chosen, &segment_store) {
            Ok(merged) => self.publish(merged),
            // The result would be too large: they stay as they are.
            Err(WriteError::TooLarge) => {}
            Err(WriteError::Torn) => {
                self.note(format!(
                    "the text index in {} is rebuilt: a segment is damaged",
                    self.store
                ));
                *lock(&self.table) = Arc::default();
            }
            Err(WriteError::Disk(error)) => return Err(TrigramError::Unwritten(error.to_string())),
        }
        upkeep.is_unsaved = true;
        Ok(())
    }

    /// Writes the catalog and removes segments that it does not name.
    fn save(&self, upkeep: &mut Upkeep) -> Result<(), TrigramError> {
        if upkeep.lock.is_none() {
            return Ok(());
        }
        let table = self.current();
        let written = catalog::write(&self.store, &self.root, &table);
        written.map_err(|error| TrigramError::Unwritten(error.to_string()))?;
        upkeep.is_unsaved = false;
        let numbers = table.segments.iter().filter_map(|held| held.number);
        let named: HashSet<String> = numbers.map(catalog::segment_name).collect();
        let Ok(listing) = RealFiles.list(&self.store) else {
            return Ok(());
        };
        for entry in listing.entries {
            let name = entry.path.name();
            if name.ends_with(".segment") && !named.contains(&name) {
                RealFiles.remove(&entry.path).log_err();
            }
        }
        Ok(())
    }

    /// Makes numbers start above those of all segments in the store.
    pub(super) fn begin_numbers(&self) {
        let listing = RealFiles.list(&self.store).unwrap_or_default();
        let numbers = listing.entries.iter().filter_map(|entry| {
            let name = entry.path.name();
            u64::from_str_radix(name.strip_suffix(".segment")?, 16).ok()
        });
        lock(&self.upkeep).next_number = numbers.max().map_or(1, |number| number + 1);
    }
}

/// The extent of maintenance.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tidy {
    /// Merge segments in memory if there are many.
    Memory,
    /// Write the segments in memory, too.
    All,
}

/// Returns the segments to merge, and whether the result is written to disk.
fn choose(table: &FileTable, what: Tidy, may_write: bool) -> Option<(Vec<usize>, bool)> {
    let segments = table.segments.iter().enumerate();
    let (memory, disk): (Vec<_>, Vec<_>) =
        segments.partition(|(_, held)| held.segment.is_in_memory());
    let bytes =
        |held: &[(usize, &OpenSegment)]| held.iter().map(|(_, held)| held.segment.bytes()).sum();
    let (in_memory, on_disk): (u64, u64) = (bytes(&memory), bytes(&disk));
    let largest = disk.iter().map(|(_, held)| held.segment.bytes()).max();
    let writes =
        may_write && !memory.is_empty() && (what == Tidy::All || in_memory > BYTES_IN_MEMORY);
    let rest = on_disk - largest.unwrap_or(0) + in_memory;
    let is_due = disk.len() + 1 > ON_DISK || rest * 4 > largest.unwrap_or(0) || is_half_dead(table);
    let numbers = |held: &[(usize, &OpenSegment)]| held.iter().map(|(ix, _)| *ix).collect();
    if may_write && what == Tidy::All && table.segments.len() > 1 && is_due {
        return Some(((0..table.segments.len()).collect(), true));
    }
    if writes {
        return Some((numbers(&memory), true));
    }
    (memory.len() > IN_MEMORY).then(|| (numbers(&memory), false))
}

/// Returns whether more than half of the files in segments are obsolete.
fn is_half_dead(table: &FileTable) -> bool {
    let contents = table.files.iter().map(|file| file.content);
    let live = contents.filter(|content| matches!(content, ContentState::Grams { .. }));
    let all: u64 = table
        .segments
        .iter()
        .map(|held| u64::from(held.segment.files()))
        .sum();
    (live.count() as u64) * 2 < all
}

/// Returns `table` with one segment in place of the chosen ones.
fn merged(
    table: &FileTable,
    chosen: &[usize],
    segment_store: &dyn SegmentStore,
) -> Result<FileTable, WriteError> {
    let mut numbers: Vec<Vec<Option<u32>>> = table
        .segments
        .iter()
        .map(|held| vec![None; held.segment.files() as usize])
        .collect();
    for file in &table.files {
        if let ContentState::Grams { segment, file, .. } = file.content {
            // The actual number is assigned below.
            numbers[segment as usize][file as usize] = Some(0);
        }
    }
    let mut files = 0;
    for segment in chosen {
        for number in numbers[*segment].iter_mut().flatten() {
            *number = files;
            files += 1;
        }
    }
    let sources: Vec<&TrigramSegment> = chosen
        .iter()
        .map(|ix| &*table.segments[*ix].segment)
        .collect();
    let renumbered: Vec<_> = chosen.iter().map(|ix| numbers[*ix].clone()).collect();
    let pairs: u64 = sources.iter().map(|segment| segment.bytes()).sum();
    let (sink, number) = segment_store.allocate(usize::try_from(pairs).unwrap_or(usize::MAX))?;
    let sink = merge(&sources, &renumbered, files, sink)?;
    let segment = Arc::new(segment_store.finish(sink, number)?);
    let mut next = table.clone();
    next.segments = Vec::new();
    let mut new_index = vec![0; table.segments.len()];
    for (ix, held) in table.segments.iter().enumerate() {
        if !chosen.contains(&ix) {
            new_index[ix] = next.segments.len() as u32;
            next.segments.push(held.clone());
        }
    }
    let merged_index = next.segments.len() as u32;
    next.segments.push(OpenSegment { segment, number });
    for file in &mut next.files {
        if let ContentState::Grams { segment, file, .. } = &mut file.content {
            let old = *segment as usize;
            if chosen.contains(&old) {
                *file = numbers[old][*file as usize].unwrap_or(0);
                *segment = merged_index;
            } else {
                *segment = new_index[old];
            }
        }
    }
    Ok(next)
}

/// Returns the indices of the files that are not read yet, ascending.
fn unread(table: &FileTable) -> Vec<usize> {
    let files = table.files.iter().enumerate();
    files
        .filter(|(_, file)| file.content == ContentState::Unread)
        .map(|(ix, _)| ix)
        .collect()
}

/// Marks changed files as unread. Returns all unread files.
fn forget_changed(bulk_stat: &BulkStat, table: &mut FileTable) -> Vec<usize> {
    let changed = except(table.files.len(), |ix| {
        let file = &table.files[ix];
        is_unchanged(bulk_stat, table.path(file.name), file.content.mark())
    });
    for ix in &changed {
        table.files[*ix].content = ContentState::Unread;
    }
    changed
}

fn forget_if_changed(bulk_stat: &BulkStat, table: &mut FileTable, ix: usize) {
    let file = table.files[ix];
    let mark = file.content.mark();
    if mark.is_some() && bulk_stat.version(table.path(file.name)) != mark {
        table.files[ix].content = ContentState::Unread;
    }
}

/// Returns the known folders in which a change of these paths shows, if they did change.
fn touched_folders(
    bulk_stat: &BulkStat,
    table: &FileTable,
    root: &AbsPath,
    paths: &[AbsPath],
) -> Vec<usize> {
    let mut folders: Vec<usize> = paths
        .iter()
        .filter_map(|path| path.relative_to(root))
        .flat_map(|path| path.ancestors().take(2))
        .filter_map(|folder| table.folder(folder))
        .collect();
    folders.sort_unstable();
    folders.dedup();
    folders.retain(|ix| {
        let folder = &table.folders[*ix];
        folder.mark.is_none() || bulk_stat.version(table.path(folder.name)) != folder.mark
    });
    folders
}

fn unwritten(error: WriteError) -> TrigramError {
    TrigramError::Unwritten(match error {
        WriteError::Torn => "a segment cannot be read back".to_owned(),
        WriteError::TooLarge => "a segment grew too large".to_owned(),
        WriteError::Disk(error) => error.to_string(),
    })
}

/// Stores segments on disk, or in memory if they are small or nothing may be written.
struct DiskSegmentStore<'a> {
    store: Option<&'a AbsPath>,
    /// Number of pairs from which a segment is stored on disk.
    least: usize,
    next: std::sync::Mutex<&'a mut u64>,
}

impl SegmentStore for DiskSegmentStore<'_> {
    fn allocate(&self, pairs: usize) -> Result<(SegmentSink, Option<u64>), host::Error> {
        let Some(store) = self.store.filter(|_| pairs >= self.least) else {
            return Ok((SegmentSink::Memory(Vec::new()), None));
        };
        let number = {
            let mut next = lock(&self.next);
            **next += 1;
            **next - 1
        };
        let log = RealFiles.open_log(&catalog::segment_path(store, number))?;
        Ok((SegmentSink::Disk(log, Vec::new()), Some(number)))
    }

    fn finish(&self, sink: SegmentSink, number: Option<u64>) -> Result<TrigramSegment, WriteError> {
        let segment = match (sink, number, self.store) {
            (SegmentSink::Memory(bytes), _, _) => TrigramSegment::in_memory(bytes),
            (SegmentSink::Disk(..), Some(number), Some(store)) => {
                TrigramSegment::open(&catalog::segment_path(store, number))
            }
            (SegmentSink::Disk(..), ..) => return Err(WriteError::Torn),
        };
        Ok(segment?)
    }
}
