//! Folds: created from the syntax, removed when a caret enters them.

use base::{ByteOffset, Row, Span};
use gpui_kit::{Context, Window};
use text::NodeId;

use super::Editor;

/// Number of edits whose deleted folds are kept.
const MAX_LOST_EDITS: usize = 100;

/// Folds at one node of the undo history.
pub(crate) struct FoldState {
    node: NodeId,
    len: ByteOffset,
    folds: Vec<Span>,
}

/// Folds deleted by edits, oldest first. Bounded.
#[derive(Default)]
pub(crate) struct LostFolds(Vec<FoldState>);

impl LostFolds {
    pub(crate) fn note(&mut self, folded: FoldState) {
        if folded.folds.is_empty() {
            return;
        }
        self.0.retain(|other| other.node != folded.node);
        if self.0.len() == MAX_LOST_EDITS {
            self.0.remove(0);
        }
        self.0.push(folded);
    }
}

impl Editor {
    /// Returns the folds within the text that the edits delete.
    pub(crate) fn folded_in(&self, edits: &[text::Edit], cx: &Context<Self>) -> FoldState {
        let deleted = edits.iter().map(|edit| edit.span);
        let deleted = deleted.filter(|span| !span.is_empty());
        let folds = deleted.flat_map(|span| {
            let mut folds = self.display.folds_in(span);
            folds.retain(|fold| span.covers(*fold));
            folds
        });
        FoldState {
            folds: folds.collect(),
            node: self.history_node(cx),
            len: self.snapshot.len(),
        }
    }

    fn history_node(&self, cx: &Context<Self>) -> NodeId {
        let model = self.model.read(cx);
        model.document().buffer().history().current()
    }

    /// Restores the folds of the history node that undo or redo returned to.
    pub(crate) fn fold_again(&mut self, cx: &mut Context<Self>) {
        let node = self.history_node(cx);
        let len = self.snapshot.len();
        let is_here = |state: &&FoldState| state.node == node && state.len == len;
        let folds = self.lost_folds.0.iter().find(is_here);
        if let Some(folds) = folds.map(|state| state.folds.clone()) {
            self.change_map(cx, |map| map.fold(&folds));
        }
    }

    pub(crate) fn fold(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let rows = self.caret_rows();
        let spans: Vec<Span> = rows
            .iter()
            .filter_map(|row| self.foldable_around(*row, cx))
            .collect();
        self.fold_spans(&spans, cx);
    }

    pub(crate) fn unfold(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        let rows = self.caret_rows();
        let rows: Vec<Span> = rows.iter().map(|row| self.shown_row_span(*row)).collect();
        self.change_map(cx, |map| rows.into_iter().for_each(|span| map.unfold(span)));
    }

    pub(crate) fn toggle_fold(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let row = self.snapshot.point_at(self.selections.primary().head).row;
        match self.fold_starting_at(row) {
            Some(_) => self.unfold(window, cx),
            None => self.fold(window, cx),
        }
    }

    pub(crate) fn fold_all(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let Some(syntax) = self.model.read(cx).syntax().cloned() else {
            return;
        };
        let rows = Row(0)..Row(self.snapshot.row_count());
        let spans: Vec<Span> = syntax
            .folds(&self.snapshot, rows)
            .iter()
            .map(|fold| Span::new(fold.start, fold.end))
            .collect();
        self.fold_spans(&spans, cx);
    }

    pub(crate) fn unfold_all(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.change_map(cx, |map| map.unfold_all());
    }

    /// Folds or unfolds the block that starts in a row, on a click on its arrow.
    pub(crate) fn toggle_fold_at(&mut self, row: Row, cx: &mut Context<Self>) {
        self.sync(cx);
        match self.fold_starting_at(row) {
            Some(span) => self.change_map(cx, |map| map.unfold(span)),
            None => {
                if let Some(span) = self.foldable_at(row, cx) {
                    self.fold_spans(&[span], cx);
                }
            }
        }
    }

