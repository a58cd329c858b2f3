//! The journal file of one document, as the writing thread sees it.
//!
//! Invariant: a file is created with the first edit, so documents that are only read cost nothing.
//! Invariant: what could not be written stays in `unsent`, in order, or the whole text is owed.

use base::{AbsPath, LogErr};
use host::{AppendLog, ContentHash, Error, Files};
use text::{Author, EditKind, Operation, Origin, SelectionSet, Timestamp};

use super::entry::{self, Base, Entry, Meta, SavedAt};
use super::{Begin, ENDING, Keep, Now, Plain, Work, remove_with_session};
use crate::recovery::Seed;

/// Up to this length, in bytes, a text is written into its journal when its first edit is. Of
/// longer ones only the fingerprint of the file is noted.
const LONGEST_TEXT: usize = 64 << 20;
/// From this length on, in bytes, a journal is begun anew; so it is when it is four texts long.
const LONG_JOURNAL: u64 = 32 << 20;
/// The longest journal that is kept as history, in bytes.
const LONGEST_HISTORY: u64 = 8 << 20;

pub(super) struct Tracked {
    file: AbsPath,
    /// `None` until there is a first edit.
    log: Option<Box<dyn AppendLog>>,
    /// The document after all operations in the file and in `unsent`.
    now: Now,
    /// What the file starts from, or will.
    start: Start,
    /// Whether undo and the like can be replayed: the file knows the whole undo tree.
    has_history: bool,
    /// Entries for the file, as bytes.
    unsent: Vec<u8>,
    selections: Option<SelectionSet>,
    /// The file has to be written anew, from the whole text.
    owes_whole: bool,
    adopted: Option<Box<Seed>>,
    pub(super) is_closed: bool,
}

enum Start {
    Text(Now),
    File(ContentHash, Now),
}

impl Tracked {
    pub(super) fn new(begin: Begin, file: AbsPath) -> Self {
        let (now, has_history, adopted) = match begin {
            Begin::Fresh { start, has_history } => (start, has_history, None),
            Begin::Adopted { seed, now } => (now, seed.has_history, Some(seed)),
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

    /// Takes in what happened. Does not touch the disk but to close.
    pub(super) fn take(&mut self, work: Work, files: &dyn Files, history: &AbsPath) {
        match work {
            Work::Operations {
                operations,
                plain,
                now,
            } => {
                self.take_operations(operations, plain, &now);
                self.now = now;
            }
            Work::Meta(now) => self.take_meta(now),
            Work::Whole(now) => {
                self.now = now;
                self.owes_whole = true;
            }
            Work::Close(keep) => self.close(keep, files, history),
        }
    }

    pub(super) fn select(&mut self, selections: SelectionSet) {
        self.selections = Some(selections);
    }

    /// Writes what is owed. What fails stays owed.
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
            return self.write_anew(files, Base::Text(self.now.snapshot.to_string()));
        }
        if let Some(selections) = self.selections.take() {
            entry::write(&mut self.unsent, &Entry::Selections(selections));
        }
        let Some(log) = &mut self.log else {
            return self.create(files);
        };
        log.append(&self.unsent)?;
        self.unsent.clear();
        if is_owing && let Err(error) = log.sync() {
            // After such a failure nobody knows what the disk has.
            self.owes_whole = true;
            return Err(error);
        }
        Ok(())
    }

    fn take_operations(&mut self, operations: Vec<Operation>, plain: Plain, now: &Now) {
        let operations = match (self.has_history, plain) {
            (true, _) | (false, Plain::Same) => operations,
            (false, Plain::Unknown) => {
                self.owes_whole = true;
                return;
            }
            // Who did it is lost with the tree; the text is what counts here.
            (false, Plain::Edits(edits)) => vec![Operation::Edit {
                edits,
                origin: Origin::new(Author::User, EditKind::Other, Timestamp(0)),
            }],
        };
        let length = now.snapshot.len().0 as u64;
        entry::write(&mut self.unsent, &Entry::Operations { operations, length });
    }

