//! One text and what it has to do with a file: the state that views of it share.
//!
//! A document is owned by one thread, the window's. Whatever takes long is a job made here, run
//! elsewhere, and its answer accepted here: `save`, `disk`.
//!
//! Invariant: a document in conflict is not saved over its file before the user has decided.
//! Invariant: an answer that is about an older revision never overwrites newer text.

mod disk;
mod tidy;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{AbsPath, Revision};
use host::OnDisk;
use text::{Buffer, Edit, FileFormat, NodeId, Snapshot};

pub use self::disk::{DiskCheck, DiskFinding, DiskOutcome};

use crate::load::Loaded;

/// A document of this run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub u64);

/// A document across runs of the program: windows remember it, journals carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey(pub u64);

/// How a document stands to its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentState {
    /// It has no file yet.
    Untitled,
    /// The file holds this text.
    Clean,
    /// It was edited since it was read or saved.
    Dirty,
    /// It was edited here and changed on the disk: the user decides.
    Conflict,
    /// Its file is gone; the text is here alone.
    DeletedOnDisk,
    /// It cannot be written back, for this reason.
    ReadOnly(Arc<str>),
}

/// What was noticed when a file was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFlags {
    /// So large that highlighting should stay off.
    pub is_large: bool,
    /// It has a line of `load::LONG_LINE` bytes or more.
    pub has_long_line: bool,
    /// The file refuses to be written as it stands.
    pub is_write_protected: bool,
}

/// A file that changed while its document had edits of its own.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What is on the disk; `None` when that is no text.
    pub theirs: Option<Snapshot>,
    /// Its identity and fingerprint.
    pub on_disk: OnDisk,
    /// How it lies in its file.
    pub format: FileFormat,
    /// What makes their text of ours as it was at a revision, found in the background.
    pub(crate) edits: Option<(Revision, Vec<Edit>)>,
}

/// What the file held when the two were last the same.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    /// The state in the undo tree.
    pub(crate) node: NodeId,
    pub(crate) snapshot: Snapshot,
    pub(crate) on_disk: OnDisk,
}

