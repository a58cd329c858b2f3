//! Rebuilds a document from the entries of its journal.

use std::collections::HashMap;

use base::{AbsPath, ByteOffset};
use host::{ContentHash, Files};
use text::{Buffer, BufferOperation, NodeId, SelectionSet, Snapshot};

use crate::document::{Document, SavedState};
use crate::journal_entry::{BaseText, JournalEntry, Meta, SavedAt};
use crate::load::TOO_LARGE;

/// A document rebuilt from its journal.
pub(super) struct Replayed {
    pub(super) document: Document,
    pub(super) meta: Meta,
    pub(super) selections: Option<SelectionSet>,
    pub(super) problems: Vec<String>,
    pub(super) has_history: bool,
}

struct JournalReplay {
    buffer: Buffer,
    meta: Meta,
    selections: Option<SelectionSet>,
    problems: Vec<String>,
    /// Texts of the nodes at which a step was sealed: one of them was saved.
    sealed: HashMap<NodeId, Snapshot>,
    /// Undo node that the file contains.
    saved: Option<NodeId>,
}

/// The reason that a journal cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplayError {
    /// Its first entry is not the start of a document.
    #[error("its start is damaged")]
    DamagedStart,
    /// It starts from a file that it does not name.
    #[error("it names no file")]
    NoFile,
    /// The file from which it starts has another content now.
    #[error("it is based on {0}, which has changed since")]
    FileChanged(AbsPath),
    /// The file from which it starts cannot be read.
    #[error(transparent)]
    Unreadable(#[from] host::Error),
}

/// Replays `entries` onto the text from which they start. Entries after the first that does not fit
/// are left out and reported.
pub(super) fn replay(
    files: &dyn Files,
    entries: Vec<JournalEntry>,
) -> Result<Replayed, ReplayError> {
    let mut entries = entries.into_iter();
    let Some(JournalEntry::Start { base, meta }) = entries.next() else {
        return Err(ReplayError::DamagedStart);
    };
    let mut replay = JournalReplay::new(Buffer::new(&start_text(files, base, &meta)?), meta);
    let mut has_history = replay.has_history();
    for entry in entries {
        match entry {
            JournalEntry::Start { .. } => {
                replay.problems.push(divergence());
                break;
            }
            JournalEntry::Operations { operations, length } => {
                if !replay.apply(operations, length) {
                    replay.problems.push(divergence());
                    break;
                }
            }
            JournalEntry::Selections(selections) => replay.selections = Some(selections),
            JournalEntry::Meta(meta) => {
                replay.take_meta(meta);
                has_history &= replay.has_history();
            }
        }
    }
    Ok(replay.finish(has_history))
}

impl JournalReplay {
    fn new(buffer: Buffer, meta: Meta) -> Self {
        let mut replay = Self {
            sealed: HashMap::from([(buffer.history().current(), buffer.snapshot())]),
            buffer,
            meta: meta.clone(),
            selections: None,
            problems: Vec::new(),
            saved: None,
        };
        replay.take_meta(meta);
        replay
    }

    /// Applies operations; returns whether the text then has the length stated by the journal.
    fn apply(&mut self, operations: Vec<BufferOperation>, length: u64) -> bool {
        for operation in operations {
            if !self.fits(&operation) {
                return false;
            }
            self.buffer.apply_operation(&operation);
            if operation == BufferOperation::SealStep {
                let node = self.buffer.history().current();
                self.sealed.insert(node, self.buffer.snapshot());
            }
        }
        self.buffer.len().0 as u64 == length
    }

    /// Returns whether the spans of an edit lie in the text, in order and on char boundaries.
    fn fits(&self, operation: &BufferOperation) -> bool {
        let BufferOperation::Edit { edits, .. } = operation else {
            return true;
        };
        let snapshot = self.buffer.snapshot();
        let is_border = |offset| offset <= snapshot.len() && is_char_border(&snapshot, offset);
        let mut behind = ByteOffset(0);
        edits.iter().all(|edit| {
            let (start, end) = (edit.span.start, edit.span.end);
            let is_in_order = behind <= start;
            behind = end;
            is_in_order && is_border(start) && is_border(end)
        })
    }

    fn take_meta(&mut self, meta: Meta) {
        let current = self.buffer.history().current();
        self.saved = match meta.saved {
            Some((_, SavedAt::Node(node))) => Some(node),
            Some((_, SavedAt::Here)) => Some(current),
            Some((_, SavedAt::Elsewhere)) | None => None,
        };
        if self.saved == Some(current) {
            self.sealed.insert(current, self.buffer.snapshot());
        }
        self.meta = meta;
    }

    /// A journal that was rewritten midway does not name undo nodes.
    fn has_history(&self) -> bool {
        !matches!(
            self.meta.saved,
            Some((_, SavedAt::Here | SavedAt::Elsewhere))
        )
    }

    fn finish(self, has_history: bool) -> Replayed {
        const NOWHERE: NodeId = NodeId(u32::MAX);
        let node = self.saved.unwrap_or(NOWHERE);
        let saved = self.meta.saved.map(|(on_disk, _)| SavedState {
            node,
            snapshot: match self.sealed.get(&node) {
                Some(snapshot) => snapshot.clone(),
                None => self.buffer.snapshot(),
            },
            on_disk,
        });
        let (path, format) = (self.meta.path.clone(), self.meta.format);
        let mut document = Document::with_buffer(path, self.buffer, format);
        document.restore(self.meta.key, saved);
        Replayed {
            document,
            meta: self.meta,
            selections: self.selections,
            problems: self.problems,
            has_history,
        }
    }
}

/// Whether an offset within the text is on a char boundary.
fn is_char_border(snapshot: &Snapshot, offset: ByteOffset) -> bool {
    let (chunk, start) = snapshot.chunk_at(offset);
    chunk.is_char_boundary(offset.0.saturating_sub(start.0))
}

fn divergence() -> String {
    "the end of the journal does not match its start; everything before it was recovered".into()
}

/// Returns the text from which a journal starts. Returns an error if it is that of a file which has
/// no path, cannot be read, or has changed since.
fn start_text(files: &dyn Files, base: BaseText, meta: &Meta) -> Result<String, ReplayError> {
    let hash = match base {
        BaseText::Text(text) => return Ok(text),
        BaseText::File(hash) => hash,
    };
    let Some(path) = &meta.path else {
        return Err(ReplayError::NoFile);
    };
    let bytes = files.read(path, TOO_LARGE - 1)?;
    if ContentHash::of(&bytes) != hash {
        return Err(ReplayError::FileChanged(path.clone()));
    }
    Ok(text::decode(&bytes).text.into_owned())
}