    fn take_meta(&mut self, now: Now) {
        self.now = now;
        let is_still_the_start = self.log.is_none() && self.unsent.is_empty();
        if is_still_the_start {
            self.start = start_of(&self.now);
            return;
        }
        if let Start::File(hash, _) = &self.start {
            let saved = self.now.meta.saved.map(|(on_disk, _)| on_disk.hash);
            if saved.is_some_and(|saved| saved != *hash) {
                // What the journal starts from is not on the disk any more.
                self.owes_whole = true;
                return;
            }
        }
        let meta = self.meta();
        entry::write(&mut self.unsent, &Entry::Meta(meta));
    }

    /// What is known of the document, in words that the file understands.
    fn meta(&self) -> Meta {
        let mut meta = self.now.meta.clone();
        if let (false, Some((_, at))) = (self.has_history, &mut meta.saved) {
            *at = match self.now.is_saved {
                true => SavedAt::Here,
                false => SavedAt::Elsewhere,
            };
        }
        meta
    }

    fn create(&mut self, files: &dyn Files) -> Result<(), Error> {
        let (base, now) = match &self.start {
            Start::Text(now) => (Base::Text(now.snapshot.to_string()), now),
            Start::File(hash, now) => (Base::File(*hash), now),
        };
        let mut meta = now.meta.clone();
        if let (false, Some((_, at))) = (self.has_history, &mut meta.saved) {
            *at = match now.is_saved {
                true => SavedAt::Here,
                false => SavedAt::Elsewhere,
            };
        }
        let mut bytes = entry::MAGIC.to_vec();
        entry::write(&mut bytes, &Entry::Start { base, meta });
        bytes.extend_from_slice(&self.unsent);
        files.write_private(&self.file, &bytes)?;
        self.log = Some(files.open_log(&self.file)?);
        self.unsent.clear();
        Ok(())
    }

    /// Begins the file anew; the undo tree up to here is given up.
    fn write_anew(&mut self, files: &dyn Files, base: Base) -> Result<(), Error> {
        self.has_history = false;
        let mut bytes = entry::MAGIC.to_vec();
        let meta = self.meta();
        entry::write(&mut bytes, &Entry::Start { base, meta });
        if let Some(selections) = &self.selections {
            entry::write(&mut bytes, &Entry::Selections(selections.clone()));
        }
        files.write_private(&self.file, &bytes)?;
        self.log = Some(files.open_log(&self.file)?);
        self.start = Start::Text(self.now.clone());
        self.selections = None;
        self.unsent.clear();
        self.owes_whole = false;
        Ok(())
    }

    fn is_too_long(&self) -> bool {
        let length = self.log.as_ref().map_or(0, |log| log.len());
        length > LONG_JOURNAL && length > 4 * self.now.snapshot.len().0 as u64
    }

    fn close(&mut self, keep: Keep, files: &dyn Files, history: &AbsPath) {
        self.is_closed = true;
        match keep {
            Keep::Everything => self.is_closed = false,
            Keep::Nothing => self.remove(files),
            Keep::History => {
                let is_kept = self.commit(files).is_ok()
                    && self.has_history
                    && self
                        .log
                        .as_ref()
                        .is_some_and(|log| log.len() <= LONGEST_HISTORY);
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

fn start_of(now: &Now) -> Start {
    match now.meta.saved {
        Some((on_disk, _)) if now.is_saved && now.snapshot.len().0 > LONGEST_TEXT => {
            Start::File(on_disk.hash, now.clone())
        }
        _ => Start::Text(now.clone()),
    }
}

/// Where the journal of a closed document lies.
pub(crate) fn history_file(history: &AbsPath, path: &AbsPath) -> AbsPath {
    let name = path.as_path().as_os_str().as_encoded_bytes();
    history.join(format!("{:032x}.{ENDING}", ContentHash::of(name).0))
}
