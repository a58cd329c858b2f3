//! Keeps the pieces up to date: lines in which something changed are derived again from the marks.

use std::ops::Range;

use base::{Bias, ByteOffset, Span};
use sum_tree::{Item, SumTree};
use text::{Snapshot, SpanSet};

use super::{SeekByte, ShownExtent, ShownPiece, ShownText};
use crate::fold::{self, FoldMark};
use crate::inlay::InlayMark;

/// A span of the buffer in which bytes, inlays or folds changed: before and after the change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirtySpan {
    pub(crate) old: Span,
    pub(crate) new: Span,
}

/// A run of shown lines that was replaced by another, for the layers above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineEdit {
    pub(crate) old: Range<u32>,
    pub(crate) new: Range<u32>,
    /// Unchanged shown bytes at the start of the first line.
    pub(crate) prefix: usize,
    /// Unchanged shown bytes at the end of the last line.
    pub(crate) suffix: usize,
    /// Shown bytes of the last line before.
    pub(crate) old_len: usize,
    /// Whether inlays break rows in these lines, or did.
    pub(crate) has_breaks: bool,
}

/// Whole lines around some dirty spans.
struct DirtyRegion {
    old_lines: Range<u32>,
    old: Span,
    new: Span,
    prefix: usize,
    suffix: usize,
    old_len: usize,
    had_breaks: bool,
}

impl DirtyRegion {
    fn into_edit(self, new_lines: Range<u32>) -> LineEdit {
        LineEdit {
            has_breaks: self.had_breaks,
            old: self.old_lines,
            new: new_lines,
            prefix: self.prefix,
            suffix: self.suffix,
            old_len: self.old_len,
        }
    }
}

impl ShownText {
    /// Applies a change. `dirty` is sorted and disjoint; the marks are those of `buffer`, the text
    /// after. Returns the changed lines, sorted and disjoint.
    pub(crate) fn sync(
        &mut self,
        buffer: &Snapshot,
        dirty: &[DirtySpan],
        folds: &SpanSet<FoldMark>,
        inlays: &SpanSet<InlayMark>,
    ) -> Vec<LineEdit> {
        if folds.is_empty() && inlays.is_empty() && self.is_plain() {
            return self.sync_plain(buffer, dirty);
        }
        let old = std::mem::replace(self, ShownText::new(buffer.clone()));
        let mut builder = ShownTextBuilder {
            old: &old,
            pieces: SumTree::new(()),
        };
        let mut edits = Vec::new();
        let mut copied = ByteOffset(0);
        let mut rest = dirty;
        let mut ends_at_last_line = false;
        while !rest.is_empty() {
            let region = old.region(&mut rest);
            builder.copy(copied..region.old.start);
            ends_at_last_line = region.old_lines.end == old.line_count();
            let start_line = builder.pieces.summary().lines;
            builder.derive(region.new, ends_at_last_line, buffer, (folds, inlays));
            let end_line = builder.pieces.summary().lines;
            let new_lines = start_line..end_line + u32::from(ends_at_last_line);
            copied = region.old.end;
            edits.push(region.into_edit(new_lines));
        }
        if !ends_at_last_line {
            builder.copy_rest(copied);
        }
        self.pieces = builder.pieces;
        for edit in &mut edits {
            edit.has_breaks |= self.has_breaks(edit.new.clone());
        }
        edits
    }

    /// Like `sync` without any marks: the pieces are known, and only the lines need to be found.
    fn sync_plain(&mut self, buffer: &Snapshot, dirty: &[DirtySpan]) -> Vec<LineEdit> {
        let old = std::mem::replace(self, ShownText::new(buffer.clone()));
        let mut edits = Vec::with_capacity(dirty.len());
        let mut rest = dirty;
        while !rest.is_empty() {
            let region = old.region(&mut rest);
            let is_last = region.old_lines.end == old.line_count();
            let start = buffer.point_at(region.new.start).row.0;
            let end = if is_last {
                buffer.row_count()
            } else {
                buffer.point_at(region.new.end).row.0
            };
            edits.push(region.into_edit(start..end));
        }
        edits
    }

