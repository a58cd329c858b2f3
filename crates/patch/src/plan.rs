//! One file: every hunk finds its place in the present text or is refused, and bytes change.
//!
//! All hunks are looked for in the text as it is. One whose text stands only in what other hunks of
//! the same edit write lands there, so that edits written one after the other work too.
//! Start at `plan`.

mod anchored;
mod compose;
mod report;

use std::ops::Range;
use std::rc::Rc;

use base::{Row, Span};

use crate::block::{Block, lines};
use crate::edit::{Change, Grain, Hunk, Occurrences};
use crate::file::FileText;
use crate::find::{exactly, find};
use crate::fit::{Fitted, fit};
use crate::found::{Aligned, Body, Match};
use crate::mark::{Guard, stale};
use crate::outcome::{Doubt, HunkReport, Refusal, Rung};
use crate::place::{Candidates, choose, rows_behind};
use crate::placeholder;
use crate::returns;

pub(crate) use self::compose::compose_all;

/// What becomes of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    /// Sorted by span, never overlapping; insertions at one place in the order written.
    pub replacements: Vec<Replacement>,
    /// One for each hunk or operation, in their order; one for a whole file.
    pub hunks: Vec<HunkReport>,
}

/// Bytes of the text before, and what takes their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// In bytes of the text that the plan was made for.
    pub span: Span,
    /// With line endings as the file has them there.
    pub text: String,
    /// Whose it is: an index into the reports.
    pub hunk: usize,
}

impl Planned {
    /// Whether every hunk lands.
    pub fn is_complete(&self) -> bool {
        self.hunks.iter().all(|hunk| hunk.outcome.is_applied())
    }

    /// The text after. `text` is the one that the plan was made for.
    pub fn apply(&self, text: &str) -> String {
        apply(text, &self.replacements)
    }
}

/// Plans the change of one file.
///
/// For a `Change` of the whole file the plan is about its text alone: whether the file may appear,
/// move or go away is decided in `set`. Refused hunks are left out of the replacements.
pub fn plan(file: &FileText, change: &Change, guard: Guard<'_>) -> Planned {
    match change {
        Change::Update { hunks, .. } => {
            let hunks: Vec<&Hunk> = hunks.iter().collect();
            update(file, &hunks, guard)
        }
        Change::Anchored { operations } => anchored::plan(file, operations, guard),
        Change::Create { text } if file.text().trim().is_empty() => overwrite(file, text, guard),
        Change::Create { .. } => refuse_whole(Refusal::FileExists),
        Change::Overwrite { text } => overwrite(file, text, guard),
        Change::Delete {
            content: Some(content),
        } if !holds(file, content) => refuse_whole(Refusal::OtherContent),
        Change::Delete { .. } => overwrite(file, "", guard),
    }
}

/// The text with the replacements made. They must be sorted and never overlap.
pub(crate) fn apply(text: &str, replacements: &[Replacement]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for replacement in replacements {
        result.push_str(text.get(from..replacement.span.start.0).unwrap_or_default());
        result.push_str(&replacement.text);
        from = replacement.span.end.0;
    }
    result.push_str(text.get(from..).unwrap_or_default());
    result
}

fn create(text: &str) -> Planned {
    Planned {
        replacements: vec![Replacement {
            span: Span::default(),
            text: text.to_owned(),
            hunk: 0,
        }],
        hunks: vec![HunkReport::landed(0, Rung::Exact, 0..0, 0..0)],
    }
}

fn refuse_whole(refusal: Refusal) -> Planned {
    Planned {
        replacements: Vec::new(),
        hunks: vec![HunkReport::refused(0, refusal, 0..0)],
    }
}

/// Whether the file holds just these lines, white space at their ends apart.
fn holds(file: &FileText, content: &str) -> bool {
    let content = lines(content);
    let mut rows = (0..file.line_count()).zip(&content);
    file.line_count() == content.len()
        && rows.all(|(row, line)| file.content(row).trim_end() == line.trim_end())
}

