//! What is said of each hunk: how it landed, or what would help to write it anew.

use std::ops::Range;

use base::{ByteOffset, Row};

use crate::block::{Block, lines};
use crate::edit::Hunk;
use crate::file::FileText;
use crate::find::rows_of_lines;
use crate::fold;
use crate::found::Match;
use crate::nearest;
use crate::outcome::{HunkReport, Outcome, Refusal, Rung};

use super::{Landing, Planned};

pub(super) fn landed(ix: usize, landing: &Landing, source: Range<usize>) -> HunkReport {
    let fitted = &landing.fitted;
    let mut report = HunkReport::landed(ix, fitted.rung, landing.rows.clone(), source);
    report.differences.clone_from(&fitted.differences);
    report.differences.sort_unstable();
    report.differences.dedup();
    if fitted.rung > Rung::Placed || !report.differences.is_empty() {
        report.outcome = Outcome::Explained;
    }
    report
}

pub(super) fn refused(
    file: &FileText,
    ix: usize,
    hunk: &Hunk,
    refusal: Refusal,
    found: &[Match],
) -> HunkReport {
    let mut report = HunkReport::refused(ix, refusal, hunk.source.clone());
    report.nearest = match found {
        [] => {
            let block = Block::of(hunk);
            let old = block.map_or_else(|| lines(&hunk.old), |block| block.old);
            nearest::nearest(file, &old)
        }
        found => nearest::of_matches(file, found),
    };
    report.already_at = already_at(file, hunk);
    report
}

/// Quotes what became of the lines of hunks that landed in spite of differences.
pub(super) fn read_on(file: &FileText, planned: &mut Planned) {
    let is_explained = |report: &HunkReport| report.outcome == Outcome::Explained;
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
            // The line behind a removed one, or the last that was written.
            let last = after.row_at(ByteOffset(span.end.max(span.start + 1) - 1)).0 as usize;
            report.now = Some(nearest::place(&after, first..last + 1, 1.0));
        }
    }
}

/// Where the new text stands already. Too short a text is no sign.
fn already_at(file: &FileText, hunk: &Hunk) -> Option<Row> {
    let new = lines(&hunk.new);
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
