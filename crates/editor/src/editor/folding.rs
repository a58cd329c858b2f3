//! Folds: created from the syntax, removed when a caret enters them.

use std::ops::Range;
use std::sync::Arc;

use base::{ByteOffset, Revision, Row, Span};
use gpui_kit::{Context, Window};
use lsp::FoldingKind;
use text::NodeId;

use super::Editor;
use super::folding_ranges::{self, folds_in};

/// Number of edits whose deleted folds are kept.
const MAX_LOST_EDITS: usize = 100;

/// The folds that a text had at one node of its undo history, to be restored by undo.
pub(crate) struct FoldState {
    node: NodeId,
    len: ByteOffset,
    folds: Vec<Span>,
}

/// Visible rows that start a fold, with the text, tree, version of the source's folds and rows they
/// were computed for.
type FoldableRows = ((Revision, Option<Revision>, u64, Range<Row>), Arc<[Row]>);

/// Fold state of a view, besides the folds in its display map.
#[derive(Default)]
pub(crate) struct Folding {
    pub(crate) lost: LostFolds,
    pub(crate) foldable: Option<FoldableRows>,
}

/// Folds deleted by edits, oldest first. Bounded.
#[derive(Default)]
pub(crate) struct LostFolds(Vec<FoldState>);

impl LostFolds {
    /// Stores the folds that an edit deletes, in place of folds stored earlier for the same history
    /// node. Beyond `MAX_LOST_EDITS` entries, drops the oldest.
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
    /// Unfolds the folds that hide an end of a selection.
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
}

/// Returns the folds within the text that `edits` delete, with the current history node. Call this
/// before applying the edits.
pub(crate) fn folded_in(editor: &Editor, edits: &[text::Edit], cx: &Context<Editor>) -> FoldState {
    let deleted = edits.iter().map(|edit| edit.span);
    let deleted = deleted.filter(|span| !span.is_empty());
    let folds = deleted.flat_map(|span| {
        let mut folds = editor.display.folds_in(span);
        folds.retain(|fold| span.covers(*fold));
        folds
    });
    FoldState {
        folds: folds.collect(),
        node: history_node(editor, cx),
        len: editor.snapshot.len(),
    }
}

fn history_node(editor: &Editor, cx: &Context<Editor>) -> NodeId {
    let model = editor.model.read(cx);
    model.document().buffer().history().current()
}

/// Restores the folds of the history node to which undo or redo returned. Does nothing if no folds
/// are stored for this node.
pub(crate) fn fold_again(editor: &mut Editor, cx: &mut Context<Editor>) {
    let node = history_node(editor, cx);
    let len = editor.snapshot.len();
    let is_here = |state: &&FoldState| state.node == node && state.len == len;
    let folds = editor.folding.lost.0.iter().find(is_here);
    if let Some(folds) = folds.map(|state| state.folds.clone()) {
        editor.change_map(cx, |map| map.fold(&folds));
    }
}

/// Handler of an action: folds the innermost block around each caret.
pub(crate) fn fold(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let rows = caret_rows(editor);
    let spans: Vec<Span> = rows
        .iter()
        .filter_map(|row| foldable_around(editor, *row, cx))
        .collect();
    fold_spans(editor, &spans, cx);
}

/// Handler of an action: unfolds the folds in the row of each caret.
pub(crate) fn unfold(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    let rows = caret_rows(editor);
    let rows: Vec<Span> = rows
        .iter()
        .map(|row| shown_row_span(editor, *row))
        .collect();
    editor.change_map(cx, |map| rows.into_iter().for_each(|span| map.unfold(span)));
}

/// Handler of an action: unfolds the fold in the row of the newest caret, or folds the block around
/// this caret if the row has no fold.
pub(crate) fn toggle_fold(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let row = editor
        .snapshot
        .point_at(editor.selections.primary().head)
        .row;
    match fold_starting_at(editor, row) {
        Some(_) => unfold(editor, window, cx),
        None => fold(editor, window, cx),
    }
}

/// Handler of an action: folds every block of the text. Takes time proportional to the text. Does
/// nothing for large files, and for plain text whose folds no source knows.
pub(crate) fn fold_all(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    fold_everything(editor, cx);
}

/// Folds every block of the text, as `fold_all` does.
pub(super) fn fold_everything(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let rows = Row(0)..Row(editor.snapshot.row_count());
    let syntax = editor.model.read(cx).syntax();
    let has_tree = syntax.is_some_and(|syntax| syntax.has_tree());
    let known = folds_in(editor, rows.clone(), has_tree, cx);
    // Without a tree, the folds of the source are better than those by indentation.
    let syntax = syntax.filter(|_| has_tree || known.is_empty());
    let folds = syntax.map(|syntax| syntax.folds(&editor.snapshot, rows));
    let folds = folds.into_iter().flatten();
    let folds = folds.map(|fold| Span::new(fold.start, fold.end));
    let spans: Vec<Span> = folds.chain(known).collect();
    fold_spans(editor, &spans, cx);
}

/// Handler of an action: unfolds everything.
pub(crate) fn unfold_all(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.change_map(cx, |map| map.unfold_all());
}

