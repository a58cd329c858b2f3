//! Folds that a source knows: all of them in a text without a syntax tree; beside a tree, those of
//! comments, imports and regions.
//!
//! They are annotations of the document, requested by `annotations`.
//! Start at `folds_in`.

use std::ops::Range;

use base::{Row, Span};
use gpui_kit::App;
use lsp::FoldingKind;

use super::Editor;

/// Returns the fold of the source that starts in `row`, from the end of the row to the end of another.
pub(super) fn fold_at(editor: &Editor, row: Row, has_tree: bool, cx: &App) -> Option<Span> {
    let folds = folds_in(editor, row..row + 1, has_tree, cx);
    folds.into_iter().next()
}

/// Returns the folds of the source that start in `rows`, at most one for each row, in text order. With
/// a tree, only those of a kind that trees may not know.
pub(crate) fn folds_in(editor: &Editor, rows: Range<Row>, has_tree: bool, cx: &App) -> Vec<Span> {
    let snapshot = &editor.snapshot;
    let rows = rows.start..rows.end.min(snapshot.last_row() + 1);
    if rows.start >= rows.end {
        return Vec::new();
    }
    let span = Span::new(
        snapshot.row_start(rows.start),
        snapshot.row_end(rows.end - 1),
    );
    let model = editor.model.read(cx);
    let known = model.annotations_in::<Option<FoldingKind>>(span);
    let known = known.into_iter();
    let known = known.filter(|(_, kind)| kind.is_some() || !has_tree);
    // An edit may have moved an end into a row.
    let folds = known.filter_map(|(fold, _)| {
        let first = snapshot.point_at(fold.start).row;
        let last = snapshot.point_at(fold.end).row;
        let is_fold = rows.contains(&first) && first < last;
        is_fold.then(|| Span::new(snapshot.row_end(first), snapshot.row_end(last)))
    });
    let mut folds: Vec<Span> = folds.collect();
    folds.sort_by_key(|fold| (fold.start, std::cmp::Reverse(fold.end)));
    folds.dedup_by_key(|fold| fold.start);
    folds
}
