//! Saving a document: a job is prepared on its thread, run elsewhere, and the outcome accepted.

use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use host::{Error, Expected, Files, OnDisk, Reason, SaveRequest};
use text::{EncodeError, FileFormat, NodeId, Snapshot, Timestamp};

use crate::document::{Conflict, DiskCheck, DiskFinding, Document, DocumentId};

/// What is done to the text before it is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveOptions {
    /// Blanks at the ends of lines go.
    pub trim_trailing_whitespace: bool,
    /// The last line gets a line ending.
    pub final_newline: bool,
}

/// Where a save goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveTarget {
    /// To the document's own file.
    Own,
    /// To a file that must not exist yet; it becomes the document's own.
    New(AbsPath),
    /// To a file whose content the user gives up; it becomes the document's own.
    Over(AbsPath),
}

/// Why a save was not even begun. As text: a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveRefused {
    /// The document has no file: ask for a name.
    Untitled,
    /// The file was changed on the disk: the user decides first.
    Conflict(AbsPath),
    /// The text cannot be written back, for this reason.
    ReadOnly(Arc<str>),
    /// A save is under way: try again when it is done.
    UnderWay,
}

/// Why a save failed. As text: a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveError {
    /// A character that the file's encoding does not have.
    Encode(AbsPath, EncodeError),
    /// The disk refused.
    Files(Error),
}

/// A save, to be run on a background thread. Holds the text as it was.
#[derive(Debug)]
pub struct SaveJob {
    document: DocumentId,
    path: AbsPath,
    snapshot: Snapshot,
    node: NodeId,
    format: FileFormat,
    expected: Expected,
    /// Whether the folder is created if it is not there: that of a file that was deleted with it, or is new.
    makes_folder: bool,
    recovery_folder: AbsPath,
    under_way: Arc<()>,
}

/// How a save went.
#[derive(Debug)]
pub struct SaveOutcome {
    /// Whose save it was.
    pub document: DocumentId,
    path: AbsPath,
    real_path: Option<AbsPath>,
    snapshot: Snapshot,
    node: NodeId,
    format: FileFormat,
    result: Result<host::Saved, SaveError>,
    /// What is on the disk instead, when that is why it failed.
    theirs: Option<DiskFinding>,
    _under_way: Arc<()>,
}

/// A save that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveDone {
    /// What is on the disk now.
    pub on_disk: OnDisk,
    /// Set when the text is in its file, but the disk would not confirm that it lasts. The document
    /// stays dirty.
    pub unconfirmed: Option<Error>,
}

impl SaveJob {
    /// Saves. Blocks.
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

    fn save(&self, files: &dyn Files) -> Result<host::Saved, SaveError> {
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
    /// Tidies the text as the options ask, and makes the job that saves it. `recovery_folder` is
    /// where a record goes before a file is overwritten in place, see `host::Dirs::recovery`.
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
            self.settle_conflict(at);
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
            makes_folder: is_own && expected == Expected::Absent,
            recovery_folder: recovery_folder.clone(),
            under_way,
        })
    }

    /// Takes in how a save went. After a failure the document stays as dirty as it was; when the
    /// file had been changed by another program, the document is in conflict now.
    pub fn accept_save(&mut self, outcome: SaveOutcome) -> Result<SaveDone, SaveError> {
        self.save_under_way = std::sync::Weak::new();
        if outcome.document != self.id() {
            base::never!("the outcome belongs to another document");
        }
        match outcome.result {
            Ok(saved) => {
                self.path = Some(outcome.path);
                self.real_path = outcome.real_path;
                // It was written from this text: whatever it was read from is no more.
                self.clear_read_only();
                self.mark_saved(outcome.snapshot, outcome.node, saved.on_disk);
                // The format may have been chosen anew while the save ran.
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

    /// Whether a save is under way.
    pub fn is_saving(&self) -> bool {
        self.save_under_way.strong_count() > 0
    }

    /// Ends the current undo step, so that its state is what it is for good.
    pub(crate) fn seal(&mut self) -> NodeId {
        self.buffer_mut().seal_step();
        self.buffer().history().current()
    }

    fn where_to(&self, target: SaveTarget) -> Result<(AbsPath, Expected), SaveRefused> {
        let path = match target {
            SaveTarget::New(path) => return Ok((path, Expected::Absent)),
            SaveTarget::Over(path) => return Ok((path, Expected::Anything)),
            SaveTarget::Own => self.path.clone().ok_or(SaveRefused::Untitled)?,
        };
        if let Some(reason) = self.read_only_reason() {
            return Err(SaveRefused::ReadOnly(reason));
        }
        if self.conflict().is_some() {
            return Err(SaveRefused::Conflict(path));
        }
        let expected = match self.on_disk() {
            Some(on_disk) if !self.is_gone => Expected::Unchanged(on_disk),
            _ => Expected::Absent,
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
    fn into_conflict(self) -> Option<Conflict> {
        self.into_changed().map(|changed| changed.into_conflict())
    }
}

/// Whether the save failed because of what another program did.
fn is_about_theirs(error: &Error) -> bool {
    matches!(
        error.reason,
        Reason::ChangedOnDisk { .. } | Reason::AlreadyExists
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
            Self::UnderWay => f.write_str("cannot save: the save before is still under way"),
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
