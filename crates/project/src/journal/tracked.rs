//! The journal file of one document, owned by the writer thread.
//!
//! Invariant: a file is created with the first edit, so documents that are only read cost nothing.
//! Invariant: unwritten entries stay in `unsent`, in order, or a rewrite of the whole text is
//! pending.

use base::{AbsPath, LogErr};
use host::{AppendLog, ContentHash, Error, Files};
use text::{Author, BufferOperation, EditKind, EditOrigin, SelectionSet, Timestamp};

use super::{
    CloseRetention, DocumentStatus, EXTENSION, JournalBase, JournalWork, PlainEdits,
    remove_with_session,
};
use crate::journal_entry::{self as entry, BaseText, JournalEntry, Meta, SavedAt};
use crate::recovered::JournalSeed;

/// Maximum bytes of a text that is copied into its journal at the first edit. For longer ones the
/// journal only stores the fingerprint of the file.
const MAX_INLINE_TEXT_BYTES: usize = 64 << 20;
/// A journal is rewritten from this length on, in bytes, and when it is four texts long.
const REWRITE_JOURNAL_BYTES: u64 = 32 << 20;
/// Maximum bytes of a journal that is kept as history.
const MAX_HISTORY_BYTES: u64 = 8 << 20;

/// The journal of one document as the writer thread sees it: its file, unwritten entries, and the
/// state after them.
pub(super) struct TrackedDocument {
    file: AbsPath,
    /// `None` until the first edit.
    log: Option<Box<dyn AppendLog>>,
    /// State of the document after all operations in the file and in `unsent`.
    now: DocumentStatus,
    /// Base text of the file, written or yet to be written.
    start: FileStart,
    /// Whether undo operations can be replayed: the file has the whole undo tree.
    has_history: bool,
    /// Encoded entries waiting to be written.
    unsent: Vec<u8>,
    selections: Option<SelectionSet>,
    /// Whether the file must be rewritten from the whole text.
    owes_whole: bool,
    adopted: Option<Box<JournalSeed>>,
    pub(super) is_closed: bool,
}

enum FileStart {
    Text(DocumentStatus),
    File(ContentHash, DocumentStatus),
}

impl TrackedDocument {
    pub(super) fn new(begin: JournalBase, file: AbsPath) -> Self {
        let (now, has_history, adopted) = match begin {
            JournalBase::Fresh { start, has_history } => (start, has_history, None),
            JournalBase::Adopted { seed, now } => (now, seed.has_history, Some(seed)),
        };
        Self {
            file,
            log: None,
            start: start_of(&now),
            now,
            has_history,
            unsent: Vec::new(),
            selections: None,
            owes_whole: false,
            adopted,
            is_closed: false,
        }
    }

    /// Queues work. Accesses the disk only to close the document.
    pub(super) fn take(&mut self, work: JournalWork, files: &dyn Files, history: &AbsPath) {
        match work {
            JournalWork::Operations {
                operations,
                plain,
                now,
            } => {
                self.take_operations(operations, plain, &now);
                self.now = now;
            }
            JournalWork::Meta(now) => self.take_meta(now),
            JournalWork::Whole(now) => {
                self.now = now;
                self.owes_whole = true;
            }
            JournalWork::Close(keep) => self.close(keep, files, history),
        }
    }

    /// Keeps the selections for the next write, in place of earlier ones.
    pub(super) fn select(&mut self, selections: SelectionSet) {
        self.selections = Some(selections);
    }

    /// Writes everything pending. Failed writes stay pending.
    pub(super) fn commit(&mut self, files: &dyn Files) -> Result<(), Error> {
        if let Some(seed) = &self.adopted {
            files.write_private(&self.file, &seed.bytes)?;
            self.log = Some(files.open_log(&self.file)?);
            remove_with_session(files, &seed.file);
            self.adopted = None;
        }
        let is_owing = self.owes_whole || !self.unsent.is_empty();
        if !is_owing && (self.log.is_none() || self.selections.is_none()) {
            return Ok(());
        }
        if self.owes_whole || self.is_too_long() {
            return self.write_anew(files, BaseText::Text(self.now.snapshot.to_string()));
        }
        if let Some(selections) = self.selections.take() {
            entry::write(&mut self.unsent, &JournalEntry::Selections(selections));
        }
        let Some(log) = &mut self.log else {
            return self.create(files);
        };
        log.append(&self.unsent)?;
        self.unsent.clear();
        if is_owing && let Err(error) = log.sync() {
            // After such a failure the content of the disk is unknown.
            self.owes_whole = true;
            return Err(error);
        }
        Ok(())
    }

    fn take_operations(
        &mut self,
        operations: Vec<BufferOperation>,
        plain: PlainEdits,
        now: &DocumentStatus,
    ) {
        let operations = match (self.has_history, plain) {
            (true, _) | (false, PlainEdits::Same) => operations,
            (false, PlainEdits::Unknown) => {
                self.owes_whole = true;
                return;
            }
            // The author is lost with the undo tree; only the text matters here.
            (false, PlainEdits::Edits(edits)) => vec![BufferOperation::Edit {
                edits,
                origin: EditOrigin::new(Author::User, EditKind::Other, Timestamp(0)),
            }],
        };
        let length = now.snapshot.len().0 as u64;
        entry::write(
            &mut self.unsent,
            &JournalEntry::Operations { operations, length },
        );
    }

