//! How new lines take their place: a merge of what the model changed with how its copy of the old
//! lines differs from the file.
//!
//! The model's old text is the base; the file and the new text are the two sides. Lines the new
//! text keeps are the file's own, byte for byte; only lines that appear come from the model, put
//! into the indentation, punctuation and endings of the place. Where both sides change at the same
//! point the hunk is refused, but for the few cases in `boundary` that can be read in one way only.
//! Start at `fit`.

mod already;
mod beside;
mod boundary;
mod gaps;
mod lines;
mod pairs;
mod slide;
mod slips;
mod splice;

use std::ops::Range;

use base::Span;

use crate::block::Block;
use crate::diff::{Run, diff, diff_lines};
use crate::file::FileText;
use crate::fold;
use crate::found::{Aligned, Body, Match};
use crate::indent::are_of;
use crate::outcome::{Difference, Doubt, Rung};

pub(crate) use self::already::stand_beside;
pub(crate) use self::splice::{RowEdit, splice};

/// What a place becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fitted {
    /// Bytes of the file and what takes their place; sorted, never overlapping.
    pub(crate) splices: Vec<(Span, String)>,
    pub(crate) rung: Rung,
    /// Sorted.
    pub(crate) differences: Vec<Difference>,
    /// Whether nothing but lines would appear that stand there already.
    pub(crate) is_there: bool,
}

/// Puts the new text into its place.
pub(crate) fn fit(file: &FileText, found: &Match) -> Result<Fitted, Doubt> {
    let mut differences = found.differences.clone();
    let mut rung = found.rung;
    let mut splices = Vec::new();
    let mut is_there = false;
    match &found.body {
        Body::Span { span, text } => {
            is_there = already::holds(file, span, text);
            splices.push(inline(file, span, text));
        }
        Body::Raw { span, text } => splices.push(raw(file, span, text)),
        Body::Lines(aligned) => {
            let merged = merge(file, aligned, &mut differences)?;
            if merged.has_shed_blanks {
                rung = rung.max(Rung::Normalised);
            }
            let final_feed = aligned.block.final_feed;
            is_there =
                merged.adds_alone && already::stand_around(file, &aligned.rows, &merged.edits);
            splices = splice(
                file,
                &merged.edits,
                final_feed.filter(|_| aligned.rows.end == file.line_count()),
            );
        }
        Body::Pieces(pieces) => {
            is_there = true;
            for piece in pieces {
                let merged = merge(file, piece, &mut differences)?;
                is_there &=
                    merged.adds_alone && already::stand_around(file, &piece.rows, &merged.edits);
                splices.extend(splice(file, &merged.edits, None));
            }
        }
    }
    differences.sort_unstable();
    differences.dedup();
    Ok(Fitted {
        splices,
        rung,
        differences,
        is_there,
    })
}

/// Text within lines. What old and new share at their ends is left alone.
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

/// Text with its endings. Whole lines that old and new share at their ends are left alone.
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

/// How many bytes two texts have in common at their start.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    let same = a.zip(b).take_while(|(a, b)| a == b);
    same.map(|(sign, _)| sign.len_utf8()).sum()
}

struct Merged {
    edits: Vec<RowEdit>,
    /// Whether blank lines were left out of the new text because the file has them.
    has_shed_blanks: bool,
    /// Whether nothing goes away.
    adds_alone: bool,
}

/// A block beside the rows it stands on, and what its new text changes.
#[derive(Clone, Copy)]
struct Layout<'a> {
    file: &'a FileText<'a>,
    aligned: &'a Aligned,
    runs: &'a [Run],
}

impl<'a> Layout<'a> {
    fn block(self) -> &'a Block {
        &self.aligned.block
    }
}

fn merge(
    file: &FileText,
    written: &Aligned,
    differences: &mut Vec<Difference>,
) -> Result<Merged, Doubt> {
    let block = &written.block;
    if let Some(doubt) = block.doubt {
        return Err(doubt);
    }
    let gaps = gaps::Gaps::of(file, written);
    if gaps.has_rows() {
        let runs = runs(file, written)?;
        if gaps::adds_blanks_alone(block, &runs) && gaps.are_touched(written, &runs) {
            // Whether these are the blank lines that the file has already cannot be told.
            return Err(Doubt::Boundary);
        }
    }
    let whole = boundary::with_blanks_of_file(file, written);
    let whole = whole.or_else(|| slips::mended(file, written));
    let aligned = whole.as_ref().unwrap_or(written);
    let mut runs = runs(file, aligned)?;
    if gaps::Gaps::of(file, aligned).has_rows() {
        slide::settle(aligned, &mut runs);
    }
    let look = lines::Look::of(file, aligned, &runs)?;
    differences.extend(&look.differences);
    let count = runs.len();
    boundary::shed_blank_edges(file, aligned, &mut runs)?;
    let has_shed_blanks = runs.len() < count;
    if has_shed_blanks {
        differences.push(Difference::BlankLines);
    }
    let layout = Layout {
        file,
        aligned,
        runs: &runs,
    };
    let edits = edits(layout, written, &look)?;
    if edits.is_empty() && block.old != block.new {
        return Err(Doubt::AlreadyThere);
    }
    Ok(Merged {
        edits,
        has_shed_blanks,
        adds_alone: runs.iter().all(|run| run.old.is_empty()),
    })
}