    /// Returns whether the buffer is shown without inlays and folds.
    fn is_plain(&self) -> bool {
        self.pieces.summary().shown == self.buffer.len().0
            && matches!(self.pieces.first(), None | Some(ShownPiece::Text { .. }))
            && self
                .pieces
                .first()
                .map_or(0, |piece| piece.summary(()).bytes)
                == self.buffer.len().0
    }

    /// Takes dirty spans off the front of `rest` as long as they concern the same lines. What a
    /// change newly hides lies in its dirty spans, so no line grows beyond theirs.
    fn region(&self, rest: &mut &[DirtySpan]) -> DirtyRegion {
        let first = rest[0];
        let mut last = first;
        *rest = &rest[1..];
        let first_line = self.line_at(first.old.start);
        let start_line = self.line_span(first_line);
        let start = start_line.bytes.start;
        let new_start = ByteOffset(first.new.start.0 - (first.old.start - start));
        let mut end_line = self.line_at(last.old.end) + 1;
        loop {
            let old_end = self.lines_end(end_line);
            if let Some(next) = rest.first()
                && (next.old.start < old_end || end_line == self.line_count())
            {
                last = *next;
                *rest = &rest[1..];
                end_line = end_line.max(self.line_at(last.old.end) + 1);
                continue;
            }
            let new_end = last.new.end + (old_end - last.old.end);
            let last_line = match end_line - 1 {
                line if line == first_line => start_line.shown.clone(),
                line => self.line_span(line).shown,
            };
            let unchanged_from = self.to_shown(last.old.end, Bias::Right);
            return DirtyRegion {
                old_lines: first_line..end_line,
                old: Span::new(start, old_end),
                new: Span::new(new_start, new_end),
                prefix: (self.to_shown(first.old.start, Bias::Left) - start_line.shown.start)
                    .min(start_line.shown.len()),
                suffix: last_line
                    .end
                    .saturating_sub(unchanged_from)
                    .min(last_line.len()),
                old_len: last_line.len(),
                had_breaks: self.has_breaks(first_line..end_line),
            };
        }
    }

    /// Returns the buffer offset of the end of the lines before `line`, including the last ending.
    fn lines_end(&self, line: u32) -> ByteOffset {
        if line >= self.line_count() {
            self.buffer.len()
        } else {
            self.line_start(line).1
        }
    }
}

struct ShownTextBuilder<'a> {
    old: &'a ShownText,
    pieces: SumTree<ShownPiece>,
}

