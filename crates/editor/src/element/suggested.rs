//! Backgrounds and lines of a suggestion in the text: insertions and deletions.

use base::Row;
use gpui_kit::{Bounds, Context, Hsla, fill, point, px, size};
use ui::ActiveTheme as _;

use super::layout::{Decorator, TextLayout, VisibleRow};
use super::ranges::{CellRange, bounds_of, boxes, stretches};
use crate::editor::Editor;
use crate::frame::InlayPart;
use crate::suggestion::SuggestionStyle;

/// Corner radius of the backgrounds, in pixels.
const ROUND: f32 = 3.0;

impl Decorator<'_> {
    pub(super) fn add_suggested(&mut self, cx: &Context<Editor>) {
        let (editor, layout) = (&*self.editor, &mut *self.layout);
        let Some(shown) = editor.suggestion.in_text() else {
            return;
        };
        let colors = cx.theme().colors;
        for rows in &shown.gone_rows {
            add_gone_rows(editor, layout, *rows, colors.removed_ground);
        }
        add_put_in(editor, layout, colors.added_ground);
        for span in &shown.struck {
            let found = stretches(*span, layout.span, &layout.rows, &editor.display);
            let quads = boxes(
                &found,
                &layout.rows,
                &layout.geometry,
                colors.removed_ground,
                ROUND,
            );
            layout.grounds.extend(quads);
            for stretch in &found {
                let bounds = bounds_of(stretch, &layout.rows, &layout.geometry);
                let y = bounds.top() + (layout.geometry.line_height * 0.55).floor();
                let line = Bounds::new(point(bounds.left(), y), size(bounds.size.width, px(1.0)));
                layout.fronts.push(fill(line, colors.removed));
            }
        }
    }
}

/// Adds the backgrounds of the rows that the suggestion removes.
fn add_gone_rows(editor: &Editor, layout: &mut TextLayout, (first, last): (Row, Row), color: Hsla) {
    for row in &layout.rows {
        let is_gone = first <= row.buffer_row && row.buffer_row <= last;
        if is_gone && added_part(editor, row).is_none() {
            let bounds = layout.geometry.row_bounds(row.y);
            layout.grounds.push(fill(bounds, color));
        }
    }
}

/// Returns the inlay part if the whole display row is inserted.
fn added_part(editor: &Editor, row: &VisibleRow) -> Option<InlayPart> {
    let is_added = |part: &&InlayPart| {
        let look = editor.suggestion.looks.get(&part.id).map(|look| look.look);
        look == Some(SuggestionStyle::AddedRows) && part.start > 0
    };
    row.shape.inlays.iter().find(is_added).copied()
}

/// Adds the backgrounds of the text that the suggestion inserts.
fn add_put_in(editor: &Editor, layout: &mut TextLayout, color: Hsla) {
    for (ix, row) in layout.rows.iter().enumerate() {
        if added_part(editor, row).is_some() {
            let bounds = layout.geometry.row_bounds(row.y);
            layout.grounds.push(fill(bounds, color));
            continue;
        }
        for part in &row.shape.inlays {
            let look = editor.suggestion.looks.get(&part.id).map(|look| look.look);
            if look != Some(SuggestionStyle::Added) || part.cells == 0 {
                continue;
            }
            let stretch = CellRange {
                ix,
                from: part.cell,
                to: part.cell + part.cells,
            };
            let bounds = bounds_of(&stretch, &layout.rows, &layout.geometry);
            let quad = fill(bounds, color).corner_radii(px(ROUND));
            layout.grounds.push(quad);
        }
    }
}
