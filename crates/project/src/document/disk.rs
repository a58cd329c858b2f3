//! Handles changes of a file on the disk while its document is open.
//!
//! `Document::check_disk` creates a job; its finding is accepted on the document's thread. A clean
//! document takes the new text as one undoable edit; a document with unsaved edits enters a
//! conflict.

use base::{AbsPath, Row, Span};
use host::{ContentHash, Error, Files, OnDisk, Stamp};
use text::{Author, Change, Edit, EditKind, EditOrigin, FileFormat, Snapshot, Timestamp};

use super::{DiskConflict, Document, is_same};
use crate::load::{TOO_LARGE, stored_and_real};

/// A check whether a file changed on the disk, to run on a background thread. Made by
/// `Document::check_disk`; it holds a snapshot and does not touch the document.
#[derive(Clone, Debug)]
pub struct DiskCheck {
    path: AbsPath,
    /// State last known to the document; `None` if it knew of no file.
    known: Option<OnDisk>,
    /// Text that a reload would replace.
    snapshot: Snapshot,
}

/// The result of a disk check, to be passed to `Document::accept_disk`.
#[derive(Clone, Debug)]
pub struct DiskFinding {
    path: AbsPath,
    /// The path in the spelling that its folders store.
    stored_path: AbsPath,
    real_path: Option<AbsPath>,
    found: DiskState,
}

#[derive(Clone, Debug)]
enum DiskState {
    Same(Option<Stamp>),
    Gone,
    Unreadable(Error),
    Changed(Box<DiskChange>),
}

/// A new content of a file, with the edits that change the document's text into it.
#[derive(Clone, Debug)]
pub(crate) struct DiskChange {
    on_disk: OnDisk,
    format: FileFormat,
    /// `None` if the file is not text that could be written back.
    theirs: Option<DiskText>,
}

#[derive(Clone, Debug)]
struct DiskText {
    snapshot: Snapshot,
    /// Edits that turn the text at the time of the check into this one.
    edits: Vec<Edit>,
    of: Snapshot,
}

/// The effect of a disk check on a document: none, reloaded, in conflict, file deleted, or
/// unreadable.
#[derive(Clone, Debug)]
pub enum DiskOutcome {
    /// The document is up to date.
    Unchanged,
    /// The new text was loaded with this change.
    Reloaded(Change),
    /// The user has to decide: see `Document::conflict`.
    Conflict,
    /// The file is gone; the text stays.
    Deleted,
    /// The file cannot be read, for this reason.
    Unreadable(Error),
}

impl DiskOutcome {
    /// Returns a message for the user; `None` if nothing changed or the text was reloaded.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Unchanged | Self::Reloaded(_) => None,
            Self::Conflict => Some(
                "the file was changed by another program, and there are unsaved edits here: \
                 compare, and choose whose text to keep"
                    .into(),
            ),
            Self::Deleted => {
                Some("the file was deleted from the disk; saving will create it again".into())
            }
            Self::Unreadable(error) => Some(error.to_string()),
        }
    }
}

impl DiskCheck {
    /// Creates a check of `path`. With `known` as `None`, any content counts as changed; `snapshot`
    /// is the text with which it is compared.
    pub(crate) fn new(path: AbsPath, known: Option<OnDisk>, snapshot: Snapshot) -> Self {
        Self {
            path,
            known,
            snapshot,
        }
    }

    /// Reads the file if its metadata changed, and diffs it with the document's text. Blocks on the
    /// disk; errors are part of the finding.
    pub fn run(self, files: &dyn Files) -> DiskFinding {
        let found = self.read_disk(files);
        let (stored_path, real_path) = stored_and_real(files, &self.path);
        DiskFinding {
            real_path,
            stored_path,
            path: self.path,
            found,
        }
    }

    fn read_disk(&self, files: &dyn Files) -> DiskState {
        match files.stat(&self.path) {
            Ok(stat) if Some(stat.stamp) == self.known.map(|known| known.stamp) => {
                return DiskState::Same(None);
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => return DiskState::Gone,
            Err(error) => return DiskState::Unreadable(error),
        }
        let (bytes, stat) = match files.read_with_stat(&self.path, TOO_LARGE - 1) {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return DiskState::Gone,
            Err(error) => return DiskState::Unreadable(error),
        };
        let on_disk = OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&bytes),
        };
        if Some(on_disk.hash) == self.known.map(|known| known.hash) {
            return DiskState::Same(Some(stat.stamp));
        }
        let decoded = text::decode(&bytes);
        let is_text = !decoded.binary && decoded.read_only.is_none();
        DiskState::Changed(Box::new(DiskChange {
            on_disk,
            format: decoded.format,
            theirs: is_text.then(|| self.compare(&decoded.text)),
        }))
    }

    fn compare(&self, text: &str) -> DiskText {
        let theirs = Snapshot::new(text);
        DiskText {
            edits: edits_between(&self.snapshot, &theirs),
            snapshot: theirs,
            of: self.snapshot.clone(),
        }
    }
}

