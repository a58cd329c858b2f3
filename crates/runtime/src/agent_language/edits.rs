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

#[cfg(test)]
mod tests {
    use host::{Files as _, RealFiles, TempFolder};

    use super::*;

    fn create(path: AbsPath, conflict: FileConflict) -> WorkspaceOperation {
        WorkspaceOperation::Create {
            path,
            conflict,
            needs_confirmation: false,
        }
    }

    /// Checks the changes of one operation in a folder with a file `a`, or the beginning of the error.
    fn check(
        operation: impl FnOnce(&AbsPath) -> WorkspaceOperation,
        expected: Result<&[TextChange], &str>,
    ) {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path();
        let path = root.join("a");
        RealFiles.write_private(&path, b"old\n").expect("a file");
        let edit = WorkspaceEdit {
            label: None,
            operations: vec![operation(root)],
        };
        let documents = OpenDocuments::new(root.clone(), None);
        let changes = text_changes(&edit, root, &documents).map_err(|error| error.to_string());
        match (changes, expected) {
            (Ok(changes), Ok(expected)) => assert_eq!(changes, expected),
            (Err(error), Err(expected)) => assert!(error.starts_with(expected), "{error}"),
            (changes, expected) => panic!("{changes:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn files_are_created_and_never_lost() {
        let change = |path: &str, old: Option<&str>| TextChange {
            path: path.to_owned(),
            old: old.map(str::to_owned),
            new: String::new(),
        };
        check(
            |root| create(root.join("b"), FileConflict::Fail),
            Ok(&[change("b", None)]),
        );
        check(
            |root| create(root.join("a"), FileConflict::Overwrite),
            Ok(&[change("a", Some("old\n"))]),
        );
        check(|root| create(root.join("a"), FileConflict::Ignore), Ok(&[]));
        check(
            |root| create(root.join("a"), FileConflict::Fail),
            Err("the server creates "),
        );
        check(
            |root| create(root.join("../b"), FileConflict::Fail),
            Err("the server changes "),
        );
    }

    #[test]
    fn an_edit_that_deletes_files_is_refused() {
        let delete = |root: &AbsPath| WorkspaceOperation::Delete {
            path: root.join("a"),
            is_recursive: false,
            ignores_missing: false,
            needs_confirmation: false,
        };
        check(delete, Err("the server renames or deletes "));
    }

    #[test]
    fn an_edit_of_another_version_is_refused() {
        let edit = |basis: EditBasis| {
            move |root: &AbsPath| {
                WorkspaceOperation::Edit(DocumentEdit {
                    path: root.join("a"),
                    basis,
                    edits: Vec::new(),
                })
            }
        };
        let outdated = Err("the server changes an older text of ");
        check(edit(EditBasis::UnknownVersion(3)), outdated);
        check(edit(EditBasis::Text(Snapshot::new("new\n"))), outdated);
        let change = TextChange {
            path: "a".to_owned(),
            old: Some("old\n".to_owned()),
            new: "old\n".to_owned(),
        };
        check(edit(EditBasis::File), Ok(&[change]));
    }
}
