//! Builds the report of each hunk: how it was applied, or information that helps to correct it.

use std::ops::Range;

use base::{ByteOffset, Row};

use crate::block::{LineBlock, split_lines};
use crate::edit::PatchHunk;
use crate::file::FileText;
use crate::find::rows_of_lines;
use crate::fold;
use crate::hunk_match::HunkMatch;
use crate::nearest;
use crate::outcome::{HunkOutcome, HunkRefusal, HunkReport, MatchStrategy};

use super::{EditPlan, PlacedHunk};

pub(super) fn landed(ix: usize, landing: &PlacedHunk, source: Range<usize>) -> HunkReport {
    let fitted = &landing.fitted;
    let mut report = HunkReport::landed(ix, fitted.strategy, landing.rows.clone(), source);
    report.differences.clone_from(&fitted.differences);
    report.differences.sort_unstable();
    report.differences.dedup();
    if fitted.strategy > MatchStrategy::Placed || !report.differences.is_empty() {
        report.outcome = HunkOutcome::Explained;
    }
    report
}

pub(super) fn refused(
    file: &FileText,
    ix: usize,
    hunk: &PatchHunk,
    refusal: HunkRefusal,
    found: &[HunkMatch],
) -> HunkReport {
    let mut report = HunkReport::refused(ix, refusal, hunk.source.clone());
    report.nearest = match found {
        [] => {
            let block = LineBlock::of(hunk);
            let old = block.map_or_else(|| split_lines(&hunk.old), |block| block.old);
            nearest::nearest(file, &old)
        }
        found => nearest::of_matches(file, found),
    };
    report.already_at = already_at(file, hunk);
    report
}

/// Quotes the resulting lines of hunks that were applied despite differences.
pub(super) fn read_on(file: &FileText, planned: &mut EditPlan) {
    let is_explained = |report: &HunkReport| report.outcome == HunkOutcome::Explained;
    if !planned.hunks.iter().any(is_explained) {
        return;
    }
    let text = planned.apply(file.text());
    let after = FileText::new(&text);
    let mut shift = 0isize;
    let mut spans: Vec<Option<Range<usize>>> = vec![None; planned.hunks.len()];
    for replacement in &planned.replacements {
        let start = replacement.span.start.0.saturating_add_signed(shift);
        let end = start + replacement.text.len();
        shift += replacement.text.len() as isize - replacement.span.len() as isize;
        let span = spans[replacement.hunk].get_or_insert(start..end);
        span.end = end;
    }
    for (report, span) in planned.hunks.iter_mut().zip(spans) {
        if let Some(span) = span.filter(|_| is_explained(report)) {
            let first = after.row_at(ByteOffset(span.start)).0 as usize;
            // The line after a removed one, or the last one written.
            let last = after.row_at(ByteOffset(span.end.max(span.start + 1) - 1)).0 as usize;
            report.now = Some(nearest::near_match(&after, first..last + 1, 1.0));
        }
    }
}

/// Returns the row where the new text already occurs. Short texts are ignored.
fn already_at(file: &FileText, hunk: &PatchHunk) -> Option<Row> {
    let new = split_lines(&hunk.new);
    let said: usize = new
        .iter()
        .filter(|line| !fold::is_blank(line))
        .map(|line| line.trim().len())
        .sum();
    if said < 8 || hunk.old == hunk.new {
        return None;
    }
    rows_of_lines(file, &new).next().map(|row| Row(row as u32))
}