impl DiskFinding {
    /// Returns the new content of the file; `None` if it is unchanged, gone or unreadable.
    pub(crate) fn into_changed(self) -> Option<DiskChange> {
        match self.found {
            DiskState::Changed(changed) => Some(*changed),
            DiskState::Same(_) | DiskState::Gone | DiskState::Unreadable(_) => None,
        }
    }
}

impl DiskChange {
    /// Makes this content the other side of a conflict.
    pub(crate) fn into_conflict(self) -> DiskConflict {
        let (theirs, edits) = match self.theirs {
            Some(theirs) => (
                Some(theirs.snapshot),
                Some((theirs.of.revision(), theirs.edits)),
            ),
            None => (None, None),
        };
        DiskConflict {
            theirs,
            on_disk: self.on_disk,
            format: self.format,
            edits,
        }
    }
}

impl Document {
    /// Creates a disk check to run elsewhere; `None` for an untitled document.
    pub fn check_disk(&self) -> Option<DiskCheck> {
        Some(DiskCheck {
            path: self.path.clone()?,
            // During a conflict, its state is the newest known.
            known: match &self.conflict {
                Some(conflict) => Some(conflict.on_disk),
                None => self.on_disk(),
            },
            snapshot: self.snapshot(),
        })
    }

    /// Applies the result of a disk check: a document without unsaved edits is reloaded, one with
    /// unsaved edits enters a conflict. `at` is the time of the resulting edit. A finding for
    /// another path, or during a save, has no effect.
    pub fn accept_disk(&mut self, finding: DiskFinding, at: Timestamp) -> DiskOutcome {
        // The document was renamed or is being saved: the next check will tell.
        if Some(&finding.path) != self.path.as_ref() || self.is_saving() {
            return DiskOutcome::Unchanged;
        }
        if finding.real_path.is_some() {
            self.real_path = finding.real_path;
            // A rename that changes only the spelling leaves the document with its file.
            self.path = Some(finding.stored_path);
        }
        match finding.found {
            DiskState::Same(stamp) => self.accept_same(stamp, at),
            DiskState::Gone => self.accept_gone(),
            DiskState::Unreadable(error) => DiskOutcome::Unreadable(error),
            DiskState::Changed(changed) => self.accept_changed(*changed, at),
        }
    }

    /// Resolves a conflict in favour of the document: the next save overwrites the file. If the
    /// file changes again before that, there is a new conflict.
    pub fn keep_mine(&mut self) {
        if let Some(conflict) = self.conflict.take() {
            if let Some(saved) = &mut self.saved {
                saved.on_disk = conflict.on_disk;
            }
            self.is_unconfirmed = true;
        }
    }

    /// Resolves a conflict in favour of the disk: the file's text replaces the document's in one
    /// undoable edit. `None` if there is no conflict or the file is not text.
    ///
    /// Diffs the texts synchronously if the document was edited since the conflict was found.
    pub fn take_theirs(&mut self, at: Timestamp) -> Option<Change> {
        let theirs = self.conflict.as_ref()?.theirs.clone()?;
        let conflict = self.conflict.take()?;
        let edits = match conflict.edits {
            Some((revision, edits)) if revision == self.buffer().revision() => edits,
            _ => edits_between(&self.snapshot(), &theirs),
        };
        Some(self.take_over(&edits, conflict.format, conflict.on_disk, at))
    }

    /// Ends a conflict whose cause is gone. If the document has no unsaved edits any more, loads
    /// the file's text and returns the change; otherwise `None`.
    pub(crate) fn resolve_if_over(&mut self, at: Timestamp) -> Option<Change> {
        let on_disk = self.conflict.as_ref()?.on_disk;
        if self.is_as_on_disk() {
            let (snapshot, node) = (self.snapshot(), self.seal());
            self.mark_saved(snapshot, node, on_disk);
            return None;
        }
        if self.has_own_edits() {
            None
        } else {
            self.take_theirs(at)
        }
    }

