//! Fits new lines into a matched position: a merge of the model's change with the differences
//! between its copy of the old lines and the file.
//!
//! The model's old text is the base; the file and the new text are the two sides. Unchanged lines
//! keep the file's bytes; only added lines come from the model, converted to the indentation,
//! punctuation and line endings of the position. If both sides change the same place, the hunk is
//! refused, except for the unambiguous cases in `boundary`.
//!
//! Start at `fit`.

mod adjacent;
mod already;
mod boundary;
mod gaps;
mod line_style;
mod pairs;
mod slide;
mod slips;
mod splice;

use std::ops::Range;

use base::Span;

use crate::block::LineBlock;
use crate::diff::{DiffRun, diff, diff_lines};
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::{BlockAlignment, HunkMatch, MatchBody};
use crate::indent::are_of;
use crate::outcome::{Ambiguity, HunkDifference, MatchStrategy};

pub(crate) use self::already::are_present_beside;
pub(crate) use self::splice::{RowSplice, splice};

/// The new text of a match fitted into the file, as replacements of byte spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fitted {
    /// Byte spans of the file and their replacements; sorted, never overlapping.
    pub(crate) splices: Vec<(Span, String)>,
    pub(crate) strategy: MatchStrategy,
    /// Differences, sorted, without duplicates.
    pub(crate) differences: Vec<HunkDifference>,
    /// Whether the hunk only adds lines that are already present.
    pub(crate) is_there: bool,
}

/// Fits the new text of a match into the file: adapts line endings and indentation of lines to the
/// file, and keeps lines of the file that the block left out.
///
/// # Errors
///
/// Returns why it is ambiguous how the new text fits in.
pub(crate) fn fit(file: &FileText, found: &HunkMatch) -> Result<Fitted, Ambiguity> {
    let mut differences = found.differences.clone();
    let mut strategy = found.strategy;
    let mut splices = Vec::new();
    let mut is_there = false;
    match &found.body {
        MatchBody::Span { span, text } => {
            is_there = already::holds(file, span, text);
            splices.push(inline(file, span, text));
        }
        MatchBody::Raw { span, text } => splices.push(raw(file, span, text)),
        MatchBody::Lines(aligned) => {
            let merged = merge(file, aligned, &mut differences)?;
            if merged.has_shed_blanks {
                strategy = strategy.max(MatchStrategy::Normalised);
            }
            let final_feed = aligned.block.final_feed;
            is_there = merged.adds_alone
                && already::are_present_around(file, &aligned.rows, &merged.edits);
            splices = splice(
                file,
                &merged.edits,
                final_feed.filter(|_| aligned.rows.end == file.line_count()),
            );
        }
        MatchBody::Pieces(pieces) => {
            is_there = true;
            for piece in pieces {
                let merged = merge(file, piece, &mut differences)?;
                is_there &= merged.adds_alone
                    && already::are_present_around(file, &piece.rows, &merged.edits);
                splices.extend(splice(file, &merged.edits, None));
            }
        }
    }
    differences.sort_unstable();
    differences.dedup();
    Ok(Fitted {
        splices,
        strategy,
        differences,
        is_there,
    })
}

/// Fits text within lines, without the common prefix and suffix of old and new text.
fn inline(file: &FileText, span: &Range<usize>, text: &str) -> (Span, String) {
    let raw = file.raw_offset(span.start)..file.raw_offset(span.end);
    let text = match file.ending_near(file.row_of(span.start) + 1) {
        "\r\n" => text.replace('\n', "\r\n"),
        _ => text.to_owned(),
    };
    let old = &file.text()[raw.clone()];
    let head = common(old.chars(), text.chars());
    let tail = common(old[head..].chars().rev(), text[head..].chars().rev());
    let new = text[head..text.len() - tail].to_owned();
    ((raw.start + head..raw.end - tail).into(), new)
}

