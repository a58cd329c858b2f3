//! The notes in the state folder: which of them the user has not seen, and which end the program came to.
//!
//! A note is `RUN-NUMBER.crash`, where RUN names a run of a program. A run that ends in order renames its notes to
//! `.contained`: it went on after the panics. Notes that a user saw end with `.seen`, and the oldest of them are removed.
//! The lock `RUN.lock` is held while the run is alive.

use std::sync::Arc;

use base::AbsPath;
use host::{Error, Files};

use crate::note::CrashNote;

/// Extensions of the notes.
pub(crate) const CRASH: &str = "crash";
pub(crate) const CONTAINED: &str = "contained";
const SEEN: &str = "seen";
/// Extension of the lock of a run.
pub(crate) const LOCK: &str = "lock";
/// A note longer than this, in bytes, is not read.
const MAX_NOTE_BYTES: u64 = 1 << 20;
/// Number of seen notes that are kept.
const MAX_SEEN: usize = 10;
/// Number of notes that are kept, seen or not.
const MAX_KEPT: usize = 100;

/// The end of the run that left a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteEnd {
    /// The run ended without being asked to.
    Crashed,
    /// The run went on, and ended in order.
    WentOn,
}

/// A note on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNote {
    /// The file of the note.
    pub path: AbsPath,
    /// The end of its run.
    pub end: NoteEnd,
    /// The note; `None` if a newer Burin wrote it, or if it is damaged.
    pub note: Option<CrashNote>,
}

/// The notes in a folder.
#[derive(Clone)]
pub struct CrashNotes {
    files: Arc<dyn Files>,
    folder: AbsPath,
}

impl CrashNotes {
    /// Returns the notes in `folder`, which need not exist.
    pub fn new(files: Arc<dyn Files>, folder: AbsPath) -> Self {
        Self { files, folder }
    }

    /// Returns the notes of ended runs that the user has not seen, the newest first. Removes the locks of these runs, and
    /// the oldest of the seen notes. Blocks on the disk.
    pub fn unseen(&self) -> Vec<StoredNote> {
        let paths = self.paths();
        let seen: Vec<&AbsPath> = paths.iter().filter(|it| has_extension(it, SEEN)).collect();
        for path in seen.iter().rev().skip(MAX_SEEN) {
            self.remove(path);
        }
        for lock in paths.iter().filter(|it| has_extension(it, LOCK)) {
            if !self.is_held(lock) {
                self.remove(lock);
            }
        }
        let unseen = paths.iter().rev().filter(|it| !has_extension(it, SEEN));
        let unseen = unseen.filter_map(|path| self.read(path));
        unseen.filter(|it| !self.is_alive(&it.path)).collect()
    }

    /// Returns the newest note of all that can be read, seen or not. Blocks on the disk.
    pub fn newest(&self) -> Option<CrashNote> {
        let paths = self.paths();
        let mut notes = paths.iter().rev().filter_map(|path| self.read(path));
        notes.find_map(|stored| stored.note)
    }

    /// Remembers that the user saw these notes. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// Fails if one of them cannot be renamed; then the next start shows it again.
    pub fn mark_seen(&self, notes: &[StoredNote]) -> Result<(), Error> {
        for stored in notes {
            self.rename(&stored.path, SEEN)?;
        }
        Ok(())
    }

    /// Remembers that the run went on after its panics, and ends in order.
    pub(crate) fn conclude(&self, run: &str) -> Result<(), Error> {
        let paths = self.paths().into_iter();
        for path in paths.filter(|it| has_extension(it, CRASH) && run_of(it) == Some(run)) {
            self.rename(&path, CONTAINED)?;
        }
        self.files.remove(&self.lock_path(run))
    }

    /// Removes the oldest notes beyond a fixed number: where no window starts, nothing else removes any. Blocks on the
    /// disk.
    pub(crate) fn trim(&self) {
        let paths = self.paths();
        let notes: Vec<&AbsPath> = paths.iter().filter(|it| !has_extension(it, LOCK)).collect();
        for path in notes.iter().rev().skip(MAX_KEPT) {
            self.remove(path);
        }
    }

    /// Returns the path of the lock of a run.
    pub(crate) fn lock_path(&self, run: &str) -> AbsPath {
        self.folder.join(format!("{run}.{LOCK}"))
    }

    /// Returns the files of the folder, sorted by name and so by time.
    fn paths(&self) -> Vec<AbsPath> {
        let listing = self.files.list(&self.folder);
        let entries = listing.map(|listing| listing.entries).unwrap_or_default();
        let mut paths: Vec<AbsPath> = entries.into_iter().map(|entry| entry.path).collect();
        paths.sort();
        paths
    }

    fn read(&self, path: &AbsPath) -> Option<StoredNote> {
        let end = if has_extension(path, CONTAINED) {
            NoteEnd::WentOn
        } else if has_extension(path, CRASH) || has_extension(path, SEEN) {
            NoteEnd::Crashed
        } else {
            return None;
        };
        let bytes = self.files.read(path, MAX_NOTE_BYTES).ok();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Some(StoredNote {
            path: path.clone(),
            end,
            note: text.as_deref().and_then(CrashNote::parse),
        })
    }

    fn is_alive(&self, note: &AbsPath) -> bool {
        let lock = run_of(note).map(|run| self.lock_path(run));
        lock.is_some_and(|lock| self.files.exists(&lock) && self.is_held(&lock))
    }

