//! Where in a file a hunk may land: the ladder.
//!
//! Every rung gives all the places it finds; a later rung is tried only where the earlier ones find
//! none. Which of several places is meant is decided in `place`, or nobody knows.
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

use crate::block::{Block, unescaped};
use crate::edit::{Grain, Hunk, Occurrences};
use crate::file::FileText;
use crate::found::{Body, Match};
use crate::outcome::{Difference, Doubt, Refusal, Rung};

pub(crate) use self::align::Slip;
pub(crate) use self::exact::rows_of_lines;

/// All the places of the first rung that finds one, in the order of the file; never none.
pub(crate) fn find(file: &FileText, hunk: &Hunk) -> Result<Vec<Match>, Refusal> {
    let found = exactly(file, hunk)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let found = at_bare_end(file, hunk)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let block = Block::of(hunk).map(Rc::new);
    if let Some(block) = &block {
        // Hunks that follow each other are those of patches, whose lines begin with a sign.
        let found = match hunk.in_order {
            true => unpadded::find(file, block),
            false => Vec::new(),
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
        return Err(Refusal::NotFound);
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
        None => Err(Refusal::NotFound),
    }
}

/// The places where the text stands letter by letter.
pub(crate) fn exactly(file: &FileText, hunk: &Hunk) -> Result<Vec<Match>, Refusal> {
    let block = Block::of(hunk).map(Rc::new);
    let mut found = match (hunk.grain, &block) {
        (Grain::Lines, Some(block)) => exact::lines(file, block),
        (Grain::Text, Some(block)) if block.final_feed.is_some() => exact::lines(file, block),
        _ => exact::text(file, hunk, block.as_ref()).map_err(Refusal::Unclear)?,
    };
    let has_returns = hunk.old.contains("\r\n");
    if has_returns {
        for found in &mut found {
            // The model quoted an ending that the file does not have.
            let feeds = |row| file.ending(row) == crate::file::Ending::Feed;
            if found.rows.clone().any(feeds) {
                found.rung = found.rung.max(Rung::Normalised);
                found.differences.push(Difference::LineEndings);
            }
        }
    }
    Ok(found)
}

/// The place at the end of a file without a final line feed, of text that is quoted with one.
fn at_bare_end(file: &FileText, hunk: &Hunk) -> Result<Vec<Match>, Refusal> {
    let bare = hunk.old.strip_suffix('\n');
    let Some(old) = bare.filter(|_| hunk.grain == Grain::Text && file.is_bare()) else {
        return Ok(Vec::new());
    };
    let bare = Hunk {
        old: old.to_owned(),
        new: hunk.new.strip_suffix('\n').unwrap_or(&hunk.new).to_owned(),
        ..hunk.clone()
    };
    let mut found = exactly(file, &bare)?;
    found.retain(|found| match &found.body {
        Body::Span { span, .. } => span.end == file.normal().len(),
        _ => found.rows.end == file.line_count(),
    });
    for found in &mut found {
        found.rung = Rung::Normalised;
        found.differences.push(Difference::LineEndings);
    }
    Ok(found)
}

/// The places of the hunk read without escapes. Where readings differ in what they would write,
/// none is taken.
fn without_escapes(file: &FileText, hunk: &Hunk) -> Result<Vec<Match>, Refusal> {
    let mut first: Option<(Rc<Block>, Vec<Match>)> = None;
    for block in unescaped(hunk) {
        let block = Rc::new(block);
        let mut found = exact::lines(file, &block);
        if found.is_empty() {
            found = loose::find(file, &block);
        }
        if found.is_empty() {
            continue;
        }
        for found in &mut found {
            found.rung = found.rung.max(Rung::Normalised);
        }
        match &first {
            Some((before, _)) if before.new != block.new => {
                return Err(Refusal::Unclear(Doubt::Escapes));
            }
            Some(_) => {}
            None => {
                first = Some((block, found));
                continue;
            }
        }
        if let Some((_, places)) = &mut first {
            let is_new = |found: &Match| places.iter().all(|place| place.rows != found.rows);
            let more: Vec<Match> = found.into_iter().filter(is_new).collect();
            places.extend(more);
        }
    }
    Ok(first.map(|(_, found)| found).unwrap_or_default())
}
