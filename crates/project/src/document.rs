//! A document: a text buffer and its relation to a file, shared by the views of it.
//!
//! A document belongs to one thread, the window's. Slow work is a job created here and run
//! elsewhere, whose result is accepted here: see `save` and `disk`.
//!
//! Invariant: a document in conflict is not saved over its file before the user has decided.
//! Invariant: a result for an older revision never overwrites newer text.

mod disk;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{AbsPath, NameRules, Revision};
use host::{OnDisk, Stamp};
use text::{Buffer, Edit, FileFormat, NodeId, Snapshot};

pub use self::disk::{DiskCheck, DiskFinding, DiskOutcome};

use crate::load::{FileFlags, Loaded};

/// Identifies a document within this run of the program; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub u64);

/// Identifies a document across runs of the program, by a random number: windows remember it,
/// journals store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey(pub u64);

/// The relation of a document to its file: untitled, clean, dirty, in conflict, deleted on the
/// disk, or read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentState {
    /// It has no file yet.
    Untitled,
    /// The file has the same text.
    Clean,
    /// It has edits since it was read or saved.
    Dirty,
    /// It was edited here and changed on the disk: the user decides.
    Conflict,
    /// Its file is gone; only the document has the text.
    DeletedOnDisk,
    /// It cannot be written back, for this reason.
    ReadOnly(Arc<str>),
}

/// A file that changed on the disk while its document had unsaved edits.
#[derive(Clone, Debug)]
pub struct DiskConflict {
    /// Text on the disk; `None` if the file is not text.
    pub theirs: Option<Snapshot>,
    /// Identity and fingerprint of the file.
    pub on_disk: OnDisk,
    /// Encoding and line endings of the file.
    pub format: FileFormat,
    /// Edits from our text at a revision to the text on the disk, computed in the background.
    pub(crate) edits: Option<(Revision, Vec<Edit>)>,
}

/// The state in which file and document last agreed: text, undo node, and identity of the file.
#[derive(Clone, Debug)]
pub(crate) struct SavedState {
    /// Node in the undo tree.
    pub(crate) node: NodeId,
    pub(crate) snapshot: Snapshot,
    pub(crate) on_disk: OnDisk,
}