/// Lines that stay keep their bytes, so that endings and the byte order mark survive.
fn overwrite(file: &FileText, text: &str, guard: Guard<'_>) -> Planned {
    let rows = 0..file.line_count();
    if let Some(rows) = stale(&guard.changed_rows(file), &rows) {
        return refuse_whole(Refusal::Stale { rows });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if file.line_count() == 0 {
        let at = Span::at(file.raw_offset(0).into());
        let mut planned = create(text);
        planned.replacements[0].span = at;
        return planned;
    }
    let block = Block {
        old: rows
            .clone()
            .map(|row| file.content(row).to_owned())
            .collect(),
        new: lines(text),
        grain: Grain::Lines,
        final_feed: (!text.is_empty()).then_some(text.ends_with('\n')),
        differences: Vec::new(),
        doubt: None,
    };
    if let Some(line) = placeholder::added(&block.old, &block.new, file.style()) {
        return refuse_whole(Refusal::ElidedReplacement(line.to_owned()));
    }
    let found = Match::lines(Rung::Exact, Aligned::contiguous(&Rc::new(block), 0));
    match fit(file, &found) {
        Ok(fitted) => Planned {
            replacements: owned(0, fitted.splices),
            hunks: vec![HunkReport::landed(0, Rung::Exact, rows, 0..0)],
        },
        Err(doubt) => refuse_whole(Refusal::Unclear(doubt)),
    }
}

/// A hunk that has its place.
struct Landing {
    fitted: Fitted,
    rows: Range<usize>,
}

type Landed = Result<Landing, (Refusal, Vec<Match>)>;

pub(crate) fn update(file: &FileText, hunks: &[&Hunk], guard: Guard<'_>) -> Planned {
    let changed = guard.changed_rows(file);
    let single: Vec<bool> = hunks
        .iter()
        .map(|hunk| hunk.occurrences == Occurrences::One)
        .collect();
    let candidates: Vec<Candidates> = hunks.iter().map(|hunk| candidates(file, hunk)).collect();
    let mut all = Vec::new();
    let mut one = Vec::new();
    for (ix, (found, is_single)) in candidates.into_iter().zip(&single).enumerate() {
        match is_single {
            true => one.push((ix, found)),
            false => all.push((ix, everywhere(file, found, &changed))),
        }
    }
    let (places, found): (Vec<usize>, Vec<Candidates>) = one.into_iter().unzip();
    let ordered: Vec<&Hunk> = places.iter().map(|ix| hunks[*ix]).collect();
    let chosen = choose(file, &ordered, found);
    let chosen = chosen
        .into_iter()
        .map(|found| land(file, &[found?], &changed));
    let mut landed: Vec<(usize, Landed)> = places.into_iter().zip(chosen).chain(all).collect();
    landed.sort_by_key(|(ix, _)| *ix);
    let landed: Vec<Landed> = landed.into_iter().map(|(_, landed)| landed).collect();
    let mut planned = assemble(file, hunks, landed, changed.is_empty());
    report::read_on(file, &mut planned);
    planned
}

/// The places that the hunk may mean.
fn candidates(file: &FileText, hunk: &Hunk) -> Candidates {
    if hunk.old == hunk.new {
        return Err(Refusal::NothingChanges);
    }
    let (old, new) = (lines(&hunk.old), lines(&hunk.new));
    if let Some(line) = placeholder::added(&old, &new, file.style()) {
        return Err(Refusal::ElidedReplacement(line.to_owned()));
    }
    if returns::change(hunk) {
        return returns::find(file, hunk);
    }
    if hunk.old.is_empty() {
        return insertion(file, hunk).map(|found| vec![found]);
    }
    find(file, hunk)
}

/// New text without old: at the end, or behind the header that it names.
fn insertion(file: &FileText, hunk: &Hunk) -> Result<Match, Refusal> {
    let count = file.line_count();
    if hunk.grain == Grain::Text {
        return match file.normal().is_empty() {
            true => Ok(Match {
                rung: Rung::Exact,
                differences: Vec::new(),
                rows: 0..0,
                body: Body::Span {
                    span: 0..0,
                    text: hunk.new.replace("\r\n", "\n"),
                },
            }),
            false => Err(Refusal::NothingToFind),
        };
    }
    let is_at_end =
        hunk.at_end || count == 0 || hunk.row.is_some_and(|row| row.0 as usize == count);
    let row = match hunk.context.last() {
        _ if is_at_end => count,
        None => return Err(Refusal::NoPlace),
        Some(header) => match rows_behind(file, &hunk.context).as_slice() {
            [row] => *row,
            [] => return Err(Refusal::NotUnderHeader(header.clone())),
            rows => {
                return Err(Refusal::Several {
                    count: rows.len(),
                    rung: Rung::Exact,
                });
            }
        },
    };
    let block = Block::of(hunk).ok_or(Refusal::NoPlace)?;
    Ok(Match::lines(
        Rung::Exact,
        Aligned::contiguous(&Rc::new(block), row),
    ))
}

fn everywhere(file: &FileText, found: Candidates, changed: &[Range<Row>]) -> Landed {
    let found = found.map_err(|refusal| (refusal, Vec::new()))?;
    let mut apart: Vec<Match> = Vec::new();
    for found in found {
        if !overlaps(apart.last(), &found) {
            apart.push(found);
        }
    }
    land(file, &apart, changed)
}

/// Whether a place begins before the one before it has ended.
fn overlaps(before: Option<&Match>, found: &Match) -> bool {
    match (before.map(|before| &before.body), &found.body) {
        (Some(Body::Span { span: before, .. }), Body::Span { span, .. }) => span.start < before.end,
        (Some(_), _) => before.is_some_and(|before| found.rows.start < before.rows.end),
        (None, _) => false,
    }
}

/// Puts the new text into every one of these places.
fn land(file: &FileText, found: &[Match], changed: &[Range<Row>]) -> Landed {
    let mut landing: Option<Landing> = None;
    let mut is_there = true;
    for found in found {
        if let Some(rows) = stale(changed, &found.rows) {
            return Err((Refusal::Stale { rows }, Vec::new()));
        }
        let fitted =
            fit(file, found).map_err(|doubt| (Refusal::Unclear(doubt), vec![found.clone()]))?;
        is_there &= fitted.is_there;
        match &mut landing {
            None => {
                let rows = found.rows.clone();
                landing = Some(Landing { fitted, rows });
            }
            Some(landing) => {
                landing.fitted.splices.extend(fitted.splices);
                landing.fitted.rung = landing.fitted.rung.max(fitted.rung);
                landing.fitted.differences.extend(fitted.differences);
            }
        }
    }
    match landing {
        Some(_) if is_there => Err((Refusal::Unclear(Doubt::AlreadyThere), found.to_vec())),
        landing => landing.ok_or((Refusal::NotFound, Vec::new())),
    }
}

fn owned(hunk: usize, splices: Vec<(Span, String)>) -> Vec<Replacement> {
    let splices = splices.into_iter();
    splices
        .map(|(span, text)| Replacement { span, text, hunk })
        .collect()
}

/// Takes the hunks in turn: what lands joins the plan unless it changes what another has changed.
/// What other hunks write is looked at only if `is_fresh`, nothing having changed since it was read.
fn assemble(file: &FileText, hunks: &[&Hunk], landed: Vec<Landed>, is_fresh: bool) -> Planned {
    let mut planned = Planned::default();
    let mut late = Vec::new();
    for (ix, landed) in landed.into_iter().enumerate() {
        let source = hunks[ix].source.clone();
        let report = match landed {
            Err((Refusal::NotFound, _)) => {
                late.push(ix);
                report::refused(file, ix, hunks[ix], Refusal::NotFound, &[])
            }
            Err((refusal, found)) => report::refused(file, ix, hunks[ix], refusal, &found),
            Ok(landing) if repeats(&planned, hunks, ix, &landing) => {
                let refusal = Refusal::Unclear(Doubt::AlreadyThere);
                report::refused(file, ix, hunks[ix], refusal, &[])
            }
            Ok(landing) => match add(
                &mut planned.replacements,
                ix,
                landing.fitted.splices.clone(),
            ) {
                Err(hunk) => report::refused(file, ix, hunks[ix], Refusal::Overlaps { hunk }, &[]),
                Ok(()) => report::landed(ix, &landing, source),
            },
        };
        planned.hunks.push(report);
    }
    for ix in late {
        let has_earlier = planned.hunks[..ix]
            .iter()
            .any(|hunk| hunk.outcome.is_applied());
        if has_earlier
            && is_fresh
            && let Some(report) = in_result(file, &mut planned, ix, hunks[ix])
        {
            planned.hunks[ix] = report;
        }
    }
    planned
}

/// Whether an earlier hunk with the same text adds the same lines at the same place.
fn repeats(planned: &Planned, hunks: &[&Hunk], ix: usize, landing: &Landing) -> bool {
    let hunk = hunks[ix];
    let is_same = |other: &Hunk| other.old == hunk.old && other.new == hunk.new;
    let mut splices = landing.fitted.splices.iter();
    !hunk.old.is_empty()
        && splices.all(|(span, text)| {
            span.is_empty()
                && planned.replacements.iter().any(|other| {
                    let is_here = other.span == *span && other.text == *text;
                    is_here && is_same(hunks[other.hunk])
                })
        })
}

/// Adds splices in their place among the others; refuses with the hunk that they collide with.
fn add(all: &mut Vec<Replacement>, hunk: usize, splices: Vec<(Span, String)>) -> Result<(), usize> {
    let collides = |span: &Span, other: &Span| match (span.is_empty(), other.is_empty()) {
        (true, true) => false,
        (true, false) => other.start < span.start && span.start < other.end,
        (false, true) => span.start < other.start && other.start < span.end,
        (false, false) => span.overlaps(*other),
    };
    for (span, _) in &splices {
        if let Some(other) = all.iter().find(|other| collides(span, &other.span)) {
            return Err(other.hunk);
        }
    }
    all.extend(owned(hunk, splices));
    // Stable, so that insertions at one place stay in the order written.
    all.sort_by_key(|replacement| (replacement.span.start, replacement.span.end));
    Ok(())
}

/// Looks for a hunk in what the others make of the file.
fn in_result(file: &FileText, planned: &mut Planned, ix: usize, hunk: &Hunk) -> Option<HunkReport> {
    let result = planned.apply(file.text());
    let after = FileText::new(&result);
    let found = exactly(&after, hunk).ok()?;
    let [found] = found.as_slice() else {
        return None;
    };
    let fitted = fit(&after, found).ok().filter(|fitted| !fitted.is_there)?;
    let rows = found.rows.clone();
    for (span, text) in fitted.splices.iter().rev() {
        compose::add(&mut planned.replacements, *span, text, ix);
    }
    Some(report::landed(
        ix,
        &Landing { fitted, rows },
        hunk.source.clone(),
    ))
}

#[cfg(test)]
mod tests;