    fn take_meta(&mut self, now: DocumentStatus) {
        self.now = now;
        let is_still_the_start = self.log.is_none() && self.unsent.is_empty();
        if is_still_the_start {
            self.start = start_of(&self.now);
            return;
        }
        if let FileStart::File(hash, _) = &self.start {
            let saved = self.now.meta.saved.map(|(on_disk, _)| on_disk.hash);
            if saved.is_some_and(|saved| saved != *hash) {
                // The base text of the journal is no longer on the disk.
                self.owes_whole = true;
                return;
            }
        }
        let meta = self.meta();
        entry::write(&mut self.unsent, &JournalEntry::Meta(meta));
    }

    /// Returns the metadata in the form the file can express.
    fn meta(&self) -> Meta {
        let mut meta = self.now.meta.clone();
        if let (false, Some((_, at))) = (self.has_history, &mut meta.saved) {
            *at = if self.now.is_saved {
                SavedAt::Here
            } else {
                SavedAt::Elsewhere
            };
        }
        meta
    }

    /// Creates the journal file with its start entry and the unsent ones. On an error, these stay
    /// unsent.
    fn create(&mut self, files: &dyn Files) -> Result<(), Error> {
        let (base, now) = match &self.start {
            FileStart::Text(now) => (BaseText::Text(now.snapshot.to_string()), now),
            FileStart::File(hash, now) => (BaseText::File(*hash), now),
        };
        let mut meta = now.meta.clone();
        if let (false, Some((_, at))) = (self.has_history, &mut meta.saved) {
            *at = if now.is_saved {
                SavedAt::Here
            } else {
                SavedAt::Elsewhere
            };
        }
        let mut bytes = entry::MAGIC.to_vec();
        entry::write(&mut bytes, &JournalEntry::Start { base, meta });
        bytes.extend_from_slice(&self.unsent);
        files.write_private(&self.file, &bytes)?;
        self.log = Some(files.open_log(&self.file)?);
        self.unsent.clear();
        Ok(())
    }

    /// Rewrites the file; the undo tree so far is lost.
    fn write_anew(&mut self, files: &dyn Files, base: BaseText) -> Result<(), Error> {
        self.has_history = false;
        let mut bytes = entry::MAGIC.to_vec();
        let meta = self.meta();
        entry::write(&mut bytes, &JournalEntry::Start { base, meta });
        if let Some(selections) = &self.selections {
            entry::write(&mut bytes, &JournalEntry::Selections(selections.clone()));
        }
        files.write_private(&self.file, &bytes)?;
        self.log = Some(files.open_log(&self.file)?);
        self.start = FileStart::Text(self.now.clone());
        self.selections = None;
        self.unsent.clear();
        self.owes_whole = false;
        Ok(())
    }

    /// Whether the file is longer than `REWRITE_JOURNAL_BYTES` and than four times the text.
    fn is_too_long(&self) -> bool {
        let length = self.log.as_ref().map_or(0, |log| log.len());
        length > REWRITE_JOURNAL_BYTES && length > 4 * self.now.snapshot.len().0 as u64
    }

    fn close(&mut self, keep: CloseRetention, files: &dyn Files, history: &AbsPath) {
        self.is_closed = true;
        match keep {
            CloseRetention::Everything => self.is_closed = false,
            CloseRetention::Nothing => self.remove(files),
            CloseRetention::History => {
                let is_kept = self.commit(files).is_ok()
                    && self.has_history
                    && self
                        .log
                        .as_ref()
                        .is_some_and(|log| log.len() <= MAX_HISTORY_BYTES);
                let path = self.now.meta.path.as_ref().filter(|_| is_kept);
                match path.map(|path| history_file(history, path)) {
                    Some(place) => {
                        if files.exists(&place) {
                            files.remove(&place).log_err();
                        }
                        self.log = None;
                        files.rename(&self.file, &place).log_err();
                    }
                    None => self.remove(files),
                }
            }
        }
    }

    fn remove(&mut self, files: &dyn Files) {
        if let Some(seed) = self.adopted.take() {
            remove_with_session(files, &seed.file);
        }
        if self.log.take().is_some() {
            files.remove(&self.file).log_err();
        }
        self.unsent.clear();
        self.owes_whole = false;
    }
}

fn start_of(now: &DocumentStatus) -> FileStart {
    match now.meta.saved {
        Some((on_disk, _)) if now.is_saved && now.snapshot.len().0 > MAX_INLINE_TEXT_BYTES => {
            FileStart::File(on_disk.hash, now.clone())
        }
        _ => FileStart::Text(now.clone()),
    }
}

/// Returns the path in the folder `history` of the journal kept for the closed document of `path`;
/// derived from a hash of the path, so the file need not exist.
pub(crate) fn history_file(history: &AbsPath, path: &AbsPath) -> AbsPath {
    let name = path.as_path().as_os_str().as_encoded_bytes();
    history.join(format!("{:032x}.{EXTENSION}", ContentHash::of(name).0))
}
