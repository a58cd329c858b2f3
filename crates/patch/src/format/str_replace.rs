//! String replacement as a tool call: the arguments as a model gives them.
//!
//! The reader of tool arguments is elsewhere; this is what they mean as an edit.

use base::Row;

use crate::edit::{Change, FileEdit, Grain, Hunk, Occurrences};

/// The arguments of one call that replaces a string in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrReplace {
    /// The file.
    pub path: String,
    /// What to find; empty to create the file.
    pub old_string: String,
    /// What takes its place.
    pub new_string: String,
    /// Whether every place is meant.
    pub occurrences: Occurrences,
    /// The row at which the model says `old_string` starts.
    pub row: Option<Row>,
}

impl StrReplace {
    /// The edit that is meant.
    pub fn into_file_edit(self) -> FileEdit {
        let path = self.path.clone();
        let change = match self.old_string.is_empty() {
            true => Change::Create {
                text: self.new_string,
            },
            false => Change::Update {
                hunks: vec![self.hunk()],
                move_to: None,
            },
        };
        FileEdit { path, change }
    }
    fn hunk(self) -> Hunk {
        Hunk {
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
