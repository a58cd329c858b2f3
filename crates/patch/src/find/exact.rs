//! Letter by letter.

use std::ops::Range;
use std::rc::Rc;

use crate::block::Block;
use crate::edit::{Grain, Hunk};
use crate::file::FileText;
use crate::fold;
use crate::found::{Aligned, Body, Match};
use crate::outcome::{Doubt, Rung};

use super::loose;

/// Where the lines stand.
pub(super) fn lines(file: &FileText, block: &Rc<Block>) -> Vec<Match> {
    let rows = rows_of_lines(file, &block.old);
    let matches = rows.map(|row| Match::lines(Rung::Exact, Aligned::contiguous(block, row)));
    matches.collect()
}

/// The rows at which these lines start; none for no lines.
pub(crate) fn rows_of_lines<'a>(
    file: &'a FileText,
    lines: &'a [String],
) -> impl Iterator<Item = usize> + 'a {
    // The longest line is the rarest.
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

/// Where the text stands, within lines too.
pub(super) fn text(
    file: &FileText,
    hunk: &Hunk,
    block: Option<&Rc<Block>>,
) -> Result<Vec<Match>, Doubt> {
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
                Match::lines(Rung::Exact, Aligned::contiguous(block, row))
            }
            None => within_lines(file, (&old, &new), span, block)?,
        });
    }
    Ok(matches)
}

/// Every place, those that overlap too: a text that stands in two ways stands twice.
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

fn is_whole(file: &FileText, old: &str, span: &Range<usize>) -> bool {
    let row = file.row_of(span.start);
    let last = file.row_of(span.end.saturating_sub(1).max(span.start));
    let ends = old.ends_with('\n') || span.end == file.start(last) + file.content(last).len();
    file.start(row) == span.start && ends
}

/// Text that begins or ends within a line. One that begins in the indentation of its line and
/// becomes several lines says nothing of how the later ones are indented, unless they cannot stand
/// as they are written: then they are read as indented like the first.
fn within_lines(
    file: &FileText,
    (old, new): (&str, &str),
    span: Range<usize>,
    block: Option<&Rc<Block>>,
) -> Result<Match, Doubt> {
    let row = file.row_of(span.start);
    let before = &file.normal()[file.start(row)..span.start];
    let last = file.row_of(span.end.saturating_sub(1));
    let rows = row..last + 1;
    let literal = Match {
        rung: Rung::Exact,
        differences: Vec::new(),
        rows,
        body: Body::Span {
            span: span.clone(),
            text: new.to_owned(),
        },
    };
    let is_in_indent = !before.is_empty() && fold::is_blank(before);
    let is_one_line = old.split('\n').skip(1).all(fold::is_blank);
    if is_in_indent && !is_one_line {
        // All of the block may be indented otherwise, if its other lines do not speak against it.
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
        return Err(Doubt::Indentation);
    }
    let rest = match old.contains('\n') {
        true => "",
        false => &file.content(row)[span.end - file.start(row)..],
    };
    let (old, new) = (format!("{old}{rest}"), format!("{new}{rest}"));
    let block = Block::new(&old, &new, Grain::Text, false).ok_or(Doubt::Indentation)?;
    loose::at(file, &Rc::new(block), row).ok_or(Doubt::Indentation)
}
