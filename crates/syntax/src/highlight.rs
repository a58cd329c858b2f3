//! Syntax highlights of a span.
//!
//! One pass of the combined query over the visible nodes finds captures and injections; injections
//! are then painted over their hosts, inner nodes over outer ones, later patterns over earlier.

use base::Span;
use text::Snapshot;
use tree_sitter::{Node, QueryMatch, StreamingIterator};

use crate::cursors::{matches, with_query_cursor};
use crate::grammar::{CaptureKind, Grammar};
use crate::highlight_kind::{Highlight, HighlightKind};
use crate::injection::{Injection, injection_of};
use crate::layers::small::SmallLayer;
use crate::snapshot::{SyntaxSnapshot, TreeRef, TreeView};
use crate::source::TextWindow;

/// Result of a query capture: paint `kind`, or clear, over these bytes of the tree.
struct PaintSpan {
    start: u32,
    end: u32,
    pattern: u32,
    kind: Option<HighlightKind>,
}

impl SyntaxSnapshot {
    /// Returns the highlights of `span`, including injections: sorted, disjoint, clipped to the
    /// span. Text without a kind is omitted. Takes time proportional to the span, so query only the
    /// visible part.
    pub fn highlights(&self, text: &Snapshot, span: Span) -> Vec<Highlight> {
        let end = span.end.min(text.len());
        let span = Span::new(span.start.min(end), end);
        let Some(view) = self.root_view() else {
            return Vec::new();
        };
        if span.is_empty() || !self.language().is_prepared() {
            return Vec::new();
        }
        let mut canvas = Canvas::new(span);
        self.paint(&view, text, span, &mut canvas);
        canvas.highlights(0)
    }

    /// Paints one tree, then the injections in it.
    fn paint(&self, view: &TreeView<'_>, text: &Snapshot, span: Span, canvas: &mut Canvas) {
        let (mut strokes, mut injections) = find(view, text, span);
        strokes.sort_unstable_by_key(|stroke| {
            (stroke.start, std::cmp::Reverse(stroke.end), stroke.pattern)
        });
        for stroke in strokes {
            let start = stroke.start as usize + view.shift;
            canvas.paint(start, stroke.end as usize + view.shift, stroke.kind);
        }
        injections.sort_by_key(|injection| (injection.span.start, injection.span.end));
        injections.dedup_by_key(|injection| injection.span);
        for injection in &injections {
            if let Some(inner) = self.view_of(view, injection, text) {
                let start = injection.span.start + view.shift;
                let end = injection.span.end + view.shift;
                let visible = Span::new(start.max(span.start), end.min(span.end).max(span.start));
                match &inner.tree {
                    TreeRef::Kept(_) => self.paint(&inner, text, visible, canvas),
                    TreeRef::Small(layer) => {
                        let whole = Span::new(start, end);
                        self.paint_small(&inner, layer, text, whole, canvas);
                    }
                }
            }
        }
    }

    /// Paints a small injection, whose highlights are cached with its tree.
    fn paint_small(
        &self,
        view: &TreeView<'_>,
        layer: &SmallLayer,
        text: &Snapshot,
        span: Span,
        canvas: &mut Canvas,
    ) {
        let highlights = layer.highlights.get_or_init(|| {
            let mut own = Canvas::new(span);
            self.paint(view, text, span, &mut own);
            own.highlights(span.start.0)
        });
        for Highlight { span: own, kind } in highlights {
            let shift = span.start.0;
            canvas.paint(own.start.0 + shift, own.end.0 + shift, Some(*kind));
        }
    }
}

/// Runs a grammar's query over the part of its tree that `span` shows.
fn find(view: &TreeView<'_>, text: &Snapshot, span: Span) -> (Vec<PaintSpan>, Vec<Injection>) {
    let grammar = view.language.grammar();
    let (mut strokes, mut injections) = (Vec::new(), Vec::new());
    let Some(query) = &grammar.highlights else {
        return (strokes, injections);
    };
    let shift = view.shift;
    let window = TextWindow::new(text, span.range());
    let bytes =
        |range: std::ops::Range<usize>| window.bytes(range.start + shift..range.end + shift);
    let visible = span.start.0.saturating_sub(shift)..span.end.0.saturating_sub(shift);
    with_query_cursor(visible, |cursor| {
        let provider = |node: Node<'_>| std::iter::once(bytes(node.byte_range()));
        let mut matches = matches(cursor, query, view.root(), provider);
        while let Some(one) = matches.next() {
            if one.pattern_index < grammar.injection_patterns {
                injections.extend(injection_of(query, one, bytes));
            } else {
                collect(grammar, one, &mut strokes);
            }
        }
    });
    (strokes, injections)
}

fn collect(grammar: &Grammar, one: &QueryMatch<'_, '_>, strokes: &mut Vec<PaintSpan>) {
    for capture in one.captures {
        let kind = match grammar.capture_kinds[capture.index as usize] {
            CaptureKind::Paint(kind) => Some(kind),
            CaptureKind::Clear => None,
            _ => continue,
        };
        strokes.push(PaintSpan {
            start: u32::try_from(capture.node.start_byte()).unwrap_or(u32::MAX),
            end: u32::try_from(capture.node.end_byte()).unwrap_or(u32::MAX),
            pattern: u32::try_from(one.pattern_index).unwrap_or(u32::MAX),
            kind,
        });
    }
}

/// The kind of every byte of the queried span, overwritten in paint order.
struct Canvas {
    start: usize,
    kinds: Vec<Option<HighlightKind>>,
}

impl Canvas {
    fn new(span: Span) -> Canvas {
        Canvas {
            start: span.start.0,
            kinds: vec![None; span.len()],
        }
    }

    fn paint(&mut self, start: usize, end: usize, kind: Option<HighlightKind>) {
        let from = start.saturating_sub(self.start).min(self.kinds.len());
        let to = end.saturating_sub(self.start).min(self.kinds.len());
        if from < to {
            self.kinds[from..to].fill(kind);
        }
    }

    /// The runs of one kind, counted from `origin`.
    fn highlights(&self, origin: usize) -> Vec<Highlight> {
        let mut highlights = Vec::new();
        let mut at = self.start - origin;
        for run in self.kinds.chunk_by(|a, b| a == b) {
            let end = at + run.len();
            if let Some(kind) = run[0] {
                let span = Span::from(at..end);
                highlights.push(Highlight { span, kind });
            }
            at = end;
        }
        highlights
    }
}

#[cfg(test)]
mod tests;
