//! Presents a visible change as an inline diff: deleted text is marked in place, inserted text
//! follows it, or goes below in its own rows if either spans several.

use std::sync::Arc;

use autocomplete::{SuggestedEdit, Suggestion};
use base::{ByteOffset, Row, Span};
use text::Snapshot;

use super::{InText, InsertedText, SuggestionStyle, shown_text, trimmed};

/// Number of changes in one row above which the whole row is shown again.
const MAX_CHANGES_IN_ROW: usize = 3;

/// Maximum number of rows that are shown again.
const MAX_ROWS: u32 = 400;

/// Longer rows, in bytes, are neither shown again nor previewed.
const LONG_ROW: u32 = 2_000;

/// Maximum length of a preview, in characters.
const PREVIEW: usize = 64;

/// Changes with touching rows.
struct RowGroup {
    rows: (Row, Row),
    edits: Vec<SuggestedEdit>,
    /// Growth of the text before them, in bytes.
    longer: isize,
}

/// Builds the inline presentation of a suggestion.
pub(super) fn in_text(suggestion: &Suggestion, snapshot: &Snapshot) -> InText {
    let mut shown = InText {
        row: snapshot.point_at(suggestion.start()).row,
        ..InText::default()
    };
    for group in groups(suggestion, snapshot) {
        if wants_rows(&group, snapshot) {
            in_rows(&group, snapshot, &mut shown)
        } else {
            in_row(&group, snapshot, &mut shown)
        }
    }
    shown
}

fn groups(suggestion: &Suggestion, snapshot: &Snapshot) -> Vec<RowGroup> {
    let mut groups: Vec<RowGroup> = Vec::new();
    let mut longer = 0;
    for edit in trimmed(suggestion) {
        let rows = rows_of(&edit, snapshot);
        let grown = edit.new.len() as isize - edit.old.len() as isize;
        match groups.last_mut() {
            Some(group) if rows.0 <= group.rows.1 => {
                group.rows.1 = group.rows.1.max(rows.1);
                group.edits.push(edit);
            }
            _ => groups.push(RowGroup {
                rows,
                edits: vec![edit],
                longer,
            }),
        }
        longer += grown;
    }
    groups
}

/// Returns the rows touched by a replacement. Replacing or deleting whole lines does not touch the
/// following row.
fn rows_of(edit: &SuggestedEdit, snapshot: &Snapshot) -> (Row, Row) {
    let (start, end) = (
        snapshot.point_at(edit.span.start),
        snapshot.point_at(edit.span.end),
    );
    let is_lines = edit.new.ends_with('\n') || edit.new.is_empty() && start.column.0 == 0;
    let ends_before = end.column.0 == 0 && start.row < end.row && is_lines;
    (start.row, if ends_before { end.row - 1 } else { end.row })
}

/// Returns whether whole rows, old above new, are more readable.
fn wants_rows(group: &RowGroup, snapshot: &Snapshot) -> bool {
    let (first, last) = group.rows;
    let end = snapshot.row_span_with_ending(last).end;
    let whole = Span::new(snapshot.row_start(first), end);
    let goes_whole = |edit: &SuggestedEdit| edit.new.is_empty() && edit.span == whole;
    if group.edits.iter().all(goes_whole) {
        return true;
    }
    let replaces = |edit: &&SuggestedEdit| !edit.old.is_empty() && !edit.new.is_empty();
    let has_lines = |edit: &SuggestedEdit| edit.old.contains('\n') || edit.new.contains('\n');
    let is_busy = group.edits.len() > MAX_CHANGES_IN_ROW;
    let is_short = |row: u32| snapshot.row_len(Row(row)).0 <= LONG_ROW;
    (is_busy || group.edits.iter().filter(replaces).any(has_lines))
        && last.0 - first.0 < MAX_ROWS
        && (first.0..=last.0).all(is_short)
}

/// Marks deletions in place and puts insertions after them.
fn in_row(group: &RowGroup, snapshot: &Snapshot, shown: &mut InText) {
    let mut longer = group.longer;
    for (ix, edit) in group.edits.iter().enumerate() {
        let kept = edit.insertions().filter(|_| !edit.new.is_empty());
        let mut add = |at: ByteOffset, text: &Arc<str>, after: isize| {
            if !text.is_empty() {
                shown.pieces.push(InsertedText {
                    at,
                    text: shown_text(text, at, snapshot),
                    look: SuggestionStyle::Added,
                    after: ByteOffset(at.0.saturating_add_signed(after)),
                });
            }
        };
        if let Some(insertions) = kept {
            let mut inner = longer;
            for (at, text) in insertions {
                add(at, &text, inner);
                inner += text.len() as isize;
            }
        } else {
            let before = ix.checked_sub(1).map(|before| group.edits[before].span.end);
            let next = group.edits.get(ix + 1).map(|next| next.span.start);
            let room = Span::new(
                before.unwrap_or_default(),
                next.unwrap_or_else(|| snapshot.len()),
            );
            let whole = Some(to_words(edit, snapshot)).filter(|whole| room.covers(whole.span));
            let whole = whole.unwrap_or_else(|| edit.clone());
            add(
                whole.span.end,
                &whole.new,
                longer - whole.old.len() as isize,
            );
            shown.struck.push(whole.span);
        }
        longer += edit.new.len() as isize - edit.old.len() as isize;
    }
}

