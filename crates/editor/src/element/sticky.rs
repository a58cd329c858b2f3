//! Sticky headers: the headers of the blocks around the first visible row stay at the top while the
//! bodies scroll.

use std::rc::Rc;

use base::{Revision, Row};
use gpui_kit::{Context, Window};

use super::layout::TextLayout;
use super::rows::{LONG_ROW, highlights_of_rows};
use super::shape::{ShapedRow, Shaper};
use crate::editor::Editor;

/// One row kept at the top.
pub(crate) struct StickyRow {
    pub(crate) row: Row,
    pub(crate) shape: Rc<ShapedRow>,
}

/// Header rows for a text, its tree and a first row.
type HeadersAt = ((Revision, Option<Revision>, Row), Vec<Row>);

/// Headers of the last frame, and the shapes of recent headers.
#[derive(Default)]
pub(crate) struct StickyCache {
    /// Header rows for a text, its tree and a first row.
    rows: Option<HeadersAt>,
    /// Shapes by text, because a header's row number changes with edits above it.
    shapes: Vec<(String, (u64, u32), Rc<ShapedRow>)>,
}

impl Editor {
    pub(super) fn lay_out_sticky(
        &mut self,
        layout: &mut TextLayout,
        window: &Window,
        cx: &Context<Self>,
    ) {
        layout.geometry.sticky_rows = 0;
        if !self.settings.sticky_scroll || layout.geometry.top <= 0.0 {
            return;
        }
        let Some(first) = layout.rows.first() else {
            return;
        };
        // A header must not cover its own row: use the row below all headers.
        let headers = self.sticky_rows(first.buffer_row, cx);
        let most = (self.settings.sticky_scroll_rows as usize)
            .min((layout.geometry.visible_rows / 3.0) as usize);
        let headers: Vec<Row> = headers
            .into_iter()
            .filter(|row| *row < first.buffer_row)
            .take(most)
            .collect();
        for row in headers {
            let shape = self.sticky_shape(row, layout, window, cx);
            layout.sticky.push(StickyRow { row, shape });
        }
        layout.geometry.sticky_rows = layout.sticky.len();
    }

    fn sticky_rows(&mut self, first: Row, cx: &Context<Self>) -> Vec<Row> {
        let Some(syntax) = self
            .model
            .read(cx)
            .syntax()
            .filter(|syntax| syntax.has_tree())
        else {
            return Vec::new();
        };
        let key = (self.snapshot.revision(), syntax.parsed_revision(), first);
        match &self.sticky.rows {
            Some((known, rows)) if *known == key => rows.clone(),
            _ => {
                let rows = syntax.context_rows(&self.snapshot, first);
                self.sticky.rows = Some((key, rows.clone()));
                rows
            }
        }
    }

    fn sticky_shape(
        &mut self,
        row: Row,
        layout: &TextLayout,
        window: &Window,
        cx: &Context<Self>,
    ) -> Rc<ShapedRow> {
        const MAX_SHAPES: usize = 40;
        let text = if self.snapshot.row_len(row).0 <= LONG_ROW {
            self.snapshot.row_text(row).into_owned()
        } else {
            String::new()
        };
        let style = layout.palette.key();
        let known = self
            .sticky
            .shapes
            .iter()
            .find(|(of, under, _)| *of == text && *under == style);
        if let Some((_, _, shape)) = known {
            return shape.clone();
        }
        let start = self.snapshot.row_start(row);
        let display_row = self.display.to_display(start, base::Bias::Left).row;
        let line = self.display.line_window(display_row, 0, LONG_ROW);
        let syntax = self.model.read(cx).syntax();
        let known = syntax
            .and_then(|syntax| highlights_of_rows(syntax, &self.snapshot, row..row + 1).pop())
            .unwrap_or_default();
        let end = self.snapshot.row_end(row);
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
            palette: &layout.palette,
            display: &self.display,
            window,
            words: &self.words,
            looks: &self.suggesting.looks,
        };
        let shape = Rc::new(shaper.shape(&line, &highlights));
        if self.sticky.shapes.len() >= MAX_SHAPES {
            self.sticky.shapes.clear();
        }
        self.sticky.shapes.push((text, style, shape.clone()));
        shape
    }

    /// Returns the header at a height in the window, if one is there.
    pub(crate) fn sticky_row_at(&self, height_in_window: f64) -> Option<Row> {
        let geometry = self.geometry.as_ref()?;
        let ix = height_in_window.floor() as usize;
        if height_in_window < 0.0 || ix >= geometry.sticky_rows {
            return None;
        }
        let (_, rows) = self.sticky.rows.as_ref()?;
        rows.get(ix).copied()
    }
}
