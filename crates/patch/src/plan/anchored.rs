//! Edits whose lines are named by number and hash.
//!
//! All anchors mean the file as it was read. A line that has moved is found by its hash; a range
//! counts only if its first and last line have moved alike.

use std::ops::Range;

use base::Row;

use crate::anchor::{anchor, resolve};
use crate::block::lines;
use crate::edit::{AnchoredAction, AnchoredEdit, LineAnchor};
use crate::file::FileText;
use crate::fit::{RowEdit, splice, stand_beside};
use crate::mark::{Guard, stale};
use crate::outcome::{Difference, Doubt, HunkReport, Outcome, Place, Refusal, Rung};
use crate::placeholder;

use super::{Planned, add};

/// How many lines around a lost anchor are quoted, before and behind.
const AROUND: u32 = 3;

pub(super) fn plan(file: &FileText, operations: &[AnchoredEdit], guard: Guard<'_>) -> Planned {
    let changed = guard.changed_rows(file);
    let mut planned = Planned::default();
    for (ix, operation) in operations.iter().enumerate() {
        let source = operation.source.clone();
        let report = match one(file, operation, &changed) {
            Err(refusal) => {
                let mut report = HunkReport::refused(ix, refusal, source);
                report.nearest = corrected(file, operation);
                report
            }
            Ok((rows, edit)) => {
                match add(&mut planned.replacements, ix, splice(file, &[edit], None)) {
                    Err(hunk) => HunkReport::refused(ix, Refusal::Overlaps { hunk }, source),
                    Ok(()) => {
                        let has_moved = rows.start != operation.first.row.0 as usize;
                        let mut report = HunkReport::landed(ix, Rung::Exact, rows, source);
                        if has_moved {
                            report.outcome = Outcome::Explained;
                            report.rung = Some(Rung::Placed);
                            report.differences.push(Difference::Moved);
                        }
                        report
                    }
                }
            }
        };
        planned.hunks.push(report);
    }
    planned
}

fn one(
    file: &FileText,
    operation: &AnchoredEdit,
    changed: &[Range<Row>],
) -> Result<(Range<usize>, RowEdit), Refusal> {
    let (first, last) = (&operation.first, &operation.last);
    if last.row < first.row {
        return Err(Refusal::AnchorsReversed);
    }
    let start = at(file, first)?;
    let end = at(file, last)?;
    let has_stretched = end.0.checked_sub(start.0) != Some(last.row.0 - first.row.0);
    if has_stretched {
        return Err(moved(last));
    }
    let rows = start.0 as usize..end.0 as usize + 1;
    if let Some(rows) = stale(changed, &rows) {
        return Err(Refusal::Stale { rows });
    }
    let (edited, text) = match &operation.action {
        AnchoredAction::Replace(text) => (rows.clone(), text),
        AnchoredAction::InsertBefore(text) => (rows.start..rows.start, text),
        AnchoredAction::InsertAfter(text) => (rows.end..rows.end, text),
    };
    let lines = lines(text);
    let old: Vec<String> = edited
        .clone()
        .map(|row| file.content(row).to_owned())
        .collect();
    if let Some(line) = placeholder::added(&old, &lines, file.style()) {
        return Err(Refusal::ElidedReplacement(line.to_owned()));
    }
    if edited.is_empty() && stand_beside(file, edited.start, &lines) {
        return Err(Refusal::Unclear(Doubt::AlreadyThere));
    }
    let stays = edited.len() == lines.len()
        && edited
            .clone()
            .zip(&lines)
            .all(|(row, line)| file.content(row) == line);
    if stays {
        return Err(Refusal::NothingChanges);
    }
    let rows_edit = RowEdit {
        rows: edited,
        lines,
    };
    Ok((rows, rows_edit))
}

fn at(file: &FileText, anchor: &LineAnchor) -> Result<Row, Refusal> {
    resolve(file, anchor.row, &anchor.hash).ok_or_else(|| moved(anchor))
}

fn moved(anchor: &LineAnchor) -> Refusal {
    Refusal::AnchorMoved {
        anchor: format!("{}#{}", anchor.row.0 + 1, anchor.hash),
    }
}

/// The lines around where the anchors point, with the anchors they have now.
fn corrected(file: &FileText, operation: &AnchoredEdit) -> Vec<Place> {
    let count = file.line_count() as u32;
    if count == 0 {
        return Vec::new();
    }
    let first = operation.first.row.0.min(count - 1);
    let last = operation
        .last
        .row
        .0
        .clamp(first, first + 4 * AROUND)
        .min(count - 1);
    let rows = first.saturating_sub(AROUND)..(last + AROUND + 1).min(count);
    let quoted = rows.clone().map(|row| {
        let row = Row(row);
        format!("{}|{}", anchor(file, row), file.line(row))
    });
    vec![Place {
        row: Row(rows.start),
        text: quoted.collect::<Vec<_>>().join("\n"),
        similarity: 0.0,
    }]
}