/// An open text buffer and its relation to a file: path, format, saved state and conflicts. Shared
/// by all views of the file; belongs to the window's thread.
pub struct Document {
    id: DocumentId,
    key: DocumentKey,
    pub(crate) path: Option<AbsPath>,
    /// Target of the links in `path` at the last disk check.
    pub(crate) real_path: Option<AbsPath>,
    buffer: Buffer,
    pub(crate) format: FileFormat,
    /// `None` until there is a file.
    pub(crate) saved: Option<SavedState>,
    pub(crate) conflict: Option<DiskConflict>,
    pub(crate) is_gone: bool,
    /// The disk accepted the text, but did not confirm that it is durable.
    pub(crate) is_unconfirmed: bool,
    read_only: Option<Arc<str>>,
    /// Alive while a save is running.
    pub(crate) save_under_way: std::sync::Weak<()>,
    flags: FileFlags,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Document {
    /// Creates an empty document without a file: UTF-8, line feeds.
    pub fn untitled() -> Self {
        Self::with_buffer(None, Buffer::new(""), crate::load::new_file_format())
    }

    /// Creates a document with a text, without a file and with an empty undo history.
    pub fn of_text(text: &str) -> Self {
        Self::with_buffer(None, Buffer::new(text), crate::load::new_file_format())
    }

    /// Creates a read-only document with a text that the file at `path` had, such as at a commit. `reason` says why it
    /// cannot be edited.
    pub fn of_version(path: AbsPath, text: &str, reason: &str) -> Self {
        let format = crate::load::new_file_format();
        let mut document = Self::with_buffer(Some(path), Buffer::new(text), format);
        document.read_only = Some(Arc::from(reason));
        document
    }

    /// Creates the document of a loaded file.
    pub fn from_loaded(loaded: Loaded) -> Self {
        let mut document = Self::with_buffer(Some(loaded.path), loaded.buffer, loaded.format);
        document.real_path = loaded.real_path;
        document.read_only = loaded.read_only.map(Arc::from);
        document.flags = loaded.flags;
        document.mark_saved(document.snapshot(), NodeId(0), loaded.on_disk);
        document
    }

    /// Creates an empty document whose file is created by the first save.
    pub fn new_at(path: AbsPath) -> Self {
        let mut document = Self::untitled();
        document.path = Some(path);
        document
    }

    /// Creates a document with a fresh id and key that has never been saved, even if `path` is set.
    pub(crate) fn with_buffer(path: Option<AbsPath>, buffer: Buffer, format: FileFormat) -> Self {
        Self {
            id: DocumentId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
            key: DocumentKey::fresh(),
            path,
            real_path: None,
            buffer,
            format,
            saved: None,
            conflict: None,
            is_gone: false,
            is_unconfirmed: false,
            read_only: None,
            save_under_way: std::sync::Weak::new(),
            flags: FileFlags::default(),
        }
    }

    /// Returns its id, unique in this run of the program.
    pub fn id(&self) -> DocumentId {
        self.id
    }

    /// Returns its key, unique across runs of the program.
    pub fn key(&self) -> DocumentKey {
        self.key
    }

    /// Returns the path of its file; `None` while it is untitled.
    pub fn path(&self) -> Option<&AbsPath> {
        self.path.as_ref()
    }

    /// Returns whether `path` is its file, either as opened or with links resolved. Does not access
    /// the disk.
    pub fn is_of(&self, path: &AbsPath) -> bool {
        self.path.as_ref() == Some(path) || self.real_path.as_ref() == Some(path)
    }

    /// Returns whether `real_path`, with links resolved, leads to its file, whose stamp is `stamp`.
    /// A name that only changed its spelling still does.
    pub fn is_same_file(&self, real_path: &AbsPath, stamp: &Stamp) -> bool {
        if self.is_of(real_path) {
            return true;
        }
        let is_respelled =
            |path: &AbsPath| NameRules::FOLDING.is_same(path.as_path(), real_path.as_path());
        let known = self.on_disk().map(|on_disk| on_disk.stamp);
        known.is_some_and(|known| (known.device, known.inode) == (stamp.device, stamp.inode))
            && self
                .real_path
                .as_ref()
                .or(self.path.as_ref())
                .is_some_and(is_respelled)
    }

    /// Returns the path of its file with links resolved, as of the last check; `None` if unknown.
    pub fn real_path(&self) -> Option<&AbsPath> {
        self.real_path.as_ref()
    }

    /// Sets a new path after the file was renamed by us. The text and the saved state stay; the
    /// disk is not accessed. A check between the rename and this call may have missed the file at its old path: that
    /// does not count.
    pub fn set_path(&mut self, path: AbsPath) {
        self.path = Some(path);
        self.real_path = None;
        self.is_gone = false;
    }

    /// Returns the name of its file, or else up to 32 chars of its first line, or `untitled`.
    /// Control characters are escaped.
    pub fn title(&self) -> String {
        const LONGEST: usize = 32;
        if let Some(path) = &self.path {
            return path.printable_name();
        }
        let snapshot = self.snapshot();
        let mut words = snapshot.chars_at(base::ByteOffset(0)).take(LONGEST * 4);
        let first: String = words
            .by_ref()
            .skip_while(|char| char.is_whitespace())
            .take_while(|char| *char != '\n' && *char != '\r')
            .take(LONGEST)
            .collect();
        match first.trim() {
            "" => "untitled".into(),
            first => base::printable(first, base::LineFeeds::Escape).into_owned(),
        }
    }

    /// Returns the text and its history.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the text and its history for editing. Check `can_edit` first.
    pub fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    /// Returns a snapshot of the current text.
    pub fn snapshot(&self) -> Snapshot {
        self.buffer.snapshot()
    }

    /// Returns the text as last read from or saved to the file; `None` without a file.
    pub fn saved_snapshot(&self) -> Option<&Snapshot> {
        self.saved.as_ref().map(|saved| &saved.snapshot)
    }

    /// Returns the identity and fingerprint of its file as of the last read or save; `None` without
    /// a file. Does not access the disk.
    pub fn on_disk(&self) -> Option<OnDisk> {
        self.saved.as_ref().map(|saved| saved.on_disk)
    }

    /// Returns the encoding and line endings used for its file.
    pub fn format(&self) -> FileFormat {
        self.format
    }

    /// Sets the encoding and line endings with which the next save writes the file; the text stays.
    /// The document is dirty afterwards, and a reason to be read-only no longer applies. Without
    /// effect for the current format.
    pub fn set_format(&mut self, format: FileFormat) {
        if self.format != format {
            self.format = format;
            // The file still has the previous format.
            self.is_unconfirmed = self.saved.is_some();
            self.read_only = None;
        }
    }

    /// Returns the relation to its file, the most urgent if several apply: read-only, conflict,
    /// deleted, then dirty.
    pub fn state(&self) -> DocumentState {
        if let Some(reason) = &self.read_only {
            return DocumentState::ReadOnly(reason.clone());
        }
        if self.conflict().is_some() {
            return DocumentState::Conflict;
        }
        if self.is_gone {
            return DocumentState::DeletedOnDisk;
        }
        match (&self.path, self.is_dirty()) {
            (None, _) => DocumentState::Untitled,
            (Some(_), true) => DocumentState::Dirty,
            (Some(_), false) => DocumentState::Clean,
        }
    }

    /// Returns whether closing it would lose text: unsaved edits, a conflict, or a file that is
    /// gone. An untitled document is dirty once it has text, and a new one with a path always, unless it shows
    /// another version of a file.
    pub fn is_dirty(&self) -> bool {
        match &self.saved {
            Some(_) => {
                self.is_gone
                    || self.conflict().is_some()
                    || self.has_own_edits() && !self.is_as_on_disk()
            }
            None => self.read_only.is_none() && (self.path.is_some() || !self.buffer.is_empty()),
        }
    }

    /// Returns whether its text may be edited: `false` if it could not be written back (see
    /// `DocumentState::ReadOnly`). Write protection of the file does not matter.
    pub fn can_edit(&self) -> bool {
        self.read_only.is_none()
    }

    /// Returns the conflict with the file on the disk; `None` if there is none. It ends once the
    /// text equals the file's, or has no unsaved edits any more.
    pub fn conflict(&self) -> Option<&DiskConflict> {
        let conflict = self.conflict.as_ref()?;
        let is_theirs_alone = conflict.theirs.is_some() && !self.has_own_edits();
        (!is_theirs_alone && !self.is_as_on_disk()).then_some(conflict)
    }

    /// Returns whether it has a text that its file, as last read or saved, does not contain; `true`
    /// without a file.
    pub(crate) fn has_own_edits(&self) -> bool {
        match &self.saved {
            Some(_) => self.is_unconfirmed || !self.is_at_saved_node(),
            None => true,
        }
    }

    /// Returns whether the file, changed by another program, has the same text.
    pub(crate) fn is_as_on_disk(&self) -> bool {
        self.conflict.as_ref().is_some_and(|conflict| {
            let theirs = conflict.theirs.as_ref();
            conflict.format == self.format
                && theirs.is_some_and(|theirs| is_same(theirs, &self.snapshot()))
        })
    }

    /// Returns whether it is too large for syntax highlighting.
    pub fn is_large(&self) -> bool {
        self.flags.is_large
    }

    /// Returns whether it had a line of a megabyte or more when it was read.
    pub fn has_long_line(&self) -> bool {
        self.flags.has_long_line
    }

    /// Returns whether its file was write-protected when it was read: a save will report why.
    pub fn is_write_protected(&self) -> bool {
        self.flags.is_write_protected
    }

    /// Returns the reason why it cannot be written back, as a text for the user; `None` if it can.
    pub(crate) fn read_only_reason(&self) -> Option<Arc<str>> {
        self.read_only.clone()
    }

    /// Returns the undo node whose text the file contains, and the identity of the file; `None`
    /// without a file.
    pub(crate) fn saved_node(&self) -> Option<(NodeId, OnDisk)> {
        let saved = self.saved.as_ref()?;
        Some((saved.node, saved.on_disk))
    }

    /// Returns whether the text is the one in the file, judged by the undo tree.
    pub(crate) fn is_at_saved_node(&self) -> bool {
        let current = self.buffer.history().current();
        self.saved
            .as_ref()
            .is_some_and(|saved| saved.node == current)
    }

    /// Restores the key and the saved state of a document from a journal.
    pub(crate) fn restore(&mut self, key: DocumentKey, saved: Option<SavedState>) {
        self.key = key;
        self.saved = saved;
    }

    /// Updates the flags after the file was read again.
    pub(crate) fn take_flags(&mut self, loaded: &Loaded) {
        self.flags = loaded.flags;
        self.real_path.clone_from(&loaded.real_path);
        if let Some(saved) = &mut self.saved {
            saved.on_disk = loaded.on_disk;
        }
    }

    /// Makes the document editable again, after a save replaced the file that could not be decoded.
    pub(crate) fn clear_read_only(&mut self) {
        self.read_only = None;
    }

    /// Records that the file contains `snapshot`, the text of `node`. Ends a conflict and all
    /// reasons to be dirty, except edits made since.
    pub(crate) fn mark_saved(&mut self, snapshot: Snapshot, node: NodeId, on_disk: OnDisk) {
        self.saved = Some(SavedState {
            node,
            snapshot,
            on_disk,
        });
        self.is_gone = false;
        self.is_unconfirmed = false;
        self.conflict = None;
    }
}

/// Returns whether two texts are equal. Stops at the first difference.
pub(crate) fn is_same(one: &Snapshot, other: &Snapshot) -> bool {
    let one_bytes = one.chunks(one.full_span());
    let other_bytes = other.chunks(other.full_span());
    one.len() == other.len()
        && one_bytes
            .flat_map(str::bytes)
            .eq(other_bytes.flat_map(str::bytes))
}

impl DocumentKey {
    fn fresh() -> Self {
        // The standard library's hash keys are random, which suffices here.
        Self(RandomState::new().hash_one(NEXT_ID.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests;
