//! Elements of HTML and XML.
//!
//! Start tags without an end tag are ignored.

use base::Span;

use super::{ObjectRequest, Selected};
use crate::lines::{Advance, Lines, Pos, Walker, indent_len};

/// An element: its start tag and its end tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TagPair {
    pub(crate) start: Span,
    pub(crate) end: Span,
}

/// Returns the elements that contain all bytes of a span, innermost first.
pub(crate) fn enclosing(lines: &Lines, span: Span) -> Vec<TagPair> {
    let text = lines.text().text(lines.text().full_span());
    let mut pairs: Vec<TagPair> = pairs_of(&text)
        .into_iter()
        .filter(|pair| pair.start.start <= span.start && span.end <= pair.end.end)
        .collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.start.start));
    pairs
}

pub(super) fn select(lines: &Lines, request: &ObjectRequest) -> Option<Selected> {
    let mut from = Walker::new(lines, request.head);
    let mut old = (request.head, request.head);
    match request.extended() {
        None => {
            while indent_len(from.line()) > from.pos.col && from.forward() == Advance::Within {}
            old = (from.pos, from.pos);
        }
        Some(anchor) => old = (anchor.min(old.0), anchor.max(old.1)),
    }
    let span = Span::new(lines.offset(old.0), lines.offset(lines.behind(old.1)));
    let mut count = request.count;
    for pair in enclosing(lines, span) {
        let outer = (lines.pos(pair.start.start), last_of(lines, pair.end));
        let inner = inner_of(lines, request, &pair);
        let is_same = request.extended().is_some();
        let inner_ends = (inner.anchor, inner.head);
        // A selection of the inside grows to the tags, one with the tags to the next element.
        if is_same && outer == old {
            continue;
        }
        if count > 1 {
            count -= 1;
            continue;
        }
        if request.is_around || is_same && (inner_ends == old || !covers(inner_ends, old)) {
            return Some(Selected::inclusive(outer.0, outer.1));
        }
        return Some(inner);
    }
    None
}

fn covers(outer: (Pos, Pos), inner: (Pos, Pos)) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// The last character of a tag.
fn last_of(lines: &Lines, tag: Span) -> Pos {
    let mut walker = Walker::new(lines, lines.pos(tag.end));
    walker.backward();
    walker.pos
}

fn inner_of(lines: &Lines, request: &ObjectRequest, pair: &TagPair) -> Selected {
    let start = lines.pos(pair.start.end);
    if pair.start.end == pair.end.start {
        return if request.anchor.is_some() {
            Selected::inclusive(start, start)
        } else {
            Selected::exclusive(start, start)
        };
    }
    let end = lines.pos(pair.end.start);
    if end.col == 0 && request.anchor.is_none() {
        return Selected::exclusive(start, end);
    }
    let mut walker = Walker::new(lines, end);
    walker.backward();
    Selected::inclusive(start, walker.pos)
}

/// Parses the elements of a text.
fn pairs_of(text: &str) -> Vec<TagPair> {
    let mut open: Vec<(String, Span)> = Vec::new();
    let mut pairs = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        at = start + 1;
        let rest = &text[start + 1..];
        let (is_end, rest) = match rest.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let name: String = rest
            .chars()
            .take_while(|char| !char.is_whitespace() && !matches!(char, '>' | '/' | '!' | '<'))
            .collect();
        let Some(close) = rest.find('>').filter(|_| !name.is_empty()) else {
            continue;
        };
        let end = text.len() - rest.len() + close + 1;
        let span = Span::from(start..end);
        let is_alone = rest[..close].ends_with('/');
        if is_end {
            let name = name.to_lowercase();
            if let Some(ix) = open.iter().rposition(|(opened, _)| *opened == name) {
                let (_, start) = open.swap_remove(ix);
                open.truncate(ix);
                pairs.push(TagPair { start, end: span });
            }
            at = end;
        } else if !is_alone {
            open.push((name.to_lowercase(), span));
            at = end;
        } else {
            at = end;
        }
    }
    pairs
}
