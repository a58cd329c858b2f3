//! Checks a workspace edit against the documents and the disk.

use base::AbsPath;
use editor::DocumentModel;
use futures::future::join_all;
use gpui_kit::{App, AppContext as _, Entity, Task};
use host::{FileKind, Files};
use lsp::{DocumentEdit, EditBasis, FileConflict, RangeEdit, WorkspaceEdit};
use project::Binary;
use text::{Edit, LineEnding, Snapshot};

use super::outline::{EditOutline, OutlinedOperation};
use crate::documents::Documents;
use crate::error::Error;
use crate::file_operations::FileOperation;
use crate::services::Services;

/// An edit that is ready to be applied, with its documents loaded.
pub(crate) struct EditPlan {
    /// Changes of texts that exist.
    pub(crate) files: Vec<PlannedFile>,
    /// Operations on files that follow, in order.
    pub(crate) steps: Vec<PlannedStep>,
    /// Whether the user must confirm the edit.
    pub(crate) needs_confirmation: bool,
}

/// The changes of one text.
pub(crate) struct PlannedFile {
    /// The document.
    pub(crate) document: Entity<DocumentModel>,
    /// Path of its file.
    pub(crate) path: AbsPath,
    /// The text to which the edits refer.
    pub(crate) text: Snapshot,
    /// The edits: sorted, not overlapping.
    pub(crate) edits: Vec<Edit>,
}

/// An operation on a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlannedStep {
    /// Runs an operation that creates no text.
    Operation(FileOperation),
    /// Creates a file with a text.
    Create { path: AbsPath, text: String },
}

impl EditPlan {
    /// Returns the number of changed places in texts, and of files that the edit concerns.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let places = self.files.iter().map(|file| file.edits.len()).sum();
        (places, self.files.len() + self.steps.len())
    }

    /// Returns whether the edit has no effect.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.steps.is_empty()
    }

    /// Returns whether all files that the edit concerns lie within a folder.
    pub(crate) fn is_within(&self, root: &AbsPath) -> bool {
        let files = self.files.iter().map(|file| &file.path);
        let steps = self.steps.iter().flat_map(PlannedStep::paths);
        files.chain(steps).all(|path| path.is_within(root))
    }
}

impl PlannedStep {
    /// Returns the paths that the step creates, moves or removes.
    fn paths(&self) -> Vec<&AbsPath> {
        match self {
            Self::Create { path, .. } => vec![path],
            Self::Operation(operation) => match operation {
                FileOperation::Move { from, to } => vec![from, to],
                FileOperation::CopyInto { from, folder } => vec![from, folder],
                FileOperation::CreateFile(path)
                | FileOperation::CreateFolder(path)
                | FileOperation::Trash(path)
                | FileOperation::Restore { path, .. } => vec![path],
            },
        }
    }
}

/// Loads the files of an edit and checks it: versions, ranges, read-only texts, existing and missing files. Nothing is
/// changed yet.
pub(crate) fn prepare(edit: WorkspaceEdit, cx: &mut App) -> Task<Result<EditPlan, Error>> {
    let outline = match EditOutline::of(edit) {
        Ok(outline) => outline,
        Err(error) => return Task::ready(Err(error)),
    };
    let files = Services::of(cx).files;
    cx.spawn(async move |cx| {
        let loading = outline.files.iter().map(|file| {
            let path = file.path.clone();
            cx.update(|cx| Documents::open(path, Binary::Refuse, cx))
        });
        let loaded = join_all(loading.collect::<Vec<_>>()).await;
        let operations = outline.operations;
        let steps = cx.background_spawn(async move { plan_steps(files.as_ref(), operations) });
        let steps = steps.await?;
        let (mut documents, mut texts) = (Vec::new(), Vec::new());
        for (file, document) in outline.files.into_iter().zip(loaded) {
            let document = document.map_err(Error::NotLoaded)?;
            let (text, ending) = cx.update(|cx| editable_text(&file, &document, cx))?;
            texts.push((file, text, ending));
            documents.push(document);
        }
        let computed = cx.background_spawn(async move {
            let edits = texts
                .into_iter()
                .map(|(file, text, ending)| file_edits(file, text, ending));
            edits.collect::<Result<Vec<_>, Error>>()
        });
        let planned = computed.await?.into_iter().zip(documents);
        let planned = planned.map(|((path, text, edits), document)| PlannedFile {
            document,
            path,
            text,
            edits,
        });
        Ok(EditPlan {
            files: planned.filter(|file| !file.edits.is_empty()).collect(),
            steps,
            needs_confirmation: outline.needs_confirmation,
        })
    })
}

/// Returns the text to which the edits of a file refer, and its line ending.
///
/// # Errors
/// The text is another one now, or read-only.
fn editable_text(
    file: &DocumentEdit,
    document: &Entity<DocumentModel>,
    cx: &App,
) -> Result<(Snapshot, LineEnding), Error> {
    let document = document.read(cx).document();
    let text = document.snapshot();
    let is_current = match &file.basis {
        EditBasis::Text(basis) => basis.is_same_text(&text),
        EditBasis::File => !document.is_dirty(),
        EditBasis::UnknownVersion(_) => false,
    };
    if !is_current {
        return Err(Error::EditOutdated(file.path.clone()));
    }
    if !document.can_edit() {
        return Err(Error::EditOfReadOnly(file.path.clone()));
    }
    Ok((text, document.buffer().line_ending()))
}

