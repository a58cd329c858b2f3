//! Edits of several files, with the creation, renaming and deletion of files.
//!
//! Invariant: a workspace edit is read as a whole or refused; nothing of it is left out.

use std::collections::HashMap;

use base::AbsPath;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use text::Snapshot;

use crate::answer::{AnswerError, flag_member};
use crate::bounded::{RawItems, RawMembers};
use crate::document_edits::{DocumentEdits, EditError, MAX_EDITS, MAX_EDITS_BYTES, WireEdit};
use crate::position::PositionEncoding;
use crate::range::ServerRange;
use crate::uri::uri_path;

/// Maximum number of operations of one edit.
const MAX_OPERATIONS: usize = 10_000;
/// Maximum number of annotations of one edit.
const MAX_ANNOTATIONS: usize = 10_000;

/// An edit of several files, to be applied as a whole or not at all.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceEdit {
    /// The name of the edit, as the server wrote it.
    pub label: Option<String>,
    /// The operations in the order in which they are to be applied.
    pub operations: Vec<WorkspaceOperation>,
}

/// A step of a workspace edit.
#[derive(Clone, Debug)]
pub enum WorkspaceOperation {
    /// Changes the text of a file.
    Edit(DocumentEdit),
    /// Creates an empty file.
    Create {
        /// The file.
        path: AbsPath,
        /// The behaviour if the file exists.
        conflict: FileConflict,
        /// Whether the user must confirm the operation.
        needs_confirmation: bool,
    },
    /// Renames a file or folder.
    Rename {
        /// The path before.
        from: AbsPath,
        /// The path after.
        to: AbsPath,
        /// The treatment of an existing file at `to`.
        conflict: FileConflict,
        /// Whether the user must confirm the operation.
        needs_confirmation: bool,
    },
    /// Deletes a file or folder.
    Delete {
        /// The file or folder.
        path: AbsPath,
        /// Whether a folder is deleted with its contents.
        is_recursive: bool,
        /// Whether a missing file is no error.
        ignores_missing: bool,
        /// Whether the user must confirm the operation.
        needs_confirmation: bool,
    },
}

/// The treatment of an existing file at the path of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileConflict {
    /// The operation fails.
    Fail,
    /// The existing file is replaced.
    Overwrite,
    /// The operation has no effect.
    Ignore,
}

/// The edits of one file.
#[derive(Clone, Debug)]
pub struct DocumentEdit {
    /// The file.
    pub path: AbsPath,
    /// The text that the server had.
    pub basis: EditBasis,
    /// The edits, whose ranges all refer to the text before the first.
    pub edits: Vec<RangeEdit>,
}

/// The text to which the ranges of an edit refer.
#[derive(Clone, Debug)]
pub enum EditBasis {
    /// The text of a document that was open when the server was asked.
    Text(Snapshot),
    /// The file on disk.
    File,
    /// A version of an open document that this client does not know any more, or not yet. Such an
    /// edit must be refused.
    UnknownVersion(i32),
}

/// An edit of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeEdit {
    /// The replaced range.
    pub range: ServerRange,
    /// The new text.
    pub text: String,
    /// Whether the user must confirm the edit.
    pub needs_confirmation: bool,
}

