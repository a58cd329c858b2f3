//! What is said of each hunk: how it landed, or what would help to write it anew.

use std::ops::Range;

use base::Row;

use crate::block::{Block, lines};
use crate::edit::Hunk;
use crate::file::FileText;
use crate::find::rows_of_lines;
use crate::fold;
use crate::found::Match;
use crate::nearest;
use crate::outcome::{HunkReport, Outcome, Refusal, Rung};

use super::Landing;

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
