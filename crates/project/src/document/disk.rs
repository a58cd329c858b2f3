//! What happens when a file changes under its document.
//!
//! `Document::check_disk` makes a job; its finding is accepted on the document's thread. A clean
//! document takes the new text over as one undoable edit; one with edits of its own gets a conflict.

use base::{AbsPath, Row, Span};
use host::{ContentHash, Error, Files, OnDisk, Stamp};
use text::{Author, Change, Edit, EditKind, FileFormat, Origin, Snapshot, Timestamp};

use super::{Conflict, Document, is_same};
use crate::load::TOO_LARGE;

/// A look at the disk to be taken on a background thread.
#[derive(Clone, Debug)]
pub struct DiskCheck {
    path: AbsPath,
    /// What the document last knew; `None` when it knew of no file.
    known: Option<OnDisk>,
    /// The text that would be replaced.
    snapshot: Snapshot,
}

/// What a look at the disk found.
#[derive(Clone, Debug)]
pub struct DiskFinding {
    path: AbsPath,
    real_path: Option<AbsPath>,
    found: Found,
}

#[derive(Clone, Debug)]
enum Found {
    Same(Option<Stamp>),
    Gone,
    Unreadable(Error),
    Changed(Box<Changed>),
}

#[derive(Clone, Debug)]
pub(crate) struct Changed {
    on_disk: OnDisk,
    format: FileFormat,
    /// `None` when it is no text that could be written back.
    theirs: Option<Theirs>,
}

#[derive(Clone, Debug)]
struct Theirs {
    snapshot: Snapshot,
    /// What makes it of the text that was there when the look was ordered.
    edits: Vec<Edit>,
    of: Snapshot,
}

/// What became of a document after a look at the disk.
#[derive(Clone, Debug)]
pub enum DiskOutcome {
    /// Nothing to do.
    Unchanged,
    /// The new text was taken over by this change.
    Reloaded(Change),
    /// The user has to decide: see `Document::conflict`.
    Conflict,
    /// The file is gone; the text stays.
    Deleted,
    /// The file cannot be looked at; a sentence for the user.
    Unreadable(Error),
}

impl DiskOutcome {
    /// A sentence for the user, where there is something to be told.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Unchanged | Self::Reloaded(_) => None,
            Self::Conflict => Some(
                "the file was changed by another program, and there are unsaved edits here: \
                 compare, and choose whose text to keep"
                    .into(),
            ),
            Self::Deleted => {
                Some("the file is gone from the disk; saving will create it anew".into())
            }
            Self::Unreadable(error) => Some(error.to_string()),
        }
    }
}

impl DiskCheck {
    pub(crate) fn new(path: AbsPath, known: Option<OnDisk>, snapshot: Snapshot) -> Self {
        Self {
            path,
            known,
            snapshot,
        }
    }

    /// Looks. Blocks.
    pub fn run(self, files: &dyn Files) -> DiskFinding {
        let found = self.look(files);
        DiskFinding {
            real_path: files.canonicalize(&self.path).ok(),
            path: self.path,
            found,
        }
    }

    fn look(&self, files: &dyn Files) -> Found {
        match files.stat(&self.path) {
            Ok(stat) if Some(stat.stamp) == self.known.map(|known| known.stamp) => {
                return Found::Same(None);
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => return Found::Gone,
            Err(error) => return Found::Unreadable(error),
        }
        let (bytes, stat) = match files.read_with_stat(&self.path, TOO_LARGE - 1) {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return Found::Gone,
            Err(error) => return Found::Unreadable(error),
        };
        let on_disk = OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&bytes),
        };
        if Some(on_disk.hash) == self.known.map(|known| known.hash) {
            return Found::Same(Some(stat.stamp));
        }
        let decoded = text::decode(&bytes);
        let is_text = !decoded.binary && decoded.read_only.is_none();
        Found::Changed(Box::new(Changed {
            on_disk,
            format: decoded.format,
            theirs: is_text.then(|| self.compare(&decoded.text)),
        }))
    }

    fn compare(&self, text: &str) -> Theirs {
        let theirs = Snapshot::new(text);
        Theirs {
            edits: edits_between(&self.snapshot, &theirs),
            snapshot: theirs,
            of: self.snapshot.clone(),
        }
    }
}

impl DiskFinding {
    pub(crate) fn into_changed(self) -> Option<Changed> {
        match self.found {
            Found::Changed(changed) => Some(*changed),
            Found::Same(_) | Found::Gone | Found::Unreadable(_) => None,
        }
    }
}