/// Fits text with its line endings, without whole lines that old and new text share at their ends.
fn raw(file: &FileText, span: &Range<usize>, text: &str) -> (Span, String) {
    let old = &file.text()[span.clone()];
    let lines =
        |text: &str| -> Vec<String> { text.split_inclusive('\n').map(str::to_owned).collect() };
    let (old, new) = (lines(old), lines(text));
    let shorter = old.len().min(new.len());
    let head = (0..shorter).take_while(|ix| old[*ix] == new[*ix]).count();
    let is_same = |by: &usize| old[old.len() - by] == new[new.len() - by];
    let tail = (1..=shorter - head).take_while(is_same).count();
    let length = |lines: &[String]| -> usize { lines.iter().map(String::len).sum() };
    let start = span.start + length(&old[..head]);
    let end = span.end - length(&old[old.len() - tail..]);
    ((start..end).into(), new[head..new.len() - tail].concat())
}

/// Returns the length of the common prefix of two texts, in bytes.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    let same = a.zip(b).take_while(|(a, b)| a == b);
    same.map(|(sign, _)| sign.len_utf8()).sum()
}

struct MergedEdits {
    edits: Vec<RowSplice>,
    /// Whether blank lines were dropped from the new text because the file has them already.
    has_shed_blanks: bool,
    /// Whether nothing is removed.
    adds_alone: bool,
}

/// A block with the rows it matches, and the changes of its new text.
#[derive(Clone, Copy)]
struct BlockLayout<'a> {
    file: &'a FileText<'a>,
    aligned: &'a BlockAlignment,
    runs: &'a [DiffRun],
}

impl<'a> BlockLayout<'a> {
    fn block(self) -> &'a LineBlock {
        &self.aligned.block
    }
}

/// Merges the change of an aligned block into the file's rows. Adds the tolerated differences to
/// `differences`. Fails if it is unclear which text is meant, or if the file has the new text
/// already.
fn merge(
    file: &FileText,
    written: &BlockAlignment,
    differences: &mut Vec<HunkDifference>,
) -> Result<MergedEdits, Ambiguity> {
    let block = &written.block;
    if let Some(doubt) = block.doubt {
        return Err(doubt);
    }
    let gaps = gaps::RowGaps::of(file, written);
    if gaps.has_rows() {
        let runs = runs(file, written)?;
        if gaps::adds_blanks_alone(block, &runs) && gaps.are_touched(written, &runs) {
            // It is unclear whether the file already has these blank lines.
            return Err(Ambiguity::Boundary);
        }
    }
    let whole = boundary::with_blanks_of_file(file, written);
    let whole = whole.or_else(|| slips::mended(file, written));
    let aligned = whole.as_ref().unwrap_or(written);
    let mut runs = runs(file, aligned)?;
    if gaps::RowGaps::of(file, aligned).has_rows() {
        slide::slide_runs(aligned, &mut runs);
    }
    let look = line_style::BlockStyle::of(file, aligned, &runs)?;
    differences.extend(&look.differences);
    let count = runs.len();
    boundary::shed_blank_edges(file, aligned, &mut runs)?;
    let has_shed_blanks = runs.len() < count;
    if has_shed_blanks {
        differences.push(HunkDifference::BlankLines);
    }
    let layout = BlockLayout {
        file,
        aligned,
        runs: &runs,
    };
    let edits = edits(layout, written, &look)?;
    if edits.is_empty() && block.old != block.new {
        return Err(Ambiguity::AlreadyThere);
    }
    Ok(MergedEdits {
        edits,
        has_shed_blanks,
        adds_alone: runs.iter().all(|run| run.old.is_empty()),
    })
}

