//! Converts row edits to byte edits, including line endings and a missing final line feed.

use std::ops::Range;

use base::Span;

use crate::file::{FileText, RawLineEnding};

/// Rows and the lines that replace them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowSplice {
    pub(crate) rows: Range<usize>,
    pub(crate) lines: Vec<String>,
}

/// Converts edits of rows, which must be sorted, to replacements of byte spans with the file's line
/// endings. `final_feed` indicates whether the file must end with a line feed; `None` keeps the current
/// end of the file.
pub(crate) fn splice(
    file: &FileText,
    edits: &[RowSplice],
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

/// Converts one edit of rows to the byte span and its new text. `is_bare`: the file must end
/// without a line feed.
fn one(file: &FileText, edit: &RowSplice, is_bare: bool) -> (Span, String) {
    let count = file.line_count();
    let is_at_end = edit.rows.end == count;
    let mut start = file.raw_start(edit.rows.start);
    let end = file.raw_start(edit.rows.end);
    let mut text = String::new();
    for (ix, line) in edit.lines.iter().enumerate() {
        text.push_str(line);
        text.push_str(line_ending(file, &edit.rows, ix));
    }
    if is_at_end && is_bare {
        let last = line_ending(file, &edit.rows, edit.lines.len().saturating_sub(1));
        match text.strip_suffix(last) {
            Some(bare) => text.truncate(bare.len()),
            // Removing the last lines makes the line before them the one without an ending.
            None if edit.rows.start > 0 => start = file.raw_content_end(edit.rows.start - 1),
            None => {}
        }
    }
    let follows_bare =
        edit.rows.start == count && count > 0 && file.line_ending(count - 1) == RawLineEnding::None;
    if follows_bare && !edit.lines.is_empty() {
        text.insert_str(0, file.ending_near(count));
    }
    ((start..end).into(), text)
}

/// Returns the ending of a new line: that of the row it replaces, or of an adjacent one.
fn line_ending(file: &FileText, rows: &Range<usize>, ix: usize) -> &'static str {
    let row = rows.start + ix;
    match (row < rows.end).then(|| file.line_ending(row)) {
        Some(RawLineEnding::Feed) => "\n",
        Some(RawLineEnding::ReturnFeed) => "\r\n",
        Some(RawLineEnding::None) | None => file.ending_near(rows.start + ix.min(rows.len())),
    }
}

/// Returns the edit that removes the line feed at the end of the file, or that appends one if
/// `is_bare` is `false`.
fn final_ending(file: &FileText, is_bare: bool) -> (Span, String) {
    let count = file.line_count();
    let end = file.text().len();
    match (is_bare, count.checked_sub(1)) {
        (true, Some(last)) => ((file.raw_content_end(last)..end).into(), String::new()),
        (true, None) => ((end..end).into(), String::new()),
        (false, _) => ((end..end).into(), file.ending_near(count).to_owned()),
    }
}
