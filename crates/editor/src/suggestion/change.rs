//! A change in sight as an inline diff: what goes is marked where it stands, what comes stands behind it, or below
//! it in rows of its own where either has several.

use std::sync::Arc;

use autocomplete::{Replacement, Suggestion};
use base::{ByteOffset, Row, Span};
use text::Snapshot;

use super::{InText, Look, Piece, shown_text, trimmed};

/// Changed places in one row beyond which the whole row is shown anew.
const MOST_IN_ROW: usize = 3;

/// More rows than this are not shown anew.
const MOST_ROWS: u32 = 400;

/// Longer rows, in bytes, are neither shown anew nor previewed.
const LONG_ROW: u32 = 2_000;

/// The longest preview, in characters.
const PREVIEW: usize = 64;

/// Changes whose rows touch.
struct Group {
    rows: (Row, Row),
    edits: Vec<Replacement>,
    /// How much longer the text before them becomes.
    longer: isize,
}

/// What a suggestion changes, in the text.
pub(super) fn in_text(suggestion: &Suggestion, snapshot: &Snapshot) -> InText {
    let mut shown = InText {
        row: snapshot.point_at(suggestion.start()).row,
        ..InText::default()
    };
    for group in groups(suggestion, snapshot) {
        match wants_rows(&group, snapshot) {
            true => in_rows(&group, snapshot, &mut shown),
            false => in_row(&group, snapshot, &mut shown),
        }
    }
    shown
}

fn groups(suggestion: &Suggestion, snapshot: &Snapshot) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut longer = 0;
    for edit in trimmed(suggestion) {
        let rows = rows_of(&edit, snapshot);
        let grown = edit.new.len() as isize - edit.old.len() as isize;
        match groups.last_mut() {
            Some(group) if rows.0 <= group.rows.1 => {
                group.rows.1 = group.rows.1.max(rows.1);
                group.edits.push(edit);
            }
            _ => groups.push(Group {
                rows,
                edits: vec![edit],
                longer,
            }),
        }
        longer += grown;
    }
    groups
}

/// The rows that a replacement touches. The one behind lines that go or are replaced by lines is not touched.
fn rows_of(edit: &Replacement, snapshot: &Snapshot) -> (Row, Row) {
    let (start, end) = (
        snapshot.point_at(edit.span.start),
        snapshot.point_at(edit.span.end),
    );
    let is_lines = edit.new.ends_with('\n') || edit.new.is_empty() && start.column.0 == 0;
    let ends_before = end.column.0 == 0 && start.row < end.row && is_lines;
    (start.row, if ends_before { end.row - 1 } else { end.row })
}

/// Whether a reader is served better by whole rows, old above new.
fn wants_rows(group: &Group, snapshot: &Snapshot) -> bool {
    let (first, last) = group.rows;
    let end = snapshot.row_span_with_ending(last).end;
    let whole = Span::new(snapshot.row_start(first), end);
    let goes_whole = |edit: &Replacement| edit.new.is_empty() && edit.span == whole;
    if group.edits.iter().all(goes_whole) {
        return true;
    }
    let replaces = |edit: &&Replacement| !edit.old.is_empty() && !edit.new.is_empty();
    let has_lines = |edit: &Replacement| edit.old.contains('\n') || edit.new.contains('\n');
    let is_busy = group.edits.len() > MOST_IN_ROW;
    let is_short = |row: u32| snapshot.row_len(Row(row)).0 <= LONG_ROW;
    (is_busy || group.edits.iter().filter(replaces).any(has_lines))
        && last.0 - first.0 < MOST_ROWS
        && (first.0..=last.0).all(is_short)
}

