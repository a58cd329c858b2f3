//! Keeping it up to date: reading, merging segments, writing down.
//!
//! Segments read at once are merged at once. Later ones gather in memory, are written together, and are merged with the
//! large one when they are a good part of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, LogErr};
use host::{Files, RealFiles, Survey};

use super::known::{Content, Held, Known};
use super::reading::{self, Shelf};
use super::segment::{Segment, Sink, WriteError, merge};
use super::sift::{except, looks_so};
use super::trust::Trust;
use super::{Inner, Refreshed, TrigramError, Upkeep, catalog, listing, lock};

/// Segments in memory; then they become one.
const IN_MEMORY: usize = 8;
/// Bytes of segments in memory; then they are written.
const BYTES_IN_MEMORY: u64 = 4 << 20;
/// Segments on the disk; then they become one.
const ON_DISK: usize = 6;
/// Pairs from which on a segment goes to the disk right away.
const PAIRS_IN_MEMORY: usize = 200_000;

impl Inner {
    pub(super) fn refresh(&self, cancel: &AtomicBool) -> Result<Refreshed, TrigramError> {
        let survey = self.survey()?;
        let mut upkeep = lock(&self.upkeep);
        let listed = listing::list(&self.root, survey, &self.known(), cancel);
        let mut known = listed.ok_or(TrigramError::Cancelled)?;
        let unread = forget_changed(survey, &mut known);
        // Searches know at once what there is; what is not read yet they look into.
        self.publish(known.clone());
        upkeep.is_unsaved = true;
        let read = self.read(survey, &mut upkeep, known, &unread, cancel);
        self.tidy(&mut upkeep, Tidy::All)?;
        let files = self.known().files.len();
        read?;
        self.save(&mut upkeep)?;
        if self.is_lasting {
            *lock(&self.trust) = Trust::begin(&self.root, survey, &self.known()).map(Arc::new);
        }
        match cancel.load(std::sync::atomic::Ordering::Relaxed) {
            true => Err(TrigramError::Cancelled),
            false => Ok(Refreshed {
                files,
                read: unread.len(),
            }),
        }
    }

    pub(super) fn touch(&self, paths: &[AbsPath]) {
        let Ok(survey) = self.survey() else {
            return;
        };
        let mut upkeep = lock(&self.upkeep);
        let old = self.known();
        if old.folders.is_empty() {
            return;
        }
        let never = AtomicBool::new(false);
        let folders = touched_folders(survey, &old, &self.root, paths);
        let listed = match folders.is_empty() {
            true => Some(Known::clone(&old)),
            false => listing::list_folders(&self.root, survey, &old, &folders)
                .or_else(|| listing::list(&self.root, survey, &old, &never)),
        };
        let Some(mut known) = listed else {
            return;
        };
        for path in paths {
            let file = path
                .relative_to(&self.root)
                .and_then(|path| known.file(path));
            if let Some(ix) = file {
                forget_if_changed(survey, &mut known, ix);
            }
        }
        let unread = unread(&known);
        self.read(survey, &mut upkeep, known, &unread, &never)
            .log_err();
        self.tidy(&mut upkeep, Tidy::Memory).log_err();
    }

    pub(super) fn keep(&self) -> Result<(), TrigramError> {
        let survey = self.survey()?;
        let mut upkeep = lock(&self.upkeep);
        let known = self.known();
        let unread = unread(&known);
        if !unread.is_empty() {
            let never = AtomicBool::new(false);
            self.read(survey, &mut upkeep, Known::clone(&known), &unread, &never)?;
        }
        if !upkeep.is_unsaved {
            return Ok(());
        }
        self.tidy(&mut upkeep, Tidy::All)?;
        self.save(&mut upkeep)
    }

    fn survey(&self) -> Result<&Survey, TrigramError> {
        let survey = self.survey.as_ref();
        survey.ok_or_else(|| TrigramError::Unreadable(self.root.clone()))
    }