impl ShownTextBuilder<'_> {
    /// Copies the old pieces between two line starts, or up to the end of the text.
    fn copy(&mut self, bytes: Range<ByteOffset>) {
        if bytes.start >= bytes.end {
            return;
        }
        let (start, end) = (bytes.start.0, bytes.end.0);
        let mut cursor = self.old.pieces.cursor::<ShownExtent>(());
        if start == 0 {
            cursor.next();
        } else {
            cursor.seek(&SeekByte(start), sum_tree::Bias::Left);
            let piece_end = cursor.end().bytes;
            if piece_end >= end {
                return self.push_text(start..end);
            }
            self.push_text(start..piece_end);
            cursor.next();
        }
        let run = cursor.slice(&SeekByte(end), sum_tree::Bias::Left);
        self.append(run);
        self.push_text(cursor.start().bytes..end);
    }

    /// Copies all old pieces from a line start on.
    fn copy_rest(&mut self, from: ByteOffset) {
        let mut cursor = self.old.pieces.cursor::<ShownExtent>(());
        if from.0 == 0 {
            cursor.next();
        } else {
            cursor.seek(&SeekByte(from.0), sum_tree::Bias::Left);
            self.push_text(from.0..cursor.end().bytes);
            cursor.next();
        }
        let run = cursor.suffix();
        self.append(run);
    }

    /// A run whose first piece may continue the text before it.
    fn append(&mut self, run: SumTree<ShownPiece>) {
        let joins = matches!(run.first(), Some(ShownPiece::Text { .. }))
            && matches!(self.pieces.last(), Some(ShownPiece::Text { .. }));
        if !joins {
            self.pieces.append(run, ());
            return;
        }
        let mut cursor = run.cursor::<ShownExtent>(());
        cursor.next();
        if let Some(ShownPiece::Text { bytes, newlines }) = cursor.item() {
            self.push(*bytes, *newlines);
        }
        cursor.next();
        let tail = cursor.suffix();
        self.pieces.append(tail, ());
    }

    /// Text of the old buffer.
    fn push_text(&mut self, bytes: Range<usize>) {
        if bytes.start < bytes.end {
            let newlines = self.old.row_at(bytes.end) - self.old.row_at(bytes.start);
            self.push(bytes.end - bytes.start, newlines);
        }
    }

    fn push(&mut self, more_bytes: usize, more_newlines: u32) {
        if more_bytes == 0 {
            return;
        }
        if let Some(ShownPiece::Text { .. }) = self.pieces.last() {
            self.pieces.update_last(
                |piece| {
                    if let ShownPiece::Text { bytes, newlines } = piece {
                        *bytes += more_bytes;
                        *newlines += more_newlines;
                    }
                },
                (),
            );
        } else {
            let piece = ShownPiece::Text {
                bytes: more_bytes,
                newlines: more_newlines,
            };
            self.pieces.push(piece, ());
        }
    }

    /// Pieces of the new text in whole lines, from the marks. `is_last`: the last line is meant too.
    fn derive(
        &mut self,
        span: Span,
        is_last: bool,
        buffer: &Snapshot,
        marks: (&SpanSet<FoldMark>, &SpanSet<InlayMark>),
    ) {
        let (folds, inlays) = marks;
        let row_at = |offset: ByteOffset| buffer.point_at(offset).row;
        let newlines = |from: ByteOffset, to: ByteOffset| row_at(to) - row_at(from);
        let mut folds = merged(folds, span, buffer).into_iter().peekable();
        let mut inlays = inlays
            .from(span.start.0)
            .map(|placed| (buffer.clip(placed.span.start, Bias::Left), placed.mark))
            .take_while(|(at, _)| *at < span.end || is_last)
            .peekable();
        let mut at = span.start;
        loop {
            let inlay_at = inlays.peek().map(|(offset, _)| *offset);
            let fold_at = folds.peek().map(|hidden| hidden.start);
            if let Some(offset) = inlay_at
                && fold_at.is_none_or(|fold_at| offset <= fold_at)
            {
                let Some((_, mark)) = inlays.next() else {
                    break;
                };
                if offset < at {
                    continue;
                }
                self.push(offset - at, newlines(at, offset));
                at = offset;
                let (id, text) = (mark.id, mark.text);
                self.pieces.push(ShownPiece::Inlay { id, text }, ());
            } else if let Some(hidden) = folds.next() {
                self.push(hidden.start - at, newlines(at, hidden.start));
                let piece = ShownPiece::Fold {
                    bytes: hidden.len(),
                    newlines: newlines(hidden.start, hidden.end),
                };
                self.pieces.push(piece, ());
                at = hidden.end;
            } else {
                break;
            }
        }
        if at > span.end {
            base::never!("a fold reaches out of the changed lines {span:?} to {at:?}");
        }
        self.push(span.end - at, newlines(at, span.end));
    }
}

/// Returns the hidden spans of folds that start in a span, overlapping ones joined.
fn merged(folds: &SpanSet<FoldMark>, span: Span, buffer: &Snapshot) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::new();
    let placed = folds
        .from(span.start.0)
        .take_while(|placed| placed.span.start < span.end);
    for placed in placed {
        let hidden = fold::hidden(placed.span, buffer);
        if hidden.is_empty() {
            continue;
        }
        match merged.last_mut() {
            Some(last) if hidden.start < last.end => *last = last.union(hidden),
            _ => merged.push(hidden),
        }
    }
    merged
}