/// What becomes of the rows. `written` is the block as it was, with its slips.
fn edits(layout: Layout, written: &Aligned, look: &lines::Look) -> Result<Vec<RowEdit>, Doubt> {
    let Layout {
        file,
        aligned,
        runs,
    } = layout;
    let gaps = gaps::Gaps::of(file, aligned);
    if gaps.may_move_up(layout) {
        return Err(Doubt::Boundary);
    }
    let gaps = gaps.without_kept(layout);
    let mut placed = Vec::new();
    let mut edits = Vec::new();
    for run in runs {
        let is_typo = |ix: usize| aligned.typos.binary_search(&ix).is_ok();
        if run.old.clone().any(is_typo) || slips::appear(written, aligned, run) {
            return Err(Doubt::ChangedTypo);
        }
        if run.old.clone().any(|ix| aligned.map[ix].is_none()) {
            // What is to go away is not there.
            return Err(Doubt::Boundary);
        }
        let rows = match gaps.touching(layout, run) {
            gaps::Touch::Nothing => Some(rows_of(aligned, run)),
            gaps::Touch::Clear(rows) => Some(rows),
            gaps::Touch::Rows(rows) => boundary::settle(layout, run, rows)?,
            gaps::Touch::Missing => return Err(Doubt::Boundary),
        };
        if let Some(rows) = rows {
            let lines = look.lines(file, aligned, run)?;
            placed.push((run, rows.clone()));
            edits.push(RowEdit { rows, lines });
        }
    }
    match gaps.are_crossed(&aligned.block, &placed) {
        true => Err(Doubt::Boundary),
        false => Ok(edits),
    }
}

/// What the new text changes. Lines it keeps are written as the old text has them, or as the file
/// has them. Where both could be, the lines at the ends of the block tell, since within it a line
/// may have come to look like that of the file by its very change.
fn runs(file: &FileText, aligned: &Aligned) -> Result<Vec<Run>, Doubt> {
    let (old, new) = (&aligned.block.old, &aligned.block.new);
    let there = |ix: usize| aligned.map[ix].map(|row| file.content(row));
    let is_exact = (0..old.len()).all(|ix| there(ix) == Some(&old[ix]));
    if is_exact && aligned.rows.len() == old.len() {
        // Where several lines could pair up it makes no difference which do.
        return Ok(diff_lines(old, new));
    }
    let is_written = |a: usize, b: usize| old[a] == new[b] || is_mended(&old[a], &new[b], there(a));
    let is_there = |a: usize, b: usize| there(a).unwrap_or(&old[a]) == new[b];
    let as_written = diff(old.len(), new.len(), is_written);
    let as_there = diff(old.len(), new.len(), is_there);
    let changed = |runs: &[Run]| -> usize {
        let runs = runs.iter();
        runs.map(|run| run.old.len() + run.new.len()).sum()
    };
    if changed(&as_there) >= changed(&as_written) {
        return Ok(as_written);
    }
    if is_framed(file, aligned) {
        return Ok(as_written);
    }
    // Of the lines that differ, those kept at either end.
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
                Some(Indented::AsWritten) => Ok(as_written),
                Some(Indented::AsThere) => Ok(as_there),
                None => Err(Doubt::Indentation),
            }
        }
        _ => Err(Doubt::Indentation),
    }
}

/// Whether the new text is indented as the old text is, where that is indented otherwise than the
/// file: it begins as far out as the old text, in steps of the same width. That lines in it read like
/// those of the file is then due to their having moved deeper, or further out.
fn is_framed(file: &FileText, aligned: &Aligned) -> bool {
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
    // The outermost line reads alike in both, so that the width of a step tells.
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

/// By whose indentation new lines are written.
enum Indented {
    AsWritten,
    AsThere,
}

/// Tells it where no line does that is kept: by the first line, or by a step that nothing in the
/// file has.
fn indented(file: &FileText, aligned: &Aligned) -> Option<Indented> {
    let (old, new) = (&aligned.block.old, &aligned.block.new);
    let indents = |ix: &usize| {
        let row = aligned.map[*ix]?;
        let is_filled = !fold::is_blank(&old[*ix]);
        is_filled.then(|| (fold::indent(&old[*ix]), fold::indent(file.content(row))))
    };
    let lines: Vec<usize> = (0..old.len()).collect();
    let mut pairs = lines.iter().filter_map(indents);
    if pairs.clone().all(|(old, row)| old == row) {
        return Some(Indented::AsThere);
    }
    let (first_old, first_row) = pairs.next()?;
    let new: Vec<&str> = new
        .iter()
        .filter(|line| !fold::is_blank(line))
        .map(|line| fold::indent(line))
        .collect();
    let first = new.first()?;
    if !are_of(file, &new) || (first_old != first_row && *first == first_old) {
        return Some(Indented::AsWritten);
    }
    (first_old != first_row && *first == first_row).then_some(Indented::AsThere)
}

/// The old lines that no run takes away.
fn keeps(runs: &[Run], count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(|ix| !runs.iter().any(|run| run.old.contains(ix)))
}

/// Whether a new line is the old one without white space at its end that the file has not either.
fn is_mended(old: &str, new: &str, row: Option<&str>) -> bool {
    let ends_alike = row.is_some_and(|row| fold::tail(row) == fold::tail(new));
    ends_alike && fold::tail(old) != fold::tail(new) && old.trim_end() == new.trim_end()
}

/// The rows that a run replaces, where the block fits the file line by line around it.
fn rows_of(aligned: &Aligned, run: &Run) -> Range<usize> {
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
