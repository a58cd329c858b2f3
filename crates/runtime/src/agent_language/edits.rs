//! Edits of servers as new texts of files.
//!
//! Invariant: an edit becomes changes as a whole, or an error: nothing of it is left out.

use std::collections::BTreeMap;

use agent::language::TextChange;
use base::AbsPath;
use lsp::{DocumentEdit, EditBasis, FileConflict, WorkspaceEdit, WorkspaceOperation};
use text::Snapshot;

use super::documents::{OpenDocuments, is_text};
use super::tree::shown_path;

/// The reason for which an edit cannot be made, a clause.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditConversionError {
    #[error("the server changes {0}, which is outside the project")]
    Outside(AbsPath),
    #[error("the server changes {0}, which cannot be read")]
    Unreadable(AbsPath),
    #[error("the server changes an older text of {0}")]
    Outdated(AbsPath),
    #[error("the server creates {0}, which exists")]
    Exists(AbsPath),
    #[error("the server renames or deletes {0}, which only the tools for files can do")]
    FileOperation(AbsPath),
    #[error("the server's edit of {path} is invalid: {source}")]
    Invalid {
        path: AbsPath,
        source: lsp::EditError,
    },
}

/// The old and the new text of a file; the old one is `None` if the file is created.
type FileTexts = (Option<String>, String);

/// Returns the changes of an edit, sorted by path. Blocks on the disk.
pub(super) fn text_changes(
    edit: &WorkspaceEdit,
    root: &AbsPath,
    documents: &OpenDocuments,
) -> Result<Vec<TextChange>, EditConversionError> {
    let mut texts: BTreeMap<AbsPath, FileTexts> = BTreeMap::new();
    for operation in &edit.operations {
        match operation {
            WorkspaceOperation::Edit(edit) => apply(edit, root, documents, &mut texts)?,
            WorkspaceOperation::Create { path, conflict, .. } => {
                create(path, *conflict, documents, &mut texts)?;
            }
            WorkspaceOperation::Rename { from: path, .. }
            | WorkspaceOperation::Delete { path, .. } => {
                return Err(EditConversionError::FileOperation(path.clone()));
            }
        }
    }
    let outside = texts.keys().find(|path| !path.is_within(root));
    if let Some(path) = outside {
        return Err(EditConversionError::Outside(path.clone()));
    }
    let changes = texts.into_iter().map(|(path, (old, new))| TextChange {
        path: shown_path(root, &path),
        old,
        new,
    });
    Ok(changes.collect())
}

fn apply(
    edit: &DocumentEdit,
    root: &AbsPath,
    documents: &OpenDocuments,
    texts: &mut BTreeMap<AbsPath, FileTexts>,
) -> Result<(), EditConversionError> {
    let path = &edit.path;
    if !path.is_within(root) {
        return Err(EditConversionError::Outside(path.clone()));
    }
    if !texts.contains_key(path) {
        let old = documents.read(path);
        let old = old.ok_or_else(|| EditConversionError::Unreadable(path.clone()))?;
        let is_current = match &edit.basis {
            EditBasis::Text(text) => is_text(text, &old),
            EditBasis::File => true,
            EditBasis::UnknownVersion(_) => false,
        };
        if !is_current {
            return Err(EditConversionError::Outdated(path.clone()));
        }
        texts.insert(path.clone(), (Some(old.clone()), old));
    }
    if let Some((_, text)) = texts.get_mut(path) {
        *text = edited(edit, text).map_err(|source| EditConversionError::Invalid {
            path: path.clone(),
            source,
        })?;
    }
    Ok(())
}

/// Returns a text with the edits applied.
fn edited(edit: &DocumentEdit, text: &str) -> Result<String, lsp::EditError> {
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for (span, new) in edit.spans(&Snapshot::new(text))?.edits {
        result.push_str(&text[end..span.start.0]);
        result.push_str(&new);
        end = span.end.0;
    }
    result.push_str(&text[end..]);
    Ok(result)
}

fn create(
    path: &AbsPath,
    conflict: FileConflict,
    documents: &OpenDocuments,
    texts: &mut BTreeMap<AbsPath, FileTexts>,
) -> Result<(), EditConversionError> {
    let existing = match texts.get(path) {
        Some((_, text)) => Some(text.clone()),
        None => documents.read(path),
    };
    let new = match (existing, conflict) {
        (None, _) => (None, String::new()),
        (Some(_), FileConflict::Ignore) => return Ok(()),
        (Some(_), FileConflict::Fail) => return Err(EditConversionError::Exists(path.clone())),
        (Some(text), FileConflict::Overwrite) => (Some(text), String::new()),
    };
    texts.insert(path.clone(), new);
    Ok(())
}