/// Converts the edits of one file. Takes time in proportion to the replaced texts.
fn file_edits(
    file: DocumentEdit,
    text: Snapshot,
    ending: LineEnding,
) -> Result<(AbsPath, Snapshot, Vec<Edit>), Error> {
    let spans = file.spans(&text).map_err(|error| Error::EditMalformed {
        path: file.path.clone(),
        reason: error.to_string(),
    })?;
    let edits = document_edits(spans.edits, &text, ending);
    Ok((file.path, text, edits))
}

/// Returns the edits of a server as small edits of a text, with the line ending of the text. A server that replaces a
/// whole text changes only the rows that differ.
pub(super) fn document_edits(
    spans: Vec<(base::Span, String)>,
    text: &Snapshot,
    ending: LineEnding,
) -> Vec<Edit> {
    let edits = spans.into_iter().map(|(span, new)| {
        let new = match ending {
            LineEnding::Lf => new,
            LineEnding::CrLf => new.replace("\r\n", "\n").replace('\n', "\r\n"),
        };
        Edit::new(span, new)
    });
    let edits = edits.flat_map(|edit| reduced(edit, text));
    edits.collect()
}

/// Returns an edit without what it leaves as it is.
fn reduced(edit: Edit, text: &Snapshot) -> Vec<Edit> {
    let old = text.text(edit.span);
    if *old == *edit.text {
        return Vec::new();
    }
    if !old.contains('\n') {
        return vec![edit];
    }
    let shift = |span: base::Span| {
        base::Span::new(edit.span.start + span.start.0, edit.span.start + span.end.0)
    };
    let smaller = Snapshot::new(&old).edits_to(&edit.text).into_iter();
    let smaller = smaller.map(|small| Edit::new(shift(small.span), small.text));
    smaller.collect()
}

/// Checks operations against the disk. Blocks on the disk.
fn plan_steps(
    files: &dyn Files,
    operations: Vec<OutlinedOperation>,
) -> Result<Vec<PlannedStep>, Error> {
    let mut steps = Vec::new();
    for operation in operations {
        match operation {
            OutlinedOperation::Create {
                path,
                conflict,
                edits,
            } => {
                if makes_room(files, &path, conflict, &mut steps)? {
                    let text = created_text(&path, edits)?;
                    steps.push(PlannedStep::Create { path, text });
                } else if !edits.is_empty() {
                    // The edits are those of an empty text.
                    return Err(Error::PathExists(path));
                }
            }
            OutlinedOperation::Move { from, to, conflict } => {
                if makes_room(files, &to, conflict, &mut steps)? {
                    steps.push(PlannedStep::Operation(FileOperation::Move { from, to }));
                }
            }
            OutlinedOperation::Trash {
                path,
                is_recursive,
                ignores_missing,
            } => {
                if ignores_missing && !files.exists(&path) {
                    continue;
                }
                if !is_recursive && files.stat(&path)?.kind == FileKind::Folder {
                    let listed = files.list(&path)?;
                    if !listed.entries.is_empty() {
                        return Err(Error::EditOfFolder(path));
                    }
                }
                steps.push(PlannedStep::Operation(FileOperation::Trash(path)));
            }
        }
    }
    Ok(steps)
}

/// Treats an existing file at the path of a new one. Returns `false` if the operation has no effect.
fn makes_room(
    files: &dyn Files,
    path: &AbsPath,
    conflict: FileConflict,
    steps: &mut Vec<PlannedStep>,
) -> Result<bool, Error> {
    if !files.exists(path) {
        return Ok(true);
    }
    match conflict {
        FileConflict::Fail => Err(Error::PathExists(path.clone())),
        FileConflict::Ignore => Ok(false),
        FileConflict::Overwrite => {
            let trash = FileOperation::Trash(path.clone());
            steps.push(PlannedStep::Operation(trash));
            Ok(true)
        }
    }
}

/// Returns the text of a created file.
fn created_text(path: &AbsPath, edits: Vec<RangeEdit>) -> Result<String, Error> {
    let created = DocumentEdit {
        path: path.clone(),
        basis: EditBasis::File,
        edits,
    };
    let malformed = |reason: String| Error::EditMalformed {
        path: path.clone(),
        reason,
    };
    let spans = created.spans(&Snapshot::new(""));
    let spans = spans.map_err(|error| malformed(error.to_string()))?;
    Ok(spans.edits.into_iter().map(|(_, text)| text).collect())
}

/// Returns the size of an edit in words.
pub(crate) fn counts_text((places, files): (usize, usize)) -> String {
    let places = match places {
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    match files {
        1 => format!("{places} in 1 file"),
        count => format!("{places} in {count} files"),
    }
}