/// Extends a replacement within a word to the whole word: partial words are hard to read.
fn to_words(edit: &SuggestedEdit, snapshot: &Snapshot) -> SuggestedEdit {
    /// Maximum length of a word, in bytes; longer ones are cut.
    const LONGEST: usize = 64;
    if edit.old.is_empty() || edit.new.is_empty() {
        return edit.clone();
    }
    let is_word = |char: &char| char.is_alphanumeric() || *char == '_';
    let starts = edit.old.chars().next().is_some_and(|char| is_word(&char));
    let ends = edit
        .old
        .chars()
        .next_back()
        .is_some_and(|char| is_word(&char));
    let before: String = if starts {
        snapshot
            .chars_before(edit.span.start)
            .take(LONGEST)
            .take_while(is_word)
            .collect()
    } else {
        String::new()
    };
    let before: String = before.chars().rev().collect();
    let behind: String = if ends {
        snapshot
            .chars_at(edit.span.end)
            .take(LONGEST)
            .take_while(is_word)
            .collect()
    } else {
        String::new()
    };
    let start = ByteOffset(edit.span.start.0 - before.len());
    SuggestedEdit {
        span: Span::new(start, edit.span.end + behind.len()),
        old: Arc::from(format!("{before}{}{behind}", edit.old)),
        new: Arc::from(format!("{before}{}{behind}", edit.new)),
    }
}

/// Marks the deleted rows and puts the inserted rows below them.
fn in_rows(group: &RowGroup, snapshot: &Snapshot, shown: &mut InText) {
    shown.gone_rows.push(group.rows);
    let span = Span::new(
        snapshot.row_start(group.rows.0),
        snapshot.row_end(group.rows.1),
    );
    let (new, is_whole) = rows_after(group, span, snapshot);
    // If the rows are deleted with their line endings, nothing replaces them.
    if is_whole && new.is_empty() {
        return;
    }
    shown.pieces.push(InsertedText {
        at: span.end,
        // An empty last row needs content to be visible.
        text: Arc::from(if new.ends_with('\n') || new.is_empty() {
            format!("\n{new} ")
        } else {
            format!("\n{new}")
        }),
        look: SuggestionStyle::AddedRows,
        after: ByteOffset(span.start.0.saturating_add_signed(group.longer)),
    });
}

/// Returns the text of the rows after accepting a group, and whether the last row was deleted with
/// its ending.
fn rows_after(group: &RowGroup, span: Span, snapshot: &Snapshot) -> (String, bool) {
    let mut text = String::new();
    let mut at = span.start;
    let mut is_whole = false;
    for edit in &group.edits {
        text.push_str(&snapshot.text(Span::new(at, edit.span.start.min(span.end))));
        if edit.span.end > span.end {
            // It deletes the ending of the last row, and inserts one unless it is empty.

            let new = edit.new.strip_suffix('\n').unwrap_or(&edit.new);
            text.push_str(new.strip_suffix('\r').unwrap_or(new));
            is_whole = edit.new.is_empty();
        } else {
            text.push_str(&edit.new)
        }
        at = edit.span.end.min(span.end);
    }
    text.push_str(&snapshot.text(Span::new(at, span.end)));
    (text, is_whole)
}

/// Returns the first changed row after accepting, on one short line.
pub(super) fn preview(suggestion: &Suggestion, snapshot: &Snapshot) -> String {
    let Some(edit) = trimmed(suggestion).next() else {
        return String::new();
    };
    let (start, end) = (
        snapshot.point_at(edit.span.start),
        snapshot.point_at(edit.span.end),
    );
    let is_long = |row: Row| snapshot.row_len(row).0 > LONG_ROW;
    let is_in_row = start.row == end.row && !edit.new.contains('\n');
    let only_goes = !is_in_row && edit.new.trim().is_empty();
    if only_goes || is_long(start.row) || is_long(end.row) {
        return preview_line(&edit);
    }
    // If rows are inserted after the row, the row itself is unchanged.
    let same = edit.new.starts_with(['\r', '\n']);
    let span = Span::new(snapshot.row_start(start.row), snapshot.row_end(end.row));
    let group = RowGroup {
        rows: (start.row, end.row),
        edits: vec![edit],
        longer: 0,
    };
    let (text, _) = rows_after(&group, span, snapshot);
    let mut rows = text.lines().skip(usize::from(same));
    in_short(rows.find(|row| !row.trim().is_empty()).unwrap_or_default())
}

/// Returns a preview without knowing the text.
pub(super) fn preview_alone(suggestion: &Suggestion) -> String {
    // Not trimmed: without their row, partial words are hard to read.
    let mut edits = suggestion.edits.iter();
    let edit = edits.find(|edit| edit.new != edit.old);
    edit.map(preview_line).unwrap_or_default()
}

/// Returns the first inserted line, or the first deleted one if nothing is inserted.
fn preview_line(edit: &SuggestedEdit) -> String {
    let text = if edit.new.trim().is_empty() {
        &edit.old
    } else {
        &edit.new
    };
    let line = text.lines().find(|line| !line.trim().is_empty());
    in_short(line.unwrap_or_default())
}

fn in_short(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(PREVIEW) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
