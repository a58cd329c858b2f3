//! Searches for patterns: lines such as `/pattern/e+1`, and matches around a position.
//!
//! Start at `SearchLine::parse` and `find`.

use base::{ByteOffset, Row, Span};

use crate::error::{Done, Error};
use crate::lines::{Lines, Pos, Walker};
use crate::pattern::{Pattern, PatternMatch};

/// Rows searched backward in one go.
const CHUNK_ROWS: u32 = 512;

/// The place to go to relative to a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchOffset {
    pub(crate) base: OffsetBase,
    pub(crate) count: i64,
}

/// The part of a match that an offset counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OffsetBase {
    #[default]
    Start,
    /// The last character.
    End,
    /// Whole lines.
    Lines,
}

/// A typed search: a pattern, an offset, and a further search behind `;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchLine {
    /// Empty for the last one.
    pub(crate) pattern: String,
    /// `None` without one, so that an empty pattern may keep the last.
    pub(crate) offset: Option<SearchOffset>,
    /// The next search with its direction.
    pub(crate) next: Option<(bool, String)>,
}

impl SearchLine {
    /// Parses a line typed after `/` or `?`, which ends patterns.
    pub(crate) fn parse(line: &str, is_forward: bool) -> SearchLine {
        let delimiter = if is_forward { '/' } else { '?' };
        let (pattern, rest) = split_pattern(line, delimiter);
        let Some(rest) = rest else {
            return SearchLine {
                pattern,
                offset: None,
                next: None,
            };
        };
        let (offset, rest) = parse_offset(rest);
        let next = rest.strip_prefix(';').and_then(|rest| {
            let delimiter = rest.chars().next()?;
            matches!(delimiter, '/' | '?').then(|| (delimiter == '/', rest[1..].to_owned()))
        });
        SearchLine {
            pattern,
            offset: Some(offset),
            next,
        }
    }
}

/// Splits a pattern off at a delimiter that is neither escaped nor in a collection. An escaped
/// delimiter loses its backslash.
pub(crate) fn split_pattern(line: &str, delimiter: char) -> (String, Option<&str>) {
    let mut pattern = String::new();
    let mut chars = line.char_indices();
    let mut in_collection = false;
    while let Some((ix, char)) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some((_, next)) if next == delimiter => {
                    // A question mark is a repetition with the backslash.
                    if delimiter == '?' {
                        pattern.push('?');
                    } else {
                        pattern.push(next);
                    }
                }
                Some((_, next)) => pattern.extend(['\\', next]),
                None => pattern.push('\\'),
            },
            '[' if !in_collection => {
                in_collection = closes_collection(&line[ix + 1..]);
                pattern.push('[');
            }
            ']' if in_collection && !pattern.ends_with('[') && !pattern.ends_with("[^") => {
                in_collection = false;
                pattern.push(']');
            }
            _ if char == delimiter && !in_collection => return (pattern, Some(&line[ix + 1..])),
            _ => pattern.push(char),
        }
    }
    (pattern, None)
}

/// Whether a collection whose bracket was read is closed.
fn closes_collection(rest: &str) -> bool {
    let inner = rest.strip_prefix('^').unwrap_or(rest);
    let inner = inner.strip_prefix(']').unwrap_or(inner);
    inner.contains(']')
}

/// Parses an offset such as `e+1`, `b-2` or `+3`, and returns what follows.
fn parse_offset(text: &str) -> (SearchOffset, &str) {
    let (base, rest) = match text.chars().next() {
        Some('e') => (OffsetBase::End, &text[1..]),
        Some('s' | 'b') => (OffsetBase::Start, &text[1..]),
        Some('+' | '-' | '0'..='9') => (OffsetBase::Lines, text),
        _ => return (SearchOffset::default(), text),
    };
    let (sign, digits) = match rest.chars().next() {
        Some('+') => (1, &rest[1..]),
        Some('-') => (-1, &rest[1..]),
        _ => (1, rest),
    };
    let has_sign = digits.len() < rest.len();
    let end = digits
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(digits.len());
    let number = digits[..end].parse::<i64>().ok();
    let count = number.unwrap_or(i64::from(has_sign)).min(1 << 30) * sign;
    (SearchOffset { base, count }, &digits[end..])
}

/// A direction and whether to continue at the other end of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchWay {
    pub(crate) is_forward: bool,
    pub(crate) wraps: bool,
    /// Whether the ends of matches count instead of their starts, for offsets from the end.
    pub(crate) by_end: bool,
    /// Whether a match at the position counts.
    pub(crate) accepts_here: bool,
}

/// Returns the next match from a position, or an error with the pattern as typed.
pub(crate) fn find(
    lines: &Lines,
    pattern: &Pattern,
    from: Pos,
    way: SearchWay,
    source: &str,
) -> Done<PatternMatch> {
    let at = lines.offset(from);
    let found = if way.is_forward {
        forward(lines, pattern, at, way)
    } else {
        backward(lines, pattern, at, way)
    };
    found.ok_or_else(|| {
        let source = source.to_owned();
        if way.wraps {
            Error::PatternNotFound(source)
        } else if way.is_forward {
            Error::HitBottom(source)
        } else {
            Error::HitTop(source)
        }
    })
}