/// One text and what it has to do with a file.
pub struct Document {
    id: DocumentId,
    key: DocumentKey,
    pub(crate) path: Option<AbsPath>,
    /// Where the links of `path` led at the last look at the disk.
    pub(crate) real_path: Option<AbsPath>,
    buffer: Buffer,
    pub(crate) format: FileFormat,
    /// `None` until there is a file.
    pub(crate) saved: Option<Saved>,
    pub(crate) conflict: Option<Conflict>,
    pub(crate) is_gone: bool,
    /// The disk took the text, but would not confirm that it lasts.
    pub(crate) is_unconfirmed: bool,
    read_only: Option<Arc<str>>,
    /// Alive as long as a save is under way.
    pub(crate) save_under_way: std::sync::Weak<()>,
    flags: FileFlags,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Document {
    /// An empty document without a file: UTF-8, line feeds.
    pub fn untitled() -> Self {
        Self::with_buffer(None, Buffer::new(""), crate::load::new_file_format())
    }

    /// A text without a file, with nothing to undo yet.
    pub fn of_text(text: &str) -> Self {
        Self::with_buffer(None, Buffer::new(text), crate::load::new_file_format())
    }

    /// The document of a file that was read.
    pub fn from_loaded(loaded: Loaded) -> Self {
        let mut document = Self::with_buffer(Some(loaded.path), loaded.buffer, loaded.format);
        document.real_path = loaded.real_path;
        document.read_only = loaded.read_only.map(Arc::from);
        document.flags = loaded.flags;
        document.mark_saved(document.snapshot(), NodeId(0), loaded.on_disk);
        document
    }

    /// An empty document that will create its file when it is saved.
    pub fn new_at(path: AbsPath) -> Self {
        let mut document = Self::untitled();
        document.path = Some(path);
        document
    }

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

    /// Its number, unique in this run of the program.
    pub fn id(&self) -> DocumentId {
        self.id
    }

    /// Its number across runs of the program.
    pub fn key(&self) -> DocumentKey {
        self.key
    }

    /// Its file; `None` while it is untitled.
    pub fn path(&self) -> Option<&AbsPath> {
        self.path.as_ref()
    }

    /// Whether this is its file, by the name it was opened with or by the one that links lead to.
    pub fn is_of(&self, path: &AbsPath) -> bool {
        self.path.as_ref() == Some(path) || self.real_path.as_ref() == Some(path)
    }

    /// Its file without links, as far as that is known.
    pub fn real_path(&self) -> Option<&AbsPath> {
        self.real_path.as_ref()
    }

    /// Says that the file was renamed by us.
    pub fn set_path(&mut self, path: AbsPath) {
        self.path = Some(path);
        self.real_path = None;
    }

    /// The name of its file, or the beginning of its text.
    pub fn title(&self) -> String {
        const LONGEST: usize = 32;
        if let Some(path) = &self.path {
            return path.shown_name();
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

    /// The text and its history.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The text and its history, to be edited. Ask `can_edit` first.
    pub fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    /// The text as it is now.
    pub fn snapshot(&self) -> Snapshot {
        self.buffer.snapshot()
    }

    /// The text as it was when it was last read or saved; `None` without a file.
    pub fn saved_snapshot(&self) -> Option<&Snapshot> {
        self.saved.as_ref().map(|saved| &saved.snapshot)
    }

    /// The revision that was last read or saved; `None` without a file.
    pub fn saved_revision(&self) -> Option<Revision> {
        self.saved_snapshot().map(Snapshot::revision)
    }

    /// What is known of its file.
    pub fn on_disk(&self) -> Option<OnDisk> {
        self.saved.as_ref().map(|saved| saved.on_disk)
    }

    /// How it lies in its file, or will.
    pub fn format(&self) -> FileFormat {
        self.format
    }

    /// Chooses how it will lie in its file. The document counts as edited afterwards.
    pub fn set_format(&mut self, format: FileFormat) {
        if self.format != format {
            self.format = format;
            // The file still has the other one.
            self.is_unconfirmed = self.saved.is_some();
            self.read_only = None;
        }
    }

    /// How it stands to its file.
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

    /// Whether closing it would lose text that is nowhere else.
    pub fn is_dirty(&self) -> bool {
        match &self.saved {
            Some(_) => {
                self.is_gone
                    || self.conflict().is_some()
                    || self.has_own_edits() && !self.is_as_on_disk()
            }
            None => self.path.is_some() || !self.buffer.is_empty(),
        }
    }

    /// Whether its text may be edited.
    pub fn can_edit(&self) -> bool {
        self.read_only.is_none()
    }

    /// What is on the disk, while that and the edits here are at odds. The conflict is over once the text is the one on
    /// the disk, or has no edits of its own any more.
    pub fn conflict(&self) -> Option<&Conflict> {
        let conflict = self.conflict.as_ref()?;
        let is_theirs_alone = conflict.theirs.is_some() && !self.has_own_edits();
        (!is_theirs_alone && !self.is_as_on_disk()).then_some(conflict)
    }

    /// Whether there are edits that the file never held.
    pub(crate) fn has_own_edits(&self) -> bool {
        match &self.saved {
            Some(_) => self.is_unconfirmed || !self.is_at_saved_node(),
            None => true,
        }
    }

    /// Whether the file, which another program changed, holds this text.
    pub(crate) fn is_as_on_disk(&self) -> bool {
        self.conflict.as_ref().is_some_and(|conflict| {
            let theirs = conflict.theirs.as_ref();
            conflict.format == self.format
                && theirs.is_some_and(|theirs| is_same(theirs, &self.snapshot()))
        })
    }

    /// Whether it is so large that highlighting is off.
    pub fn is_large(&self) -> bool {
        self.flags.is_large
    }

    /// Whether it had a line of a megabyte or more when it was read.
    pub fn has_long_line(&self) -> bool {
        self.flags.has_long_line
    }

    /// Whether its file refused to be written when it was read: a save will say why.
    pub fn is_write_protected(&self) -> bool {
        self.flags.is_write_protected
    }

    pub(crate) fn read_only_reason(&self) -> Option<Arc<str>> {
        self.read_only.clone()
    }

    /// The state in the undo tree that the file holds, and what is known of the file.
    pub(crate) fn saved_node(&self) -> Option<(NodeId, OnDisk)> {
        let saved = self.saved.as_ref()?;
        Some((saved.node, saved.on_disk))
    }

    /// Whether the text is the one that the file holds, as far as the undo tree tells.
    pub(crate) fn is_at_saved_node(&self) -> bool {
        let current = self.buffer.history().current();
        self.saved
            .as_ref()
            .is_some_and(|saved| saved.node == current)
    }

    /// Gives a document from a journal what it had before.
    pub(crate) fn come_back(&mut self, key: DocumentKey, saved: Option<Saved>) {
        self.key = key;
        self.saved = saved;
    }

    /// Takes over what was noticed when the file was read once more.
    pub(crate) fn take_flags(&mut self, loaded: &Loaded) {
        self.flags = loaded.flags;
        self.real_path.clone_from(&loaded.real_path);
        if let Some(saved) = &mut self.saved {
            saved.on_disk = loaded.on_disk;
        }
    }

    pub(crate) fn clear_read_only(&mut self) {
        self.read_only = None;
    }

    pub(crate) fn mark_saved(&mut self, snapshot: Snapshot, node: NodeId, on_disk: OnDisk) {
        self.saved = Some(Saved {
            node,
            snapshot,
            on_disk,
        });
        self.is_gone = false;
        self.is_unconfirmed = false;
        self.conflict = None;
    }
}

/// Whether two texts are the same. Reads as far as they are.
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
        // The standard library's hash keys are random, which is all that is needed.
        Self(RandomState::new().hash_one(NEXT_ID.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests;
