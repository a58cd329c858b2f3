//! Small corrections made before a save.

use base::{Row, Span};
use text::{Author, Change, Edit, EditKind, LineEnding, Origin, Snapshot, Timestamp};

use super::Document;
use crate::save::SaveOptions;

/// Longer texts, in bytes, are saved as they are: going through them would hold the window up.
const LONGEST: usize = 4 << 20;
const BLANKS: [char; 2] = [' ', '\t'];

impl Document {
    /// Applies what the options ask for, as an edit by the formatter.
    pub(crate) fn tidy(&mut self, options: SaveOptions, at: Timestamp) -> Option<Change> {
        if self.buffer().len().0 > LONGEST || !self.can_edit() {
            return None;
        }
        let edits = tidy_edits(&self.snapshot(), self.buffer().line_ending(), options);
        if edits.is_empty() {
            return None;
        }
        self.buffer_mut().seal_step();
        let origin = Origin::new(Author::Formatter, EditKind::Other, at);
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
        // A trimmed last row and the new line ending are one edit: edits must not touch.
        match edits.last_mut() {
            Some(last) if last.span.end == end => last.text = ending.as_str().into(),
            _ => edits.push(Edit::new(Span::at(end), ending.as_str())),
        }
    }
    edits
}

fn trim(snapshot: &Snapshot, row: Row) -> Option<Edit> {
    let text = snapshot.row_text(row);
    let kept = text.trim_end_matches(BLANKS).len();
    let span = snapshot.row_span(row);
    (kept < text.len()).then(|| Edit::new(Span::new(span.start + kept, span.end), ""))
}

/// Whether there is something on the last row, once it is trimmed.
fn has_open_end(snapshot: &Snapshot, options: SaveOptions) -> bool {
    let last = snapshot.row_text(snapshot.last_row());
    match options.trim_trailing_whitespace {
        true => !last.trim_end_matches(BLANKS).is_empty(),
        false => !last.is_empty(),
    }
}

#[cfg(test)]
mod tests;