impl WorkspaceEdit {
    /// Returns the files that the edit changes, without duplicates, sorted.
    pub fn paths(&self) -> Vec<AbsPath> {
        let mut paths: Vec<AbsPath> = Vec::new();
        for operation in &self.operations {
            match operation {
                WorkspaceOperation::Edit(edit) => paths.push(edit.path.clone()),
                WorkspaceOperation::Create { path, .. }
                | WorkspaceOperation::Delete { path, .. } => paths.push(path.clone()),
                WorkspaceOperation::Rename { from, to, .. } => {
                    paths.extend([from.clone(), to.clone()]);
                }
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }
}

impl DocumentEdit {
    /// Converts the edits to spans of `text`, which must be the text to which they refer.
    ///
    /// # Errors
    /// An edit starts beyond the text, or two overlap.
    pub fn spans(&self, text: &Snapshot) -> Result<DocumentEdits, EditError> {
        let edits = self.edits.iter();
        let edits = edits.map(|edit| (edit.range, edit.text.clone()));
        DocumentEdits::convert(edits, text).map(|(edits, _)| edits)
    }
}

/// The open documents at one time, by which the versions in a workspace edit are understood.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTexts {
    pub(crate) encoding: PositionEncoding,
    pub(crate) texts: HashMap<AbsPath, (i32, Snapshot)>,
}

impl OpenTexts {
    fn basis(&self, path: &AbsPath, version: Option<i32>) -> EditBasis {
        match (self.texts.get(path), version) {
            (Some((known, _)), Some(version)) if *known != version => {
                EditBasis::UnknownVersion(version)
            }
            (Some((_, text)), _) => EditBasis::Text(text.clone()),
            (None, _) => EditBasis::File,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireWorkspaceEdit<'a> {
    #[serde(borrow, default)]
    changes: RawMembers<'a, MAX_OPERATIONS>,
    #[serde(borrow, default)]
    document_changes: Option<RawItems<'a, MAX_OPERATIONS>>,
    #[serde(borrow, default)]
    change_annotations: RawMembers<'a, MAX_ANNOTATIONS>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDocumentEdit<'a> {
    text_document: WireIdentifier,
    #[serde(borrow)]
    edits: RawItems<'a, MAX_EDITS>,
}

#[derive(Deserialize)]
struct WireIdentifier {
    uri: String,
    #[serde(default)]
    version: Option<i32>,
}

/// The member by which operations on files differ from edits of a text.
#[derive(Deserialize)]
struct WireKind<'a> {
    #[serde(borrow, default)]
    kind: Option<&'a RawValue>,
}

/// `CreateFile`, `RenameFile` or `DeleteFile`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFileOperation {
    kind: String,
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    old_uri: Option<String>,
    #[serde(default)]
    new_uri: Option<String>,
    #[serde(default)]
    options: Value,
    #[serde(default)]
    annotation_id: Option<String>,
}

/// Reads a workspace edit; `null` is one without operations.
pub(crate) fn read_workspace_edit(
    json: &str,
    texts: &OpenTexts,
) -> Result<WorkspaceEdit, AnswerError> {
    if json.len() > MAX_EDITS_BYTES {
        return Err(AnswerError::new("it is too long"));
    }
    if json == "null" {
        return Ok(WorkspaceEdit::default());
    }
    if !json.starts_with('{') {
        return Err(AnswerError::new("neither an object nor null"));
    }
    let wire: WireWorkspaceEdit<'_> = serde_json::from_str(json)?;
    let mut reader = EditReader {
        texts,
        annotations: annotations(&wire.change_annotations),
        operations: Vec::new(),
    };
    match &wire.document_changes {
        Some(changes) => {
            refuse_dropped(changes.dropped())?;
            for change in changes.iter() {
                reader.read_change(change)?;
            }
        }
        None => {
            refuse_dropped(wire.changes.dropped())?;
            for (uri, edits) in wire.changes.iter() {
                let edits: RawItems<'_, MAX_EDITS> = serde_json::from_str(edits.get())?;
                reader.read_edits(uri, None, &edits)?;
            }
        }
    }
    Ok(WorkspaceEdit {
        label: None,
        operations: reader.operations,
    })
}

/// Refuses an edit of which a part would be left out.
fn refuse_dropped(dropped: usize) -> Result<(), AnswerError> {
    match dropped {
        0 => Ok(()),
        _ => Err(AnswerError::new("it has too many edits")),
    }
}

/// Returns whether each annotation wants a confirmation.
fn annotations(annotations: &RawMembers<'_, MAX_ANNOTATIONS>) -> HashMap<String, bool> {
    let annotations = annotations.iter().map(|(id, annotation)| {
        let annotation: Value = serde_json::from_str(annotation.get()).unwrap_or_default();
        (id.to_owned(), flag_member(&annotation, "needsConfirmation"))
    });
    annotations.collect()
}

/// Collects the operations of an edit.
struct EditReader<'a> {
    texts: &'a OpenTexts,
    /// Whether an annotation wants a confirmation, by its name.
    annotations: HashMap<String, bool>,
    operations: Vec<WorkspaceOperation>,
}

impl EditReader<'_> {
    /// Reads an element of `documentChanges`.
    fn read_change(&mut self, change: &RawValue) -> Result<(), AnswerError> {
        let WireKind { kind } = serde_json::from_str(change.get())?;
        if kind.is_some() {
            let operation = serde_json::from_str(change.get())?;
            return self.read_operation(operation);
        }
        let edit: WireDocumentEdit<'_> = serde_json::from_str(change.get())?;
        let WireIdentifier { uri, version } = &edit.text_document;
        self.read_edits(uri, *version, &edit.edits)
    }

