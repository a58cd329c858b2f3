//! Decides which of several positions each hunk of a file means.
//!
//! Only information in the edit counts: the end of the file, context headers, the order of hunks, a
//! line number. If more than one position remains, the hunk is ambiguous.
//!
//! Start at `choose`.

mod header;

pub(crate) use self::header::rows_behind;

use base::Row;

use crate::block::split_lines;
use crate::edit::PatchHunk;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::HunkMatch;
use crate::outcome::{Ambiguity, HunkDifference, HunkRefusal, MatchStrategy};

/// Factor by which the next position must be farther from the given line number than the nearest
/// one.
const CLEARLY_NEARER: usize = 8;

/// Candidate positions of a hunk, or the reason why it has none.
pub(crate) type Candidates = Result<Vec<HunkMatch>, HunkRefusal>;

/// Chooses one position per hunk, or returns the reason; an ambiguous hunk comes with all its
/// positions.
pub(crate) fn choose(
    file: &FileText,
    hunks: &[&PatchHunk],
    candidates: Vec<Candidates>,
) -> Vec<Result<HunkMatch, (HunkRefusal, Vec<HunkMatch>)>> {
    let counts: Vec<usize> = candidates
        .iter()
        .map(|found| found.as_ref().map_or(0, Vec::len))
        .collect();
    let last = hunks.len().saturating_sub(1);
    let mut candidates: Vec<Candidates> = candidates
        .into_iter()
        .zip(hunks)
        .enumerate()
        .map(|(ix, (found, hunk))| {
            // Before further hunks, the line numbers of a diff are more reliable than missing
            // context.
            let found = if ix == last || hunk.row.is_none() {
                at_edge(file, hunk, found?)
            } else {
                found?
            };
            header::narrow(file, hunk, found)
        })
        .collect();
    keep_in_order(hunks, &mut candidates);
    let drift = drift(hunks, &candidates);
    let chosen = candidates.into_iter().zip(hunks).zip(counts);
    let chosen = chosen.map(|((found, hunk), count)| {
        let mut found = found.map_err(|refusal| (refusal, Vec::new()))?;
        by_row(file, hunk, drift, &mut found);
        match found.len() {
            1 if was_applied(file, hunk, &found[0]) => {
                Err((HunkRefusal::Unclear(Ambiguity::AlreadyThere), found))
            }
            1 => Ok(mark_placed(found.remove(0), count)),
            several => {
                let strategy = found
                    .first()
                    .map_or(MatchStrategy::Exact, |found| found.strategy);
                let count = several;
                Err((HunkRefusal::Several { count, strategy }, found))
            }
        }
    });
    chosen.collect()
}

fn mark_placed(mut found: HunkMatch, count: usize) -> HunkMatch {
    if count > 1 {
        found.strategy = found.strategy.max(MatchStrategy::Placed);
    }
    found
}

/// Keeps positions at the start or end of the file if the hunk says so.
fn at_edge(file: &FileText, hunk: &PatchHunk, mut found: Vec<HunkMatch>) -> Vec<HunkMatch> {
    let ends = |found: &HunkMatch| found.rows.end == file.line_count();
    let begins = |found: &HunkMatch| found.rows.start == 0;
    let says_first = hunk.row == Some(Row(0)) && found.iter().any(begins);
    if hunk.at_end && found.iter().any(ends) {
        found.retain(|found| ends(found) || (says_first && begins(found)));
    } else if says_first {
        found.retain(begins);
    }
    found
}

/// Whether the new text occurs where the hunk expects the old text, which is found elsewhere: the
/// hunk was applied before.
fn was_applied(file: &FileText, hunk: &PatchHunk, found: &HunkMatch) -> bool {
    let Some(row) = hunk.row.map(|row| row.0 as usize) else {
        return false;
    };
    let new = split_lines(&hunk.new);
    let says_something = new.iter().any(|line| fold::has_alphanumeric(line));
    let mut rows = new.iter().zip(row..);
    found.rows.start != row
        && says_something
        && row + new.len() <= file.line_count()
        && rows.all(|(line, row)| file.content(row) == line)
}

/// Whether neither the first nor the last line of the hunk is unchanged: a diff without context,
/// which Git places at the end of the file and `diff -U0` at the line number.
fn has_no_context(hunk: &PatchHunk) -> bool {
    let (old, new) = (split_lines(&hunk.old), split_lines(&hunk.new));
    !old.is_empty() && old.first() != new.first() && old.last() != new.last()
}

