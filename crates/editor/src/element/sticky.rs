//! Sticky headers: the headers of the blocks around the first visible row stay at the top while the
//! bodies scroll.

use std::rc::Rc;

use base::Row;
use gpui_kit::{Context, Window};

use super::layout::Decorator;
use crate::editor::Editor;
use crate::editor::highlighting;
use crate::frame::{LONG_ROW, ShapedRow, Shaper};

/// One header row kept at the top while its block scrolls below it.
pub(crate) struct StickyRow {
    pub(crate) row: Row,
    pub(crate) shape: Rc<ShapedRow>,
}

impl Decorator<'_> {
    pub(super) fn lay_out_sticky(&mut self, window: &Window, cx: &Context<Editor>) {
        self.layout.geometry.sticky_rows = 0;
        if !self.editor.settings.sticky_scroll || self.layout.geometry.top <= 0.0 {
            return;
        }
        let Some(first) = self.layout.rows.first().map(|row| row.buffer_row) else {
            return;
        };
        // A header must not cover its own row: use the row below all headers.
        let headers = self.sticky_rows(first, cx);
        let most = (self.editor.settings.sticky_scroll_rows as usize)
            .min((self.layout.geometry.visible_rows / 3.0) as usize);
        let headers: Vec<Row> = headers
            .into_iter()
            .filter(|row| *row < first)
            .take(most)
            .collect();
        for row in headers {
            let shape = self.sticky_shape(row, window, cx);
            self.layout.sticky.push(StickyRow { row, shape });
        }
        self.layout.geometry.sticky_rows = self.layout.sticky.len();
    }

    fn sticky_rows(&mut self, first: Row, cx: &Context<Editor>) -> Vec<Row> {
        let Some(syntax) = self
            .editor
            .model
            .read(cx)
            .syntax()
            .filter(|syntax| syntax.has_tree())
        else {
            return Vec::new();
        };
        let key = (
            self.editor.snapshot.revision(),
            syntax.parsed_revision(),
            first,
        );
        match &self.editor.sticky.rows {
            Some((known, rows)) if *known == key => rows.clone(),
            shown => {
                let text = &self.editor.snapshot;
                let rows = match (syntax.parsed_context_rows(text, first), shown) {
                    (Some(rows), _) => rows,
                    // The highlights of the text parse the injection in the background.
                    (None, Some(((.., row), rows))) if *row == first => return rows.clone(),
                    _ => syntax.context_rows(text, first),
                };
                self.editor.sticky.rows = Some((key, rows.clone()));
                rows
            }
        }
    }

    fn sticky_shape(&mut self, row: Row, window: &Window, cx: &Context<Editor>) -> Rc<ShapedRow> {
        const MAX_SHAPES: usize = 40;
        let text = if self.editor.snapshot.row_len(row).0 <= LONG_ROW {
            self.editor.snapshot.row_text(row).into_owned()
        } else {
            String::new()
        };
        let style = self.layout.palette.key();
        let known = self
            .editor
            .sticky
            .shapes
            .iter()
            .find(|(of, under, _)| *of == text && *under == style);
        if let Some((_, _, shape)) = known {
            return shape.clone();
        }
        let start = self.editor.snapshot.row_start(row);
        let display_row = self.editor.display.to_display(start, base::Bias::Left).row;
        let line = self.editor.display.line_window(display_row, 0, LONG_ROW);
        let known = highlighting::text_colours(self.editor, cx)
            .and_then(|colours| colours.of_rows(&self.editor.snapshot, row..row + 1).pop())
            .unwrap_or_default();
        let end = self.editor.snapshot.row_end(row);
        let highlights = |span: base::Span| {
            let of_row = known.iter().map(|highlight| syntax::Highlight {
                span: base::Span::new(
                    start + highlight.start as usize,
                    start + highlight.end as usize,
                ),
                kind: highlight.kind,
            });
            if span.end <= end {
                of_row
                    .filter(|highlight| span.covers(highlight.span))
                    .collect()
            } else {
                Vec::new()
            }
        };
        let shaper = Shaper {
            palette: &self.layout.palette,
            display: &self.editor.display,
            window,
            words: &self.editor.words,
            looks: &self.editor.suggestion.looks,
        };
        let shape = Rc::new(shaper.shape(&line, &highlights));
        if self.editor.sticky.shapes.len() >= MAX_SHAPES {
            self.editor.sticky.shapes.clear();
        }
        self.editor.sticky.shapes.push((text, style, shape.clone()));
        shape
    }
}