/// Marks what goes where it stands, and puts what comes behind it.
fn in_row(group: &Group, snapshot: &Snapshot, shown: &mut InText) {
    let mut longer = group.longer;
    for (ix, edit) in group.edits.iter().enumerate() {
        let kept = edit.insertions().filter(|_| !edit.new.is_empty());
        let mut add = |at: ByteOffset, text: &Arc<str>, after: isize| {
            if !text.is_empty() {
                shown.pieces.push(Piece {
                    at,
                    text: shown_text(text, at, snapshot),
                    look: Look::Added,
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

/// A replacement of a part of a word as one of the word: half words are hard to read.
fn to_words(edit: &Replacement, snapshot: &Snapshot) -> Replacement {
    /// Longer words are cut.
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
    let before: String = match starts {
        true => snapshot
            .chars_before(edit.span.start)
            .take(LONGEST)
            .take_while(is_word)
            .collect(),
        false => String::new(),
    };
    let before: String = before.chars().rev().collect();
    let behind: String = match ends {
        true => snapshot
            .chars_at(edit.span.end)
            .take(LONGEST)
            .take_while(is_word)
            .collect(),
        false => String::new(),
    };
    let start = ByteOffset(edit.span.start.0 - before.len());
    Replacement {
        span: Span::new(start, edit.span.end + behind.len()),
        old: Arc::from(format!("{before}{}{behind}", edit.old)),
        new: Arc::from(format!("{before}{}{behind}", edit.new)),
    }
}

/// Marks the rows that go, and puts those that come below them.
fn in_rows(group: &Group, snapshot: &Snapshot, shown: &mut InText) {
    shown.gone_rows.push(group.rows);
    let span = Span::new(
        snapshot.row_start(group.rows.0),
        snapshot.row_end(group.rows.1),
    );
    let (new, is_whole) = rows_after(group, span, snapshot);
    // Where the rows go with their endings, nothing comes in their place.
    if is_whole && new.is_empty() {
        return;
    }
    shown.pieces.push(Piece {
        at: span.end,
        // An empty last row must hold something to be seen.
        text: Arc::from(match new.ends_with('\n') || new.is_empty() {
            true => format!("\n{new} "),
            false => format!("\n{new}"),
        }),
        look: Look::AddedRows,
        after: ByteOffset(span.start.0.saturating_add_signed(group.longer)),
    });
}

/// The text of rows once a group is taken, and whether the last of them went with its ending.
fn rows_after(group: &Group, span: Span, snapshot: &Snapshot) -> (String, bool) {
    let mut text = String::new();
    let mut at = span.start;
    let mut is_whole = false;
    for edit in &group.edits {
        text.push_str(&snapshot.text(Span::new(at, edit.span.start.min(span.end))));
        match edit.span.end > span.end {
            // It takes the ending of the last row along, and brings one unless it brings nothing.
            true => {
                let new = edit.new.strip_suffix('\n').unwrap_or(&edit.new);
                text.push_str(new.strip_suffix('\r').unwrap_or(new));
                is_whole = edit.new.is_empty();
            }
            false => text.push_str(&edit.new),
        }
        at = edit.span.end.min(span.end);
    }
    text.push_str(&snapshot.text(Span::new(at, span.end)));
    (text, is_whole)
}

/// What the first changed row will be, in one short line.
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
        return comes(&edit);
    }
    // The row in which it begins is as it was where rows are put behind it.
    let same = edit.new.starts_with(['\r', '\n']);
    let span = Span::new(snapshot.row_start(start.row), snapshot.row_end(end.row));
    let group = Group {
        rows: (start.row, end.row),
        edits: vec![edit],
        longer: 0,
    };
    let (text, _) = rows_after(&group, span, snapshot);
    let mut rows = text.lines().skip(usize::from(same));
    in_short(rows.find(|row| !row.trim().is_empty()).unwrap_or_default())
}

/// What comes first where the text is not known.
pub(super) fn preview_alone(suggestion: &Suggestion) -> String {
    // Not trimmed: without their row, half words are hard to read.
    let mut edits = suggestion.edits.iter();
    let edit = edits.find(|edit| edit.new != edit.old);
    edit.map(comes).unwrap_or_default()
}

/// The first line that comes, or of what only goes, that which goes.
fn comes(edit: &Replacement) -> String {
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
