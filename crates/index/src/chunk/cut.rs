//! Where the cuts are.

use std::ops::Range;

use syntax::{OutlineItem, OutlineKind, PlainNode, PlainTree};

use super::{TARGET, WHOLE};

/// Nodes nested deeper than this are cut by their lines: nobody writes them by hand.
const DEEPEST: usize = 64;
/// Shorter pieces, such as `export`, go along with what follows on their row.
const TINY: usize = 60;

/// A stretch that is not cut any further.
struct Piece {
    range: Range<usize>,
    first_row: usize,
    last_row: usize,
    /// Whether it belongs to what comes behind it.
    leads: bool,
    /// Whether nothing may be added to it but what leads it: it is a whole thing, or a part of a larger one.
    is_closed: bool,
}

/// Cuts along the tree.
pub(super) fn by_tree(text: &str, tree: &PlainTree, outline: &[OutlineItem]) -> Vec<Range<usize>> {
    let mut wholes: Vec<(usize, usize)> = outline
        .iter()
        .filter(|item| is_whole(item.kind))
        .map(|item| (item.span.start.0, item.span.end.0))
        .collect();
    wholes.sort_unstable();
    let cutter = Cutter { text, wholes };
    let pieces = cutter.scope(tree.root(), 0);
    let spans = pieces.into_iter().map(|piece| piece.range);
    let spans: Vec<Range<usize>> = spans.filter_map(|range| tidied(text, range)).collect();
    with_gaps(text, spans)
}

/// Adds what lies in no node, as in texts that are broken.
fn with_gaps(text: &str, spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut whole = Vec::with_capacity(spans.len());
    let mut at = 0;
    for span in spans {
        if at < span.start {
            whole.extend(by_lines(text, at..span.start));
        }
        at = span.end;
        whole.push(span);
    }
    whole.extend(by_lines(text, at..text.len()));
    whole
}

fn is_whole(kind: OutlineKind) -> bool {
    use OutlineKind::{Constant, Field, Key, Other, Variable};
    !matches!(kind, Constant | Field | Key | Other | Variable)
}

/// Cuts a stretch behind its lines, at an empty one where there is one in the last third.
pub(super) fn by_lines(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let (mut start, mut at) = (range.start, range.start);
    let mut gap = None;
    let Some(stretch) = text.get(range.clone()) else {
        return spans;
    };
    for line in stretch.split_inclusive('\n') {
        let is_empty = line.trim().is_empty();
        if at + line.len() - start > TARGET && at > start {
            let end = gap
                .filter(|gap| *gap > start + TARGET / 3 * 2)
                .unwrap_or(at);
            spans.push(start..end);
            start = end;
            gap = None;
        }
        at += line.len();
        if is_empty {
            gap = Some(at);
        }
        while at - start > 2 * TARGET {
            let end = text.floor_char_boundary(start + TARGET);
            spans.push(start..end);
            start = end;
        }
    }
    spans.push(start..range.end);
    spans
        .into_iter()
        .filter_map(|span| tidied(text, span))
        .collect()
}

/// Without the white space around it, but with the indent of its first row; nothing where no word is left.
fn tidied(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let stretch = text.get(range.clone())?;
    let end = range.start + stretch.trim_end().len();
    let start = range.end - stretch.trim_start().len();
    if start >= end {
        return None;
    }
    let indent = text[..start].len() - text[..start].trim_end_matches([' ', '\t']).len();
    let is_line_start = text[..start - indent].is_empty() || text[..start - indent].ends_with('\n');
    let start = if is_line_start { start - indent } else { start };
    let has_words = text[start..end].contains(char::is_alphanumeric);
    has_words.then_some(start..end)
}

struct Cutter<'a> {
    text: &'a str,
    /// Where functions, types and sections begin and end.
    wholes: Vec<(usize, usize)>,
}

impl Cutter<'_> {
    /// The pieces of a node that is larger than a chunk.
    fn scope(&self, node: PlainNode<'_>, depth: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.gather(node, depth, &mut pieces);
        let mut pieces = merged(self.text, led(pieces));
        // The head of a type goes along with the first thing in it.
        if depth > 0
            && let [head, first, ..] = pieces.as_mut_slice()
            && !head.is_closed
            && first.is_closed
            && head.range.len() < 2 * TINY
        {
            first.range.start = head.range.start;
            first.first_row = head.first_row;
            pieces.remove(0);
        }
        pieces
    }

    fn gather(&self, node: PlainNode<'_>, depth: usize, pieces: &mut Vec<Piece>) {
        let children = node.children();
        if children.is_empty() || depth > DEEPEST {
            return self.lines(node.range(), pieces);
        }
        for child in children {
            let range = child.range();
            let is_whole = self.wholes.binary_search(&(range.start, range.end)).is_ok();
            let most = if is_whole { WHOLE } else { TARGET };
            if range.is_empty() {
            } else if range.len() <= most {
                let (first_row, last_row) = child.rows();
                pieces.push(Piece {
                    is_closed: range.len() > TARGET,
                    range,
                    first_row,
                    last_row,
                    leads: child.leads(),
                });
            } else if is_whole && depth < DEEPEST {
                let parts = self.scope(child, depth + 1);
                pieces.extend(parts.into_iter().map(|part| Piece {
                    is_closed: true,
                    leads: false,
                    ..part
                }));
            } else {
                self.gather(child, depth + 1, pieces);
            }
        }
    }

    fn lines(&self, range: Range<usize>, pieces: &mut Vec<Piece>) {
        let mut row = self.text.get(..range.start).map_or(0, newlines);
        let mut at = range.start;
        for range in by_lines(self.text, range) {
            row += self.text.get(at..range.start).map_or(0, newlines);
            let first_row = row;
            row += self.text.get(range.clone()).map_or(0, newlines);
            at = range.end;
            pieces.push(Piece {
                range,
                first_row,
                last_row: row,
                leads: false,
                is_closed: false,
            });
        }
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Puts comments, attributes and short words before a thing together with it.
fn led(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut taken: Vec<Piece> = Vec::new();
    let mut before: Vec<usize> = pieces.iter().map(|piece| piece.last_row).collect();
    // A node may hold nothing but empty ones, as that of a broken text does.
    if !before.is_empty() {
        before.rotate_right(1);
    }
    for (ix, piece) in pieces.into_iter().enumerate().rev() {
        let behind = ix > 0 && before[ix] == piece.first_row && piece.first_row == piece.last_row;
        let length = piece.range.len();
        match taken.last_mut() {
            Some(next)
                if length <= TARGET
                    && next.range.end - piece.range.start <= WHOLE + TARGET
                    && (piece.leads && !behind && piece.last_row + 1 >= next.first_row
                        || next.is_closed && length < TINY && piece.last_row == next.first_row) =>
            {
                next.is_closed |= next.range.end - piece.range.start > TARGET;
                next.range.start = piece.range.start;
                next.first_row = piece.first_row;
            }
            _ => taken.push(piece),
        }
    }
    taken.reverse();
    taken
}

/// Takes neighbours together while they fit.
fn merged(text: &str, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        let is_mute = text
            .get(piece.range.clone())
            .is_some_and(|text| !text.contains(char::is_alphanumeric));
        match merged.last_mut() {
            Some(last)
                if is_mute
                    || !last.is_closed
                        && !piece.is_closed
                        && piece.range.end - last.range.start <= TARGET =>
            {
                last.range.end = piece.range.end;
                last.last_row = piece.last_row;
            }
            _ => merged.push(piece),
        }
    }
    merged
}
