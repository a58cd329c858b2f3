//! Plans edits of lines identified by number and hash.
//!
//! All anchors refer to the file as it was read. A line that has moved is found by its hash; a
//! range is valid only if its first and last line have moved equally.

use std::ops::Range;

use base::Row;

use crate::anchor::{anchor, resolve};
use crate::block::split_lines;
use crate::edit::{AnchoredAction, AnchoredEdit, LineAnchor};
use crate::file::FileText;
use crate::fit::{RowSplice, are_present_beside, splice};
use crate::mark::{StaleGuard, stale};
use crate::outcome::{
    Ambiguity, HunkDifference, HunkOutcome, HunkRefusal, HunkReport, MatchStrategy, NearMatch,
};
use crate::placeholder;

use super::{EditPlan, add};

/// Number of lines quoted before and after a lost anchor.
const AROUND: u32 = 3;

pub(super) fn plan(
    file: &FileText,
    operations: &[AnchoredEdit],
    guard: StaleGuard<'_>,
) -> EditPlan {
    let changed = guard.changed_rows(file);
    let mut planned = EditPlan::default();
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
                    Err(hunk) => HunkReport::refused(ix, HunkRefusal::Overlaps { hunk }, source),
                    Ok(()) => {
                        let has_moved = rows.start != operation.first.row.0 as usize;
                        let mut report = HunkReport::landed(ix, MatchStrategy::Exact, rows, source);
                        if has_moved {
                            report.outcome = HunkOutcome::Explained;
                            report.strategy = Some(MatchStrategy::Placed);
                            report.differences.push(HunkDifference::Moved);
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

/// Plans one operation. Returns the present rows of its anchors, and the edit. `changed` are the
/// rows that changed since the file was read; fails if the operation touches them, or is refused
/// otherwise.
fn one(
    file: &FileText,
    operation: &AnchoredEdit,
    changed: &[Range<Row>],
) -> Result<(Range<usize>, RowSplice), HunkRefusal> {
    let (first, last) = (&operation.first, &operation.last);
    if last.row < first.row {
        return Err(HunkRefusal::AnchorsReversed);
    }
    let start = at(file, first)?;
    let end = at(file, last)?;
    let has_stretched = end.0.checked_sub(start.0) != Some(last.row.0 - first.row.0);
    if has_stretched {
        return Err(moved(last));
    }
    let rows = start.0 as usize..end.0 as usize + 1;
    if let Some(rows) = stale(changed, &rows) {
        return Err(HunkRefusal::Stale { rows });
    }
    let (edited, text) = match &operation.action {
        AnchoredAction::Replace(text) => (rows.clone(), text),
        AnchoredAction::InsertBefore(text) => (rows.start..rows.start, text),
        AnchoredAction::InsertAfter(text) => (rows.end..rows.end, text),
    };
    let lines = split_lines(text);
    let old: Vec<String> = edited
        .clone()
        .map(|row| file.content(row).to_owned())
        .collect();
    if let Some(line) = placeholder::added(&old, &lines, file.style()) {
        return Err(HunkRefusal::ElidedReplacement(line.to_owned()));
    }
    if edited.is_empty() && are_present_beside(file, edited.start, &lines) {
        return Err(HunkRefusal::Unclear(Ambiguity::AlreadyThere));
    }
    let stays = edited.len() == lines.len()
        && edited
            .clone()
            .zip(&lines)
            .all(|(row, line)| file.content(row) == line);
    if stays {
        return Err(HunkRefusal::NothingChanges);
    }
    let rows_edit = RowSplice {
        rows: edited,
        lines,
    };
    Ok((rows, rows_edit))
}

/// Returns the present row of an anchor; fails with `AnchorMoved` unless it is the same row, or the
/// only one nearby with the hash.
fn at(file: &FileText, anchor: &LineAnchor) -> Result<Row, HunkRefusal> {
    resolve(file, anchor.row, &anchor.hash).ok_or_else(|| moved(anchor))
}

fn moved(anchor: &LineAnchor) -> HunkRefusal {
    HunkRefusal::AnchorMoved {
        anchor: format!("{}#{}", anchor.row.0 + 1, anchor.hash),
    }
}

/// Returns the lines around the anchors' positions, with their current anchors.
fn corrected(file: &FileText, operation: &AnchoredEdit) -> Vec<NearMatch> {
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
    vec![NearMatch {
        row: Row(rows.start),
        text: quoted.collect::<Vec<_>>().join("\n"),
        similarity: 0.0,
    }]
}