    fn is_held(&self, lock: &AbsPath) -> bool {
        matches!(self.files.lock(lock), Ok(None))
    }

    fn rename(&self, path: &AbsPath, extension: &str) -> Result<(), Error> {
        let name = path.name();
        let stem = name
            .rsplit_once('.')
            .map_or(name.as_str(), |(stem, _)| stem);
        let to = self.folder.join(format!("{stem}.{extension}"));
        self.files.rename(path, &to)
    }

    fn remove(&self, path: &AbsPath) {
        // A file that stays is removed at the next start.
        self.files.remove(path).ok();
    }
}

fn has_extension(path: &AbsPath, extension: &str) -> bool {
    path.as_path().extension().is_some_and(|it| it == extension)
}

/// Returns the name of the run that wrote a note, from the name of its file.
fn run_of(note: &AbsPath) -> Option<&str> {
    let stem = note.as_path().file_stem()?.to_str()?;
    stem.rsplit_once('-').map(|(run, _)| run)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::AbsPath;
    use host::{FakeFiles, Files};

    use super::{CrashNotes, MAX_KEPT, MAX_SEEN, NoteEnd};
    use crate::note::CrashNote;

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    /// A folder with notes of the given names, whose messages are the names.
    fn notes(names: &[&str]) -> (Arc<FakeFiles>, CrashNotes) {
        let files = Arc::new(FakeFiles::new());
        files.folder(&path("/s/crashes"));
        for name in names {
            let note = CrashNote {
                message: (*name).to_owned(),
                ..CrashNote::default()
            };
            files.write(&path(&format!("/s/crashes/{name}")), note.to_text());
        }
        let notes = CrashNotes::new(files.clone(), path("/s/crashes"));
        (files, notes)
    }

    fn unseen(notes: &CrashNotes) -> Vec<(String, NoteEnd)> {
        let unseen = notes.unseen().into_iter();
        unseen
            .map(|it| (it.note.expect("a note").message, it.end))
            .collect()
    }

    #[test]
    fn notes_are_shown_once_the_newest_first() {
        let (_, notes) = notes(&["10-7-0.crash", "11-8-0.contained"]);
        let expected = [
            ("11-8-0.contained".to_owned(), NoteEnd::WentOn),
            ("10-7-0.crash".to_owned(), NoteEnd::Crashed),
        ];
        assert_eq!(unseen(&notes), expected);
        notes.mark_seen(&notes.unseen()).expect("renamed");
        assert!(unseen(&notes).is_empty());
        let newest = notes.newest().expect("it is kept");
        assert_eq!(newest.message, "11-8-0.contained");
    }

    #[test]
    fn a_missing_folder_has_no_notes() {
        let notes = CrashNotes::new(Arc::new(FakeFiles::new()), path("/s/crashes"));
        assert!(notes.unseen().is_empty());
        assert_eq!(notes.newest(), None);
    }

    #[test]
    fn notes_of_running_programs_wait() {
        let (files, notes) = notes(&["10-7-0.crash"]);
        let held = files.lock(&path("/s/crashes/10-7.lock")).expect("locked");
        assert!(held.is_some() && unseen(&notes).is_empty());
        drop(held);
        assert_eq!(unseen(&notes).len(), 1);
        assert!(!files.exists(&path("/s/crashes/10-7.lock")));
    }

    #[test]
    fn an_orderly_end_marks_only_its_own_run() {
        let (_, notes) = notes(&["10-7-0.crash", "10-7-1.crash", "10-71-0.crash"]);
        // It has no lock to remove.
        notes.conclude("10-7").expect_err("no lock");
        let ends: Vec<NoteEnd> = unseen(&notes).into_iter().map(|it| it.1).collect();
        assert_eq!(ends, [NoteEnd::Crashed, NoteEnd::WentOn, NoteEnd::WentOn]);
    }

    #[test]
    fn notes_of_a_newer_program_are_named_and_kept() {
        let (files, notes) = notes(&[]);
        let newer = path("/s/crashes/10-7-0.crash");
        files.write(&newer, "burin crash note 2\nnew: field\n");
        let unseen = notes.unseen();
        assert_eq!(unseen.len(), 1);
        assert_eq!((&unseen[0].path, &unseen[0].note), (&newer, &None));
        assert_eq!(notes.newest(), None);
        assert!(files.exists(&newer));
    }

    #[test]
    fn old_seen_notes_are_removed() {
        let names: Vec<String> = (0..15).map(|at| format!("{at:02}-7-0.seen")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (files, notes) = notes(&names);
        assert!(unseen(&notes).is_empty());
        let listing = files.list(&path("/s/crashes")).expect("a folder");
        assert_eq!(listing.entries.len(), MAX_SEEN);
        assert!(files.exists(&path("/s/crashes/14-7-0.seen")));
        assert!(!files.exists(&path("/s/crashes/04-7-0.seen")));
    }

    #[test]
    fn notes_that_no_window_shows_are_bounded() {
        let names = (0..MAX_KEPT + 5).map(|at| format!("{at:03}-7-0.crash"));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (files, notes) = notes(&names);
        notes.trim();
        let listing = files.list(&path("/s/crashes")).expect("a folder");
        assert_eq!(listing.entries.len(), MAX_KEPT);
        assert!(!files.exists(&path("/s/crashes/000-7-0.crash")));
    }
}