    fn accept_same(&mut self, touched: Option<Stamp>, at: Timestamp) -> DiskOutcome {
        self.is_gone = false;
        let known = match (&mut self.conflict, &mut self.saved) {
            (Some(conflict), _) => Some(&mut conflict.on_disk),
            (None, Some(saved)) => Some(&mut saved.on_disk),
            (None, None) => None,
        };
        if let (Some(known), Some(stamp)) = (known, touched) {
            known.stamp = stamp;
        }
        match self.resolve_if_over(at) {
            Some(change) => DiskOutcome::Reloaded(change),
            None => DiskOutcome::Unchanged,
        }
    }

    fn accept_gone(&mut self) -> DiskOutcome {
        // A document without a file cannot lose it.
        if self.saved.is_none() || self.is_gone {
            return DiskOutcome::Unchanged;
        }
        self.is_gone = true;
        self.conflict = None;
        DiskOutcome::Deleted
    }

    fn accept_changed(&mut self, changed: DiskChange, at: Timestamp) -> DiskOutcome {
        self.is_gone = false;
        if self.is_back(&changed) {
            if let Some(saved) = &mut self.saved {
                saved.on_disk = changed.on_disk;
            }
            self.conflict = None;
            return DiskOutcome::Unchanged;
        }
        let is_clean = !self.has_own_edits();
        if let (true, Some(theirs)) = (is_clean, &changed.theirs)
            && theirs.of.revision() == self.buffer().revision()
        {
            let edits = &theirs.edits;
            return DiskOutcome::Reloaded(self.take_over(
                edits,
                changed.format,
                changed.on_disk,
                at,
            ));
        }
        if let Some(theirs) = &changed.theirs
            && theirs.of.revision() == self.buffer().revision()
            && theirs.edits.is_empty()
            && changed.format == self.format
        {
            // Both sides made the same change.
            let (snapshot, node) = (self.snapshot(), self.seal());
            self.mark_saved(snapshot, node, changed.on_disk);
            return DiskOutcome::Unchanged;
        }
        self.conflict = Some(changed.into_conflict());
        DiskOutcome::Conflict
    }

    /// Returns whether the file again has the content last read or saved here.
    fn is_back(&self, changed: &DiskChange) -> bool {
        match (&self.saved, &changed.theirs) {
            (Some(saved), Some(theirs)) => {
                changed.format == self.format && is_same(&theirs.snapshot, &saved.snapshot)
            }
            _ => false,
        }
    }

    fn take_over(
        &mut self,
        edits: &[Edit],
        format: FileFormat,
        on_disk: OnDisk,
        at: Timestamp,
    ) -> Change {
        self.buffer_mut().seal_step();
        let origin = EditOrigin::new(Author::Disk, EditKind::Other, at);
        let change = self.buffer_mut().edit(edits, &origin);
        self.format = format;
        let node = self.seal();
        self.mark_saved(self.snapshot(), node, on_disk);
        change
    }
}

/// Computes row-wise edits from `before` to `after`.
fn edits_between(before: &Snapshot, after: &Snapshot) -> Vec<Edit> {
    let edits = edits_by_rows(before, after);
    if applied(before, &edits) == after.to_string() {
        edits
    } else {
        base::never!("the edits by rows do not lead from one text to the other");
        vec![Edit::new(before.full_span(), after.to_string())]
    }
}

fn applied(before: &Snapshot, edits: &[Edit]) -> String {
    let mut text = before.to_string();
    for edit in edits.iter().rev() {
        text.replace_range(edit.span.range(), &edit.text);
    }
    text
}

fn edits_by_rows(before: &Snapshot, after: &Snapshot) -> Vec<Edit> {
    let bytes = |snapshot: &Snapshot, start: Row, end: Row| {
        Span::new(row_border(snapshot, start), row_border(snapshot, end))
    };
    let hunks = before.diff_rows(after);
    let edits = hunks.iter().map(|hunk| {
        let old = bytes(before, hunk.before.start, hunk.before.end);
        let new = bytes(after, hunk.after.start, hunk.after.end);
        Edit::new(old, after.text(new))
    });
    edits.collect()
}

/// Returns the start of a row, or the end of the text for rows past the last.
fn row_border(snapshot: &Snapshot, row: Row) -> base::ByteOffset {
    if row.0 >= snapshot.row_count() {
        snapshot.len()
    } else {
        snapshot.row_start(row)
    }
}
