//! Plans the edit of one file: every hunk finds its position in the current text or is refused.
//!
//! All hunks are searched for in the current text. A hunk whose text occurs only in the output of
//! other hunks of the same edit applies there, so that successive edits work too.
//!
//! Start at `plan`.

mod anchored;
mod compose;
mod report;

use std::ops::Range;
use std::rc::Rc;

use base::{Row, Span};

use crate::block::{LineBlock, split_lines};
use crate::edit::{Grain, Occurrences, PatchHunk, PatchOperation};
use crate::file::FileText;
use crate::find::{exactly, find};
use crate::fit::{Fitted, fit};
use crate::hunk_match::{BlockAlignment, HunkMatch, MatchBody};
use crate::mark::{StaleGuard, stale};
use crate::outcome::{Ambiguity, HunkRefusal, HunkReport, MatchStrategy};
use crate::placeholder;
use crate::placement::{Candidates, choose, rows_behind};
use crate::returns;

pub(crate) use self::compose::compose_all;

/// Planned edit of one file: replacements and a report per hunk. The file changes only when a
/// caller applies the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditPlan {
    /// Sorted by span, never overlapping; insertions at one position are in the order written.
    pub replacements: Vec<PlannedReplacement>,
    /// One report per hunk or operation, in order; a single one for a whole file.
    pub hunks: Vec<HunkReport>,
}

/// A byte span of the original text, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedReplacement {
    /// Span in bytes of the text that the plan was made for.
    pub span: Span,
    /// New text with the line endings of the file.
    pub text: String,
    /// Index of the report that it belongs to.
    pub hunk: usize,
}

impl EditPlan {
    /// Whether every hunk was applied.
    pub fn is_complete(&self) -> bool {
        self.hunks.iter().all(|hunk| hunk.outcome.is_applied())
    }

    /// Returns the text with the replacements made. `text` must be the text for which the plan was
    /// made.
    pub fn apply(&self, text: &str) -> String {
        apply(text, &self.replacements)
    }
}

/// Plans an operation on one file.
///
/// For operations on the whole file the plan covers its text only: `set` decides whether the file
/// may be created, moved or deleted. Refused hunks are left out of the replacements.
pub fn plan(file: &FileText, change: &PatchOperation, guard: StaleGuard<'_>) -> EditPlan {
    match change {
        PatchOperation::Update { hunks, .. } => {
            let hunks: Vec<&PatchHunk> = hunks.iter().collect();
            update(file, &hunks, guard)
        }
        PatchOperation::Anchored { operations } => anchored::plan(file, operations, guard),
        PatchOperation::Create { text } if file.text().trim().is_empty() => {
            overwrite(file, text, guard)
        }
        PatchOperation::Create { .. } => refuse_whole(HunkRefusal::FileExists),
        PatchOperation::Overwrite { text } => overwrite(file, text, guard),
        PatchOperation::Delete {
            content: Some(content),
        } if !holds(file, content) => refuse_whole(HunkRefusal::OtherContent),
        PatchOperation::Delete { .. } => overwrite(file, "", guard),
    }
}