    fn read_edits(
        &mut self,
        uri: &str,
        version: Option<i32>,
        items: &RawItems<'_, MAX_EDITS>,
    ) -> Result<(), AnswerError> {
        refuse_dropped(items.dropped())?;
        let path = local_path(uri)?;
        let mut edits = Vec::new();
        for item in items.iter() {
            let edit = WireEdit::parse(item)?;
            edits.push(RangeEdit {
                range: edit.range.server_range(self.texts.encoding),
                needs_confirmation: self.needs_confirmation(edit.annotation_id.as_deref()),
                text: edit.new_text,
            });
        }
        self.operations.push(WorkspaceOperation::Edit(DocumentEdit {
            basis: self.texts.basis(&path, version),
            path,
            edits,
        }));
        Ok(())
    }

    fn read_operation(&mut self, operation: WireFileOperation) -> Result<(), AnswerError> {
        let path = |uri: &Option<String>| match uri {
            Some(uri) => local_path(uri),
            None => Err(AnswerError::new("an operation names no file")),
        };
        let options = &operation.options;
        let needs_confirmation = self.needs_confirmation(operation.annotation_id.as_deref());
        self.operations.push(match operation.kind.as_str() {
            "create" => WorkspaceOperation::Create {
                path: path(&operation.uri)?,
                conflict: conflict(options),
                needs_confirmation,
            },
            "rename" => WorkspaceOperation::Rename {
                from: path(&operation.old_uri)?,
                to: path(&operation.new_uri)?,
                conflict: conflict(options),
                needs_confirmation,
            },
            "delete" => WorkspaceOperation::Delete {
                path: path(&operation.uri)?,
                is_recursive: flag_member(options, "recursive"),
                ignores_missing: flag_member(options, "ignoreIfNotExists"),
                needs_confirmation,
            },
            kind => {
                let detail = format!("the operation {kind:?} is unknown");
                return Err(AnswerError::new(detail));
            }
        });
        Ok(())
    }

    /// Returns whether the user must confirm a change with this annotation. An unknown annotation
    /// counts as one that wants it.
    fn needs_confirmation(&self, annotation: Option<&str>) -> bool {
        annotation.is_some_and(|id| *self.annotations.get(id).unwrap_or(&true))
    }
}

/// Overwriting wins over ignoring, as the protocol demands.
fn conflict(options: &Value) -> FileConflict {
    if flag_member(options, "overwrite") {
        FileConflict::Overwrite
    } else if flag_member(options, "ignoreIfExists") {
        FileConflict::Ignore
    } else {
        FileConflict::Fail
    }
}

fn local_path(uri: &str) -> Result<AbsPath, AnswerError> {
    uri_path(uri).ok_or_else(|| AnswerError::new(format!("{uri:?} is no local file")))
}

#[cfg(test)]
mod tests;
