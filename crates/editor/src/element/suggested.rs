//! Backgrounds and lines of a suggestion in the text: insertions and deletions.

use base::Row;
use gpui_kit::{Bounds, Context, fill, point, px, size};
use ui::ActiveTheme as _;

use super::layout::{Decorator, VisibleRow};
use super::ranges::{CellRange, bounds_of, boxes, stretches};
use crate::editor::Editor;
use crate::frame::InlayPart;
use crate::suggestion::SuggestionStyle;

/// Corner radius of the backgrounds, in pixels.
const ROUND: f32 = 3.0;

impl Decorator<'_> {
    pub(super) fn add_suggested(&mut self, cx: &Context<Editor>) {
        let Some(shown) = self.editor.suggestion.in_text() else {
            return;
        };
        let (gone_rows, struck) = (shown.gone_rows.clone(), shown.struck.clone());
        let colors = cx.theme().colors;
        for rows in &gone_rows {
            self.add_gone_rows(*rows, colors.removed_ground);
        }
        self.add_put_in(colors.added_ground);
        for span in &struck {
            let found = stretches(
                *span,
                self.layout.span,
                &self.layout.rows,
                &self.editor.display,
            );
            let quads = boxes(
                &found,
                &self.layout.rows,
                &self.layout.geometry,
                colors.removed_ground,
                ROUND,
            );
            self.layout.grounds.extend(quads);
            for stretch in &found {
                let bounds = bounds_of(stretch, &self.layout.rows, &self.layout.geometry);
                let y = bounds.top() + (self.layout.geometry.line_height * 0.55).floor();
                let line = Bounds::new(point(bounds.left(), y), size(bounds.size.width, px(1.0)));
                self.layout.fronts.push(fill(line, colors.removed));
            }
        }
    }

    fn add_gone_rows(&mut self, (first, last): (Row, Row), color: gpui_kit::Hsla) {
        for row in &self.layout.rows {
            let is_gone = first <= row.buffer_row && row.buffer_row <= last;
            if is_gone && self.added_part(row).is_none() {
                self.layout
                    .grounds
                    .push(fill(self.layout.geometry.row_bounds(row.y), color));
            }
        }
    }

    /// Returns the inlay part if the whole display row is inserted.
    fn added_part(&self, row: &VisibleRow) -> Option<InlayPart> {
        let is_added = |part: &&InlayPart| {
            let look = self
                .editor
                .suggestion
                .looks
                .get(&part.id)
                .map(|look| look.look);
            look == Some(SuggestionStyle::AddedRows) && part.start > 0
        };
        row.shape.inlays.iter().find(is_added).copied()
    }

    fn add_put_in(&mut self, color: gpui_kit::Hsla) {
        let mut quads = Vec::new();
        for (ix, row) in self.layout.rows.iter().enumerate() {
            if self.added_part(row).is_some() {
                quads.push(fill(self.layout.geometry.row_bounds(row.y), color));
                continue;
            }
            for part in &row.shape.inlays {
                let look = self
                    .editor
                    .suggestion
                    .looks
                    .get(&part.id)
                    .map(|look| look.look);
                if look != Some(SuggestionStyle::Added) || part.cells == 0 {
                    continue;
                }
                let stretch = CellRange {
                    ix,
                    from: part.cell,
                    to: part.cell + part.cells,
                };
                let bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
                quads.push(fill(bounds, color).corner_radii(px(ROUND)));
            }
        }
        self.layout.grounds.append(&mut quads);
    }
}
