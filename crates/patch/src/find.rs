//! Finds the positions in a file where a hunk may apply, by a sequence of match strategies.
//!
//! Every strategy returns all positions it finds; a later one is tried only if the earlier ones
//! find none. `place` decides between several positions, or the hunk is ambiguous.
//!
//! Start at `find`.

mod align;
mod blanks;
mod edges;
mod elide;
mod exact;
mod inline;
mod loose;
mod slipped;
mod unpadded;

use std::rc::Rc;

use crate::block::{LineBlock, unescaped};
use crate::edit::{Grain, Occurrences, PatchHunk};
use crate::file::FileText;
use crate::hunk_match::{HunkMatch, MatchBody};
use crate::outcome::{Ambiguity, HunkDifference, HunkRefusal, MatchStrategy};

pub(crate) use self::align::Typo;
pub(crate) use self::exact::rows_of_lines;

/// Returns all positions of the first strategy that finds any, in file order; never empty.
pub(crate) fn find(file: &FileText, hunk: &PatchHunk) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let found = exactly(file, hunk)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let found = at_bare_end(file, hunk)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let block = LineBlock::of(hunk).map(Rc::new);
    if let Some(block) = &block {
        // Hunks that follow each other come from patches, whose lines begin with a marker
        // character.
        let found = if hunk.in_order {
            unpadded::find(file, block)
        } else {
            Vec::new()
        };
        if !found.is_empty() {
            return Ok(found);
        }
        let found = loose::find(file, block);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let found = without_escapes(file, hunk)?;
    if !found.is_empty() {
        return Ok(found);
    }
    if hunk.grain == Grain::Text {
        let found = inline::find(file, hunk)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let Some(block) = block.filter(|_| hunk.occurrences == Occurrences::One) else {
        return Err(HunkRefusal::NotFound);
    };
    let found = elide::find(file, &block)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let found = edges::find(file, &block);
    if !found.is_empty() {
        return Ok(found);
    }
    let found = blanks::find(file, &block);
    if !found.is_empty() {
        return Ok(found);
    }
    let found = slipped::find(file, &block);
    if !found.is_empty() {
        return Ok(found);
    }
    match align::find(file, &block) {
        Some(found) => Ok(vec![found]),
        None => Err(HunkRefusal::NotFound),
    }
}

/// Returns the positions at which the text occurs exactly, apart from line endings. Returns an
/// empty list if there are no such positions.
///
/// # Errors
///
/// Refuses a text whose replacement is ambiguous.
pub(crate) fn exactly(file: &FileText, hunk: &PatchHunk) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let block = LineBlock::of(hunk).map(Rc::new);
    let mut found = match (hunk.grain, &block) {
        (Grain::Lines, Some(block)) => exact::find_lines(file, block),
        (Grain::Text, Some(block)) if block.final_feed.is_some() => exact::find_lines(file, block),
        _ => exact::find_text(file, hunk, block.as_ref()).map_err(HunkRefusal::Unclear)?,
    };
    let has_returns = hunk.old.contains("\r\n");
    if has_returns {
        for found in &mut found {
            // The model quoted a line ending that the file does not have.
            let feeds = |row| file.line_ending(row) == crate::file::RawLineEnding::Feed;
            if found.rows.clone().any(feeds) {
                found.strategy = found.strategy.max(MatchStrategy::Normalised);
                found.differences.push(HunkDifference::LineEndings);
            }
        }
    }
    Ok(found)
}

/// Finds text quoted with a line feed at the end of a file that lacks one.
fn at_bare_end(file: &FileText, hunk: &PatchHunk) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let bare = hunk.old.strip_suffix('\n');
    let Some(old) = bare.filter(|_| hunk.grain == Grain::Text && file.is_bare()) else {
        return Ok(Vec::new());
    };
    let bare = PatchHunk {
        old: old.to_owned(),
        new: hunk.new.strip_suffix('\n').unwrap_or(&hunk.new).to_owned(),
        ..hunk.clone()
    };
    let mut found = exactly(file, &bare)?;
    found.retain(|found| match &found.body {
        MatchBody::Span { span, .. } => span.end == file.normal().len(),
        _ => found.rows.end == file.line_count(),
    });
    for found in &mut found {
        found.strategy = MatchStrategy::Normalised;
        found.differences.push(HunkDifference::LineEndings);
    }
    Ok(found)
}

/// Returns the positions of the hunk with escapes removed. Interpretations with different new text
/// are ambiguous.
fn without_escapes(file: &FileText, hunk: &PatchHunk) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let mut first: Option<(Rc<LineBlock>, Vec<HunkMatch>)> = None;
    for block in unescaped(hunk) {
        let block = Rc::new(block);
        let mut found = exact::find_lines(file, &block);
        if found.is_empty() {
            found = loose::find(file, &block);
        }
        if found.is_empty() {
            continue;
        }
        for found in &mut found {
            found.strategy = found.strategy.max(MatchStrategy::Normalised);
        }
        match &first {
            Some((before, _)) if before.new != block.new => {
                return Err(HunkRefusal::Unclear(Ambiguity::Escapes));
            }
            Some(_) => {}
            None => {
                first = Some((block, found));
                continue;
            }
        }
        if let Some((_, places)) = &mut first {
            let is_new = |found: &HunkMatch| places.iter().all(|place| place.rows != found.rows);
            let more: Vec<HunkMatch> = found.into_iter().filter(is_new).collect();
            places.extend(more);
        }
    }
    Ok(first.map(|(_, found)| found).unwrap_or_default())
}