    /// Reads files into `known` and makes it what searches go by.
    fn read(
        &self,
        survey: &Survey,
        upkeep: &mut Upkeep,
        mut known: Known,
        files: &[usize],
        cancel: &AtomicBool,
    ) -> Result<(), TrigramError> {
        let shelf = Store {
            store: upkeep.lock.is_some().then_some(&self.store),
            least: PAIRS_IN_MEMORY,
            next: std::sync::Mutex::new(&mut upkeep.next_number),
        };
        let read = reading::read(survey, &mut known, files, &shelf, cancel);
        upkeep.is_unsaved = true;
        self.publish(known);
        read.map_err(unwritten)
    }

    /// Merges segments where there are too many.
    fn tidy(&self, upkeep: &mut Upkeep, what: Tidy) -> Result<(), TrigramError> {
        let known = self.known();
        let chosen = choose(&known, what, upkeep.lock.is_some());
        let Some((chosen, to_disk)) = chosen else {
            return Ok(());
        };
        let shelf = Store {
            store: to_disk.then_some(&self.store),
            least: 0,
            next: std::sync::Mutex::new(&mut upkeep.next_number),
        };
        match merged(&known, &chosen, &shelf) {
            Ok(merged) => self.publish(merged),
            // Too much for one: they stay as they are.
            Err(WriteError::TooLarge) => {}
            Err(WriteError::Torn) => {
                self.note(format!(
                    "the text index in {} is made anew: a segment is damaged",
                    self.store
                ));
                *lock(&self.known) = Arc::default();
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
        let known = self.known();
        let written = catalog::write(&self.store, &self.root, &known);
        written.map_err(|error| TrigramError::Unwritten(error.to_string()))?;
        upkeep.is_unsaved = false;
        let numbers = known.segments.iter().filter_map(|held| held.number);
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

    /// Numbers go on behind those of any segment that lies there, whoever it belongs to.
    pub(super) fn begin_numbers(&self) {
        let listing = RealFiles.list(&self.store).unwrap_or_default();
        let numbers = listing.entries.iter().filter_map(|entry| {
            let name = entry.path.name();
            u64::from_str_radix(name.strip_suffix(".segment")?, 16).ok()
        });
        lock(&self.upkeep).next_number = numbers.max().map_or(1, |number| number + 1);
    }
}

/// How much is tidied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tidy {
    /// Only what gathers in memory, if it is much.
    Memory,
    /// What is in memory is written, too.
    All,
}

/// Which segments become one, and whether that one is written.
fn choose(known: &Known, what: Tidy, may_write: bool) -> Option<(Vec<usize>, bool)> {
    let segments = known.segments.iter().enumerate();
    let (memory, disk): (Vec<_>, Vec<_>) =
        segments.partition(|(_, held)| held.segment.is_in_memory());
    let bytes = |held: &[(usize, &Held)]| held.iter().map(|(_, held)| held.segment.bytes()).sum();
    let (in_memory, on_disk): (u64, u64) = (bytes(&memory), bytes(&disk));
    let largest = disk.iter().map(|(_, held)| held.segment.bytes()).max();
    let writes =
        may_write && !memory.is_empty() && (what == Tidy::All || in_memory > BYTES_IN_MEMORY);
    let rest = on_disk - largest.unwrap_or(0) + in_memory;
    let is_due = disk.len() + 1 > ON_DISK || rest * 4 > largest.unwrap_or(0) || is_half_dead(known);
    let numbers = |held: &[(usize, &Held)]| held.iter().map(|(ix, _)| *ix).collect();
    if may_write && what == Tidy::All && known.segments.len() > 1 && is_due {
        return Some(((0..known.segments.len()).collect(), true));
    }
    if writes {
        return Some((numbers(&memory), true));
    }
    (memory.len() > IN_MEMORY).then(|| (numbers(&memory), false))
}

/// Whether more than half of the files in segments are of no use any more.
fn is_half_dead(known: &Known) -> bool {
    let contents = known.files.iter().map(|file| file.content);
    let live = contents.filter(|content| matches!(content, Content::Grams { .. }));
    let all: u64 = known
        .segments
        .iter()
        .map(|held| u64::from(held.segment.files()))
        .sum();
    (live.count() as u64) * 2 < all
}

/// `known` with one segment in place of the chosen ones.
fn merged(known: &Known, chosen: &[usize], shelf: &dyn Shelf) -> Result<Known, WriteError> {
    let mut numbers: Vec<Vec<Option<u32>>> = known
        .segments
        .iter()
        .map(|held| vec![None; held.segment.files() as usize])
        .collect();
    for file in &known.files {
        if let Content::Grams { segment, file, .. } = file.content {
            // A number of its own comes below.
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
    let sources: Vec<&Segment> = chosen
        .iter()
        .map(|ix| &*known.segments[*ix].segment)
        .collect();
    let renumbered: Vec<_> = chosen.iter().map(|ix| numbers[*ix].clone()).collect();
    let pairs: u64 = sources.iter().map(|segment| segment.bytes()).sum();
    let (sink, number) = shelf.place(usize::try_from(pairs).unwrap_or(usize::MAX))?;
    let sink = merge(&sources, &renumbered, files, sink)?;
    let segment = Arc::new(shelf.take(sink, number)?);
    let mut next = known.clone();
    next.segments = Vec::new();
    let mut new_index = vec![0; known.segments.len()];
    for (ix, held) in known.segments.iter().enumerate() {
        if !chosen.contains(&ix) {
            new_index[ix] = next.segments.len() as u32;
            next.segments.push(held.clone());
        }
    }
    let merged_index = next.segments.len() as u32;
    next.segments.push(Held { segment, number });
    for file in &mut next.files {
        if let Content::Grams { segment, file, .. } = &mut file.content {
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

fn unread(known: &Known) -> Vec<usize> {
    let files = known.files.iter().enumerate();
    files
        .filter(|(_, file)| file.content == Content::Unread)
        .map(|(ix, _)| ix)
        .collect()
}

/// What does not look any more as it was read counts as unread. Answers all that is.
fn forget_changed(survey: &Survey, known: &mut Known) -> Vec<usize> {
    let changed = except(known.files.len(), |ix| {
        let file = &known.files[ix];
        looks_so(survey, known.path(file.name), file.content.mark())
    });
    for ix in &changed {
        known.files[*ix].content = Content::Unread;
    }
    changed
}

fn forget_if_changed(survey: &Survey, known: &mut Known, ix: usize) {
    let file = known.files[ix];
    let mark = file.content.mark();
    if mark.is_some() && survey.mark(known.path(file.name)) != mark {
        known.files[ix].content = Content::Unread;
    }
}

/// The known folders that a change of these paths shows in, where they did change.
fn touched_folders(
    survey: &Survey,
    known: &Known,
    root: &AbsPath,
    paths: &[AbsPath],
) -> Vec<usize> {
    let mut folders: Vec<usize> = paths
        .iter()
        .filter_map(|path| path.relative_to(root))
        .flat_map(|path| path.ancestors().take(2))
        .filter_map(|folder| known.folder(folder))
        .collect();
    folders.sort_unstable();
    folders.dedup();
    folders.retain(|ix| {
        let folder = &known.folders[*ix];
        folder.mark.is_none() || survey.mark(known.path(folder.name)) != folder.mark
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

/// Puts segments into the store, or into memory where they are small or nothing may be written.
struct Store<'a> {
    store: Option<&'a AbsPath>,
    /// Pairs from which on a segment is put on the disk.
    least: usize,
    next: std::sync::Mutex<&'a mut u64>,
}

impl Shelf for Store<'_> {
    fn place(&self, pairs: usize) -> Result<(Sink, Option<u64>), host::Error> {
        let Some(store) = self.store.filter(|_| pairs >= self.least) else {
            return Ok((Sink::Memory(Vec::new()), None));
        };
        let number = {
            let mut next = lock(&self.next);
            **next += 1;
            **next - 1
        };
        let log = RealFiles.open_log(&catalog::segment_path(store, number))?;
        Ok((Sink::Disk(log, Vec::new()), Some(number)))
    }

    fn take(&self, sink: Sink, number: Option<u64>) -> Result<Segment, WriteError> {
        let segment = match (sink, number, self.store) {
            (Sink::Memory(bytes), _, _) => Segment::in_memory(bytes),
            (Sink::Disk(..), Some(number), Some(store)) => {
                Segment::open(&catalog::segment_path(store, number))
            }
            (Sink::Disk(..), ..) => return Err(WriteError::Torn),
        };
        Ok(segment?)
    }
}