/// Returns `text` with the replacements made, which must be sorted and must not overlap. Skips
/// replacements whose spans do not fit `text`.
pub(crate) fn apply(text: &str, replacements: &[PlannedReplacement]) -> String {
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

fn create(text: &str) -> EditPlan {
    EditPlan {
        replacements: vec![PlannedReplacement {
            span: Span::default(),
            text: text.to_owned(),
            hunk: 0,
        }],
        hunks: vec![HunkReport::landed(0, MatchStrategy::Exact, 0..0, 0..0)],
    }
}

fn refuse_whole(refusal: HunkRefusal) -> EditPlan {
    EditPlan {
        replacements: Vec::new(),
        hunks: vec![HunkReport::refused(0, refusal, 0..0)],
    }
}

/// Whether the file contains exactly these lines, ignoring trailing white space.
fn holds(file: &FileText, content: &str) -> bool {
    let content = split_lines(content);
    let mut rows = (0..file.line_count()).zip(&content);
    file.line_count() == content.len()
        && rows.all(|(row, line)| file.content(row).trim_end() == line.trim_end())
}

/// Replaces the whole text. Unchanged lines keep their bytes, which preserves line endings and the
/// byte order mark.
fn overwrite(file: &FileText, text: &str, guard: StaleGuard<'_>) -> EditPlan {
    let rows = 0..file.line_count();
    if let Some(rows) = stale(&guard.changed_rows(file), &rows) {
        return refuse_whole(HunkRefusal::Stale { rows });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if file.line_count() == 0 {
        let at = Span::at(file.raw_offset(0).into());
        let mut planned = create(text);
        planned.replacements[0].span = at;
        return planned;
    }
    let block = LineBlock {
        old: rows
            .clone()
            .map(|row| file.content(row).to_owned())
            .collect(),
        new: split_lines(text),
        grain: Grain::Lines,
        final_feed: (!text.is_empty()).then_some(text.ends_with('\n')),
        differences: Vec::new(),
        doubt: None,
    };
    if let Some(line) = placeholder::added(&block.old, &block.new, file.style()) {
        return refuse_whole(HunkRefusal::ElidedReplacement(line.to_owned()));
    }
    let found = HunkMatch::from_alignment(
        MatchStrategy::Exact,
        BlockAlignment::contiguous(&Rc::new(block), 0),
    );
    match fit(file, &found) {
        Ok(fitted) => EditPlan {
            replacements: owned(0, fitted.splices),
            hunks: vec![HunkReport::landed(0, MatchStrategy::Exact, rows, 0..0)],
        },
        Err(doubt) => refuse_whole(HunkRefusal::Unclear(doubt)),
    }
}

/// A hunk with its position.
struct PlacedHunk {
    fitted: Fitted,
    rows: Range<usize>,
}

type PlaceResult = Result<PlacedHunk, (HunkRefusal, Vec<HunkMatch>)>;

/// Plans hunks of one file: finds a position for each hunk, and refuses hunks that are ambiguous,
/// overlap, or touch rows that changed after they were read.
pub(crate) fn update(file: &FileText, hunks: &[&PatchHunk], guard: StaleGuard<'_>) -> EditPlan {
    let changed = guard.changed_rows(file);
    let single: Vec<bool> = hunks
        .iter()
        .map(|hunk| hunk.occurrences == Occurrences::One)
        .collect();
    let candidates: Vec<Candidates> = hunks.iter().map(|hunk| candidates(file, hunk)).collect();
    let mut all = Vec::new();
    let mut one = Vec::new();
    for (ix, (found, is_single)) in candidates.into_iter().zip(&single).enumerate() {
        if *is_single {
            one.push((ix, found))
        } else {
            all.push((ix, everywhere(file, found, &changed)))
        }
    }
    let (places, found): (Vec<usize>, Vec<Candidates>) = one.into_iter().unzip();
    let ordered: Vec<&PatchHunk> = places.iter().map(|ix| hunks[*ix]).collect();
    let chosen = choose(file, &ordered, found);
    let chosen = chosen
        .into_iter()
        .map(|found| land(file, &[found?], &changed));
    let mut landed: Vec<(usize, PlaceResult)> = places.into_iter().zip(chosen).chain(all).collect();
    landed.sort_by_key(|(ix, _)| *ix);
    let landed: Vec<PlaceResult> = landed.into_iter().map(|(_, landed)| landed).collect();
    let mut planned = assemble(file, hunks, landed, changed.is_empty());
    report::read_on(file, &mut planned);
    planned
}

/// Returns the candidate positions of a hunk.
fn candidates(file: &FileText, hunk: &PatchHunk) -> Candidates {
    if hunk.old == hunk.new {
        return Err(HunkRefusal::NothingChanges);
    }
    let (old, new) = (split_lines(&hunk.old), split_lines(&hunk.new));
    if let Some(line) = placeholder::added(&old, &new, file.style()) {
        return Err(HunkRefusal::ElidedReplacement(line.to_owned()));
    }
    if returns::change(hunk) {
        return returns::find(file, hunk);
    }
    if hunk.old.is_empty() {
        return insertion(file, hunk).map(|found| vec![found]);
    }
    find(file, hunk)
}

/// Places new text without old text: at the end of the file, or after the named header.
fn insertion(file: &FileText, hunk: &PatchHunk) -> Result<HunkMatch, HunkRefusal> {
    let count = file.line_count();
    if hunk.grain == Grain::Text {
        return if file.normal().is_empty() {
            Ok(HunkMatch {
                strategy: MatchStrategy::Exact,
                differences: Vec::new(),
                rows: 0..0,
                body: MatchBody::Span {
                    span: 0..0,
                    text: hunk.new.replace("\r\n", "\n"),
                },
            })
        } else {
            Err(HunkRefusal::NothingToFind)
        };
    }
    let is_at_end =
        hunk.at_end || count == 0 || hunk.row.is_some_and(|row| row.0 as usize == count);
    let row = match hunk.context.last() {
        _ if is_at_end => count,
        None => return Err(HunkRefusal::NoPlace),
        Some(header) => match rows_behind(file, &hunk.context).as_slice() {
            [row] => *row,
            [] => return Err(HunkRefusal::NotUnderHeader(header.clone())),
            rows => {
                return Err(HunkRefusal::Several {
                    count: rows.len(),
                    strategy: MatchStrategy::Exact,
                });
            }
        },
    };
    let block = LineBlock::of(hunk).ok_or(HunkRefusal::NoPlace)?;
    Ok(HunkMatch::from_alignment(
        MatchStrategy::Exact,
        BlockAlignment::contiguous(&Rc::new(block), row),
    ))
}

fn everywhere(file: &FileText, found: Candidates, changed: &[Range<Row>]) -> PlaceResult {
    let found = found.map_err(|refusal| (refusal, Vec::new()))?;
    let mut apart: Vec<HunkMatch> = Vec::new();
    for found in found {
        if !overlaps(apart.last(), &found) {
            apart.push(found);
        }
    }
    land(file, &apart, changed)
}

/// Whether a match begins before the preceding one has ended.
fn overlaps(before: Option<&HunkMatch>, found: &HunkMatch) -> bool {
    match (before.map(|before| &before.body), &found.body) {
        (Some(MatchBody::Span { span: before, .. }), MatchBody::Span { span, .. }) => {
            span.start < before.end
        }
        (Some(_), _) => before.is_some_and(|before| found.rows.start < before.rows.end),
        (None, _) => false,
    }
}

/// Fits the new text into every one of these positions.
fn land(file: &FileText, found: &[HunkMatch], changed: &[Range<Row>]) -> PlaceResult {
    let mut landing: Option<PlacedHunk> = None;
    let mut is_there = true;
    for found in found {
        if let Some(rows) = stale(changed, &found.rows) {
            return Err((HunkRefusal::Stale { rows }, Vec::new()));
        }
        let fitted =
            fit(file, found).map_err(|doubt| (HunkRefusal::Unclear(doubt), vec![found.clone()]))?;
        is_there &= fitted.is_there;
        match &mut landing {
            None => {
                let rows = found.rows.clone();
                landing = Some(PlacedHunk { fitted, rows });
            }
            Some(landing) => {
                landing.fitted.splices.extend(fitted.splices);
                landing.fitted.strategy = landing.fitted.strategy.max(fitted.strategy);
                landing.fitted.differences.extend(fitted.differences);
            }
        }
    }
    match landing {
        Some(_) if is_there => Err((
            HunkRefusal::Unclear(Ambiguity::AlreadyThere),
            found.to_vec(),
        )),
        landing => landing.ok_or((HunkRefusal::NotFound, Vec::new())),
    }
}

fn owned(hunk: usize, splices: Vec<(Span, String)>) -> Vec<PlannedReplacement> {
    let splices = splices.into_iter();
    splices
        .map(|(span, text)| PlannedReplacement { span, text, hunk })
        .collect()
}

/// Combines the hunks in order: each joins the plan unless it changes what another has changed. The
/// output of other hunks is searched only if `is_fresh`, which means that nothing changed since the
/// file was read.
fn assemble(
    file: &FileText,
    hunks: &[&PatchHunk],
    landed: Vec<PlaceResult>,
    is_fresh: bool,
) -> EditPlan {
    let mut planned = EditPlan::default();
    let mut late = Vec::new();
    for (ix, landed) in landed.into_iter().enumerate() {
        let source = hunks[ix].source.clone();
        let report = match landed {
            Err((HunkRefusal::NotFound, _)) => {
                late.push(ix);
                report::refused(file, ix, hunks[ix], HunkRefusal::NotFound, &[])
            }
            Err((refusal, found)) => report::refused(file, ix, hunks[ix], refusal, &found),
            Ok(landing) if repeats(&planned, hunks, ix, &landing) => {
                let refusal = HunkRefusal::Unclear(Ambiguity::AlreadyThere);
                report::refused(file, ix, hunks[ix], refusal, &[])
            }
            Ok(landing) => match add(
                &mut planned.replacements,
                ix,
                landing.fitted.splices.clone(),
            ) {
                Err(hunk) => {
                    report::refused(file, ix, hunks[ix], HunkRefusal::Overlaps { hunk }, &[])
                }
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

/// Whether an earlier hunk with the same text adds the same lines at the same position.
fn repeats(planned: &EditPlan, hunks: &[&PatchHunk], ix: usize, landing: &PlacedHunk) -> bool {
    let hunk = hunks[ix];
    let is_same = |other: &PatchHunk| other.old == hunk.old && other.new == hunk.new;
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

/// Adds splices in order; on a collision returns the other hunk.
fn add(
    all: &mut Vec<PlannedReplacement>,
    hunk: usize,
    splices: Vec<(Span, String)>,
) -> Result<(), usize> {
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
    // A stable sort keeps insertions at one position in the order written.
    all.sort_by_key(|replacement| (replacement.span.start, replacement.span.end));
    Ok(())
}

/// Searches for a hunk in the output of the others.
fn in_result(
    file: &FileText,
    planned: &mut EditPlan,
    ix: usize,
    hunk: &PatchHunk,
) -> Option<HunkReport> {
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
        &PlacedHunk { fitted, rows },
        hunk.source.clone(),
    ))
}

#[cfg(test)]
mod tests;
