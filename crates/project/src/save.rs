//! Saves a document: the document's thread prepares a job, another runs it, and the first accepts
//! the outcome.

mod tidy;

use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use host::{Error, ErrorReason, ExpectedContent, Files, OnDisk, SaveRequest};
use text::{EncodeError, FileFormat, NodeId, Snapshot, Timestamp};

use crate::document::{DiskCheck, DiskConflict, DiskFinding, Document, DocumentId};

/// Clean-ups of the text before a save; they are an undoable edit. Texts of more than 4 MiB are not
/// cleaned up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveOptions {
    /// Removes trailing whitespace of lines.
    pub trim_trailing_whitespace: bool,
    /// Adds a line ending to the last line.
    pub final_newline: bool,
}

/// The target of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveTarget {
    /// The document's own file.
    Own,
    /// A new file that must not exist yet; it becomes the document's own.
    New(AbsPath),
    /// An existing file to overwrite; it becomes the document's own.
    Over(AbsPath),
}

/// The reason why a save did not start. Displays as a message that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveRefused {
    /// The document has no file: ask for a name.
    Untitled,
    /// The file was changed on the disk: the user decides first.
    Conflict(AbsPath),
    /// The text cannot be written back, for this reason.
    ReadOnly(Arc<str>),
    /// A save is already running: try again when it is done.
    UnderWay,
}

/// The reason why a save failed. Displays as a message that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveError {
    /// The file's encoding lacks a character of the text.
    Encode(AbsPath, EncodeError),
    /// The file could not be written.
    Files(Error),
}

/// A save to run on a background thread. Holds a snapshot of the text; edits made meanwhile are not
/// saved. While it or its outcome exists, the document refuses another save.
#[derive(Debug)]
pub struct SaveJob {
    document: DocumentId,
    path: AbsPath,
    snapshot: Snapshot,
    node: NodeId,
    format: FileFormat,
    expected: ExpectedContent,
    /// Whether to create a missing folder: for a new file, or one whose folder was deleted with it.
    makes_folder: bool,
    recovery_folder: AbsPath,
    under_way: Arc<()>,
}

/// The outcome of a save, successful or not, to be passed to `Document::accept_save`.
#[derive(Debug)]
pub struct SaveOutcome {
    /// Id of the saved document.
    pub document: DocumentId,
    path: AbsPath,
    real_path: Option<AbsPath>,
    snapshot: Snapshot,
    node: NodeId,
    format: FileFormat,
    result: Result<host::SaveResult, SaveError>,
    /// State of the file, if the save failed because of it.
    theirs: Option<DiskFinding>,
    _under_way: Arc<()>,
}

/// The file as written by a save that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveDone {
    /// Identity and fingerprint of the written file.
    pub on_disk: OnDisk,
    /// Set if the text was written but the disk did not confirm that it is durable. The document
    /// stays dirty.
    pub unconfirmed: Option<Error>,
}

impl SaveJob {
    /// Writes the text to the file atomically. Blocks on the disk; errors are part of the outcome.
    pub fn run(self, files: &dyn Files) -> SaveOutcome {
        let result = self.save(files);
        let theirs = match &result {
            Err(SaveError::Files(error)) if is_about_theirs(error) => {
                let check = DiskCheck::new(self.path.clone(), None, self.snapshot.clone());
                Some(check.run(files))
            }
            _ => None,
        };
        SaveOutcome {
            document: self.document,
            real_path: files.canonicalize(&self.path).ok(),
            path: self.path,
            snapshot: self.snapshot,
            node: self.node,
            format: self.format,
            result,
            theirs,
            _under_way: self.under_way,
        }
    }

    /// Encodes the text and writes the file, with its folder if necessary. Returns an error if the
    /// encoding lacks a char of the text or the file is not as expected or cannot be written.
    fn save(&self, files: &dyn Files) -> Result<host::SaveResult, SaveError> {
        let content = text::encode(&self.snapshot, &self.format)
            .map_err(|error| SaveError::Encode(self.path.clone(), error))?;
        if self.makes_folder
            && let Some(folder) = self.path.parent()
        {
            files.create_folder(&folder).map_err(SaveError::Files)?;
        }
        let request = SaveRequest {
            path: &self.path,
            content: &content,
            expected: self.expected,
            recovery_folder: &self.recovery_folder,
        };
        files.save(&request).map_err(SaveError::Files)
    }
}

