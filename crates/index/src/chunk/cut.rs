//! Finds the chunk boundaries.

use std::ops::Range;

use syntax::{OutlineItem, OutlineKind, PlainNode, PlainTree};

use super::{MAX_WHOLE_BYTES, TARGET_BYTES};

/// Nodes nested deeper than this are split by lines: no hand-written code reaches it.
const MAX_DEPTH: usize = 64;
/// Shorter pieces in bytes, such as `export`, are merged with the following piece on their row.
const TINY_BYTES: usize = 60;

/// A range that is not split any further.
struct CutPiece {
    range: Range<usize>,
    first_row: usize,
    last_row: usize,
    /// Whether it belongs to the following piece.
    leads: bool,
    /// Whether only leading pieces may be merged into it: it is a complete item, or a part of a
    /// larger one.
    is_closed: bool,
}

/// Splits along the syntax tree.
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

/// Adds the ranges that lie in no node, as in texts with syntax errors.
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

/// Whether an item of this kind stays in one chunk if it is not too long: a function, type, module,
/// macro or heading.
fn is_whole(kind: OutlineKind) -> bool {
    use OutlineKind::{Constant, Field, Key, Other, Variable};
    !matches!(kind, Constant | Field | Key | Other | Variable)
}

/// Splits a range at line ends, preferably at an empty line in the last third.
pub(super) fn by_lines(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let (mut start, mut at) = (range.start, range.start);
    let mut gap = None;
    let Some(stretch) = text.get(range.clone()) else {
        return spans;
    };
    for line in stretch.split_inclusive('\n') {
        let is_empty = line.trim().is_empty();
        if at + line.len() - start > TARGET_BYTES && at > start {
            let end = gap
                .filter(|gap| *gap > start + TARGET_BYTES / 3 * 2)
                .unwrap_or(at);
            spans.push(start..end);
            start = end;
            gap = None;
        }
        at += line.len();
        if is_empty {
            gap = Some(at);
        }
        while at - start > 2 * TARGET_BYTES {
            let end = text.floor_char_boundary(start + TARGET_BYTES);
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

/// Trims a range, but keeps the indent of its first row; returns `None` if it contains no word.
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
    /// The ranges of functions, types and sections.
    wholes: Vec<(usize, usize)>,
}

impl Cutter<'_> {
    /// Returns the pieces of a node that is larger than a chunk.
    fn scope(&self, node: PlainNode<'_>, depth: usize) -> Vec<CutPiece> {
        let mut pieces = Vec::new();
        self.gather(node, depth, &mut pieces);
        let mut pieces = merged(self.text, led(pieces));
        // The head of a type is merged with its first member.
        if depth > 0
            && let [head, first, ..] = pieces.as_mut_slice()
            && !head.is_closed
            && first.is_closed
            && head.range.len() < 2 * TINY_BYTES
        {
            first.range.start = head.range.start;
            first.first_row = head.first_row;
            pieces.remove(0);
        }
        pieces
    }

    fn gather(&self, node: PlainNode<'_>, depth: usize, pieces: &mut Vec<CutPiece>) {
        let children = node.children();
        if children.is_empty() || depth > MAX_DEPTH {
            return self.push_lines(node.range(), pieces);
        }
        for child in children {
            let range = child.range();
            let is_whole = self.wholes.binary_search(&(range.start, range.end)).is_ok();
            let most = if is_whole {
                MAX_WHOLE_BYTES
            } else {
                TARGET_BYTES
            };
            if range.is_empty() {
            } else if range.len() <= most {
                let (first_row, last_row) = child.rows();
                pieces.push(CutPiece {
                    is_closed: range.len() > TARGET_BYTES,
                    range,
                    first_row,
                    last_row,
                    leads: child.leads(),
                });
            } else if is_whole && depth < MAX_DEPTH {
                let parts = self.scope(child, depth + 1);
                pieces.extend(parts.into_iter().map(|part| CutPiece {
                    is_closed: true,
                    leads: false,
                    ..part
                }));
            } else {
                self.gather(child, depth + 1, pieces);
            }
        }
    }

    fn push_lines(&self, range: Range<usize>, pieces: &mut Vec<CutPiece>) {
        let mut row = self.text.get(..range.start).map_or(0, newlines);
        let mut at = range.start;
        for range in by_lines(self.text, range) {
            row += self.text.get(at..range.start).map_or(0, newlines);
            let first_row = row;
            row += self.text.get(range.clone()).map_or(0, newlines);
            at = range.end;
            pieces.push(CutPiece {
                range,
                first_row,
                last_row: row,
                leads: false,
                is_closed: false,
            });
        }
    }
}

/// Returns the number of line feeds.
fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Merges comments, attributes and short words with the item that follows them.
fn led(pieces: Vec<CutPiece>) -> Vec<CutPiece> {
    let mut taken: Vec<CutPiece> = Vec::new();
    let mut before: Vec<usize> = pieces.iter().map(|piece| piece.last_row).collect();
    // A node of a text with syntax errors may contain only empty ones.
    if !before.is_empty() {
        before.rotate_right(1);
    }
    for (ix, piece) in pieces.into_iter().enumerate().rev() {
        let behind = ix > 0 && before[ix] == piece.first_row && piece.first_row == piece.last_row;
        let length = piece.range.len();
        match taken.last_mut() {
            Some(next)
                if length <= TARGET_BYTES
                    && next.range.end - piece.range.start <= MAX_WHOLE_BYTES + TARGET_BYTES
                    && (piece.leads && !behind && piece.last_row + 1 >= next.first_row
                        || next.is_closed
                            && length < TINY_BYTES
                            && piece.last_row == next.first_row) =>
            {
                next.is_closed |= next.range.end - piece.range.start > TARGET_BYTES;
                next.range.start = piece.range.start;
                next.first_row = piece.first_row;
            }
            _ => taken.push(piece),
        }
    }
    taken.reverse();
    taken
}

/// Merges neighbouring pieces while they fit.
fn merged(text: &str, pieces: Vec<CutPiece>) -> Vec<CutPiece> {
    let mut merged: Vec<CutPiece> = Vec::new();
    for piece in pieces {
        let is_mute = text
            .get(piece.range.clone())
            .is_some_and(|text| !text.contains(char::is_alphanumeric));
        match merged.last_mut() {
            Some(last)
                if is_mute
                    || !last.is_closed
                        && !piece.is_closed
                        && piece.range.end - last.range.start <= TARGET_BYTES =>
            {
                last.range.end = piece.range.end;
                last.last_row = piece.last_row;
            }
            _ => merged.push(piece),
        }
    }
    merged
}