impl Changed {
    pub(crate) fn into_conflict(self) -> Conflict {
        let (theirs, edits) = match self.theirs {
            Some(theirs) => (
                Some(theirs.snapshot),
                Some((theirs.of.revision(), theirs.edits)),
            ),
            None => (None, None),
        };
        Conflict {
            theirs,
            on_disk: self.on_disk,
            format: self.format,
            edits,
        }
    }
}

impl Document {
    /// A look at the disk, to be run elsewhere; `None` for an untitled document.
    pub fn check_disk(&self) -> Option<DiskCheck> {
        Some(DiskCheck {
            path: self.path.clone()?,
            // While there is a conflict, what it knows is the newest.
            known: match &self.conflict {
                Some(conflict) => Some(conflict.on_disk),
                None => self.on_disk(),
            },
            snapshot: self.snapshot(),
        })
    }

    /// Takes in what a look at the disk found. `at` becomes the time of the edit, if there is one.
    pub fn accept_disk(&mut self, finding: DiskFinding, at: Timestamp) -> DiskOutcome {
        // Renamed, or being saved, in the meantime: the next look will tell.
        if Some(&finding.path) != self.path.as_ref() || self.is_saving() {
            return DiskOutcome::Unchanged;
        }
        if finding.real_path.is_some() {
            self.real_path = finding.real_path;
        }
        match finding.found {
            Found::Same(stamp) => self.accept_same(stamp, at),
            Found::Gone => self.accept_gone(),
            Found::Unreadable(error) => DiskOutcome::Unreadable(error),
            Found::Changed(changed) => self.accept_changed(*changed, at),
        }
    }

    /// Resolves a conflict: what is here will replace what is on the disk at the next save. If the
    /// file changes once more before that, there is a conflict again.
    pub fn keep_mine(&mut self) {
        if let Some(conflict) = self.conflict.take() {
            if let Some(saved) = &mut self.saved {
                saved.on_disk = conflict.on_disk;
            }
            self.is_unconfirmed = true;
        }
    }

    /// Resolves a conflict: what is on the disk replaces what is here, as an edit that can be
    /// undone. `None` when there is no conflict or the file holds no text.
    ///
    /// Compares the two texts here and now if this one was edited since the conflict was found.
    pub fn take_theirs(&mut self, at: Timestamp) -> Option<Change> {
        let theirs = self.conflict.as_ref()?.theirs.clone()?;
        let conflict = self.conflict.take()?;
        let edits = match conflict.edits {
            Some((revision, edits)) if revision == self.buffer().revision() => edits,
            _ => edits_between(&self.snapshot(), &theirs),
        };
        Some(self.take_over(&edits, conflict.format, conflict.on_disk, at))
    }

    /// Ends a conflict whose reason has ended. Where there are no edits here any more, the file's text is taken over by
    /// the change that is answered.
    pub(crate) fn settle_conflict(&mut self, at: Timestamp) -> Option<Change> {
        let on_disk = self.conflict.as_ref()?.on_disk;
        if self.is_as_on_disk() {
            let (snapshot, node) = (self.snapshot(), self.seal());
            self.mark_saved(snapshot, node, on_disk);
            return None;
        }
        match self.has_own_edits() {
            true => None,
            false => self.take_theirs(at),
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
        match self.settle_conflict(at) {
            Some(change) => DiskOutcome::Reloaded(change),
            None => DiskOutcome::Unchanged,
        }
    }

    fn accept_gone(&mut self) -> DiskOutcome {
        // A document that never had a file misses none.
        if self.saved.is_none() || self.is_gone {
            return DiskOutcome::Unchanged;
        }
        self.is_gone = true;
        self.conflict = None;
        DiskOutcome::Deleted
    }

    fn accept_changed(&mut self, changed: Changed, at: Timestamp) -> DiskOutcome {
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

    /// Whether the file holds again what it held when it was last read or saved here.
    fn is_back(&self, changed: &Changed) -> bool {
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
        let origin = Origin::new(Author::Disk, EditKind::Other, at);
        let change = self.buffer_mut().edit(edits, &origin);
        self.format = format;
        let node = self.seal();
        self.mark_saved(self.snapshot(), node, on_disk);
        change
    }
}

/// What makes `after` of `before`, row by row.
fn edits_between(before: &Snapshot, after: &Snapshot) -> Vec<Edit> {
    let edits = edits_by_rows(before, after);
    match applied(before, &edits) == after.to_string() {
        true => edits,
        false => {
            base::never!("the edits by rows do not lead from one text to the other");
            vec![Edit::new(before.full_span(), after.to_string())]
        }
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

/// Where a row starts; the end of the text behind the last row.
fn row_border(snapshot: &Snapshot, row: Row) -> base::ByteOffset {
    if row.0 >= snapshot.row_count() {
        snapshot.len()
    } else {
        snapshot.row_start(row)
    }
}