/// The place of a match that is compared with the caret.
fn place(lines: &Lines, found: &PatternMatch, way: SearchWay) -> ByteOffset {
    let pos = if way.by_end && !found.span.is_empty() {
        lines.pos(found.span.end)
    } else {
        lines.pos(found.span.start)
    };
    let is_at_end = pos.col > 0 && pos.col == lines.len(pos.row);
    // Going forward, the end of a line counts as its last character, where the caret would go.
    let steps_back = way.by_end && !found.span.is_empty() || way.is_forward && is_at_end;
    if !steps_back {
        return lines.offset(pos);
    }
    let mut walker = Walker::new(lines, pos);
    walker.backward();
    lines.offset(walker.pos)
}

/// Whether a match begins in a line: not behind the final line ending.
fn is_in_text(lines: &Lines, found: &PatternMatch) -> bool {
    lines.text().point_at(found.span.start).row.0 < lines.count()
}

fn forward(
    lines: &Lines,
    pattern: &Pattern,
    at: ByteOffset,
    way: SearchWay,
) -> Option<PatternMatch> {
    let text = lines.text();
    let is_behind = |found: &PatternMatch| {
        let place = place(lines, found, way);
        is_in_text(lines, found) && (place > at || way.accepts_here && place == at)
    };
    // Matches are counted from the start of the line, so that those before the caret do not shift
    // the others.
    let row = text.point_at(at).row;
    let start = text.row_start(row);
    let behind = matches_by_rows(lines, pattern, start).find(is_behind);
    if behind.is_some() || !way.wraps {
        return behind;
    }
    let mut from_top = matches_by_rows(lines, pattern, ByteOffset(0));
    from_top.find(|found| is_in_text(lines, found))
}

/// The matches from the start of a row on. A match over several lines does not hide one that begins
/// in a later line.
fn matches_by_rows<'a>(
    lines: &'a Lines,
    pattern: &'a Pattern,
    start: ByteOffset,
) -> Box<dyn Iterator<Item = PatternMatch> + 'a> {
    let text = lines.text();
    if !pattern.is_multi_line() {
        return Box::new(pattern.matches(text, Span::new(start, text.len())));
    }
    let mut row = text.point_at(start).row.0;
    // Goes on in the row in which the next match begins: a search from every row would read the rest of the text each
    // time.
    let rows = std::iter::from_fn(move || {
        let from = (row < lines.count()).then(|| text.row_start(Row(row)))?;
        let found = pattern.first_from(text, from)?;
        let begins = text.point_at(found.full.start).row.0;
        row = begins + 1;
        (begins < lines.count()).then(|| matches_beginning_in(lines, pattern, begins))
    });
    Box::new(rows.flatten())
}

/// The matches that begin in a row.
fn matches_beginning_in(lines: &Lines, pattern: &Pattern, row: u32) -> Vec<PatternMatch> {
    let text = lines.text();
    let start = text.row_start(Row(row));
    let end = text.row_end(Row(row));
    let limit = Span::new(start, text.len());
    pattern
        .matches(text, limit)
        .take_while(|found| found.full.start <= end)
        .collect()
}

fn backward(
    lines: &Lines,
    pattern: &Pattern,
    at: ByteOffset,
    way: SearchWay,
) -> Option<PatternMatch> {
    let is_before = |found: &PatternMatch| {
        let place = place(lines, found, way);
        is_in_text(lines, found) && (place < at || way.accepts_here && place == at)
    };
    let row = lines.text().point_at(at).row.0;
    let before = last_match(lines, pattern, row, is_before);
    if before.is_some() || !way.wraps {
        return before;
    }
    last_match(lines, pattern, lines.last(), |found| {
        is_in_text(lines, found)
    })
}

/// The last match that begins in a row up to `last` and is accepted.
fn last_match(
    lines: &Lines,
    pattern: &Pattern,
    last: u32,
    accepts: impl Fn(&PatternMatch) -> bool,
) -> Option<PatternMatch> {
    let text = lines.text();
    if pattern.is_multi_line() {
        let found = matches_by_rows(lines, pattern, ByteOffset(0));
        let found = found.take_while(|found| text.point_at(found.full.start).row.0 <= last);
        return found.filter(&accepts).last();
    }
    let mut end_row = last;
    loop {
        let first = end_row.saturating_sub(CHUNK_ROWS);
        let span = Span::new(text.row_start(Row(first)), text.row_end(Row(end_row)));
        let found = pattern.matches(text, span).filter(&accepts).last();
        if found.is_some() || first == 0 {
            return found;
        }
        end_row = first - 1;
    }
}

#[cfg(test)]
mod tests;
