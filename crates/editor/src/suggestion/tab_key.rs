//! What the Tab key means while a suggestion is shown: taking it, or indentation.
//!
//! Tab takes what is shown, unless one of these holds:
//! - something is selected;
//! - a caret stands within the blanks that its row begins with, and the row is indented less than its language asks;
//! - the newest caret stands within such blanks, and no text that is more than blanks would come in right there.
//!
//! A caret that a Tab has just brought to the suggestion asks for no indentation: there the next Tab takes it.

/// Where one caret stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaretPlace {
    /// Behind something other than blanks.
    InText,
    /// Within the blanks that begin its row.
    InIndent {
        /// Cells that these blanks fill.
        cells: u32,
        /// Cells that the language asks for here.
        asked: u32,
    },
}

impl CaretPlace {
    fn wants_indent(self) -> bool {
        matches!(self, CaretPlace::InIndent { cells, asked } if cells < asked)
    }
}

/// Whether Tab takes the suggestion shown. `at_caret` is what would come in at the newest caret, `places` begins with
/// that caret's. Nothing is selected.
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
