//! Edits that change line endings: `\r\n` to `\n`, or back.
//!
//! Everywhere else endings are those of the file. An edit that tells lines with `\r\n` from lines
//! without means them, so its old text must stand in the file byte for byte, and so will the new.

use std::ops::Range;

use base::ByteOffset;

use crate::block::lines;
use crate::edit::{Grain, Hunk};
use crate::file::FileText;
use crate::find::rows_of_lines;
use crate::found::{Body, Match};
use crate::outcome::{Refusal, Rung};

/// Whether the hunk says which lines end in `\r\n` and which in `\n`.
pub(crate) fn change(hunk: &Hunk) -> bool {
    let texts = [&hunk.old, &hunk.new];
    let lines = || texts.iter().flat_map(|text| text.split_inclusive('\n'));
    let has_returns = lines().any(|line| line.ends_with("\r\n"));
    let is_plain = |line: &str| line.ends_with('\n') && !line.ends_with("\r\n");
    match hunk.grain {
        _ if hunk.old.is_empty() => false,
        Grain::Lines => has_returns && lines().any(is_plain),
        // Text is often quoted with endings that are not those of the file; alone they are meant.
        Grain::Text => {
            has_returns && hunk.old.replace("\r\n", "\n") == hunk.new.replace("\r\n", "\n")
        }
    }
}

/// The places where the old text stands with its endings.
///
/// # Errors
/// A refusal where it stands nowhere so.
pub(crate) fn find(file: &FileText, hunk: &Hunk) -> Result<Vec<Match>, Refusal> {
    let text = file.text();
    let places = memchr::memmem::find_iter(text.as_bytes(), &hunk.old);
    let spans = places.map(|at| at..at + hunk.old.len());
    let found: Vec<Match> = spans
        .filter(|span| hunk.grain == Grain::Text || is_whole(file, span))
        .map(|span| at(file, hunk, span))
        .collect();
    if found.is_empty() {
        let is_there = rows_of_lines(file, &lines(&hunk.old)).next().is_some();
        return Err(match is_there {
            true => Refusal::OtherEndings,
            false => Refusal::NotFound,
        });
    }
    Ok(found)
}

fn is_whole(file: &FileText, span: &Range<usize>) -> bool {
    let starts = |offset: usize| file.raw_start(row_of(file, offset)) == offset;
    starts(span.start) && (span.end == file.text().len() || starts(span.end))
}

fn row_of(file: &FileText, offset: usize) -> usize {
    file.row_at(ByteOffset(offset)).0 as usize
}

fn at(file: &FileText, hunk: &Hunk, span: Range<usize>) -> Match {
    let last = span.end.saturating_sub(1).max(span.start);
    Match {
        rung: Rung::Exact,
        differences: Vec::new(),
        rows: row_of(file, span.start)..row_of(file, last) + 1,
        body: Body::Raw {
            span,
            text: hunk.new.clone(),
        },
    }
}

#[cfg(test)]
mod tests;
