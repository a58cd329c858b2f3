//! Separates a workspace edit into the texts that it changes and the operations on files that follow.
//!
//! Servers write operations in an order in which later ones refer to the results of earlier ones. Here, texts are
//! edited first, under the paths that they have before the edit.

use base::AbsPath;
use lsp::{DocumentEdit, EditBasis, FileConflict, RangeEdit, WorkspaceEdit, WorkspaceOperation};

use crate::error::Error;

/// A workspace edit, by files.
#[derive(Debug, Default)]
pub(super) struct EditOutline {
    /// Edits of files that exist before.
    pub(super) files: Vec<DocumentEdit>,
    /// Operations on files, in order.
    pub(super) operations: Vec<OutlinedOperation>,
    /// Whether the server wants the user to confirm a part of the edit.
    pub(super) needs_confirmation: bool,
}

/// An operation on a file or folder.
#[derive(Debug)]
pub(super) enum OutlinedOperation {
    /// Creates a file.
    Create {
        path: AbsPath,
        conflict: FileConflict,
        /// The edits of the empty text, whose concatenation is the content.
        edits: Vec<RangeEdit>,
    },
    /// Moves a file or folder.
    Move {
        from: AbsPath,
        to: AbsPath,
        conflict: FileConflict,
    },
    /// Moves a file or folder to the trash.
    Trash {
        path: AbsPath,
        is_recursive: bool,
        ignores_missing: bool,
    },
}

/// The file to which a path leads at some point of the edit.
enum EditedFile {
    /// It exists before, under this path.
    Existing(AbsPath),
    /// The operation with this index creates it.
    Created(usize),
}

impl EditOutline {
    /// Reads the operations of an edit.
    ///
    /// # Errors
    /// A text is edited under a path that the edit has moved or deleted.
    pub(super) fn of(edit: WorkspaceEdit) -> Result<Self, Error> {
        let mut outline = Self::default();
        for operation in edit.operations {
            outline.add(operation)?;
        }
        Ok(outline)
    }

    fn add(&mut self, operation: WorkspaceOperation) -> Result<(), Error> {
        match operation {
            WorkspaceOperation::Edit(edit) => return self.add_edit(edit),
            WorkspaceOperation::Create {
                path,
                conflict,
                needs_confirmation,
            } => {
                self.needs_confirmation |= needs_confirmation;
                self.operations.push(OutlinedOperation::Create {
                    path,
                    conflict,
                    edits: Vec::new(),
                });
            }
            WorkspaceOperation::Rename {
                from,
                to,
                conflict,
                needs_confirmation,
            } => {
                self.needs_confirmation |= needs_confirmation;
                self.operations
                    .push(OutlinedOperation::Move { from, to, conflict });
            }
            WorkspaceOperation::Delete {
                path,
                is_recursive,
                ignores_missing,
                needs_confirmation,
            } => {
                self.needs_confirmation |= needs_confirmation;
                self.operations.push(OutlinedOperation::Trash {
                    path,
                    is_recursive,
                    ignores_missing,
                });
            }
        }
        Ok(())
    }

    fn add_edit(&mut self, mut edit: DocumentEdit) -> Result<(), Error> {
        let mut edits = edit.edits.iter();
        self.needs_confirmation |= edits.any(|edit| edit.needs_confirmation);
        let path = match self.edited_file(&edit.path)? {
            EditedFile::Existing(path) => path,
            EditedFile::Created(index) => {
                if let Some(OutlinedOperation::Create { edits, .. }) =
                    self.operations.get_mut(index)
                {
                    edits.extend(edit.edits);
                }
                return Ok(());
            }
        };
        // Servers that write several edits of one text mean the text before the first, as clients agree.
        match self.files.iter_mut().find(|known| known.path == path) {
            Some(known) => {
                if matches!(edit.basis, EditBasis::UnknownVersion(_)) {
                    known.basis = edit.basis;
                }
                known.edits.append(&mut edit.edits);
            }
            None => self.files.push(DocumentEdit { path, ..edit }),
        }
        Ok(())
    }

