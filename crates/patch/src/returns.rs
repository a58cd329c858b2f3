//! Edits that change line endings: `\r\n` to `\n`, or back.
//!
//! All other edits use the file's line endings. An edit that distinguishes `\r\n` from `\n` refers
//! to them explicitly, so its old text must match the file byte for byte, and its new text is
//! written as is.

use std::ops::Range;

use base::ByteOffset;

use crate::block::split_lines;
use crate::edit::{Grain, PatchHunk};
use crate::file::FileText;
use crate::find::rows_of_lines;
use crate::hunk_match::{HunkMatch, MatchBody};
use crate::outcome::{HunkRefusal, MatchStrategy};

/// Whether the hunk changes line endings: it distinguishes lines ending in `\r\n` from lines ending
/// in `\n`.
pub(crate) fn change(hunk: &PatchHunk) -> bool {
    let texts = [&hunk.old, &hunk.new];
    let lines = || texts.iter().flat_map(|text| text.split_inclusive('\n'));
    let has_returns = lines().any(|line| line.ends_with("\r\n"));
    let is_plain = |line: &str| line.ends_with('\n') && !line.ends_with("\r\n");
    match hunk.grain {
        _ if hunk.old.is_empty() => false,
        Grain::Lines => has_returns && lines().any(is_plain),
        // Text is often quoted with other endings than the file's; they count only if nothing else
        // changes.
        Grain::Text => {
            has_returns && hunk.old.replace("\r\n", "\n") == hunk.new.replace("\r\n", "\n")
        }
    }
}

/// Returns the positions of the old text including its line endings.
///
/// # Errors
///
/// Returns a refusal if there is no such position.
pub(crate) fn find(file: &FileText, hunk: &PatchHunk) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let text = file.text();
    let places = memchr::memmem::find_iter(text.as_bytes(), &hunk.old);
    let spans = places.map(|at| at..at + hunk.old.len());
    let found: Vec<HunkMatch> = spans
        .filter(|span| hunk.grain == Grain::Text || is_whole(file, span))
        .map(|span| at(file, hunk, span))
        .collect();
    if found.is_empty() {
        let is_there = rows_of_lines(file, &split_lines(&hunk.old))
            .next()
            .is_some();
        return Err(if is_there {
            HunkRefusal::OtherEndings
        } else {
            HunkRefusal::NotFound
        });
    }
    Ok(found)
}

/// Whether a span of the original text begins at the start of a row, and ends at the start of a row
/// or at the end of the text.
fn is_whole(file: &FileText, span: &Range<usize>) -> bool {
    let starts = |offset: usize| file.raw_start(row_of(file, offset)) == offset;
    starts(span.start) && (span.end == file.text().len() || starts(span.end))
}

/// Returns the row that contains a byte offset of the original text.
fn row_of(file: &FileText, offset: usize) -> usize {
    file.row_at(ByteOffset(offset)).0 as usize
}

fn at(file: &FileText, hunk: &PatchHunk, span: Range<usize>) -> HunkMatch {
    let last = span.end.saturating_sub(1).max(span.start);
    HunkMatch {
        strategy: MatchStrategy::Exact,
        differences: Vec::new(),
        rows: row_of(file, span.start)..row_of(file, last) + 1,
        body: MatchBody::Raw {
            span,
            text: hunk.new.clone(),
        },
    }
}

#[cfg(test)]
mod tests;