    fn fold_spans(&mut self, spans: &[Span], cx: &mut Context<Self>) {
        if spans.is_empty() {
            return;
        }
        self.change_map(cx, |map| map.fold(spans));
        self.move_carets_out_of_folds(cx);
    }

    /// Returns the fold whose placeholder is in a row.
    pub(crate) fn fold_starting_at(&self, row: Row) -> Option<Span> {
        let folds = self
            .display
            .folds_in(self.snapshot.row_span_with_ending(row));
        folds
            .into_iter()
            .find(|span| self.snapshot.point_at(span.start).row == row)
    }

    /// Returns the span that can be folded from a row.
    pub(crate) fn foldable_at(&self, row: Row, cx: &Context<Self>) -> Option<Span> {
        match self.model.read(cx).syntax() {
            Some(syntax) if syntax.has_tree() => {
                let fold = syntax.fold_at(&self.snapshot, row)?;
                Some(Span::new(fold.start, fold.end))
            }
            _ => self.foldable_by_indent(row),
        }
    }

    /// Returns the rows indented deeper than this one, for text without a grammar.
    fn foldable_by_indent(&self, row: Row) -> Option<Span> {
        /// Longer blocks are searched only up to this many rows.
        const MAX_ROWS: u32 = 10_000;
        let indent = |row: Row| {
            let start = self.snapshot.row_start(row);
            let mut chars = self.snapshot.chars_at(start).take(200);
            let blanks = chars
                .by_ref()
                .take_while(|char| *char == ' ' || *char == '\t')
                .count();
            (self.snapshot.row_len(row).0 as usize > blanks).then_some(blanks)
        };
        let own = indent(row)?;
        let mut last = None;
        let end = (row.0 + MAX_ROWS).min(self.snapshot.last_row().0);
        for next in row.0 + 1..=end {
            match indent(Row(next)) {
                Some(depth) if depth > own => last = Some(Row(next)),
                Some(_) => break,
                None => {}
            }
        }
        Some(Span::new(
            self.snapshot.row_end(row),
            self.snapshot.row_end(last?),
        ))
    }

    fn foldable_around(&self, row: Row, cx: &Context<Self>) -> Option<Span> {
        /// Blocks that start further up are ignored.
        const MAX_ROWS: u32 = 2_000;
        let first = row.0.saturating_sub(MAX_ROWS);
        let line = self.snapshot.row_span(row);
        (first..=row.0).rev().map(Row).find_map(|start| {
            let span = self.foldable_at(start, cx)?;
            let is_around = start == row || span.end >= line.start;
            (is_around && self.fold_starting_at(start).is_none()).then_some(span)
        })
    }

    fn caret_rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self
            .selections
            .iter()
            .map(|selection| self.snapshot.point_at(selection.head).row)
            .collect();
        rows.dedup();
        rows
    }

    /// Returns the bytes of the display row that contains a row, including folded ones.
    fn shown_row_span(&self, row: Row) -> Span {
        self.snapshot.row_span_with_ending(row)
    }

    /// Unfolds the folds that contain an end of a selection.
    pub(crate) fn unfold_at_carets(&mut self, cx: &mut Context<Self>) {
        let ends = self
            .selections
            .iter()
            .flat_map(|selection| [selection.start(), selection.end()]);
        let hidden: Vec<Span> = ends
            .filter_map(|end| {
                let span = self.display.fold_containing(end)?;
                (span.start < end && end < span.end).then_some(span)
            })
            .collect();
        if !hidden.is_empty() {
            self.change_map(cx, |map| {
                hidden.into_iter().for_each(|span| map.unfold(span))
            });
        }
    }

    fn move_carets_out_of_folds(&mut self, cx: &mut Context<Self>) {
        let display = &self.display;
        let out = |offset: ByteOffset| match display.fold_containing(offset) {
            Some(span) if span.start < offset && offset < span.end => span.start,
            _ => offset,
        };
        let selections = self.selections.transform(|selection| {
            text::Selection::new(out(selection.anchor), out(selection.head))
        });
        self.set_selections(selections, cx);
    }
}