/// Folds or unfolds the block that starts in a row, after a click on the fold arrow of the row.
/// Does nothing if the row starts no block.
pub(crate) fn toggle_fold_at(editor: &mut Editor, row: Row, cx: &mut Context<Editor>) {
    editor.sync(cx);
    match fold_starting_at(editor, row) {
        Some(span) => editor.change_map(cx, |map| map.unfold(span)),
        None => {
            if let Some(span) = foldable_at(editor, row, cx) {
                fold_spans(editor, &[span], cx);
            }
        }
    }
}

/// Folds the innermost block around a row that is not folded yet. Does nothing if there is none.
pub(super) fn fold_around(editor: &mut Editor, row: Row, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let row = row.min(editor.snapshot.last_row());
    if let Some(span) = foldable_around(editor, row, cx) {
        fold_spans(editor, &[span], cx);
    }
}

fn fold_spans(editor: &mut Editor, spans: &[Span], cx: &mut Context<Editor>) {
    if spans.is_empty() {
        return;
    }
    editor.change_map(cx, |map| map.fold(spans));
    move_carets_out_of_folds(editor, cx);
}

/// Returns the fold whose placeholder is in a row. Returns `None` if the row has no placeholder.
pub(crate) fn fold_starting_at(editor: &Editor, row: Row) -> Option<Span> {
    let folds = editor
        .display
        .folds_in(editor.snapshot.row_span_with_ending(row));
    folds
        .into_iter()
        .find(|span| editor.snapshot.point_at(span.start).row == row)
}

/// Returns the span that can be folded from a row: by the syntax tree, by the source of folds, or by
/// indentation if neither knows any. Returns `None` if nothing can be folded from this row.
pub(crate) fn foldable_at(editor: &Editor, row: Row, cx: &Context<Editor>) -> Option<Span> {
    let model = editor.model.read(cx);
    match model.syntax() {
        Some(syntax) if syntax.has_tree() => {
            let fold = syntax.fold_at(&editor.snapshot, row);
            let fold = fold.map(|fold| Span::new(fold.start, fold.end));
            fold.or_else(|| folding_ranges::fold_at(editor, row, true, cx))
        }
        _ if model.has_annotations::<Option<FoldingKind>>() => {
            folding_ranges::fold_at(editor, row, false, cx)
        }
        _ => foldable_by_indent(editor, row),
    }
}

/// Returns the span from the end of a row to the end of the last of the rows below it that are
/// indented deeper. Returns `None` if the row is blank or no such row follows.
fn foldable_by_indent(editor: &Editor, row: Row) -> Option<Span> {
    /// Longer blocks are searched only up to this many rows.
    const MAX_ROWS: u32 = 10_000;
    let indent = |row: Row| {
        let start = editor.snapshot.row_start(row);
        let mut chars = editor.snapshot.chars_at(start).take(200);
        let blanks = chars
            .by_ref()
            .take_while(|char| *char == ' ' || *char == '\t')
            .count();
        (editor.snapshot.row_len(row).0 as usize > blanks).then_some(blanks)
    };
    let own = indent(row)?;
    let mut last = None;
    let end = (row.0 + MAX_ROWS).min(editor.snapshot.last_row().0);
    for next in row.0 + 1..=end {
        match indent(Row(next)) {
            Some(depth) if depth > own => last = Some(Row(next)),
            Some(_) => break,
            None => {}
        }
    }
    Some(Span::new(
        editor.snapshot.row_end(row),
        editor.snapshot.row_end(last?),
    ))
}

/// Returns the innermost span around a row that can be folded and is not folded yet. Returns `None`
/// if there is none, or if it begins more than `MAX_ROWS` rows further up.
fn foldable_around(editor: &Editor, row: Row, cx: &Context<Editor>) -> Option<Span> {
    /// Blocks that start further up are ignored.
    const MAX_ROWS: u32 = 2_000;
    let first = row.0.saturating_sub(MAX_ROWS);
    let line = editor.snapshot.row_span(row);
    (first..=row.0).rev().map(Row).find_map(|start| {
        let span = foldable_at(editor, start, cx)?;
        let is_around = start == row || span.end >= line.start;
        (is_around && fold_starting_at(editor, start).is_none()).then_some(span)
    })
}

fn caret_rows(editor: &Editor) -> Vec<Row> {
    let mut rows: Vec<Row> = editor
        .selections
        .iter()
        .map(|selection| editor.snapshot.point_at(selection.head).row)
        .collect();
    rows.dedup();
    rows
}

/// Returns the bytes of the display row that contains a row, including folded ones.
fn shown_row_span(editor: &Editor, row: Row) -> Span {
    editor.snapshot.row_span_with_ending(row)
}

fn move_carets_out_of_folds(editor: &mut Editor, cx: &mut Context<Editor>) {
    let display = &editor.display;
    let out = |offset: ByteOffset| match display.fold_containing(offset) {
        Some(span) if span.start < offset && offset < span.end => span.start,
        _ => offset,
    };
    let selections = editor
        .selections
        .transform(|selection| text::Selection::new(out(selection.anchor), out(selection.head)));
    editor.set_selections(selections, cx);
}
