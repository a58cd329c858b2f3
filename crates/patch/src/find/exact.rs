//! Matches lines and text exactly.

use std::ops::Range;
use std::rc::Rc;

use crate::block::LineBlock;
use crate::edit::{Grain, PatchHunk};
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::{BlockAlignment, HunkMatch, MatchBody};
use crate::outcome::{Ambiguity, MatchStrategy};

use super::loose;

/// Returns the positions of the lines.
pub(super) fn find_lines(file: &FileText, block: &Rc<LineBlock>) -> Vec<HunkMatch> {
    let rows = rows_of_lines(file, &block.old);
    let matches = rows.map(|row| {
        HunkMatch::from_alignment(MatchStrategy::Exact, BlockAlignment::contiguous(block, row))
    });
    matches.collect()
}

/// Returns each row at which `lines` occur consecutively and exactly, in order. Yields no rows if
/// `lines` is empty.
pub(crate) fn rows_of_lines<'a>(
    file: &'a FileText,
    lines: &'a [String],
) -> impl Iterator<Item = usize> + 'a {
    // The longest line is likely the rarest.
    let pivot = (0..lines.len())
        .max_by_key(|ix| lines[*ix].len())
        .unwrap_or(0);
    let last = file.line_count().checked_sub(lines.len().max(1));
    let starts = last.map_or(0..0, |last| 0..last + 1);
    starts.filter(move |row| {
        !lines.is_empty()
            && file.content(row + pivot) == lines[pivot]
            && (lines.iter().enumerate()).all(|(ix, line)| file.content(row + ix) == line)
    })
}

/// Returns the positions of the text, also within lines.
pub(super) fn find_text(
    file: &FileText,
    hunk: &PatchHunk,
    block: Option<&Rc<LineBlock>>,
) -> Result<Vec<HunkMatch>, Ambiguity> {
    let old = hunk.old.replace("\r\n", "\n");
    let new = hunk.new.replace("\r\n", "\n");
    if old.is_empty() {
        return Ok(Vec::new());
    }
    let mut matches = Vec::new();
    for span in occurrences(file.normal(), &old) {
        matches.push(match block.filter(|_| is_whole(file, &old, &span)) {
            Some(block) => {
                let row = file.row_of(span.start);
                HunkMatch::from_alignment(
                    MatchStrategy::Exact,
                    BlockAlignment::contiguous(block, row),
                )
            }
            None => within_lines(file, (&old, &new), span, block)?,
        });
    }
    Ok(matches)
}

/// Returns all occurrences, including overlapping ones, since those are ambiguous as well.
fn occurrences(text: &str, needle: &str) -> Vec<Range<usize>> {
    let finder = memchr::memmem::Finder::new(needle);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text
        .as_bytes()
        .get(from..)
        .and_then(|rest| finder.find(rest))
    {
        found.push(from + at..from + at + needle.len());
        from += at + 1;
    }
    found
}

/// Whether an occurrence of `old` begins at the start of a line, and ends at the end of one, with
/// or without its line feed.
fn is_whole(file: &FileText, old: &str, span: &Range<usize>) -> bool {
    let row = file.row_of(span.start);
    let last = file.row_of(span.end.saturating_sub(1).max(span.start));
    let ends = old.ends_with('\n') || span.end == file.start(last) + file.content(last).len();
    file.start(row) == span.start && ends
}

/// Matches text that begins or ends within a line. If it begins in the indentation of its line and
/// expands to several lines, the indentation of the later ones is unknown, unless they cannot be
/// meant as written: then they are read as indented like the first.
fn within_lines(
    file: &FileText,
    (old, new): (&str, &str),
    span: Range<usize>,
    block: Option<&Rc<LineBlock>>,
) -> Result<HunkMatch, Ambiguity> {
    let row = file.row_of(span.start);
    let before = &file.normal()[file.start(row)..span.start];
    let last = file.row_of(span.end.saturating_sub(1));
    let rows = row..last + 1;
    let literal = HunkMatch {
        strategy: MatchStrategy::Exact,
        differences: Vec::new(),
        rows,
        body: MatchBody::Span {
            span: span.clone(),
            text: new.to_owned(),
        },
    };
    let is_in_indent = !before.is_empty() && fold::is_blank(before);
    let is_one_line = old.split('\n').skip(1).all(fold::is_blank);
    if is_in_indent && !is_one_line {
        // The whole block may be indented differently, unless its other lines contradict that.
        let whole = block.and_then(|block| loose::at(file, block, row));
        return Ok(whole.unwrap_or(literal));
    }
    if !is_in_indent || fold::is_blank(old) || fold::is_blank(new) {
        return Ok(literal);
    }
    let whole = fold::indent(file.content(row));
    let mut later = new.split('\n').skip(1).filter(|line| !fold::is_blank(line));
    let has_later = later.clone().next().is_some();
    if !has_later && fold::indent(new) == fold::indent(old) {
        return Ok(literal);
    }
    if later.all(|line| line.starts_with(whole)) {
        return Err(Ambiguity::Indentation);
    }
    let rest = if old.contains('\n') {
        ""
    } else {
        &file.content(row)[span.end - file.start(row)..]
    };
    let (old, new) = (format!("{old}{rest}"), format!("{new}{rest}"));
    let block = LineBlock::new(&old, &new, Grain::Text, false).ok_or(Ambiguity::Indentation)?;
    loose::at(file, &Rc::new(block), row).ok_or(Ambiguity::Indentation)
}
