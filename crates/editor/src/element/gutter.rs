//! The gutter: line numbers, fold arrows, and bars for changes since the last commit.

use base::Row;
use gpui_kit::{Bounds, Context, Hsla, PaintQuad, Pixels, fill, point, px, size};
use lsp::FoldingKind;
use settings::LineNumbers;
use text::RowHunk;
use ui::ActiveTheme as _;

use super::layout::{Decorator, TextLayout};
use crate::editor::Editor;
use crate::editor::folding_ranges::folds_in;
use crate::editor::light_bulb::{self, BulbColumn};

/// Gutter content beside one visible row: line number and fold arrow.
pub(crate) struct GutterRow {
    /// Index of the row among the visible ones.
    pub(crate) ix: usize,
    pub(crate) number: Option<u32>,
    pub(crate) color: Hsla,
    pub(crate) arrow: Option<FoldArrow>,
}

/// State of a fold arrow: the block is open or folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldArrow {
    /// The block can be folded.
    Open,
    /// The block is folded.
    Folded,
}

impl Decorator<'_> {
    pub(super) fn lay_out_gutter(&mut self, cx: &Context<Editor>) {
        let colors = cx.theme().colors;
        let current = self
            .editor
            .snapshot
            .point_at(self.editor.selections.primary().head)
            .row;
        let foldable = self.foldable_rows(cx);
        let visible = self.layout.geometry.buffer_rows.clone();
        let numbers = self
            .editor
            .excerpts
            .as_ref()
            .map(|excerpts| excerpts.read(cx).numbers(visible.clone(), cx));
        let diagnosed = self.diagnostic_rows(cx);
        let bulb = light_bulb::shown(self.editor);
        let bulb = bulb.filter(|bulb| bulb.column == BulbColumn::Numbers);
        let number_of = |row: Row| match &numbers {
            Some(numbers) => row
                .0
                .checked_sub(visible.start.0)
                .and_then(|ix| numbers.get(ix as usize).copied()),
            None => Some(row.0 + 1),
        };
        for (ix, row) in self
            .layout
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.begins)
        {
            let is_current = row.buffer_row == current;
            let number = match self.editor.settings.line_numbers {
                LineNumbers::Off => None,
                _ if bulb.is_some_and(|bulb| bulb.row == row.buffer_row) => None,
                LineNumbers::Relative if !is_current => Some(row.buffer_row.0.abs_diff(current.0)),
                LineNumbers::On | LineNumbers::Relative => number_of(row.buffer_row),
            };
            let arrow = if self.editor.settings.fold_arrows && !row.shape.folds.is_empty() {
                Some(FoldArrow::Folded)
            } else if self.editor.settings.fold_arrows
                && foldable.binary_search(&row.buffer_row).is_ok()
            {
                Some(FoldArrow::Open)
            } else {
                None
            };
            let found = diagnosed.binary_search_by_key(&row.buffer_row, |(row, _)| *row);
            let color = if let Some((_, color)) = found.ok().and_then(|ix| diagnosed.get(ix)) {
                *color
            } else if is_current {
                colors.line_number_active
            } else {
                colors.line_number
            };
            self.layout.gutter.push(GutterRow {
                ix,
                number,
                color,
                arrow,
            });
        }
        if self.editor.settings.change_bars {
            self.add_change_bars(cx);
        }
    }

    /// Returns the visible rows where a fold begins; recomputed when the text or the visible range
    /// changes.
    fn foldable_rows(&mut self, cx: &Context<Editor>) -> std::sync::Arc<[Row]> {
        if !self.editor.settings.fold_arrows || !self.editor.mouse.is_over_gutter {
            return Default::default();
        }
        let rows = self.layout.geometry.buffer_rows.clone();
        let model = self.editor.model.read(cx);
        let syntax = model.syntax().filter(|syntax| syntax.has_tree());
        let snapshot = &self.editor.snapshot;
        let key = (
            snapshot.revision(),
            syntax.and_then(|syntax| syntax.parsed_revision()),
            model.annotation_version::<Option<FoldingKind>>(),
            rows.clone(),
        );
        if let Some((known, found)) = &self.editor.folding.foldable
            && *known == key
        {
            return found.clone();
        }
        let folds = syntax.map(|syntax| syntax.folds(snapshot, rows.clone()));
        let starts = folds.into_iter().flatten().map(|fold| fold.start);
        let known = folds_in(self.editor, rows, syntax.is_some(), cx);
        let starts = starts.chain(known.iter().map(|fold| fold.start));
        let mut found: Vec<Row> = starts.map(|start| snapshot.point_at(start).row).collect();
        found.sort_unstable();
        found.dedup();
        let found: std::sync::Arc<[Row]> = found.into();
        self.editor.folding.foldable = Some((key, found.clone()));
        found
    }

    fn add_change_bars(&mut self, cx: &Context<Editor>) {
        let model = self.editor.model.read(cx);
        let rows = &self.layout.geometry.buffer_rows;
        let hunks = model.hunks();
        let first = hunks.partition_point(|hunk| hunk.after.end < rows.start);
        let mut quads = Vec::new();
        for hunk in hunks[first..]
            .iter()
            .take_while(|hunk| hunk.after.start <= rows.end)
        {
            quads.extend(change_bar(hunk, self.layout, cx));
        }
        self.layout.grounds.append(&mut quads);
    }
}

/// Returns the bar beside the added or changed rows of a hunk, or a notch where rows were removed.
/// Returns `None` if none of its rows is visible.
fn change_bar(hunk: &RowHunk, layout: &TextLayout, cx: &Context<Editor>) -> Option<PaintQuad> {
    let colors = cx.theme().colors;
    let geometry = &layout.geometry;
    let x = geometry.gutter.left();
    if hunk.after.is_empty() {
        // A notch between two rows marks a deletion.
        let row = layout
            .rows
            .iter()
            .find(|row| row.buffer_row >= hunk.after.start && row.begins);
        let y = match row {
            Some(row) => geometry.y_of(row.y),
            None => geometry.y_of(layout.rows.last()?.y + 1.0),
        };
        let bounds = Bounds::new(point(x, y - px(3.0)), size(px(8.0), px(6.0)));
        return Some(fill(bounds, colors.removed).corner_radii(px(2.0)));
    }
    let touched: Vec<&super::layout::VisibleRow> = layout
        .rows
        .iter()
        .filter(|row| hunk.after.contains(row.buffer_row))
        .collect();
    let (first, last) = (touched.first()?, touched.last()?);
    let color = if hunk.before.is_empty() {
        colors.added
    } else {
        colors.changed
    };
    let top = geometry.y_of(first.y);
    let height: Pixels = geometry.y_of(last.y + 1.0) - top;
    Some(
        fill(
            Bounds::new(point(x + px(1.0), top), size(px(3.0), height)),
            color,
        )
        .corner_radii(px(1.0)),
    )
}
