//! Arguments and parameters between commas.

use super::{ObjectRequest, Selected};
use crate::lines::{Lines, Pos, Walker};
use crate::motion::brackets;

const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

pub(super) fn select(lines: &Lines, request: &ObjectRequest) -> Option<Selected> {
    let (open, close) = innermost(lines, request.head)?;
    let list = lines.text().text(lines.span(open, close)).into_owned();
    let base = lines.offset(open);
    let caret = lines.offset(request.head) - base;
    // Bounds of the arguments: the bracket, the commas, the closing bracket.
    let mut bounds = vec![0];
    bounds.extend(commas(&list));
    bounds.push(list.len());
    let first = bounds.windows(2).position(|pair| caret.max(1) <= pair[1])?;
    let last = (first + request.count as usize - 1).min(bounds.len() - 2);
    let (start, end) = (bounds[first] + 1, bounds[last + 1]);
    let inner = list.get(start..end)?;
    if inner.trim().is_empty() {
        return None;
    }
    let text_start = start + inner.len() - inner.trim_start().len();
    let text_end = start + inner.trim_end().len();
    let (from, to) = if !request.is_around {
        (text_start, text_end)
    } else if last + 1 < bounds.len() - 1 {
        let behind = &list[end + 1..];
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        (text_start, end + 1 + blanks)
    } else {
        (bounds[first] + usize::from(first == 0), text_end)
    };
    let start = lines.pos(base + from);
    let mut end = Walker::new(lines, lines.pos(base + to));
    end.backward_over_end();
    Some(Selected::inclusive(start, end.pos))
}

/// The brackets nearest around a position.
fn innermost(lines: &Lines, at: Pos) -> Option<(Pos, Pos)> {
    let around = |(open, close): (char, char)| {
        let start = brackets::unmatched(lines, at, (open, close), true, true)?;
        let end = brackets::unmatched(lines, start, (close, open), false, true)?;
        Some((start, end))
    };
    PAIRS
        .into_iter()
        .filter_map(around)
        .max_by_key(|(start, _)| *start)
}

/// The commas of a list that no inner bracket or string contains.
fn commas(list: &str) -> Vec<usize> {
    let mut depth = 0_i32;
    let mut quote = None;
    let mut found = Vec::new();
    let mut chars = list.char_indices().skip(1);
    while let Some((ix, char)) = chars.next() {
        match (char, quote) {
            ('\\', Some(_)) => {
                chars.next();
            }
            (_, Some(open)) if char == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '`', None) => quote = Some(char),
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) => depth -= 1,
            (',', None) if depth == 0 => found.push(ix),
            _ => {}
        }
    }
    found
}
