//! Which of several places each hunk of a file means.
//!
//! Only what the edit says decides: the end of the file, context headers, the order of hunks, a
//! line number. Where that leaves more than one place, the hunk is ambiguous.
//! Start at `choose`.

mod header;

pub(crate) use self::header::rows_behind;

use base::Row;

use crate::block::lines;
use crate::edit::Hunk;
use crate::file::FileText;
use crate::fold;
use crate::found::Match;
use crate::outcome::{Difference, Doubt, Refusal, Rung};

/// How many times as far as the place by its line number the next one must be.
const CLEARLY_NEARER: usize = 8;

/// The places of each hunk, or why it has none.
pub(crate) type Candidates = Result<Vec<Match>, Refusal>;

/// One place for each hunk, or why there is none; a refusal for several comes with all of them.
pub(crate) fn choose(
    file: &FileText,
    hunks: &[&Hunk],
    candidates: Vec<Candidates>,
) -> Vec<Result<Match, (Refusal, Vec<Match>)>> {
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
            // Where others follow, the numbers of a diff tell more than its lack of context.
            let found = match ix == last || hunk.row.is_none() {
                true => at_edge(file, hunk, found?),
                false => found?,
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
                Err((Refusal::Unclear(Doubt::AlreadyThere), found))
            }
            1 => Ok(settled(found.remove(0), count)),
            several => {
                let rung = found.first().map_or(Rung::Exact, |found| found.rung);
                let count = several;
                Err((Refusal::Several { count, rung }, found))
            }
        }
    });
    chosen.collect()
}

fn settled(mut found: Match, count: usize) -> Match {
    if count > 1 {
        found.rung = found.rung.max(Rung::Placed);
    }
    found
}

/// Where the text is said to begin or end the file, places that do.
fn at_edge(file: &FileText, hunk: &Hunk, mut found: Vec<Match>) -> Vec<Match> {
    let ends = |found: &Match| found.rows.end == file.line_count();
    let begins = |found: &Match| found.rows.start == 0;
    let says_first = hunk.row == Some(Row(0)) && found.iter().any(begins);
    if hunk.at_end && found.iter().any(ends) {
        found.retain(|found| ends(found) || (says_first && begins(found)));
    } else if says_first {
        found.retain(begins);
    }
    found
}

/// Whether the new text stands where the hunk says that the old one is, which is found elsewhere: it
/// was applied before.
fn was_applied(file: &FileText, hunk: &Hunk, found: &Match) -> bool {
    let Some(row) = hunk.row.map(|row| row.0 as usize) else {
        return false;
    };
    let new = lines(&hunk.new);
    let says_something = new.iter().any(|line| fold::is_telling(line));
    let mut rows = new.iter().zip(row..);
    found.rows.start != row
        && says_something
        && row + new.len() <= file.line_count()
        && rows.all(|(line, row)| file.content(row) == line)
}

/// Whether neither the first nor the last line of the hunk stays: a diff without context, of which
/// Git takes the end of the file and `diff -U0` the line number.
fn has_no_context(hunk: &Hunk) -> bool {
    let (old, new) = (lines(&hunk.old), lines(&hunk.new));
    !old.is_empty() && old.first() != new.first() && old.last() != new.last()
}

/// Drops places that no choice of the other hunks' places leaves in order. Where hunks that have
/// one place each are out of order already, the order says nothing.
fn keep_in_order(hunks: &[&Hunk], candidates: &mut [Candidates]) {
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

/// Says so of hunks that stand before the one that they follow.
fn mark_out_of_order(ordered: &[usize], candidates: &mut [Candidates]) {
    let mut latest = 0;
    for ix in ordered {
        if let Ok([found]) = candidates[*ix].as_deref_mut() {
            if found.rows.start < latest {
                found.differences.push(Difference::Order);
            }
            latest = latest.max(found.rows.start);
        }
    }
}

/// By how many rows the places that are certain lie behind where their hunks say, if all agree.
fn drift(hunks: &[&Hunk], candidates: &[Candidates]) -> Option<isize> {
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

/// The place at the row that the hunk names, or else one much nearer to it than any other.
fn by_row(file: &FileText, hunk: &Hunk, drift: Option<isize>, found: &mut Vec<Match>) {
    let Some(row) = hunk.row.filter(|_| found.len() > 1) else {
        return;
    };
    let is_at_row = |found: &Match| found.rows.start == row.0 as usize;
    let ends = |found: &Match| found.rows.end == file.line_count();
    let is_said_to_end = found.iter().any(|found| ends(found) && is_at_row(found));
    let is_told = !hunk.at_end && !has_no_context(hunk);
    if found.iter().any(ends) && !is_said_to_end && !is_told {
        return;
    }
    let said = row.0 as isize + drift.unwrap_or(0);
    let distance = |found: &Match| found.rows.start.abs_diff(said.max(0) as usize);
    let mut distances: Vec<usize> = found.iter().map(distance).collect();
    distances.sort_unstable();
    let is_clear = distances[0] == 0 || distances[0] * CLEARLY_NEARER <= distances[1];
    if is_clear && distances[0] < distances[1] {
        found.retain(|found| distance(found) == distances[0]);
    }
}
