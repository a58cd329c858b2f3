//! Cleans up a text before a save.

use base::{Row, Span};
use text::{Author, Change, Edit, EditKind, EditOrigin, LineEnding, Snapshot, Timestamp};

use super::SaveOptions;
use crate::document::Document;

/// Texts longer than this, in bytes, are saved unchanged: scanning them would block the window.
const MAX_TIDY_BYTES: usize = 4 << 20;
const BLANKS: [char; 2] = [' ', '\t'];

impl Document {
    /// Applies the clean-ups requested by the options, as an edit by the formatter. `None` if
    /// nothing changes, the text is longer than 4 MiB, or it is read-only.
    pub(super) fn tidy(&mut self, options: SaveOptions, at: Timestamp) -> Option<Change> {
        if self.buffer().len().0 > MAX_TIDY_BYTES || !self.can_edit() {
            return None;
        }
        let edits = tidy_edits(&self.snapshot(), self.buffer().line_ending(), options);
        if edits.is_empty() {
            return None;
        }
        self.buffer_mut().seal_step();
        let origin = EditOrigin::new(Author::Formatter, EditKind::Other, at);
        Some(self.buffer_mut().edit(&edits, &origin))
    }
}

fn tidy_edits(snapshot: &Snapshot, ending: LineEnding, options: SaveOptions) -> Vec<Edit> {
    let mut edits = Vec::new();
    if options.trim_trailing_whitespace {
        let rows = (0..snapshot.row_count()).map(Row);
        edits.extend(rows.filter_map(|row| trim(snapshot, row)));
    }
    if options.final_newline && has_open_end(snapshot, options) {
        let end = snapshot.len();
        // Trimming the last row and adding its line ending are one edit: edits must not touch.
        match edits.last_mut() {
            Some(last) if last.span.end == end => last.text = ending.as_str().into(),
            _ => edits.push(Edit::new(Span::at(end), ending.as_str())),
        }
    }
    edits
}

/// Returns the removal of the spaces and tabs at the end of a row; `None` if there are none.
fn trim(snapshot: &Snapshot, row: Row) -> Option<Edit> {
    let text = snapshot.row_text(row);
    let kept = text.trim_end_matches(BLANKS).len();
    let span = snapshot.row_span(row);
    (kept < text.len()).then(|| Edit::new(Span::new(span.start + kept, span.end), ""))
}

/// Returns whether the last row has text left after trimming.
fn has_open_end(snapshot: &Snapshot, options: SaveOptions) -> bool {
    let last = snapshot.row_text(snapshot.last_row());
    if options.trim_trailing_whitespace {
        !last.trim_end_matches(BLANKS).is_empty()
    } else {
        !last.is_empty()
    }
}

#[cfg(test)]
mod tests;