/// Returns the edits of the rows. `written` is the original block with its typos.
fn edits(
    layout: BlockLayout,
    written: &BlockAlignment,
    look: &line_style::BlockStyle,
) -> Result<Vec<RowSplice>, Ambiguity> {
    let BlockLayout {
        file,
        aligned,
        runs,
    } = layout;
    let gaps = gaps::RowGaps::of(file, aligned);
    if gaps.may_move_up(layout) {
        return Err(Ambiguity::Boundary);
    }
    let gaps = gaps.without_kept(layout);
    let mut placed = Vec::new();
    let mut edits = Vec::new();
    for run in runs {
        let is_typo = |ix: usize| aligned.typos.binary_search(&ix).is_ok();
        if run.old.clone().any(is_typo) || slips::appear(written, aligned, run) {
            return Err(Ambiguity::ChangedTypo);
        }
        if run.old.clone().any(|ix| aligned.map[ix].is_none()) {
            // A line to be removed is missing.
            return Err(Ambiguity::Boundary);
        }
        let rows = match gaps.touching(layout, run) {
            gaps::GapTouch::Nothing => Some(rows_of(aligned, run)),
            gaps::GapTouch::Clear(rows) => Some(rows),
            gaps::GapTouch::Rows(rows) => boundary::resolve_rows(layout, run, rows)?,
            gaps::GapTouch::Missing => return Err(Ambiguity::Boundary),
        };
        if let Some(rows) = rows {
            let lines = look.apply_to_lines(file, aligned, run)?;
            placed.push((run, rows.clone()));
            edits.push(RowSplice { rows, lines });
        }
    }
    if gaps.are_crossed(&aligned.block, &placed) {
        Err(Ambiguity::Boundary)
    } else {
        Ok(edits)
    }
}

/// Diffs old and new text. Unchanged lines are written as in the old text or as in the file. If
/// both interpretations are possible, the lines at the ends of the block decide, since a changed
/// line within it may happen to look like that of the file.
fn runs(file: &FileText, aligned: &BlockAlignment) -> Result<Vec<DiffRun>, Ambiguity> {
    let (old, new) = (&aligned.block.old, &aligned.block.new);
    let there = |ix: usize| aligned.map[ix].map(|row| file.content(row));
    let is_exact = (0..old.len()).all(|ix| there(ix) == Some(&old[ix]));
    if is_exact && aligned.rows.len() == old.len() {
        // Any pairing of several equal lines gives the same result.
        return Ok(diff_lines(old, new));
    }
    let is_written = |a: usize, b: usize| old[a] == new[b] || is_mended(&old[a], &new[b], there(a));
    let is_there = |a: usize, b: usize| there(a).unwrap_or(&old[a]) == new[b];
    let as_written = diff(old.len(), new.len(), is_written);
    let as_there = diff(old.len(), new.len(), is_there);
    let changed = |runs: &[DiffRun]| -> usize {
        let runs = runs.iter();
        runs.map(|run| run.old.len() + run.new.len()).sum()
    };
    if changed(&as_there) >= changed(&as_written) {
        return Ok(as_written);
    }
    if is_framed(file, aligned) {
        return Ok(as_written);
    }
    // Counts the kept lines at either end that differ from the file.
    let differs = |ix: &usize| there(*ix).is_some_and(|row| row != old[*ix]);
    let shorter = old.len().min(new.len());
    let at_ends = |is_same: &dyn Fn(usize, usize) -> bool| {
        let head = (0..shorter)
            .take_while(|ix| is_same(*ix, *ix))
            .filter(differs);
        let tail = (1..=shorter).take_while(|by| is_same(old.len() - by, new.len() - by));
        head.count() + tail.map(|by| old.len() - by).filter(differs).count()
    };
    match (at_ends(&is_written), at_ends(&is_there)) {
        (1.., 0) => Ok(as_written),
        (0, 1..) => Ok(as_there),
        (0, 0) if !keeps(&as_written, old.len()).any(|ix| differs(&ix)) => {
            match indented(file, aligned) {
                Some(NewLineIndent::AsWritten) => Ok(as_written),
                Some(NewLineIndent::AsThere) => Ok(as_there),
                None => Err(Ambiguity::Indentation),
            }
        }
        _ => Err(Ambiguity::Indentation),
    }
}

