//! Decides whether the Tab key accepts the shown suggestion or indents.
//!
//! Tab accepts unless one of these holds:
//! - the selection is not empty;
//! - a caret is within the leading blanks of its row, and the row is indented less than its
//!   language requires;
//! - the newest caret is within such blanks, and the suggestion inserts nothing but blanks there.
//!
//! If a Tab has just moved the caret to the suggestion, the next Tab accepts it.

/// Position of one caret in its row, which decides whether Tab indents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaretPlace {
    /// After a non-blank character.
    InText,
    /// Within the leading blanks of its row.
    InIndent {
        /// Cells filled by these blanks.
        cells: u32,
        /// Cells required by the language.
        asked: u32,
    },
}

impl CaretPlace {
    /// Whether the row of the caret is indented less than its language requires. `false` after a
    /// non-blank.
    fn wants_indent(self) -> bool {
        matches!(self, CaretPlace::InIndent { cells, asked } if cells < asked)
    }
}

/// Returns whether Tab accepts the shown suggestion instead of indenting. `at_caret` is the text
/// that the suggestion inserts at the newest caret. `has_jumped` says that the caret has just
/// jumped to the suggestion. `places` begins with the place of the newest caret. All selections
/// must be empty.
pub(crate) fn tab_takes(at_caret: Option<&str>, has_jumped: bool, places: &[CaretPlace]) -> bool {
    if has_jumped {
        return true;
    }
    if places.iter().any(|place| place.wants_indent()) {
        return false;
    }
    match places.first() {
        Some(CaretPlace::InText) => true,
        _ => at_caret.is_some_and(|text| !text.trim().is_empty()),
    }
}
