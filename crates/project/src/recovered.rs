//! A document that was rebuilt from its journal.

use std::sync::Arc;

use base::AbsPath;
use host::FileLock;
use text::{SelectionSet, Snapshot};

use crate::document::Document;
use crate::journal_entry::Meta;

/// A document with its history. Pass it to `RecoveryJournal::adopt` or
/// `RecoveryJournal::discard`; until then its
/// old journal stays.
pub struct Recovered {
    /// The document with its restored text.
    pub document: Document,
    /// Selections of the view used last.
    pub selections: Option<SelectionSet>,
    /// Messages about lost parts and about changes of its file.
    pub problems: Vec<String>,
    /// `None` for a document without a journal.
    pub(crate) seed: Option<JournalSeed>,
}

/// The old journal of a recovered document, from which a new journal continues.
pub(crate) struct JournalSeed {
    /// Valid part of the old journal.
    pub(crate) bytes: Vec<u8>,
    /// Path of the old journal.
    pub(crate) file: AbsPath,
    /// Document text at the end of the old journal.
    pub(crate) snapshot: Snapshot,
    pub(crate) meta: Meta,
    /// Whether the journal has the document's whole undo tree.
    pub(crate) has_history: bool,
    /// Held until the new journal is on the disk, so that no other run recovers the same document.
    pub(crate) _session: Option<Arc<FileLock>>,
}
