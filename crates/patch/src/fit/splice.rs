//! From rows and new lines to bytes: line endings, and the end of a file that lacks its line feed.

use std::ops::Range;

use base::Span;

use crate::file::{Ending, FileText};

/// These rows become those lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowEdit {
    pub(crate) rows: Range<usize>,
    pub(crate) lines: Vec<String>,
}

/// The edits in bytes of the file, sorted as they are. `final_feed` says whether the file is to end
/// with a line feed; otherwise that stays as it is.
pub(crate) fn splice(
    file: &FileText,
    edits: &[RowEdit],
    final_feed: Option<bool>,
) -> Vec<(Span, String)> {
    let is_bare = final_feed.map_or(file.is_bare(), |feed| !feed);
    let mut splices: Vec<(Span, String)> = Vec::new();
    let mut reaches_end = false;
    for edit in edits {
        reaches_end |= edit.rows.end == file.line_count();
        splices.push(one(file, edit, is_bare));
    }
    if final_feed.is_some() && !reaches_end && is_bare != file.is_bare() {
        splices.push(final_ending(file, is_bare));
    }
    splices.retain(|(span, text)| file.text().get(span.range()) != Some(text.as_str()));
    splices
}

fn one(file: &FileText, edit: &RowEdit, is_bare: bool) -> (Span, String) {
    let count = file.line_count();
    let is_at_end = edit.rows.end == count;
    let mut start = file.raw_start(edit.rows.start);
    let end = file.raw_start(edit.rows.end);
    let mut text = String::new();
    for (ix, line) in edit.lines.iter().enumerate() {
        text.push_str(line);
        text.push_str(ending(file, &edit.rows, ix));
    }
    if is_at_end && is_bare {
        let last = ending(file, &edit.rows, edit.lines.len().saturating_sub(1));
        match text.strip_suffix(last) {
            Some(bare) => text.truncate(bare.len()),
            // The last lines go away, so the line before them becomes the one without an ending.
            None if edit.rows.start > 0 => start = file.raw_content_end(edit.rows.start - 1),
            None => {}
        }
    }
    let follows_bare =
        edit.rows.start == count && count > 0 && file.ending(count - 1) == Ending::None;
    if follows_bare && !edit.lines.is_empty() {
        text.insert_str(0, file.ending_near(count));
    }
    ((start..end).into(), text)
}

/// A new line takes the ending of the row it replaces, or of those around it.
fn ending(file: &FileText, rows: &Range<usize>, ix: usize) -> &'static str {
    let row = rows.start + ix;
    match (row < rows.end).then(|| file.ending(row)) {
        Some(Ending::Feed) => "\n",
        Some(Ending::ReturnFeed) => "\r\n",
        Some(Ending::None) | None => file.ending_near(rows.start + ix.min(rows.len())),
    }
}

fn final_ending(file: &FileText, is_bare: bool) -> (Span, String) {
    let count = file.line_count();
    let end = file.text().len();
    match (is_bare, count.checked_sub(1)) {
        (true, Some(last)) => ((file.raw_content_end(last)..end).into(), String::new()),
        (true, None) => ((end..end).into(), String::new()),
        (false, _) => ((end..end).into(), file.ending_near(count).to_owned()),
    }
}