/// Drops positions that do not fit in order with any position of the other hunks. If unambiguous
/// hunks are already out of order, the order is ignored.
fn keep_in_order(hunks: &[&PatchHunk], candidates: &mut [Candidates]) {
    let ordered: Vec<usize> = (0..hunks.len())
        .filter(|ix| {
            hunks[*ix].in_order
                && candidates[*ix]
                    .as_ref()
                    .is_ok_and(|found| !found.is_empty())
        })
        .collect();
    let mut kept: Vec<Vec<bool>> = Vec::new();
    let mut earliest = 0;
    for ix in &ordered {
        let Ok(found) = &candidates[*ix] else {
            continue;
        };
        let fits: Vec<bool> = found
            .iter()
            .map(|found| found.rows.start >= earliest)
            .collect();
        let ends = found
            .iter()
            .zip(&fits)
            .filter(|(_, fits)| **fits)
            .map(|(found, _)| found.rows.end);
        earliest = ends.min().unwrap_or(usize::MAX);
        kept.push(fits);
    }
    let mut latest = usize::MAX;
    for (ix, fits) in ordered.iter().zip(&mut kept).rev() {
        let Ok(found) = &candidates[*ix] else {
            continue;
        };
        for (found, fits) in found.iter().zip(fits.iter_mut()) {
            *fits &= found.rows.end <= latest;
        }
        let starts = found
            .iter()
            .zip(fits.iter())
            .filter(|(_, fits)| **fits)
            .map(|(found, _)| found.rows.start);
        latest = starts.max().unwrap_or(0);
    }
    if !kept.iter().all(|fits| fits.contains(&true)) {
        return mark_out_of_order(&ordered, candidates);
    }
    for (ix, fits) in ordered.iter().zip(kept) {
        if let Ok(found) = &mut candidates[*ix] {
            let mut fits = fits.into_iter();
            found.retain(|_| fits.next().unwrap_or(true));
        }
    }
}

/// Marks hunks that precede the one that they follow in the patch.
fn mark_out_of_order(ordered: &[usize], candidates: &mut [Candidates]) {
    let mut latest = 0;
    for ix in ordered {
        if let Ok([found]) = candidates[*ix].as_deref_mut() {
            if found.rows.start < latest {
                found.differences.push(HunkDifference::Order);
            }
            latest = latest.max(found.rows.start);
        }
    }
}

/// Returns the offset in rows between unambiguous positions and the line numbers in their hunks, if
/// all agree.
fn drift(hunks: &[&PatchHunk], candidates: &[Candidates]) -> Option<isize> {
    let mut drift = None;
    for (hunk, found) in hunks.iter().zip(candidates) {
        let (Some(row), Ok([found])) = (hunk.row, found.as_deref()) else {
            continue;
        };
        let here = found.rows.start as isize - row.0 as isize;
        if *drift.get_or_insert(here) != here {
            return None;
        }
    }
    drift
}

/// Keeps the position at the row that the hunk names, or one much nearer to it than all others.
fn by_row(file: &FileText, hunk: &PatchHunk, drift: Option<isize>, found: &mut Vec<HunkMatch>) {
    let Some(row) = hunk.row.filter(|_| found.len() > 1) else {
        return;
    };
    let is_at_row = |found: &HunkMatch| found.rows.start == row.0 as usize;
    let ends = |found: &HunkMatch| found.rows.end == file.line_count();
    let is_said_to_end = found.iter().any(|found| ends(found) && is_at_row(found));
    let is_told = !hunk.at_end && !has_no_context(hunk);
    if found.iter().any(ends) && !is_said_to_end && !is_told {
        return;
    }
    let said = row.0 as isize + drift.unwrap_or(0);
    let distance = |found: &HunkMatch| found.rows.start.abs_diff(said.max(0) as usize);
    let mut distances: Vec<usize> = found.iter().map(distance).collect();
    distances.sort_unstable();
    let is_clear = distances[0] == 0 || distances[0] * CLEARLY_NEARER <= distances[1];
    if is_clear && distances[0] < distances[1] {
        found.retain(|found| distance(found) == distances[0]);
    }
}