impl Document {
    /// Applies the clean-ups and creates the job that saves the text; nothing is written yet.
    /// `recovery_folder` receives a record before a file is overwritten in place, see
    /// `host::Dirs::recovery`. `at` is the time of the clean-up edit.
    ///
    /// # Errors
    ///
    /// Refuses an untitled document without a target, a conflict, a read-only text, and a second
    /// save at a time.
    pub fn prepare_save(
        &mut self,
        target: SaveTarget,
        options: SaveOptions,
        recovery_folder: &AbsPath,
        at: Timestamp,
    ) -> Result<SaveJob, SaveRefused> {
        if self.is_saving() {
            return Err(SaveRefused::UnderWay);
        }
        if target == SaveTarget::Own {
            self.resolve_if_over(at);
        }
        let is_own = target == SaveTarget::Own;
        let (path, expected) = self.where_to(target)?;
        self.tidy(options, at);
        let under_way = Arc::new(());
        self.save_under_way = Arc::downgrade(&under_way);
        Ok(SaveJob {
            document: self.id(),
            path,
            node: self.seal(),
            snapshot: self.snapshot(),
            format: self.format,
            expected,
            makes_folder: is_own && expected == ExpectedContent::Absent,
            recovery_folder: recovery_folder.clone(),
            under_way,
        })
    }

    /// Applies the outcome of a save. After a failure the document stays as dirty as it was; if
    /// another program had changed the file, the document enters a conflict. Edits made while it
    /// ran stay unsaved.
    pub fn accept_save(&mut self, outcome: SaveOutcome) -> Result<SaveDone, SaveError> {
        self.save_under_way = std::sync::Weak::new();
        if outcome.document != self.id() {
            base::never!("the outcome belongs to another document");
        }
        match outcome.result {
            Ok(saved) => {
                self.path = Some(outcome.path);
                self.real_path = outcome.real_path;
                // The file now has this text, so reasons from loading no longer apply.
                self.clear_read_only();
                self.mark_saved(outcome.snapshot, outcome.node, saved.on_disk);
                // The format may have been changed while the save ran.
                self.is_unconfirmed = saved.unconfirmed.is_some() || self.format != outcome.format;
                Ok(SaveDone {
                    on_disk: saved.on_disk,
                    unconfirmed: saved.unconfirmed,
                })
            }
            Err(error) => {
                let is_own = self.path.as_ref() == Some(&outcome.path);
                if let Some(theirs) = outcome.theirs.filter(|_| is_own) {
                    self.note_theirs(theirs);
                }
                Err(error)
            }
        }
    }

    /// Returns whether a save is running.
    pub fn is_saving(&self) -> bool {
        self.save_under_way.strong_count() > 0
    }

    /// Ends the current undo step, so that its state is final, and returns that state.
    pub(crate) fn seal(&mut self) -> NodeId {
        self.buffer_mut().seal_step();
        self.buffer().history().current()
    }

    /// Returns the path to write, and the content that the file must have before. Returns the
    /// reason if the document cannot be saved to its own file: it has none, is read-only, or is in
    /// a conflict.
    fn where_to(&self, target: SaveTarget) -> Result<(AbsPath, ExpectedContent), SaveRefused> {
        let path = match target {
            SaveTarget::New(path) => return Ok((path, ExpectedContent::Absent)),
            SaveTarget::Over(path) => return Ok((path, ExpectedContent::Anything)),
            SaveTarget::Own => self.path.clone().ok_or(SaveRefused::Untitled)?,
        };
        if let Some(reason) = self.read_only_reason() {
            return Err(SaveRefused::ReadOnly(reason));
        }
        if self.conflict().is_some() {
            return Err(SaveRefused::Conflict(path));
        }
        let expected = match self.on_disk() {
            Some(on_disk) if !self.is_gone => ExpectedContent::Unchanged(on_disk),
            _ => ExpectedContent::Absent,
        };
        Ok((path, expected))
    }

    fn note_theirs(&mut self, theirs: DiskFinding) {
        match theirs.into_conflict() {
            Some(conflict) => self.conflict = Some(conflict),
            None => self.is_gone = self.saved.is_some(),
        }
    }
}

impl DiskFinding {
    /// Returns the other side of a conflict; `None` if the file is unchanged, gone or unreadable.
    fn into_conflict(self) -> Option<DiskConflict> {
        self.into_changed().map(|changed| changed.into_conflict())
    }
}

/// Returns whether the save failed because of another program's change.
fn is_about_theirs(error: &Error) -> bool {
    matches!(
        error.reason,
        ErrorReason::ChangedOnDisk { .. } | ErrorReason::AlreadyExists
    )
}

impl fmt::Display for SaveRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untitled => f.write_str("cannot save: the text has no file yet; choose a name"),
            Self::Conflict(path) => write!(
                f,
                "cannot save {path}: it was changed by another program; choose whose text to keep"
            ),
            Self::ReadOnly(reason) => {
                write!(f, "cannot save: {reason}; save under another name instead")
            }
            Self::UnderWay => f.write_str("cannot save: another save is still running"),
        }
    }
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(path, error) => write!(f, "cannot save {path}: {error}"),
            Self::Files(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SaveRefused {}
impl std::error::Error for SaveError {}

#[cfg(test)]
mod tests;