    /// Returns the file to which a path leads after the operations so far.
    fn edited_file(&self, path: &AbsPath) -> Result<EditedFile, Error> {
        let mut path = path.clone();
        for (index, operation) in self.operations.iter().enumerate().rev() {
            match operation {
                OutlinedOperation::Create { path: created, .. } if *created == path => {
                    return Ok(EditedFile::Created(index));
                }
                OutlinedOperation::Move { from, to, .. } => {
                    if let Some(rest) = path.relative_to(to) {
                        path = if rest.as_os_str().is_empty() {
                            from.clone()
                        } else {
                            from.join(rest)
                        };
                    } else if path.is_within(from) {
                        return Err(Error::EditOfMovedFile(path));
                    }
                }
                OutlinedOperation::Trash { path: trashed, .. } if path.is_within(trashed) => {
                    return Err(Error::EditOfMovedFile(path));
                }
                OutlinedOperation::Create { .. } | OutlinedOperation::Trash { .. } => {}
            }
        }
        Ok(EditedFile::Existing(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> AbsPath {
        AbsPath::new("/p").expect("absolute").join(name)
    }

    fn edit(name: &str) -> WorkspaceOperation {
        WorkspaceOperation::Edit(DocumentEdit {
            path: path(name),
            basis: EditBasis::File,
            edits: Vec::new(),
        })
    }

    fn create(name: &str) -> WorkspaceOperation {
        WorkspaceOperation::Create {
            path: path(name),
            conflict: FileConflict::Fail,
            needs_confirmation: false,
        }
    }

    fn rename(from: &str, to: &str) -> WorkspaceOperation {
        WorkspaceOperation::Rename {
            from: path(from),
            to: path(to),
            conflict: FileConflict::Fail,
            needs_confirmation: false,
        }
    }

    fn delete(name: &str) -> WorkspaceOperation {
        WorkspaceOperation::Delete {
            path: path(name),
            is_recursive: false,
            ignores_missing: false,
            needs_confirmation: true,
        }
    }

    /// Checks the paths of the edited files before the edit, and the number of operations.
    fn check(operations: Vec<WorkspaceOperation>, files: &[&str], count: usize) {
        let edit = WorkspaceEdit {
            label: None,
            operations,
        };
        let outline = EditOutline::of(edit).expect("an outline");
        let found: Vec<AbsPath> = outline.files.into_iter().map(|file| file.path).collect();
        let files: Vec<AbsPath> = files.iter().map(|name| path(name)).collect();
        assert_eq!((found, outline.operations.len()), (files, count));
    }

    #[test]
    fn texts_are_edited_under_their_paths_before_the_edit() {
        check(vec![edit("a"), edit("b"), edit("a")], &["a", "b"], 0);
        check(vec![rename("a", "b"), edit("b")], &["a"], 1);
        check(vec![edit("a"), rename("a", "b"), edit("b")], &["a"], 1);
        check(vec![rename("d", "e"), edit("e/x")], &["d/x"], 1);
        let chain = vec![rename("a", "b"), rename("b", "c"), edit("c")];
        check(chain, &["a"], 2);
        check(vec![create("n"), edit("n")], &[], 1);
        check(vec![create("n"), rename("n", "m"), edit("m")], &[], 2);
        let swap = vec![rename("a", "t"), rename("b", "a"), edit("a"), edit("t")];
        check(swap, &["b", "a"], 2);
    }

    #[test]
    fn a_path_that_is_gone_cannot_be_edited() {
        for operations in [
            vec![rename("a", "b"), edit("a")],
            vec![delete("d"), edit("d/x")],
        ] {
            let edit = WorkspaceEdit {
                label: None,
                operations,
            };
            assert!(matches!(
                EditOutline::of(edit),
                Err(Error::EditOfMovedFile(_))
            ));
        }
    }

    #[test]
    fn one_confirmation_is_wanted_for_the_whole_edit() {
        let wants = |operations| {
            let edit = WorkspaceEdit {
                label: None,
                operations,
            };
            EditOutline::of(edit)
                .expect("an outline")
                .needs_confirmation
        };
        assert!(!wants(vec![edit("a"), create("b")]));
        assert!(wants(vec![edit("a"), delete("b")]));
    }
}
