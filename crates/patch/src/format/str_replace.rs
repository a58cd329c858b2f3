//! String replacement as a tool call, given by the arguments of the call.
//!
//! Parsing the arguments is the caller's job; this module converts them to an edit.

use base::Row;

use crate::edit::{FileEdit, Grain, Occurrences, PatchHunk, PatchOperation};

/// Arguments of a tool call that replaces a string in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrReplace {
    /// Path of the file.
    pub path: String,
    /// Text to find; empty to create the file.
    pub old_string: String,
    /// Replacement for the old text.
    pub new_string: String,
    /// Whether to replace one occurrence or all.
    pub occurrences: Occurrences,
    /// Row at which `old_string` starts according to the model.
    pub row: Option<Row>,
}

impl StrReplace {
    /// Converts the arguments to an edit: an update with one hunk, or, with an empty old string,
    /// the creation of the file.
    pub fn into_file_edit(self) -> FileEdit {
        let path = self.path.clone();
        let change = if self.old_string.is_empty() {
            PatchOperation::Create {
                text: self.new_string,
            }
        } else {
            PatchOperation::Update {
                hunks: vec![self.hunk()],
                move_to: None,
            }
        };
        FileEdit { path, change }
    }
    fn hunk(self) -> PatchHunk {
        PatchHunk {
            old: self.old_string,
            new: self.new_string,
            grain: Grain::Text,
            occurrences: self.occurrences,
            context: Vec::new(),
            row: self.row,
            at_end: false,
            in_order: false,
            source: 0..0,
        }
    }
}

#[cfg(test)]
mod tests;
