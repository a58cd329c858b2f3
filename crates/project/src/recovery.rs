//! Recovers documents from their journals.
//!
//! Invariant: for any bytes of a journal, the valid part is recovered and the rest reported;
//! nothing panics.
//! Invariant: a journal is removed only after its replacement is on the disk.

mod replay;
mod saves;

pub use self::saves::finish_saves;

use std::sync::Arc;

use base::AbsPath;
use host::{Error, FileKind, FileLock, Files};
use text::Timestamp;

use self::replay::{ReplayError, Replayed};
use crate::document::Document;
use crate::journal::{HISTORY_FOLDER, LOCK_FILE, history_file, is_journal, remove_empty_session};
use crate::journal_entry as entry;
use crate::load::Loaded;
use crate::recovered::{JournalSeed, Recovered};

/// Journals longer than this, in bytes, are not read.
const MAX_JOURNAL_BYTES: u64 = 1 << 30;

/// The documents that earlier runs of the program left in their journals, and messages about those
/// that are lost.
#[derive(Default)]
pub struct Recovery {
    /// Every document with a journal, including those without unsaved edits, for their undo trees.
    pub documents: Vec<Recovered>,
    /// Messages about documents that could not be recovered.
    pub problems: Vec<String>,
}

/// Rebuilds the documents from the journals of dead runs below `folder`; runs that are alive are
/// skipped. Empty if the folder is missing. The journals stay until each document is adopted or
/// discarded. `at` is the time of the edits that apply later changes on the disk. Blocks.
pub fn recover(files: &dyn Files, folder: &AbsPath, at: Timestamp) -> Recovery {
    let mut recovery = Recovery::default();
    let listing = match files.list(folder) {
        Ok(listing) => listing,
        Err(error) if error.is_not_found() => return recovery,
        Err(error) => {
            recovery.problems.push(error.to_string());
            return recovery;
        }
    };
    for entry in listing.entries {
        let is_session =
            entry.kind == FileKind::Folder && !entry.is_link && entry.path.name() != HISTORY_FOLDER;
        if !is_session {
            continue;
        }
        match files.lock(&entry.path.join(LOCK_FILE)) {
            Ok(Some(lock)) => recovery.add_session(files, &entry.path, Arc::new(lock), at),
            // The run is alive, or has just ended.
            Ok(None) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => recovery.problems.push(error.to_string()),
        }
    }
    recovery
}

/// Creates the document of a loaded file, with the undo tree and selections from when it was closed
/// if the file has not changed since, else without them. `folder` is that of the journals. Blocks.
pub fn reopen(files: &dyn Files, folder: &AbsPath, loaded: Loaded) -> Recovered {
    let place = history_file(&folder.join(HISTORY_FOLDER), &loaded.path);
    match with_history(files, &place, &loaded) {
        Some(mut recovered) => {
            recovered.document.take_flags(&loaded);
            recovered
        }
        None => Recovered {
            document: Document::from_loaded(loaded),
            selections: None,
            problems: Vec::new(),
            seed: None,
        },
    }
}

impl Recovery {
    fn add_session(
        &mut self,
        files: &dyn Files,
        session: &AbsPath,
        lock: Arc<FileLock>,
        at: Timestamp,
    ) {
        let listing = match files.list(session) {
            Ok(listing) => listing,
            Err(error) if error.is_not_found() => return,
            Err(error) => {
                self.problems.push(error.to_string());
                return;
            }
        };
        let journals = listing.entries.iter().map(|entry| &entry.path);
        let mut count = 0;
        for journal in journals.filter(|path| is_journal(path)) {
            count += 1;
            match read(files, journal, &lock, at) {
                Ok(recovered) => self.documents.push(recovered),
                Err(error) => self.problems.push(error.to_string()),
            }
        }
        if count == 0 {
            remove_empty_session(files, session);
        }
    }
}

/// The reason that a document is not recovered from its journal.
#[derive(Debug, thiserror::Error)]
enum RecoveryError {
    /// The journal cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Error),
    /// The file has no valid entry.
    #[error("cannot recover from {0}: it is not a journal, or its start is damaged")]
    NotAJournal(AbsPath),
    /// A newer version of the program wrote the journal in a format that this one cannot read.
    #[error(
        "a newer Burin wrote the unsaved text in {0}; it stays as it is until that version starts again"
    )]
    Newer(AbsPath),
    /// The journal starts from a text that cannot be had.
    #[error("cannot recover from {0}: {1}")]
    Unusable(AbsPath, ReplayError),
}

