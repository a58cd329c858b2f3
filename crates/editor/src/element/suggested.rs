//! Backgrounds and lines of a suggestion in the text: insertions and deletions.

use base::Row;
use gpui_kit::{Bounds, Context, fill, point, px, size};
use ui::ActiveTheme as _;

use super::layout::{TextLayout, VisibleRow};
use super::ranges::{CellRange, bounds_of, boxes, stretches};
use super::shape::InlayPart;
use crate::editor::Editor;
use crate::suggestion::SuggestionStyle;

/// Corner radius of the backgrounds, in pixels.
const ROUND: f32 = 3.0;

impl Editor {
    pub(super) fn add_suggested(&self, layout: &mut TextLayout, cx: &Context<Self>) {
        let Some(shown) = self.suggesting.in_text() else {
            return;
        };
        let colors = cx.theme().colors;
        for rows in &shown.gone_rows {
            self.add_gone_rows(layout, *rows, colors.removed_ground);
        }
        self.add_put_in(layout, colors.added_ground);
        for span in &shown.struck {
            let found = stretches(*span, layout.span, &layout.rows, &self.display);
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

    fn add_gone_rows(
        &self,
        layout: &mut TextLayout,
        (first, last): (Row, Row),
        color: gpui_kit::Hsla,
    ) {
        for row in &layout.rows {
            let is_gone = first <= row.buffer_row && row.buffer_row <= last;
            if is_gone && self.added_part(row).is_none() {
                layout
                    .grounds
                    .push(fill(layout.geometry.row_bounds(row.y), color));
            }
        }
    }

    /// Returns the inlay part if the whole display row is inserted.
    fn added_part(&self, row: &VisibleRow) -> Option<InlayPart> {
        let is_added = |part: &&InlayPart| {
            let look = self.suggesting.looks.get(&part.id).map(|look| look.look);
            look == Some(SuggestionStyle::AddedRows) && part.start > 0
        };
        row.shape.inlays.iter().find(is_added).copied()
    }

    fn add_put_in(&self, layout: &mut TextLayout, color: gpui_kit::Hsla) {
        let mut quads = Vec::new();
        for (ix, row) in layout.rows.iter().enumerate() {
            if self.added_part(row).is_some() {
                quads.push(fill(layout.geometry.row_bounds(row.y), color));
                continue;
            }
            for part in &row.shape.inlays {
                let look = self.suggesting.looks.get(&part.id).map(|look| look.look);
                if look != Some(SuggestionStyle::Added) || part.cells == 0 {
                    continue;
                }
                let stretch = CellRange {
                    ix,
                    from: part.cell,
                    to: part.cell + part.cells,
                };
                let bounds = bounds_of(&stretch, &layout.rows, &layout.geometry);
                quads.push(fill(bounds, color).corner_radii(px(ROUND)));
            }
        }
        layout.grounds.append(&mut quads);
    }
}