/// Whether the new text uses the indentation of the old text, which differs from the file: it
/// starts at the same depth and has steps of the same width. Lines in it that look like those of
/// the file have then been moved deeper or further out.
fn is_framed(file: &FileText, aligned: &BlockAlignment) -> bool {
    let (old, new) = (&aligned.block.old, &aligned.block.new);
    let pairs = old.iter().zip(&aligned.map).filter_map(|(old, row)| {
        let row = row.filter(|_| !fold::is_blank(old))?;
        Some((fold::indent(old), fold::indent(file.content(row))))
    });
    let (old, rows): (Vec<&str>, Vec<&str>) = pairs.unzip();
    let new = new.iter().filter(|line| !fold::is_blank(line));
    let new: Vec<&str> = new.map(|line| fold::indent(line)).collect();
    let outermost = |indents: &[&str]| indents.iter().map(|indent| indent.len()).min();
    if old == rows || outermost(&new) != outermost(&old) {
        return false;
    }
    if outermost(&old) != outermost(&rows) {
        return true;
    }
    // The outermost line is equal in both, so the width of a step decides.
    let base = outermost(&old).unwrap_or(0);
    let steps = old.iter().map(|indent| indent.len() - base);
    let Some(step) = steps.filter(|step| *step > 0).min() else {
        return false;
    };
    let sign = old.iter().find_map(|indent| indent.chars().last());
    let is_of_old = |indent: &&str| {
        let is_even = (indent.len() - base).is_multiple_of(step);
        is_even && indent[base..].chars().all(|other| Some(other) == sign)
    };
    let leaps = new
        .windows(2)
        .any(|pair| pair[1].len() > pair[0].len() + step);
    new.iter().all(is_of_old) && (!leaps || !are_of(file, &new))
}

/// Origin of the indentation of new lines.
enum NewLineIndent {
    AsWritten,
    AsThere,
}

/// Determines the origin if no unchanged line shows it: by the first line, or by an indentation
/// that does not occur in the file.
fn indented(file: &FileText, aligned: &BlockAlignment) -> Option<NewLineIndent> {
    let (old, new) = (&aligned.block.old, &aligned.block.new);
    let indents = |ix: &usize| {
        let row = aligned.map[*ix]?;
        let is_filled = !fold::is_blank(&old[*ix]);
        is_filled.then(|| (fold::indent(&old[*ix]), fold::indent(file.content(row))))
    };
    let lines: Vec<usize> = (0..old.len()).collect();
    let mut pairs = lines.iter().filter_map(indents);
    if pairs.clone().all(|(old, row)| old == row) {
        return Some(NewLineIndent::AsThere);
    }
    let (first_old, first_row) = pairs.next()?;
    let new: Vec<&str> = new
        .iter()
        .filter(|line| !fold::is_blank(line))
        .map(|line| fold::indent(line))
        .collect();
    let first = new.first()?;
    if !are_of(file, &new) || (first_old != first_row && *first == first_old) {
        return Some(NewLineIndent::AsWritten);
    }
    (first_old != first_row && *first == first_row).then_some(NewLineIndent::AsThere)
}

/// Returns the old lines that no run removes.
fn keeps(runs: &[DiffRun], count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(|ix| !runs.iter().any(|run| run.old.contains(ix)))
}

/// Whether a new line is the old one without trailing white space that the file does not have
/// either.
fn is_mended(old: &str, new: &str, row: Option<&str>) -> bool {
    let ends_alike = row.is_some_and(|row| fold::tail(row) == fold::tail(new));
    ends_alike && fold::tail(old) != fold::tail(new) && old.trim_end() == new.trim_end()
}

/// Returns the rows that a run replaces, if the block matches line by line around it.
fn rows_of(aligned: &BlockAlignment, run: &DiffRun) -> Range<usize> {
    let mut gone = aligned.map[run.old.clone()].iter().flatten();
    if let Some(first) = gone.next() {
        let last = gone.last().unwrap_or(first);
        return *first..last + 1;
    }
    let before = aligned.map[..run.old.start].iter().rev().flatten().next();
    let after = aligned.map[run.old.end..].iter().flatten().next();
    let row = match (before, after) {
        (Some(before), _) => before + 1,
        (None, Some(after)) => *after,
        (None, None) => aligned.rows.start,
    };
    row..row
}

/// Whether every line is blank.
fn are_blank(lines: &[String]) -> bool {
    lines.iter().all(|line| fold::is_blank(line))
}

#[cfg(test)]
mod tests;