/// Recovers the document of a journal and compares it with its file, which may put it into a
/// conflict. Returns an error if the journal is unreadable, no journal, or its start text is
/// unavailable.
fn read(
    files: &dyn Files,
    journal: &AbsPath,
    lock: &Arc<FileLock>,
    at: Timestamp,
) -> Result<Recovered, RecoveryError> {
    let bytes = files.read(journal, MAX_JOURNAL_BYTES)?;
    let (replayed, length) = replay(files, journal, &bytes)?;
    let mut recovered = recovered(replayed, journal, bytes[..length].to_vec());
    if let Some(seed) = &mut recovered.seed {
        seed._session = Some(lock.clone());
    }
    compare_with_disk(files, &mut recovered, at);
    Ok(recovered)
}

/// Rebuilds the document of a journal. Returns it with the length of the journal's valid part.
fn replay(
    files: &dyn Files,
    journal: &AbsPath,
    bytes: &[u8],
) -> Result<(Replayed, usize), RecoveryError> {
    if entry::is_newer(bytes) {
        return Err(RecoveryError::Newer(journal.clone()));
    }
    let Some((entries, length)) = entry::read_all(bytes) else {
        return Err(RecoveryError::NotAJournal(journal.clone()));
    };
    let replayed = replay::replay(files, entries);
    let mut replayed =
        replayed.map_err(|reason| RecoveryError::Unusable(journal.clone(), reason))?;
    if length < bytes.len() {
        replayed
            .problems
            .push("the last edits before the crash are missing: the journal is truncated".into());
    }
    Ok((replayed, length))
}

fn recovered(replayed: Replayed, journal: &AbsPath, bytes: Vec<u8>) -> Recovered {
    let seed = JournalSeed {
        bytes,
        file: journal.clone(),
        snapshot: replayed.document.snapshot(),
        meta: replayed.meta,
        has_history: replayed.has_history,
        _session: None,
    };
    let mut document = replayed.document;
    let buffer = document.buffer_mut();
    buffer.set_recording(true);
    // The program ended within a step: the end of the step belongs into the journal, too.
    while buffer.history().is_step_open() {
        buffer.end_step();
    }
    Recovered {
        document,
        selections: replayed.selections,
        problems: replayed.problems,
        seed: Some(seed),
    }
}

fn compare_with_disk(files: &dyn Files, recovered: &mut Recovered, at: Timestamp) {
    let Some(check) = recovered.document.check_disk() else {
        return;
    };
    if let Some(folder) = recovered.document.path().and_then(AbsPath::parent) {
        // A crashed save may have left its temporary file there. The folder may be gone.
        files.sweep(&folder).ok();
    }
    let finding = check.run(files);
    if let Some(problem) = recovered.document.accept_disk(finding, at).problem() {
        recovered.problems.push(problem);
    }
}

/// Recovers the undo tree and selections from the journal that was kept when the document was
/// closed. Returns `None` if the file is read-only or differs from that document in any way, or if
/// the journal is missing or not intact.
fn with_history(files: &dyn Files, place: &AbsPath, loaded: &Loaded) -> Option<Recovered> {
    if loaded.read_only.is_some() {
        return None;
    }
    let bytes = files.read(place, MAX_JOURNAL_BYTES).ok()?;
    let (replayed, length) = replay(files, place, &bytes).ok()?;
    let document = &replayed.document;
    let is_same = document.path() == Some(&loaded.path)
        && document.on_disk().map(|on_disk| on_disk.hash) == Some(loaded.on_disk.hash)
        && document.format() == loaded.format
        && document.is_at_saved_node()
        && document.snapshot().len() == loaded.buffer.len()
        && document.snapshot().to_string() == loaded.buffer.snapshot().to_string();
    if !is_same || !replayed.problems.is_empty() {
        return None;
    }
    Some(recovered(replayed, place, bytes[..length].to_vec()))
}

/// Returns the paths of all journals of dead runs below `folder`, without reading them, for
/// `burin-agent recover`.
///
/// # Errors
///
/// Fails if the folder or one of its runs is missing or cannot be listed.
pub fn list_left_over(files: &dyn Files, folder: &AbsPath) -> Result<Vec<AbsPath>, Error> {
    let mut journals = Vec::new();
    for session in files.list(folder)?.entries {
        if session.kind != FileKind::Folder || session.path.name() == HISTORY_FOLDER {
            continue;
        }
        // A held lock belongs to a running program.
        let Ok(Some(_lock)) = files.lock(&session.path.join(LOCK_FILE)) else {
            continue;
        };
        let entries = files.list(&session.path)?.entries;
        journals.extend(
            entries
                .into_iter()
                .map(|entry| entry.path)
                .filter(is_journal),
        );
    }
    Ok(journals)
}

#[cfg(test)]
mod tests;
